"""Sessions of pi (badlogic/pi-mono): JSONL as it lies in `~/.pi/agent/sessions/`, one line for each entry of a tree.

The format was taken from github.com/badlogic/pi-mono at 83378aad (coding agent 0.58.3): `packages/coding-agent/src/core/session-manager.ts`
and `messages.ts`, `packages/ai/src/types.ts`, `packages/coding-agent/docs/session.md`. Versions 1 (lines without ids) to 3 are read.

Each entry names the one that it follows. The conversation is the path to the last entry; other branches were left by the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ullage.context.blocks import AssistantBlock, Json, RedactedThinking, Text, Thinking, Usage
from ullage.recorded.readers.conversation import NOTHING, RecordedText, TranscriptBuilder, joined, usage_of
from ullage.recorded.readers.entries import IMAGES_NOTE, shown_image
from ullage.recorded.readers.flaws import (
    ABORTED,
    BROKEN_CHAIN,
    KEPT_MESSAGES,
    ODD_MESSAGE,
    OTHER_BRANCH,
    REPEATED,
    FlawTally,
    unknown,
)
from ullage.recorded.readers.values import JsonObject, as_count, as_list, as_object, as_seconds, as_text
from ullage.recorded.transcript import Transcript

_SILENT = frozenset({"session", "thinking_level_change", "model_change", "custom", "label", "session_info"})
"""Kinds of entries that the model is not shown."""
_ROLES = frozenset({"user", "assistant", "toolResult", "bashExecution", "custom", "hookMessage", "branchSummary", "compactionSummary"})


@dataclass(frozen=True, slots=True)
class _Step:
    """The parts of an entry that are needed; a line may repeat whole files beside them. Of a reply, `blocks` are what it said; of all
    others, `said` is."""

    kind: str
    at: float
    said: RecordedText = NOTHING
    blocks: tuple[AssistantBlock, ...] = ()
    model: str = ""
    usage: Usage | None = None
    call_id: str = ""
    failed: bool = False
    tokens_before: int | None = None
    keeps: bool = False
    """Whether a compaction left messages before it as they were."""


def is_line(value: JsonObject) -> bool:
    """Whether a line of a file shows that pi wrote it."""
    kind = value.get("type")
    if kind == "session":
        return isinstance(value.get("id"), str) and isinstance(value.get("cwd"), str)
    message = as_object(value.get("message"))
    return kind == "message" and as_text(message.get("role")) in _ROLES and "uuid" not in value and "sessionId" not in value


def read(lines: Iterable[JsonObject], tally: FlawTally, name: str) -> tuple[Transcript, ...]:
    """The one session of a file. `tally` has what is wrong with the lines so far; `name` is the id of a session that names none."""
    file = _File(tally)
    for value in lines:
        file.take(value)
    built = TranscriptBuilder(tally, file.folder)
    for step in file.path():
        _add(step, built, tally)
    tally.note("System prompt and tools are not in pi's sessions: the first request is larger than its messages by them")
    return (built.transcript(file.session or name, "pi"),)


class _File:
    """The entries of a file, and which one each of them follows."""

    def __init__(self, tally: FlawTally) -> None:
        self.session = ""
        self.folder = ""
        self._tally = tally
        self._steps: list[_Step] = []
        self._before: list[int] = []
        """For each entry the place of the one that it follows; -1 for an entry that follows none."""
        self._places: dict[str, int] = {}
        self._calls = TranscriptBuilder(tally)

    def take(self, value: JsonObject) -> None:
        """Takes in one line of the file."""
        if value.get("type") == "session":
            self.session = self.session or as_text(value.get("id"))
            self.folder = self.folder or as_text(value.get("cwd"))
            return
        id = as_text(value.get("id"))
        if id in self._places:
            self._tally.count(REPEATED)
            return
        last = len(self._steps) - 1
        parent = value.get("parentId")
        before = self._places.get(parent, last) if isinstance(parent, str) else (-1 if id else last)
        self._tally.count(BROKEN_CHAIN, int(isinstance(parent, str) and parent not in self._places))
        if id:
            self._places[id] = len(self._steps)
        self._before.append(before)
        self._steps.append(self._step(value))

    def path(self) -> Sequence[_Step]:
        """The entries that lead to the last one, from the first."""
        places: list[int] = []
        place = len(self._steps) - 1
        while place >= 0:
            places.append(place)
            place = self._before[place]
        of_the_path = set(places)
        left = (step for index, step in enumerate(self._steps) if index not in of_the_path)
        self._tally.count(OTHER_BRANCH, sum(step.kind in ("user", "assistant") for step in left))
        return [self._steps[place] for place in reversed(places)]

    def _step(self, value: JsonObject) -> _Step:
        at = as_seconds(value.get("timestamp"))
        match as_text(value.get("type")):
            case "message":
                message = as_object(value.get("message"))
                return self._message(message, as_seconds(message.get("timestamp")) or at)
            case "compaction":
                keeps = bool(value.get("firstKeptEntryId")) or value.get("firstKeptEntryIndex") is not None
                before = as_count(value.get("tokensBefore"))
                return _Step("compaction", at, RecordedText(as_text(value.get("summary"))), tokens_before=before, keeps=keeps)
            case "branch_summary":
                return _Step("notice", at, RecordedText(as_text(value.get("summary"))))
            case "custom_message":
                return _Step("notice", at, self._said(value.get("content")))
            case kind:
                self._tally.count(unknown("lines", kind), int(kind not in _SILENT))
                return _Step("", at)

    def _message(self, message: JsonObject, at: float) -> _Step:
        match as_text(message.get("role")):
            case "user":
                return _Step("user", at, self._said(message.get("content")))
            case "assistant":
                counts = as_object(message.get("usage"))
                usage = usage_of(counts, "input", "output", "cacheRead", "cacheWrite")
                failed = message.get("stopReason") in ("error", "aborted")
                blocks = tuple(self._block(as_object(block)) for block in as_list(message.get("content")))
                return _Step("assistant", at, blocks=blocks, model=as_text(message.get("model")), usage=usage, failed=failed)
            case "toolResult":
                said, failed = self._said(message.get("content")), message.get("isError") is True
                return _Step("result", at, said, call_id=as_text(message.get("toolCallId")), failed=failed)
            case "bashExecution":
                hidden = message.get("excludeFromContext") is True
                return _Step("", at) if hidden else _Step("notice", at, RecordedText(_shell(message)))
            case "custom" | "hookMessage":
                return _Step("notice", at, self._said(message.get("content")))
            case "branchSummary":
                return _Step("notice", at, RecordedText(as_text(message.get("summary"))))
            case "compactionSummary":
                before = as_count(message.get("tokensBefore"))
                return _Step("compaction", at, RecordedText(as_text(message.get("summary"))), tokens_before=before)
            case role:
                self._tally.count(unknown("messages", role))
                return _Step("", at)

    def _block(self, block: JsonObject) -> AssistantBlock:
        match as_text(block.get("type")):
            case "text":
                return Text(as_text(block.get("text")))
            case "thinking" if block.get("redacted") is True:
                return RedactedThinking(as_text(block.get("thinkingSignature")))
            case "thinking":
                return Thinking(as_text(block.get("thinking")), as_text(block.get("thinkingSignature")))
            case "toolCall":
                return self._calls.call(as_text(block.get("id")), as_text(block.get("name")), block.get("arguments"))
            case "":
                self._tally.count(ODD_MESSAGE)
            case kind:
                self._tally.count(unknown("blocks", kind))
        return Text("")

    def _said(self, content: Json) -> RecordedText:
        if isinstance(content, str):
            return RecordedText(content)
        if not isinstance(content, list):
            self._tally.count(ODD_MESSAGE)
        return joined([self._part(as_object(part)) for part in as_list(content)])

    def _part(self, part: JsonObject) -> RecordedText:
        match as_text(part.get("type")):
            case "text":
                return RecordedText(as_text(part.get("text")))
            case "image":
                self._tally.note(IMAGES_NOTE)
                shown = shown_image(as_text(part.get("data")), old_model=False)
                return RecordedText(shown.words, shown.tokens)
            case "":
                self._tally.count(ODD_MESSAGE)
            case kind:
                self._tally.count(unknown("blocks", kind))
        return NOTHING


def _add(step: _Step, built: TranscriptBuilder, tally: FlawTally) -> None:
    match step.kind:
        case "user":
            built.prompt(step.said, step.at)
        case "assistant":
            says_nothing = step.failed and not step.blocks
            tally.count(ABORTED, int(says_nothing))
            if not says_nothing:
                built.reply(step.blocks, step.model, step.usage, step.at)
        case "result":
            built.result(step.call_id, step.said, step.failed, step.at)
        case "notice":
            built.notice(step.said, step.at)
        case "compaction":
            tally.count(KEPT_MESSAGES, int(step.keeps))
            built.compaction(step.said.text, None, step.tokens_before, step.at)
        case _:
            pass


def _shell(message: JsonObject) -> str:
    """The words for a command that the user ran and for what it printed: the model is shown both."""
    code = as_count(message.get("exitCode"))
    ended = f"\n(exit code {code})" if code else ""
    return f"$ {as_text(message.get('command'))}\n{as_text(message.get('output'))}{ended}"
