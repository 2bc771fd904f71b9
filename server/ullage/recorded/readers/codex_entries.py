"""The items of a Codex rollout (the Responses API's) as the entries of a session, in the order in which they come.

A reply is everything that the model said up to the next token count. Codex writes the outputs of tools as they come, often before
that count. Words of the user may come while calls still run; they are sent after the calls' outputs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ullage.context.blocks import AssistantBlock, Json, RedactedThinking, Text, Thinking, ToolUse, Usage
from ullage.context.entries import AssistantReply, Entry, ToolReturned, UserPrompt
from ullage.recorded.readers.entries import RecordedLog, patches_in, shown_image, touched_by_patch
from ullage.recorded.readers.flaws import (
    NO_RESULT,
    NO_USAGE,
    ODD_MESSAGE,
    ODD_NAME,
    ORPHAN_RESULT,
    ROLLED_BACK,
    USAGE_ALONE,
    FlawTally,
    unknown,
)
from ullage.recorded.readers.values import (
    JsonObject,
    RecordNotJson,
    as_json_text,
    as_list,
    as_object,
    as_text,
    as_tool_input,
    as_tool_name,
    parse,
)


@dataclass(slots=True)
class _Reply:
    model: str
    at: float
    blocks: list[AssistantBlock] = field(default_factory=list[AssistantBlock])
    outputs: list[tuple[ToolReturned, float]] = field(default_factory=list[tuple[ToolReturned, float]])


class CodexLogBuilder:
    """Builds the log of one session."""

    def __init__(self, tally: FlawTally) -> None:
        self.log = RecordedLog(tally)
        self.folder = ""
        self._tally = tally
        self._reply: _Reply | None = None
        self._running: dict[str, ToolUse] = {}
        """Calls of the last reply, open or closed, that have no output yet."""
        self._said: list[tuple[Entry, float]] = []
        """What the user or the program said, waiting for the outputs of the running calls."""
        self._replies = 0

    def add_block(self, block: AssistantBlock, model: str, at: float) -> None:
        """Adds a block to the reply at hand, or begins a new reply with it."""
        if self._said:
            self.close()
        if self._reply is None:
            self._settle()
            self._reply = _Reply(model, at)
        self._reply.blocks.append(block)
        if not self._reply.outputs:
            self._reply.at = at or self._reply.at
        if isinstance(block, ToolUse):
            self._running[block.id] = block

    def add_output(self, call_id: str, text: str, is_error: bool, at: float) -> None:
        """Adds what a tool gave back for a call."""
        call = self._running.pop(call_id, None)
        if call is None:
            self._tally.count(ORPHAN_RESULT)
            return
        touched = () if is_error else touched_by_patch(patches_in(call), self.folder)
        returned = ToolReturned(call_id, call.name, text, is_error, len(text), touched=touched)
        if self._reply is not None:
            self._reply.outputs.append((returned, at))
            return
        self.log.add(returned, at)
        if not self._running:
            self._settle()

    def add_words(self, entry: Entry, at: float) -> None:
        """Adds what the user or the program said; it comes after the outputs of calls that still run."""
        self._said.append((entry, at))
        if self._reply is None and not self._running:
            self._settle()

    def add_usage(self, usage: Usage) -> None:
        """Ends the reply at hand with the token counts of its call."""
        if self._reply is None:
            self._tally.count(USAGE_ALONE)
        self._close(usage)

    def close(self) -> None:
        """Ends the reply at hand, with or without its token counts, and adds everything that still waits."""
        self._close(None)
        self._settle()

    def roll_back(self, turns: int) -> int:
        """Takes back the last `turns` turns of the user; gives how many entries are left."""
        self.close()
        self._tally.count(ROLLED_BACK, self.log.take_back_from(lambda entry: isinstance(entry, UserPrompt), turns))
        return self.log.length

    def _close(self, usage: Usage | None) -> None:
        reply, self._reply = self._reply, None
        if reply is None:
            return
        self._tally.count(NO_USAGE, int(usage is None))
        self._replies += 1
        calls = any(isinstance(block, ToolUse) for block in reply.blocks)
        stop_reason = "tool_use" if calls else "end_turn"
        self.log.add(AssistantReply(f"reply-{self._replies}", tuple(reply.blocks), reply.model, stop_reason, usage), reply.at)
        for returned, at in reply.outputs:
            self.log.add(returned, at)
        if not self._running:
            self._settle()

    def _settle(self) -> None:
        """Gives up the calls that still have no output, since none will come, and adds what was said meanwhile."""
        self._tally.count(NO_RESULT, len(self._running))
        self._running.clear()
        for entry, at in self._said:
            self.log.add(entry, at)
        self._said.clear()


CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "web_search_call", "image_generation_call"})
"""Items by which the model calls a tool."""
OUTPUTS = frozenset(
    {"function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output", "mcp_tool_call_output"}
)
"""Items that give back what a tool returned."""
OF_THE_MODEL = CALLS | {"reasoning"}
"""Items that are part of a reply, apart from the assistant's messages."""
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


def call(item: JsonObject, unnamed: str, tally: FlawTally) -> ToolUse:
    """The tool call that an item tells of. `unnamed` is the id of a call that has none."""
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
    """Whether the provider itself runs the tool that the item calls: no result of such a call is ever written."""
    return item.get("type") in ("web_search_call", "image_generation_call")


def output_text(item: JsonObject, tally: FlawTally) -> tuple[str, bool]:
    """The text that a tool gave back, and whether the item says that the call failed."""
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


def message_text(item: JsonObject, tally: FlawTally) -> str:
    """The text of a message: the texts of its parts, with a blank line between them."""
    content = item.get("content")
    if isinstance(content, str):
        return content
    return "\n\n".join(text for text in (text_of(part, tally) for part in as_list(content)) if text)


def message_blocks(item: JsonObject, tally: FlawTally) -> list[AssistantBlock]:
    """What the assistant said in a message, as a block; empty if it said nothing."""
    text = message_text(item, tally)
    return [Text(text)] if text else []


def text_of(part: Json, tally: FlawTally) -> str:
    """The text of one part of a message, or the words that stand for it."""
    if isinstance(part, str):
        return part
    block = as_object(part)
    match as_text(block.get("type")):
        case "input_text" | "output_text" | "text" | "refusal":
            return as_text(block.get("text")) or as_text(block.get("refusal"))
        case "input_image":
            tally.note("Images are there as words alone: what they took is not known")
            return shown_image(as_text(block.get("image_url")).partition(_IMAGE_URL_HEAD)[2], old_model=False).words
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
        except RecordNotJson:
            parsed = None
        return as_tool_input(parsed if isinstance(parsed, dict) else value)
    return as_tool_input(value)


def _wrapped(output: str) -> JsonObject:
    if not output.startswith("{"):
        return {}
    try:
        return as_object(parse(output))
    except RecordNotJson:
        return {}
