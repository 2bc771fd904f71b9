"""What Claude Code's messages hold, as values: content blocks, whole replies, and attachments.

A block that has no value of its own becomes text. A reply has a line for each block, all with the same id, written while it streamed.
Early lines carry the `output_tokens` of a reply that has just begun. Since version 2.1 an attachment is a line of its own: it has what
the model is told beside the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from ullage.context.blocks import AssistantBlock, Json, RedactedThinking, Text, Thinking, ToolUse, Usage
from ullage.context.counting.tokens import estimate_block
from ullage.context.entries import AssistantReply
from ullage.models.known_models import card_from_table
from ullage.recorded.readers.claude_lines import MEASURED, Line
from ullage.recorded.readers.entries import IMAGES_NOTE, MediaInWords, shown_pages, shown_size
from ullage.recorded.readers.flaws import NO_USAGE, ODD_MESSAGE, ODD_NAME, PLACEHOLDER_OUTPUT, PROVIDER_TOOL, FlawTally, unknown
from ullage.recorded.readers.values import JsonObject, as_count, as_json_text, as_list, as_object, as_text, as_tool_input, as_tool_name
from ullage.store.set_aside import HeldValue, Shelf

NO_PAGES = "It holds documents (PDF) whose pages are not known: the context was larger by them than is shown"


REFUSED = ("The user doesn't want to proceed with this tool use.", "Permission for this tool use was denied.")
"""The beginnings of what Claude Code tells the model where the user did not allow a call."""
REASON = re.compile(r"\bthe user said:\s*(.+)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Result:
    """A tool's result as it lies in a user message."""

    tool_use_id: str
    content: str
    is_error: bool
    media_tokens: int = 0
    """Tokens of the images and documents in the result, for which `content` has words alone."""

    @property
    def refusal(self) -> str | None:
        """What the user said when they refused the call; empty if they said nothing, None if they did not refuse."""
        if not self.is_error or not self.content.startswith(REFUSED):
            return None
        said = REASON.search(self.content)
        return said[1].strip() if said else ""


def _assistant_blocks(content: list[Json], model: str, tally: FlawTally) -> list[AssistantBlock]:
    """The blocks that the model said in one line. A block that is not known becomes text."""
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


def result_of(block: JsonObject, model: str, tally: FlawTally) -> Result:
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


def text_of(value: Json, model: str, tally: FlawTally) -> str:
    """The text of a block, or the words that stand for an image or a document. An unknown block becomes its JSON, which has its size."""
    if isinstance(value, str):
        return value
    block = as_object(value)
    match as_text(block.get("type")):
        case "text":
            return as_text(block.get("text"))
        case "image":
            tally.note(IMAGES_NOTE)
            return _image(block, model).words
        case "document":
            source = as_object(block.get("source"))
            if source.get("type") == "text":
                return as_text(source.get("data"))
            shown = _document(block)
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
            return 0 if as_object(block.get("source")).get("type") == "text" else _document(block).tokens
        case _:
            return 0


def _image(block: JsonObject, model: str) -> MediaInWords:
    card = card_from_table(model)
    size = [as_count(each) or 0 for each in as_list(_measured(block).get("size"))]
    known = (size[0], size[1]) if len(size) == len(("width", "height")) and min(size) > 0 else None
    return shown_size(known, old_model=card is not None and card.tokenizer == "3.0")


def _document(block: JsonObject) -> MediaInWords:
    return shown_pages(as_count(_measured(block).get("pages")))


def _measured(block: JsonObject) -> JsonObject:
    """What the line kept of an image or a document (see `MEASURED`); empty where the block had no data."""
    source = as_object(block.get("source"))
    return source if source.get("type") == MEASURED else {}


_SURELY_TOO_FEW = 0.5
"""Where less output was recorded than this share of what the text must take, the count is that of a reply which had just begun. In recorded
sessions placeholders lie under 0.12 in nine of ten replies, final counts over 0.7."""


