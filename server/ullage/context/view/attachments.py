"""A user's prompt as the model reads it: each attachment in a text of its own, with the image or PDF that it is, then what was typed."""

from __future__ import annotations

import re
from html import escape

from ullage.context.blocks import Text, UserBlock
from ullage.context.entries import Attachment, UserPrompt

_CLOSING_TAG = re.compile(r"<(?=\s*/\s*attachment)", re.IGNORECASE)


def prompt_blocks(prompt: UserPrompt) -> tuple[UserBlock, ...]:
    """The blocks of a prompt, in the order in which they are sent. Texts may be empty."""
    return (*(block for attachment in prompt.attachments for block in _blocks_of(attachment)), Text(prompt.text))


def _blocks_of(attachment: Attachment) -> tuple[UserBlock, ...]:
    told = Text(_enclosed(attachment))
    return (told,) if attachment.media is None else (told, attachment.media)


def _enclosed(attachment: Attachment) -> str:
    """The attachment between tags that nothing inside it can close, so that a file cannot pass for the user's words."""
    text = _CLOSING_TAG.sub("&lt;", attachment.text)
    name = escape(" ".join(attachment.name.split()))
    return f'<attachment name="{name}">\n{text}\n</attachment>'
