"""Tasks of Cline: `tasks/<id>/api_conversation_history.json` in its storage (of VS Code or `~/.cline/data`), and, since version 4 and on
the command line, `~/.cline/data/sessions/<id>/<id>.messages.json`.

The format was taken from github.com/cline/cline: of the first at 94f5a47a59^ (3.89.2), `apps/vscode/src/core/task/index.ts`,
`task/message-state.ts`, `task/tools/utils/ToolResultUtils.ts`, `shared/messages/`; of the second at 21cb8d25 (4.1.13, SDK 0.0.78),
`sdk/packages/core/src/session/` and `sdk/packages/core/fixtures/session/`.

Both are lists of messages as the Messages API has them. In the first, older versions write tool calls as XML in the text, and their results
as text behind a heading; all that the user says stands in tags.

Files beside the messages have tokens, times, models, what was cut away, and summaries (`OtherFiles`). `ui_messages.json` has what the user
was shown, each with the place of the message that was the last one then. A file that is not there, or says nothing, is passed over: the
messages stand for themselves.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ullage.context.blocks import AssistantBlock, Json, RedactedThinking, Text, Thinking, ToolUse, Usage
from ullage.recorded.readers.conversation import NOTHING, RecordedText, TranscriptBuilder, joined, usage_of
from ullage.recorded.readers.entries import IMAGES_NOTE, shown_document, shown_image
from ullage.recorded.readers.files import json_objects
from ullage.recorded.readers.flaws import KEPT_MESSAGES, ODD_MESSAGE, FlawTally, unknown
from ullage.recorded.readers.values import (
    JsonObject,
    RecordNotJson,
    as_count,
    as_json_text,
    as_list,
    as_object,
    as_seconds,
    as_text,
    parse,
    printable,
)
from ullage.recorded.transcript import Transcript

_TOOLS = (
    "read_file|write_to_file|replace_in_file|apply_patch|execute_command|search_files|list_files|list_code_definition_names|browser_action|"
    "use_mcp_tool|access_mcp_resource|load_mcp_documentation|web_fetch|web_search|ask_followup_question|attempt_completion|new_task|"
    "plan_mode_respond|act_mode_respond|focus_chain|condense|summarize_task|report_bug|new_rule|generate_explanation|use_skill|use_subagents"
)
_CALL = re.compile(rf"^[ \t]*<({_TOOLS})>\s*$(.*?)^[ \t]*</\1>", re.MULTILINE | re.DOTALL)
_PARAMETER = re.compile(r"^[ \t]*<(\w+)>(.*?)</\1>[ \t]*$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"\A\[(\w+)[^\n]*\] Result:(?:\n|\Z)")
"""The heading before the result of a tool."""
_OF_THE_USER = re.compile(r"<(task|feedback|answer|user_message|user_input|user_command)\b[^>]*>\s*(.*?)\s*</\1>", re.DOTALL)
_CONTINUED = "This session is being continued from a previous conversation that ran out of context."
_FOLDER = re.compile(r"^# Current (?:Working|Workspace) Directory \(([^)\n]+)\)", re.MULTILINE)
_CLOSE = 3
"""Messages. What was cut away this close to a summary was cut away for it."""
_BY_METRICS = "Of some calls only the sum of what was read from the cache and written to it is recorded: it is taken as read"


def is_line(value: JsonObject) -> bool:
    """Whether a part of a file shows that Cline wrote it."""
    if isinstance(value.get("sessionId"), str) and "updated_at" in value and "version" in value:
        return True
    content = value.get("content")
    if value.get("role") not in ("user", "assistant") or not isinstance(content, (str, list)) or "type" in value:
        return False
    if any(name in value for name in ("ts", "modelInfo", "metrics")):
        return True
    return any(as_text(as_object(block).get("text")).startswith("<task>") for block in as_list(content))


def read(lines: Iterable[JsonObject], tally: FlawTally, path: Path) -> tuple[Transcript, ...]:
    """The one task of a file, with what the files beside it say. `tally` has what is wrong with the file so far."""
    task = _Task(beside(path, tally), tally)
    for value in lines:
        task.take(value)
    task.settle()
    tally.note("System prompt and tools are not in the tasks of Cline: the first request is larger than its messages by them")
    folder, stem = path.resolve().parent.name, path.name.partition(".")[0]
    own = folder if stem == "api_conversation_history" or stem == folder else f"{folder}/{stem}"
    return (task.built.transcript(task.session if "/" not in own and task.session else printable(own), "cline"),)


class _Task:
    """A task, as far as its messages were read."""

    def __init__(self, around: OtherFiles, tally: FlawTally) -> None:
        self.built = TranscriptBuilder(tally, around.folder)
        self.session = ""
        self._around = around
        self._tally = tally
        self._taken = 0
        self._calls: list[ToolUse] = []
        """Calls of the last reply that are written as XML and have no result yet."""
        self._summaries: list[int] = []
        """The number of messages before each summary."""
        self._cuts: list[tuple[int, int]] = []
        """For each place where messages were cut away: the number of messages, and of entries, before it."""

    def take(self, value: JsonObject) -> None:
        """Reads one part of the file: a message, or what the file says beside its messages."""
        role = value.get("role")
        if role not in ("user", "assistant"):
            self.session = self.session or printable(as_text(value.get("sessionId")))
            return
        place, self._taken = self._taken, self._taken + 1
        at = as_seconds(value.get("ts")) or self._around.times.get(place, 0.0)
        content = value.get("content")
        blocks = [as_object(block) for block in content] if isinstance(content, list) else [{"type": "text", "text": as_text(content)}]
        self._tally.count(ODD_MESSAGE, int(not isinstance(content, (str, list))))
        if role == "assistant":
            self._take_reply(value, blocks, place, at)
        else:
            self._take_words(blocks, place, at)
        if self._taken in self._around.summaries:
            summary = self._around.summaries[self._taken]
            self.built.compaction(summary.text, None, summary.tokens_before, summary.at)
            self._tally.count(KEPT_MESSAGES)
        if place in self._around.cuts:
            self._cuts.append((place, self.built.length))

    def settle(self) -> None:
        """Adds the compactions that cut messages away without a summary. Is called after the last message."""
        for place, length in self._cuts:
            if not any(abs(place - summary) <= _CLOSE for summary in self._summaries):
                self.built.compaction("", True, None, self._around.cuts[place], after=length)
                self._tally.count(KEPT_MESSAGES)

    def _take_reply(self, value: JsonObject, blocks: Sequence[JsonObject], place: int, at: float) -> None:
        calls_are_blocks = any(block.get("type") == "tool_use" for block in blocks)
        said = [each for block in blocks for each in self._of_the_model(block, calls_are_blocks)]
        self._calls = [] if calls_are_blocks else [each for each in said if isinstance(each, ToolUse)]
        about = as_object(value.get("modelInfo"))
        model = as_text(about.get("modelId")) or as_text(about.get("id")) or self._around.model(place, at)
        self.built.reply(said, model, self._usage(value, place), at)

    def _of_the_model(self, block: JsonObject, calls_are_blocks: bool) -> Sequence[AssistantBlock]:
        match as_text(block.get("type")):
            case "text":
                text = as_text(block.get("text"))
                return (Text(text),) if calls_are_blocks else self._with_calls(text)
            case "thinking":
                return (Thinking(as_text(block.get("thinking")), as_text(block.get("signature"))),)
            case "redacted_thinking":
                return (RedactedThinking(as_text(block.get("data"))),)
            case "tool_use":
                return (self.built.call(as_text(block.get("id")), as_text(block.get("name")), block.get("input")),)
            case _:
                return (Text(self._part(block).text),)

    def _with_calls(self, text: str) -> Sequence[AssistantBlock]:
        """The text as blocks, in which the calls that are written as XML are calls."""
        found: list[AssistantBlock] = []
        end = 0
        for match in _CALL.finditer(text):
            input: dict[str, Json] = {name: told.strip("\n") for name, told in _PARAMETER.findall(match[2])}
            found += [Text(text[end : match.start()].strip()), self.built.call("", match[1], input)]
            end = match.end()
        return (*found, Text(text[end:] if not found else text[end:].strip()))

    def _take_words(self, blocks: Sequence[JsonObject], place: int, at: float) -> None:
        told: list[RecordedText] = []
        answered: ToolUse | None = None
        for block in blocks:
            if block.get("type") == "tool_result":
                said, failed = self._result(block.get("content"))
                self.built.result(as_text(block.get("tool_use_id")), said, failed or block.get("is_error") is True, at)
                continue
            part = self._part(block)
            heading = _HEADING.match(part.text)
            call = next((call for call in self._calls if heading is not None and call.name == heading[1]), None)
            if call is not None and heading is not None:
                self._answer(answered, told, at)
                self._calls.remove(call)
                answered, told = call, [RecordedText(part.text[heading.end() :], part.media_tokens)]
            elif answered is not None and block.get("type") in ("text", "image") and not _is_apart(part.text):
                told.append(part)
            else:
                self._answer(answered, told, at)
                answered, told = None, []
                self._say(part, place, at, is_file=block.get("type") == "file")
        self._answer(answered, told, at)

    def _answer(self, call: ToolUse | None, told: Sequence[RecordedText], at: float) -> None:
        if call is not None:
            self.built.result(call.id, joined(told), False, at)

    def _say(self, part: RecordedText, place: int, at: float, *, is_file: bool) -> None:
        text = part.text
        if is_file:
            self.built.notice(part, at)
            return
        folder = _FOLDER.search(text)
        self.built.folder = self.built.folder or (folder[1] if folder is not None else "")
        if _CONTINUED in text:
            self.built.compaction(text.strip(), True, None, at)
            self._summaries.append(place)
            return
        said = [match[2] for match in _OF_THE_USER.finditer(text)]
        if said and not text.startswith("<environment_details>"):
            self.built.prompt(RecordedText("\n\n".join(said), part.media_tokens), at)
        elif self.session or part.media_tokens:
            self.built.prompt(part, at)  # newer versions write the user's words without tags
        else:
            self.built.notice(part, at)

    def _result(self, content: Json) -> tuple[RecordedText, bool]:
        if isinstance(content, str):
            return RecordedText(_HEADING.sub("", content)), False
        parts = [as_object(part) for part in as_list(content)]
        said = joined([self._part(part) for part in parts])
        return RecordedText(_HEADING.sub("", said.text), said.media_tokens), any(part.get("success") is False for part in parts)

    def _part(self, block: JsonObject) -> RecordedText:
        match as_text(block.get("type")):
            case "text":
                return RecordedText(as_text(block.get("text")))
            case "image":
                self._tally.note(IMAGES_NOTE)
                source = as_object(block.get("source"))
                shown = shown_image(as_text(source.get("data")) or as_text(block.get("data")), old_model=False)
                return RecordedText(shown.words, shown.tokens)
            case "document":
                shown = shown_document(as_text(as_object(block.get("source")).get("data")))
                return RecordedText(shown.words, shown.tokens)
            case "file":
                return RecordedText(f"{as_text(block.get('path'))}\n{as_text(block.get('content'))}")
            case "" if "result" in block or "error" in block:
                told = block.get("result") or block.get("error")
                return RecordedText(told if isinstance(told, str) else as_json_text(told))
            case "":
                self._tally.count(ODD_MESSAGE)
            case kind:
                self._tally.count(unknown("blocks", kind))
        return NOTHING

    def _usage(self, value: JsonObject, place: int) -> Usage | None:
        """The tokens of the call that gave this reply: as noted for the user, else as noted beside the message. None if neither is
        there."""
        if place in self._around.usages:
            return self._around.usages[place]
        counts = as_object(value.get("metrics"))
        sums = as_object(counts.get("tokens"))
        if sums:
            self._tally.note(_BY_METRICS)
            return usage_of(sums, "prompt", "completion", "cached", "")
        usage = usage_of(counts, "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
        if usage is None:
            return None
        cached = usage.cache_read_tokens + usage.cache_write_5m_tokens
        return Usage(max(usage.input_tokens - cached, 0), usage.output_tokens, usage.cache_read_tokens, usage.cache_write_5m_tokens)


def _is_apart(text: str) -> bool:
    """Whether a text that follows a result is no part of that result."""
    return text.startswith("<environment_details>") or _OF_THE_USER.search(text) is not None or _CONTINUED in text


# What lies beside the messages

_MESSAGES = ".messages.json"


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary that took the place of messages. `at` is Unix seconds."""

    text: str
    tokens_before: int | None
    at: float


