"""What Claude Code tells the model beside the conversation: attachments, each a line of its own since version 2.1."""

from __future__ import annotations

from ullage.context.blocks import Json
from ullage.replay.readers.values import JsonObject, as_list, as_object, as_text

_SILENT = {
    "command_permissions",
    "already_read_file",
    "hook_cancelled",
    "hook_non_blocking_error",
    "hook_error_during_execution",
}
_HOOKS_THE_MODEL_HEARS = ("SessionStart", "UserPromptSubmit")


def is_silent(attachment: JsonObject) -> bool:
    """Whether the model is not shown it."""
    kind = as_text(attachment.get("type"))
    if kind == "hook_success":
        return attachment.get("hookEvent") not in _HOOKS_THE_MODEL_HEARS
    return kind in _SILENT


def attachment_text(attachment: JsonObject) -> str:
    """What the model was told, as far as the line holds it; empty where it does not."""
    snippet = as_text(attachment.get("snippet"))
    if snippet:
        return f"{as_text(attachment.get('filename'))} was changed:\n{snippet}"
    content = as_object(attachment.get("content"))
    of_the_file = as_object(content.get("file")).get("content")
    for value in (of_the_file, content.get("content"), *(attachment.get(name) for name in ("prompt", "content", "planContent"))):
        text = _joined(value)
        if text:
            return text
    return ""


def _joined(value: Json) -> str:
    if isinstance(value, str):
        return value
    return "\n".join(text for text in map(_text, as_list(value)) if text)


def _text(part: Json) -> str:
    if isinstance(part, str):
        return part
    block = as_object(part)
    return as_text(block.get("text")) or as_text(block.get("content"))
