"""The items of Codex rollouts (the Responses API's) as blocks and texts."""

from __future__ import annotations

from ullage.context.blocks import AssistantBlock, Json, RedactedThinking, Text, Thinking, ToolUse
from ullage.replay.readers import images
from ullage.replay.readers.flaws import ODD_MESSAGE, ODD_NAME, Tally, unknown
from ullage.replay.readers.values import JsonObject, NotJson, as_json_text, as_list, as_object, as_text, as_tool_input, as_tool_name, parse

CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "web_search_call", "image_generation_call"})
"""Items by which the model calls a tool."""
OUTPUTS = frozenset(
    {"function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output", "mcp_tool_call_output"}
)
"""Items that give back what a tool returned."""
OF_THE_MODEL = CALLS | {"reasoning"}
"""Items that are part of a reply, beside the assistant's messages."""
SILENT = frozenset({"ghost_snapshot", "compaction", "compaction_summary", "context_compaction", "compaction_trigger"})
"""Items that are no part of the conversation, or stand for a compaction that has a line of its own."""

_IMAGE_URL_HEAD = ";base64,"


def reasoning(item: JsonObject) -> AssistantBlock:
    """The model's thinking: sealed where the provider gave it sealed, else its summary, which cannot go back to a model."""
    sealed = as_text(item.get("encrypted_content"))
    if sealed:
        return RedactedThinking(sealed)
    parts = [*as_list(item.get("summary")), *as_list(item.get("content"))]
    return Thinking("\n\n".join(as_text(as_object(part).get("text")) for part in parts), "")


def call(item: JsonObject, unnamed: str, tally: Tally) -> ToolUse:
    """A call of a tool. `unnamed` is its id where it has none."""
    kind = as_text(item.get("type"))
    written = as_text(item.get("name")) or kind.removesuffix("_call")
    name = as_tool_name(written)
    tally.count(ODD_NAME, int(name != written))
    id = as_text(item.get("call_id")) or as_text(item.get("id")) or unnamed
    for member in ("arguments", "input", "action"):
        if member in item:
            return ToolUse(id, name, _input(item[member]))
    return ToolUse(id, name, {})


def is_run_by_the_provider(item: JsonObject) -> bool:
    """Whether the provider runs the tool itself: no result of it is ever written."""
    return item.get("type") in ("web_search_call", "image_generation_call")


def output_text(item: JsonObject, tally: Tally) -> tuple[str, bool]:
    """What a tool gave back, and whether it says that it failed."""
    output = item.get("output") if "output" in item else item.get("tools")
    said = as_object(output)
    failed = said.get("success") is False
    if isinstance(output, str):
        # Older versions wrap the output in JSON: {"output": "…", "metadata": {"exit_code": 0}}.
        wrapped = _wrapped(output)
        exit_code = as_object(wrapped.get("metadata")).get("exit_code")
        text = wrapped.get("output")
        return (text, exit_code not in (0, None)) if isinstance(text, str) else (output, False)
    content = said.get("content") if "content" in said else output
    if isinstance(content, list) and content and all(isinstance(part, dict) and "type" in part and "tools" not in item for part in content):
        return "\n".join(text_of(part, tally) for part in content), failed
    return content if isinstance(content, str) else as_json_text(content), failed


def message_text(item: JsonObject, tally: Tally) -> str:
    """The text of a message, its parts one after the other."""
    content = item.get("content")
    if isinstance(content, str):
        return content
    return "\n\n".join(text for text in (text_of(part, tally) for part in as_list(content)) if text)


def message_blocks(item: JsonObject, tally: Tally) -> list[AssistantBlock]:
    """What the assistant said in a message."""
    text = message_text(item, tally)
    return [Text(text)] if text else []


def text_of(part: Json, tally: Tally) -> str:
    """The text of one part of a message, or the words that stand for it."""
    if isinstance(part, str):
        return part
    block = as_object(part)
    match as_text(block.get("type")):
        case "input_text" | "output_text" | "text" | "refusal":
            return as_text(block.get("text")) or as_text(block.get("refusal"))
        case "input_image":
            tally.note("Images are there as words alone: what they took is not known")
            return images.image(as_text(block.get("image_url")).partition(_IMAGE_URL_HEAD)[2], old_model=False).words
        case "":
            tally.count(ODD_MESSAGE)
            return ""
        case kind:
            tally.count(unknown("parts of messages", kind))
            return as_json_text(part)


def _input(value: Json) -> JsonObject:
    """A call's arguments: an object as it is, or in the JSON text in which Codex writes it; other text under `input`."""
    if isinstance(value, str):
        try:
            parsed = parse(value)
        except NotJson:
            parsed = None
        return as_tool_input(parsed if isinstance(parsed, dict) else value)
    return as_tool_input(value)


def _wrapped(output: str) -> JsonObject:
    if not output.startswith("{"):
        return {}
    try:
        return as_object(parse(output))
    except NotJson:
        return {}