@dataclass(slots=True)
class OtherFiles:
    """What the files beside the messages say. Places are those of messages, from 0; times are Unix seconds."""

    folder: str = ""
    usages: dict[int, Usage] = field(default_factory=dict[int, Usage])
    """The tokens of each call, by the place of its reply."""
    times: dict[int, float] = field(default_factory=dict[int, float])
    cuts: dict[int, float] = field(default_factory=dict[int, float])
    """When messages were cut away from the context, by the place of the last message at that time."""
    summaries: dict[int, Summary] = field(default_factory=dict[int, Summary])
    """The summaries, by how many messages came before each."""
    cut_up_to: int = -1
    """The place of the last message that was cut away; -1 if none was."""
    models: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    """The models in the order in which they were used, each with the time from which on it was."""
    models_of: dict[int, str] = field(default_factory=dict[int, str])

    def model(self, place: int, at: float) -> str:
        """The model of the reply at that place; empty if nothing tells it."""
        if place in self.models_of or not self.models:
            return self.models_of.get(place, "")
        index = bisect_right([since for since, _ in self.models], at) - 1
        return self.models[max(index, 0)][1]


def beside(path: Path, tally: FlawTally) -> OtherFiles:
    """What the files beside that file of messages say."""
    found = OtherFiles()
    stem = path.name.partition(_MESSAGES)[0]
    if _MESSAGES not in path.name:
        for value in _objects(path.with_name("ui_messages.json"), tally):
            _shown(value, found)
        for value in _objects(path.with_name("task_metadata.json"), tally):
            _metadata(value, found)
        return found
    for value in _objects(path.with_name(f"{stem}.json"), tally):
        found.folder = as_text(value.get("cwd")) or as_text(value.get("workspace_root"))
    _compaction(list(_first_two(path.with_name(f"{stem}.compaction.json"), tally)), found)
    return found


