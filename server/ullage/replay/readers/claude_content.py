"""The content blocks of Claude Code's messages as values; what has no value of its own becomes text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ullage.context.blocks import AssistantBlock, Json, RedactedThinking, Text, Thinking, ToolUse
from ullage.models.known_models import card_from_table
from ullage.replay.readers import images
from ullage.replay.readers.flaws import ODD_MESSAGE, ODD_NAME, PROVIDER_TOOL, Tally, unknown
from ullage.replay.readers.values import JsonObject, as_json_text, as_list, as_object, as_text, as_tool_input, as_tool_name

NO_PAGES = "It holds documents (PDF) whose pages are not known: the context was larger by them than is shown"


REFUSED = ("The user doesn't want to proceed with this tool use.", "Permission for this tool use was denied.")
"""How Claude Code tells the model that the user did not allow a call."""
REASON = re.compile(r"\bthe user said:\s*(.+)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Result:
    """A tool's result as it lies in a user message."""

    tool_use_id: str
    content: str
    is_error: bool
    media_tokens: int = 0
    """Of images and documents in it, for which `content` has words alone."""


def refusal_in(result: Result) -> str | None:
    """What the user said where they refused the call, empty where nothing; None where they did not refuse."""
    if not result.is_error or not result.content.startswith(REFUSED):
        return None
    said = REASON.search(result.content)
    return said[1].strip() if said else ""


def assistant_blocks(content: list[Json], model: str, tally: Tally) -> list[AssistantBlock]:
    """What the model said in one line."""
    blocks: list[AssistantBlock] = []
    for value in content:
        block = as_object(value)
        kind = as_text(block.get("type"))
        if kind == "tool_use":
            name = as_text(block.get("name"))
            tally.count(ODD_NAME, int(name != as_tool_name(name)))
            blocks.append(ToolUse(as_text(block.get("id")), as_tool_name(name), as_tool_input(block.get("input"))))
        elif kind == "thinking":
            blocks.append(Thinking(as_text(block.get("thinking")), as_text(block.get("signature"))))
        elif kind == "redacted_thinking":
            blocks.append(RedactedThinking(as_text(block.get("data"))))
        elif kind == "server_tool_use" or kind.endswith("_tool_result"):
            tally.count(PROVIDER_TOOL, int(kind == "server_tool_use"))
            blocks.append(Text(as_json_text(value)))
        else:
            blocks.append(Text(text_of(value, model, tally)))
    return blocks


def result_of(block: JsonObject, model: str, tally: Tally) -> Result:
    """The result that a `tool_result` block stands for."""
    content = block.get("content")
    media = 0
    if content is None or isinstance(content, str):
        text = content or ""
    else:
        parts = as_list(content) or [content]
        text = "\n".join(text_of(part, model, tally) for part in parts)
        media = media_tokens(parts, model)
    return Result(as_text(block.get("tool_use_id")), text, block.get("is_error") is True, media)


def text_of(value: Json, model: str, tally: Tally) -> str:
    """The text of a block that is text, or the words that stand for it; an unknown one as its JSON, which has its size."""
    if isinstance(value, str):
        return value
    block = as_object(value)
    match as_text(block.get("type")):
        case "text":
            return as_text(block.get("text"))
        case "image":
            tally.note("Images are counted by their size, not by the words in their place")
            return _image(block, model).words
        case "document":
            source = as_object(block.get("source"))
            if source.get("type") == "text":
                return as_text(source.get("data"))
            shown = images.document(as_text(source.get("data")))
            tally.note(NO_PAGES if not shown.tokens else "Documents (PDF) are counted by their pages, at what a page of prose takes")
            return shown.words
        case "tool_reference":
            return f"[tool {as_text(block.get('tool_name'))}]"
        case "":
            tally.count(ODD_MESSAGE)
            return "" if not block else as_json_text(value)
        case kind:
            tally.count(unknown("blocks", kind))
            return as_json_text(value)


def media_tokens(parts: Sequence[Json], model: str) -> int:
    """Tokens of the images and documents among the blocks."""
    return sum(_media_tokens(as_object(part), model) for part in parts)


def _media_tokens(block: JsonObject, model: str) -> int:
    match as_text(block.get("type")):
        case "image":
            return _image(block, model).tokens
        case "document":
            source = as_object(block.get("source"))
            return 0 if source.get("type") == "text" else images.document(as_text(source.get("data"))).tokens
        case _:
            return 0


def _image(block: JsonObject, model: str) -> images.Shown:
    card = card_from_table(model)
    return images.image(as_text(as_object(block.get("source")).get("data")), old_model=card is not None and card.tokenizer == "3.0")