@dataclass(slots=True)
class RecordedReply:
    """A reply as far as its lines were read."""

    id: str
    shelf: Shelf
    model: str = ""
    at: float = 0.0
    is_answered: bool = False
    """Whether a result of its calls was read already: lines after that do not change the reply's time."""
    held: list[HeldValue[list[AssistantBlock]]] = field(default_factory=list[HeldValue[list[AssistantBlock]]])
    """Its blocks, line by line."""
    usage: Usage | None = None
    stop_reason: str = ""
    output_is_estimated: bool = False
    _known: set[object] = field(default_factory=set[object])

    def add(self, line: Line, tally: FlawTally) -> list[AssistantBlock]:
        """Takes in one more line of the reply; gives its new blocks. A block that the reply has already is not taken again."""
        self.model = as_text(line.message.get("model")) or self.model
        self.stop_reason = as_text(line.message.get("stop_reason")) or self.stop_reason
        if not self.is_answered:
            self.at = line.at or self.at
        usage = usage_of(line.message.get("usage"))
        if usage is not None:
            before = self.usage.output_tokens if self.usage is not None else 0
            self.usage = replace(usage, output_tokens=max(usage.output_tokens, before))
        new = [block for block in _assistant_blocks(line.content, self.model, tally) if self._is_new(block)]
        if new:
            self.held.append(self.shelf.hold(new, line.characters))
        return new

    def _is_new(self, block: AssistantBlock) -> bool:
        key = (block.id, block.name, _known_by(as_json_text(dict(block.input)))) if isinstance(block, ToolUse) else _sign(block)
        is_new = key not in self._known
        self._known.add(key)
        return is_new

    def finished(self, tally: FlawTally) -> AssistantReply:
        """The reply, with an estimate of its output where the true count was never written."""
        blocks = [block for held in self.held for block in held.get()]
        if self.usage is None:
            tally.count(NO_USAGE)
        elif not self.stop_reason:
            said = _estimated_output(blocks, self.model)
            if self.usage.output_tokens < said * _SURELY_TOO_FEW:
                tally.count(PLACEHOLDER_OUTPUT)
                self.usage = replace(self.usage, output_tokens=said)
                self.output_is_estimated = True
        stop_reason = self.stop_reason or ("tool_use" if any(isinstance(block, ToolUse) for block in blocks) else "end_turn")
        return AssistantReply(self.id, tuple(blocks), self.model, stop_reason, self.usage)


_SHORT = 64
"""Characters up to which a text is its own mark."""


def _known_by(text: str) -> str | bytes:
    """A mark by which equal texts are recognised: a short text itself, the hash of a longer one."""
    return text if len(text) <= _SHORT else blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _sign(block: AssistantBlock) -> tuple[object, ...]:
    """A mark by which equal blocks are recognised, for blocks that are no calls."""
    match block:
        case Text():
            return "text", _known_by(block.text)
        case Thinking():
            return "thinking", _known_by(block.thinking), _known_by(block.signature)
        case RedactedThinking():
            return "sealed", _known_by(block.data)
        case _:
            return (block,)


def usage_of(value: Json) -> Usage | None:
    """The token counts of a message; None if it has none, or all are zero. Cache writes whose lifetime is not told count as 5 minutes."""
    counts = as_object(value)
    written = as_count(counts.get("cache_creation_input_tokens")) or 0
    split = as_object(counts.get("cache_creation"))
    for_an_hour = as_count(split.get("ephemeral_1h_input_tokens")) or 0
    for_minutes = as_count(split.get("ephemeral_5m_input_tokens")) or 0
    usage = Usage(
        input_tokens=as_count(counts.get("input_tokens")) or 0,
        output_tokens=as_count(counts.get("output_tokens")) or 0,
        cache_read_tokens=as_count(counts.get("cache_read_input_tokens")) or 0,
        cache_write_5m_tokens=max(for_minutes, written - for_an_hour),
        cache_write_1h_tokens=for_an_hour,
    )
    return usage if usage.context_tokens > 0 else None


def _estimated_output(blocks: Sequence[AssistantBlock], model: str) -> int:
    card = card_from_table(model)
    factor = card.characters_per_token_factor if card is not None else 1.0
    return round(factor * sum(estimate_block(block) for block in blocks))


_SILENT = {
    "command_permissions",
    "already_read_file",
    "hook_cancelled",
    "hook_non_blocking_error",
    "hook_error_during_execution",
}
_HOOKS_THE_MODEL_HEARS = ("SessionStart", "UserPromptSubmit")


def is_silent(attachment: JsonObject) -> bool:
    """Whether the attachment is one that the model is not shown."""
    kind = as_text(attachment.get("type"))
    if kind == "hook_success":
        return attachment.get("hookEvent") not in _HOOKS_THE_MODEL_HEARS
    return kind in _SILENT


def attachment_text(attachment: JsonObject) -> str:
    """What the attachment told the model, as far as the line holds it; empty if the line does not."""
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
