"""The kept lines of a Claude Code transcript as the entries of a session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ullage.context.blocks import Json, ToolUse
from ullage.context.entries import Entry, Notice, ToolReturned, UserPrompt
from ullage.replay.readers.claude_content import Reply, Result, attachment_text, is_silent, media_tokens, refusal_in, result_of, text_of
from ullage.replay.readers.claude_lines import Line, reply_key
from ullage.replay.readers.entries import Log, is_of_the_program, touched_by_call
from ullage.replay.readers.flaws import (
    KEPT_MESSAGES,
    MICRO,
    NO_RESULT,
    NO_SUMMARY,
    ORPHAN_RESULT,
    REPEATED_CALL,
    REPEATED_RESULT,
    SYNTHETIC,
    Tally,
    not_recorded,
    unknown,
)
from ullage.replay.readers.values import as_count, as_object, as_text
from ullage.replay.transcript import RecordedCompaction

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
    result: Result
    line: Line
    number: int
    """Of all results, in the order of the file."""


class Entries:
    """Builds the log of one chain of lines."""

    def __init__(self, lines: Sequence[Line], tally: Tally) -> None:
        self.log = Log(tally)
        self.compactions: list[RecordedCompaction] = []
        self._tally = tally
        self._folder = next((line.folder for line in lines if line.folder), "")
        self._model = next((model for line in lines if (model := as_text(line.message.get("model"))) and not line.is_error), "")
        self._replies: dict[str, Reply] = {}
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
        open_calls: dict[str, Reply] = {}
        for line in lines:
            if line.is_error:
                continue
            if line.kind == "assistant":
                key = reply_key(line)
                reply = self._replies.setdefault(key, Reply(as_text(line.message.get("id")) or line.uuid))
                new = reply.add(line, self._tally)
                open_calls.update((block.id, reply) for block in new if isinstance(block, ToolUse))
            elif line.kind == "user":
                for result in _results_of(line, self._model, self._tally):
                    number += 1
                    self._results.setdefault(result.tool_use_id, []).append(_Returned(result, line, number))
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
        reply = self._replies[key]
        seq = self.log.add(reply.finished(self._tally), reply.at)
        if reply.output_is_estimated:
            self.log.estimated_outputs.add(seq)
        self._emit_results(reply.calls)

    def _emit_results(self, calls: Sequence[ToolUse]) -> None:
        """All results of a reply, in the order of the file, right after it: what was said meanwhile was sent after them."""
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
            self.log.add(self._tool_returned(call, each), each.line.at, each.result.media_tokens)

    def _tool_returned(self, call: ToolUse, returned: _Returned) -> ToolReturned:
        result = returned.result
        touched = () if result.is_error else touched_by_call(call, returned.line.file, self._folder)
        refusal = refusal_in(result)
        return ToolReturned(call.id, call.name, result.content, result.is_error, len(result.content), touched=touched, refusal=refusal)

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


def _results_of(line: Line, model: str, tally: Tally) -> list[Result]:
    return [result_of(as_object(block), model, tally) for block in line.content if _is_result(block)]
