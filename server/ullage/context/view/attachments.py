"""A user's prompt as the model reads it: each attachment in a text of its own, then what was typed."""

from __future__ import annotations

import re
from html import escape

from ullage.context.entries import Attachment, UserPrompt

_CLOSING_TAG = re.compile(r"<(?=\s*/\s*attachment)", re.IGNORECASE)


def prompt_texts(prompt: UserPrompt) -> tuple[str, ...]:
    """The texts of a prompt, in the order in which they are sent."""
    return (*(_enclosed(attachment) for attachment in prompt.attachments), prompt.text)


def _enclosed(attachment: Attachment) -> str:
    """The attachment between tags that nothing inside it can close, so that a file cannot pass for the user's words."""
    text = _CLOSING_TAG.sub("&lt;", attachment.text)
    name = escape(" ".join(attachment.name.split()))
    return f'<attachment name="{name}">\n{text}\n</attachment>'
