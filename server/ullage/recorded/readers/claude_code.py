"""Claude Code's transcripts: JSONL as it lies in `~/.claude/projects/`, one line for each block and event.

Sub-agents are in the same file (`isSidechain` lines, or the progress lines of older versions) or in one of their own.
`claude_lines.py` knows what a line is made of and which branch is taken, `claude_content.py` what messages hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast, get_args

from ullage.context.blocks import Json, ToolUse
from ullage.context.entries import Entry, Notice, ToolReturned, UserPrompt
from ullage.recorded.readers.claude_content import RecordedReply, Result, attachment_text, is_silent, media_tokens, result_of, text_of
from ullage.recorded.readers.claude_lines import Line, LineKind, continued, line_of, queued_line, reply_key
from ullage.recorded.readers.entries import MOST_IN_MEMORY, RecordedLog, is_of_the_program, touched_by_call
from ullage.recorded.readers.flaws import (
    KEPT_MESSAGES,
    MICRO,
    NO_RESULT,
    NO_SUMMARY,
    ODD_MESSAGE,
    ORPHAN_RESULT,
    QUEUED,
    REPEATED,
    REPEATED_CALL,
    REPEATED_RESULT,
    SYNTHETIC,
    FlawTally,
    not_recorded,
    unknown,
)
from ullage.recorded.readers.values import JsonObject, as_count, as_object, as_text, printable
from ullage.recorded.transcript import RecordedCompaction, Transcript
from ullage.store.set_aside import HeldValue, Shelf

ASKS = "AskUserQuestion"
"""The tool with which the agent asks the user."""

_CHAIN_KINDS = frozenset[str](get_args(LineKind))
_OTHER_KINDS = frozenset(
    {
        "summary",
        "file-history-snapshot",
        "file-history-delta",
        "queue-operation",
        "pr-link",
        "custom-title",
        "ai-title",
        "agent-name",
        "agent-color",
        "agent-setting",
        "last-prompt",
        "mode",
        "permission-mode",
        "tag",
        "task-summary",
        "attribution-snapshot",
        "worktree-state",
        "bridge-session",
        "content-replacement",
        "speculation-accept",
    }
)
"""Kinds of lines that the program notes for itself. A prompt that was queued and then sent has a line of its own as well."""

NOT_WRITTEN = "System prompt and tools are not in the transcripts of Claude Code: the first request is larger than its messages by them"


def is_line(value: JsonObject) -> bool:
    """Whether a line of a file shows that Claude Code wrote it."""
    kind = value.get("type")
    if kind in ("user", "assistant"):
        return isinstance(value.get("message"), dict) and ("uuid" in value or "sessionId" in value)
    if kind in ("system", "progress", "attachment"):
        return "uuid" in value and "sessionId" in value
    return isinstance(kind, str) and kind in _OTHER_KINDS and ("sessionId" in value or "leafUuid" in value or "messageId" in value)


def read(lines: Iterable[JsonObject], tally: FlawTally, name: str) -> tuple[Transcript, ...]:
    """The session and its side chains. `tally` has what is wrong with the lines so far; `name` is the id of a session that names none."""
    shelf = Shelf(MOST_IN_MEMORY)
    file = _File(tally, shelf)
    for value in lines:
        file.take(value)
    file.settle_queue()
    session = printable(file.session) or name
    folder = next((line.folder for chain in (file.main, *file.sides.values()) for line in chain if line.folder), "")
    chains = [_transcript(session, folder, file.main, tally, shelf)] if file.main or not file.sides else []
    for agent, side in file.sides.items():
        # Where there is no main chain, what is wrong with the file is told with the first side chain.
        chains.append(_transcript(f"{session}/{printable(agent)}", folder, side, FlawTally() if chains else tally, shelf))
    return tuple(chains)


class _File:
    """The lines of a file, by the chain that they belong to."""

    def __init__(self, tally: FlawTally, shelf: Shelf) -> None:
        self.main: list[Line] = []
        self.sides: dict[str, list[Line]] = {}
        self.session = ""
        self._tally = tally
        self._shelf = shelf
        self._taken = 0
        self._turn = 0
        self._queue: list[str] = []
        self._queue_is_told_of = False
        """Whether prompts that left the queue for the running turn have lines of their own, as newer versions write them."""
        self._uuids: set[str] = set()
        self._agents: dict[str, str] = {}
        """The id of the sub-agent that a side chain's line belongs to, by the line's uuid."""

    def take(self, value: JsonObject) -> None:
        kind = as_text(value.get("type"))
        if kind not in _CHAIN_KINDS:
            self._take_queue_operation(value)
            self._tally.count(unknown("lines", kind), int(kind not in _OTHER_KINDS))
            if not as_text(value.get("uuid")):
                return
            kind = "progress"  # nothing is known of what it says, but others may follow it
        line = self._line(value, cast("LineKind", kind))
        self._queue_is_told_of |= kind == "attachment" and line.message.get("type") == "queued_command"
        if kind in ("user", "assistant") and not line.content:
            self._tally.count(ODD_MESSAGE, int(not _is_empty_message(value)))
        if value.get("isSidechain") is True:
            self._take_side(line, self._agent_of(value, line))
            return
        self.session = line.session or self.session
        if self._is_new(line.uuid):
            self.main.append(line)
            self._take_progress(value)

    def settle_queue(self) -> None:
        """Leaves out the prompts that left the queue where they have lines of their own. Is called after the last line."""
        if self._queue_is_told_of:
            self.main = [line for line in self.main if not line.is_queued]
        self._tally.count(QUEUED, sum(line.is_queued for line in self.main))

    def _take_queue_operation(self, value: JsonObject) -> None:
        if value.get("type") != "queue-operation":
            return
        match as_text(value.get("operation")):
            case "enqueue":
                self._queue.append(as_text(value.get("content")))
            case "dequeue":
                del self._queue[:1]
            case "popAll":
                self._queue.clear()
            case "remove" if self._queue:
                before = next((line.uuid for line in reversed(self.main) if line.kind in ("user", "assistant")), "")
                self._taken += 1
                self.main.append(queued_line(self._queue.pop(0), value, before, f"line-{self._taken}", self._shelf))
            case other:
                self._tally.count(unknown("queue operations", other), int(other != "remove"))

    def _take_progress(self, value: JsonObject) -> None:
        """Takes in the message of a sub-agent that a progress line of older versions carries."""
        data = as_object(value.get("data"))
        if value.get("type") != "progress" or data.get("type") != "agent_progress":
            return
        message = as_object(data.get("message"))
        kind = as_text(message.get("type"))
        if kind in ("user", "assistant"):
            self._take_side(self._line(message, cast("LineKind", kind)), as_text(data.get("agentId")) or "agent")
        else:
            self._tally.count(unknown("progress messages", kind))

    def _line(self, value: JsonObject, kind: LineKind) -> Line:
        self._taken += 1
        line = line_of(value, kind, f"line-{self._taken}", self._turn, self._shelf)
        self._turn += kind == "user" and not line.results
        return line

    def _take_side(self, line: Line, agent: str) -> None:
        self.session = self.session or line.session
        if self._is_new(line.uuid):
            self._agents[line.uuid] = agent
            self.sides.setdefault(agent, []).append(line)

    def _agent_of(self, value: JsonObject, line: Line) -> str:
        return as_text(value.get("agentId")) or self._agents.get(line.parent) or line.uuid[:8]

    def _is_new(self, uuid: str) -> bool:
        if uuid in self._uuids:
            self._tally.count(REPEATED)
            return False
        self._uuids.add(uuid)
        return True


def _is_empty_message(value: JsonObject) -> bool:
    return as_object(value.get("message")).get("content") in ("", [])


def _transcript(session: str, folder: str, lines: list[Line], tally: FlawTally, shelf: Shelf) -> Transcript:
    built = ChainLogBuilder(continued(lines, tally), tally, shelf)
    tally.note(NOT_WRITTEN if built.log.length else "Nothing is said in it")
    return Transcript(
        session_id=session,
        source="claude-code",
        entries=built.log.entries,
        compactions=tuple(built.compactions),
        repairs=tally.repairs,
        notes=tally.notes,
        estimated_outputs=frozenset(built.log.estimated_outputs),
        media_tokens=built.log.media_tokens,
        project=folder,
    )


# The kept lines as the entries of a session

SILENT_SYSTEM_LINES = {
    "stop_hook_summary",
    "turn_duration",
    "local_command",
    "informational",
    "api_error",
    "away_summary",
    "bridge_status",
    "scheduled_task_fire",
    "memory_saved",
    "thinking",
    "api_metrics",
    "agents_killed",
    "permission_retry",
    "file_snapshot",
}
"""System lines that the model is not shown."""


@dataclass(frozen=True, slots=True)
class _Returned:
    result: HeldValue[Result]
    line: Line
    number: int
    """The place of the result among all results of the file, from 1."""


class ChainLogBuilder:
    """Builds the log of one chain of lines."""

    def __init__(self, lines: Sequence[Line], tally: FlawTally, shelf: Shelf) -> None:
        self.log = RecordedLog(tally)
        self.compactions: list[RecordedCompaction] = []
        self._tally = tally
        self._shelf = shelf
        self._folder = next((line.folder for line in lines if line.folder), "")
        self._model = next((model for line in lines if (model := as_text(line.message.get("model"))) and not line.is_error), "")
        self._replies: dict[str, RecordedReply] = {}
        self._results: dict[str, list[_Returned]] = {}
        self._called: set[str] = set()
        self._emitted: set[str] = set()
        self._collect(lines)
        for line in lines:
            self._emit(line)
        self._count_orphans()

    # What belongs together, wherever it lies in the file

    def _collect(self, lines: Sequence[Line]) -> None:
        number = 0
        open_calls: dict[str, RecordedReply] = {}
        for line in lines:
            if line.is_error:
                continue
            if line.kind == "assistant":
                key = reply_key(line)
                reply = self._replies.setdefault(key, RecordedReply(line.reply or line.uuid, self._shelf))
                new = reply.add(line, self._tally)
                open_calls.update((block.id, reply) for block in new if isinstance(block, ToolUse))
            elif line.kind == "user":
                for result in _results_of(line, self._model, self._tally):
                    number += 1
                    self._results.setdefault(result.tool_use_id, []).append(
                        _Returned(self._shelf.hold(result, len(result.content)), line, number)
                    )
                    if result.tool_use_id in open_calls:
                        open_calls[result.tool_use_id].is_answered = True

    # One line after the other

    def _emit(self, line: Line) -> None:
        match line.kind:
            case "assistant":
                self._emit_reply(line)
            case "user":
                self._emit_words(line)
            case "attachment":
                self._emit_attachment(line)
            case "system":
                self._emit_system(line)
            case "progress":
                pass

    def _emit_reply(self, line: Line) -> None:
        if line.is_error:
            self._tally.count(SYNTHETIC)
            return
        key = reply_key(line)
        if key in self._emitted:
            return
        self._emitted.add(key)
        reply = self._replies.pop(key)
        finished = reply.finished(self._tally)
        seq = self.log.add(finished, reply.at)
        if reply.output_is_estimated:
            self.log.estimated_outputs.add(seq)
        self._emit_results([block for block in finished.blocks if isinstance(block, ToolUse)])

    def _emit_results(self, calls: Sequence[ToolUse]) -> None:
        """Adds all results of a reply right after it, in the order of the file: what was said meanwhile was sent after them."""
        returned: list[tuple[ToolUse, _Returned]] = []
        for call in calls:
            self._tally.count(REPEATED_CALL, int(call.id in self._called))
            self._called.add(call.id)
            waiting = self._results.get(call.id)
            if waiting:
                returned.append((call, waiting.pop(0)))
            else:
                self._tally.count(NO_RESULT)
        for call, each in sorted(returned, key=lambda pair: pair[1].number):
            result = each.result.get()
            self.log.add(self._tool_returned(call, result, each.line), each.line.at, result.media_tokens)

    def _tool_returned(self, call: ToolUse, result: Result, line: Line) -> ToolReturned:
        touched = () if result.is_error else touched_by_call(call, line.file, self._folder)
        answers = line.answers if call.name == ASKS and not result.is_error else ()
        return ToolReturned(
            *(call.id, call.name, result.content, result.is_error, len(result.content)),
            touched=touched,
            refusal=result.refusal,
            answers=answers,
        )

    def _emit_words(self, line: Line) -> None:
        if line.is_hidden:
            return
        said = [block for block in line.content if not _is_result(block)]
        texts = [text_of(block, self._model, self._tally) for block in said]
        text = "\n\n".join(text for text in texts if text.strip())
        if line.is_summary:
            self._emit_summary(line, text)
        elif text:
            self.log.add(_words(line, text), line.at, media_tokens(said, self._model))

    def _emit_attachment(self, line: Line) -> None:
        kind = as_text(line.message.get("type"))
        if is_silent(line.message):
            return
        text = attachment_text(line.message)
        if not text:
            self._tally.count(not_recorded(kind))
        elif kind == "queued_command" and not is_of_the_program(text):
            self.log.add(UserPrompt(line.uuid, text, steering=True), line.at)
        else:
            self.log.add(Notice("file_changed" if kind == "edited_text_file" else "rules", text), line.at)

    def _emit_system(self, line: Line) -> None:
        kind = as_text(line.message.get("subtype"))
        if kind == "compact_boundary":
            about = as_object(line.message.get("compactMetadata"))
            trigger = as_text(about.get("trigger"))
            automatic = {"auto": True, "manual": False}.get(trigger)
            self._tally.count(KEPT_MESSAGES, int(bool(about.get("preservedSegment") or about.get("preservedMessages"))))
            self.compactions.append(RecordedCompaction(self.log.length, "", automatic, as_count(about.get("preTokens")), line.at or None))
        elif kind == "microcompact_boundary":
            self._tally.count(MICRO)
        elif kind not in SILENT_SYSTEM_LINES:
            self._tally.count(unknown("system lines", kind))

    def _emit_summary(self, line: Line, text: str) -> None:
        last = self.compactions[-1] if self.compactions else None
        if last is not None and not last.summary:
            self.compactions[-1] = replace(last, summary=text)
        else:
            self.compactions.append(RecordedCompaction(self.log.length, text, None, None, line.at or None))

    def _count_orphans(self) -> None:
        for id, left in self._results.items():
            self._tally.count(REPEATED_RESULT if id in self._called else ORPHAN_RESULT, len(left))
        self._tally.count(NO_SUMMARY, sum(not each.summary for each in self.compactions))


def _words(line: Line, text: str) -> Entry:
    if line.is_meta or is_of_the_program(text):
        return Notice("rules", text)
    return UserPrompt(line.uuid, text, steering=line.is_queued)


def _is_result(block: Json) -> bool:
    return as_object(block).get("type") == "tool_result"


def _results_of(line: Line, model: str, tally: FlawTally) -> list[Result]:
    return [result_of(as_object(block), model, tally) for block in line.content if _is_result(block)]
