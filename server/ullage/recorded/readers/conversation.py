"""A conversation as it is built from the messages of other programs: replies with their calls, results, words, compactions.

A result is put behind the call that it answers, and words that come while calls still run are put behind their results, as the API wants
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ullage.context.blocks import AssistantBlock, RedactedThinking, Text, Thinking, ToolUse, Usage
from ullage.context.entries import AssistantReply, Entry, Notice, ToolReturned, UserPrompt
from ullage.recorded.readers.entries import RecordedLog, is_of_the_program, patches_in, touched_by_call, touched_by_patch
from ullage.recorded.readers.flaws import (
    NO_RESULT,
    NO_SUMMARY,
    NO_USAGE,
    ODD_NAME,
    ORPHAN_RESULT,
    REPEATED_CALL,
    REPEATED_RESULT,
    USAGE_ALONE,
    FlawTally,
)
from ullage.recorded.readers.values import Json, JsonObject, as_count, as_tool_input, as_tool_name, printable
from ullage.recorded.transcript import RecordedCompaction, Source, Transcript


@dataclass(frozen=True, slots=True)
class RecordedText:
    """Text, with the tokens of the images and documents for which it has words."""

    text: str
    media_tokens: int = 0


NOTHING = RecordedText("")


class TranscriptBuilder:
    """Builds the transcript of one session. `folder` is where the agent worked: paths below it are shown relative to it."""

    def __init__(self, tally: FlawTally, folder: str = "") -> None:
        self.folder = folder
        self._tally = tally
        self._log = RecordedLog(tally)
        self._compactions: list[RecordedCompaction] = []
        self._running: dict[str, ToolUse] = {}
        self._answered: set[str] = set()
        self._called: set[str] = set()
        self._waiting: list[tuple[Entry, float, int]] = []
        self._made = Counter[str]()

    @property
    def length(self) -> int:
        """The number of entries so far."""
        return self._log.length

    def call(self, id: str, name: str, input: Json) -> ToolUse:
        """Makes a tool call, to be given to `reply`. A call without an id gets one."""
        written = as_tool_name(name)
        self._tally.count(ODD_NAME, int(written != name))
        return ToolUse(id or self._new_id("call"), written, as_tool_input(input))

    def reply(self, blocks: Sequence[AssistantBlock], model: str, usage: Usage | None, at: float, id: str = "") -> None:
        """Adds what the model said in one call. A call in which it said nothing is no reply, whatever it cost."""
        self._settle()
        said = tuple(block for block in blocks if _says_something(block))
        if not said:
            self._tally.count(USAGE_ALONE, int(usage is not None))
            return
        self._tally.count(NO_USAGE, int(usage is None))
        calls = [block for block in said if isinstance(block, ToolUse)]
        for each in calls:
            self._tally.count(REPEATED_CALL, int(each.id in self._called))
            self._called.add(each.id)
        self._answered.difference_update(each.id for each in calls)
        self._running = {each.id: each for each in calls}
        self._log.add(AssistantReply(id or self._new_id("reply"), said, model, "tool_use" if calls else "end_turn", usage), at)

    def result(self, call_id: str, said: RecordedText, is_error: bool, at: float, *, is_told_again: bool = False) -> None:
        """Adds what a tool gave back. One that `is_told_again` may have been added before, as some programs note results twice."""
        call = self._running.pop(call_id, None)
        if call is None:
            if not is_told_again:
                self._tally.count(REPEATED_RESULT if call_id in self._answered else ORPHAN_RESULT)
            return
        self._answered.add(call_id)
        patch = patches_in(call)
        touched = touched_by_patch(patch, self.folder) if patch else touched_by_call(call, None, self.folder)
        text = said.text
        returned = ToolReturned(call_id, call.name, text, is_error, len(text), touched=() if is_error else touched)
        self._log.add(returned, at, said.media_tokens)
        if not self._running:
            self._settle()

    def prompt(self, said: RecordedText, at: float, id: str = "") -> None:
        """Adds what the user said. Where the words show that the program said it in the user's role, it becomes a notice."""
        of_the_program = is_of_the_program(said.text)
        self._words(Notice("rules", said.text) if of_the_program else UserPrompt(id or self._new_id("prompt"), said.text), said, at)

    def notice(self, said: RecordedText, at: float) -> None:
        """Adds what the program told the model."""
        self._words(Notice("rules", said.text), said, at)

    def compaction(
        self,
        summary: str,
        automatic: bool | None,
        tokens_before: int | None,
        at: float,
        *,
        after: int | None = None,
        usage: Usage | None = None,
    ) -> None:
        """Adds a compaction: what was said so far, or up to the entry `after`, gave way to `summary`, which is empty if the record does not
        tell it."""
        self._settle()
        self._tally.count(NO_SUMMARY, int(not summary))
        place = self.length if after is None else after
        self._compactions.append(RecordedCompaction(place, summary, automatic, tokens_before, at or None, usage=usage))
        self._compactions.sort(key=lambda each: each.after_seq)

    def transcript(self, session_id: str, source: Source, project: str = "") -> Transcript:
        """The transcript of everything that was added. `project` is where the agent worked, if that is not the folder."""
        self._settle()
        if not self.length:
            self._tally.note("Nothing is said in it")
        return Transcript(
            session_id=printable(session_id),
            source=source,
            entries=self._log.entries,
            compactions=tuple(self._compactions),
            repairs=self._tally.repairs,
            notes=self._tally.notes,
            media_tokens=self._log.media_tokens,
            project=project or self.folder,
        )

    def _words(self, entry: Entry, said: RecordedText, at: float) -> None:
        if not said.text.strip():
            return
        self._waiting.append((entry, at, said.media_tokens))
        if not self._running:
            self._settle()

    def _settle(self) -> None:
        """Gives up the calls that still have no result, since none will come, and adds what was said meanwhile."""
        self._tally.count(NO_RESULT, len(self._running))
        self._running = {}
        for entry, at, media_tokens in self._waiting:
            self._log.add(entry, at, media_tokens)
        self._waiting.clear()

    def _new_id(self, kind: str) -> str:
        self._made[kind] += 1
        return f"{kind}-{self._made[kind]}"


def _says_something(block: AssistantBlock) -> bool:
    match block:
        case Text(text):
            return bool(text.strip())
        case Thinking():
            return bool(block.thinking or block.signature)
        case RedactedThinking(data):
            return bool(data)
        case _:
            return True


def usage_of(counts: JsonObject, input: str, output: str, read: str, written: str) -> Usage | None:
    """The tokens of one call, found by the names that a program gives them; None if none are told. `input` leaves out what was cached."""
    told = [as_count(counts.get(name)) for name in (input, output, read, written)]
    sent, got, from_cache, to_cache = (each or 0 for each in told)
    usage = Usage(sent, got, from_cache, to_cache)
    return usage if usage.context_tokens > 0 else None


def joined(parts: Sequence[RecordedText]) -> RecordedText:
    """The texts as one, a line break between them, with the tokens of all."""
    return RecordedText("\n".join(part.text for part in parts if part.text), sum(part.media_tokens for part in parts))