def _objects(path: Path, tally: FlawTally) -> Iterator[JsonObject]:
    own = FlawTally()
    try:
        if path.is_file():
            yield from json_objects(path, own)
    except OSError as error:
        tally.note(f"{path.name} cannot be read: {error.strerror or error}")
    for note in own.notes:
        tally.note(f"{path.name}: {note}")


def _shown(value: JsonObject, found: OtherFiles) -> None:
    """Adds what a message for the user tells. One that says that a call begins comes before the user's message of that call is stored."""
    place, at = _place(value.get("conversationHistoryIndex")), as_seconds(value.get("ts"))
    if place is None:
        return
    if value.get("say") == "api_req_started":
        usage = _usage(as_text(value.get("text")))
        if usage is not None:
            found.usages[place + 2] = usage
        model = as_text(as_object(value.get("modelInfo")).get("modelId"))
        if model:
            found.models_of[place + 2] = model
        found.times[place + 1] = found.times[place + 2] = at
    cut = as_list(value.get("conversationHistoryDeletedRange"))
    end = _place(cut[1]) if len(cut) == 2 else None
    if end is not None and end > found.cut_up_to:
        found.cuts[max(place, 0)] = at
        found.cut_up_to = end


def _place(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and -1 <= value < 10**9 else None


def _usage(text: str) -> Usage | None:
    """The tokens that a message for the user tells; None if it tells none. `tokensIn` leaves out what was cached."""
    try:
        told = as_object(parse(text))
    except RecordNotJson:
        return None
    return usage_of(told, "tokensIn", "tokensOut", "cacheReads", "cacheWrites")


def _metadata(value: JsonObject, found: OtherFiles) -> None:
    for each in map(as_object, as_list(value.get("model_usage"))):
        found.models.append((as_seconds(each.get("ts")), as_text(each.get("model_id"))))
    found.models.sort()


def _compaction(told: list[JsonObject], found: OtherFiles) -> None:
    """Adds the newest compaction of a session, the only one that is kept. `told` has what is said of it, then the message with the
    summary."""
    if len(told) < 2:
        return
    about, first = told
    place, says = as_count(about.get("source_message_count")), as_object(first.get("metadata"))
    if place and says.get("kind") == "compaction_summary":
        at = as_seconds(says.get("generatedAt")) or as_seconds(about.get("updated_at"))
        found.summaries[place] = Summary(as_text(says.get("summary")), as_count(says.get("tokensBefore")), at)


def _first_two(path: Path, tally: FlawTally) -> Iterator[JsonObject]:
    """The first two objects of the file: what is said of the messages, and the first message."""
    for number, value in enumerate(_objects(path, tally)):
        yield value
        if number == 1:
            return
