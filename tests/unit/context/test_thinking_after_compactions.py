"""Whatever compactions come, by the API, by a client or by rule, drafted early, undone and redone: no request holds thinking that is
bound to another conversation. The strict fake signs and judges it, with "error" for a mismatch."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.deep import many
from tests.fake_api.catalogue import MODELS
from tests.fake_api.reading import Reading
from tests.fake_api.thinking import ThinkingSeals
from tests.fake_api.validation import validate_request
from tests.unit.context.logs import prompt
from tests.unit.context.pictures import kept
from ullage.context.blocks import AssistantBlock, CompactionBlock, Json, Message, SystemPart, Text, Thinking, ToolSpec, ToolUse
from ullage.context.compaction.api_summary import block_cuts
from ullage.context.compaction_entries import Cleared, Compaction, CompactionRedone, CompactionUndone, RestoredFile, Snipped, Summarised
from ullage.context.entries import AssistantReply, Entry, Logged, Prelude, ToolReturned
from ullage.context.moves.cuts import legal_cuts
from ullage.context.view.epoch import EpochKey
from ullage.context.view.projection import Projection
from ullage.context.view.request import Request, build_request, request_so_far, without_block
from ullage.models.serialise import Serialiser, betas

MODEL, OTHER = "claude-opus-5-5", "claude-sonnet-5-5"
SCHEMA: dict[str, Json] = {"type": "object", "properties": {}}
TOOLS = (ToolSpec("bash", "Runs it.", SCHEMA),)


@dataclass(frozen=True)
class Drafted:
    """A block that the API wrote, and what it stands for."""

    key: EpochKey
    to: int
    block: CompactionBlock


class Life:
    """One session: the real log and view, the fake's judgement, no socket."""

    def __init__(self) -> None:
        self.seals = ThinkingSeals()
        self.projection = Projection()
        self.drafted: Drafted | None = None
        self.made = 0
        self.calls = 0
        self.model = MODEL
        self.log(Prelude((SystemPart("system", "You help."),), TOOLS))

    def log(self, entry: Entry) -> None:
        self.projection.append(Logged(len(self.projection.entries) + 1, 0.0, entry))

    def turn(self, number: int) -> None:
        self.log(prompt(f"Prompt {number}"))
        for _ in range(number % 3):
            self.ask(calls=1 + number % 2)
        self.ask()

    def ask(self, calls: int = 0) -> None:
        """A request that the API must take, and its reply, with thinking that is bound to it."""
        reading = self._judged(build_request(self.projection))
        blocks: list[AssistantBlock] = [Thinking("Hm.", self.seals.sign(reading, "Hm.")), Text("Said.")]
        reading.take("assistant", {"type": "text", "text": "Said."})
        blocks.append(Thinking("So.", self.seals.sign(reading, "So.")))
        used: list[ToolUse] = []
        for _ in range(calls):
            self.calls += 1
            used.append(ToolUse(f"t{self.calls}", "bash", {}))
        self.log(AssistantReply("r", (*blocks, *(used or [Text("Done.")])), self.model, "tool_use" if used else "end_turn", None))
        for call in used:
            self.log(ToolReturned(call.id, "bash", f"output of {call.id}", False, 12))

    def draft(self, number: int) -> None:
        """The API writes a block for a part of what it was sent; the conversation goes on meanwhile."""
        messages = self.projection.messages
        cuts = block_cuts(messages)
        if not cuts:
            return
        cut = cuts[number % len(cuts)]
        request = request_so_far(self.projection)
        reading = self._judged(Request(request.system, request.tools, request.messages[:cut], (), "Summarise."))
        block = self.seals.compactions.block(reading, MODELS[self.model], f"Summary {number}")
        to = self.projection.last_seq_before(cut)
        self.drafted = Drafted(self.projection.key, to, CompactionBlock(json.dumps(block), self.model))

    def commit(self, number: int) -> None:
        drafted, self.drafted = self.drafted, None
        if drafted is not None and drafted.key == self.projection.key:
            restored = (RestoredFile("a.py", "a.py again", "whole", "0" * 64),) if number % 2 else ()
            self._compact(summarised=Summarised(drafted.to, "The record.", 1, block=drafted.block), restored=restored)

    def compact_by_api(self, number: int) -> None:
        self.draft(number)
        self.commit(number)

    def commit_with_more(self, number: int) -> None:
        """Not as Ullage does it: the same entry clears a result that was kept, or carries one that was covered."""
        drafted, self.drafted = self.drafted, None
        if drafted is None or drafted.key != self.projection.key:
            return
        results = [logged.seq for logged in self.projection.entries if isinstance(logged.entry, ToolReturned)]
        carried = tuple(seq for seq in results if seq <= drafted.to) if number % 2 else ()
        cleared = () if number % 2 else tuple(Cleared(seq, "[cleared]") for seq in results if seq > drafted.to)
        self._compact(summarised=Summarised(drafted.to, "The record.", 1, carried=carried, block=drafted.block), cleared=cleared)

    def there_and_back(self, number: int) -> None:
        """Undo the newest, go on, redo it."""
        if self.projection.active:
            newest = self.projection.active[-1].id
            self.log(CompactionUndone(newest))
            self.turn(number)
            self.log(CompactionRedone(newest))

    def compact_by_client(self, number: int) -> None:
        cuts = legal_cuts(self.projection.messages)
        self._compact(summarised=Summarised(self.projection.last_seq_before(cuts[number % len(cuts)]), "Handoff.", 1))

    def clear(self, number: int) -> None:
        results = [logged.seq for logged in self.projection.entries if isinstance(logged.entry, ToolReturned)]
        self._compact(cleared=tuple(Cleared(seq, "[cleared]") for seq in results[: number + 1]))

    def snip(self, number: int) -> None:
        cuts = legal_cuts(self.projection.messages)
        first, last = sorted((cuts[number % len(cuts)], cuts[-1]))
        from_seq, to_seq = self.projection.last_seq_before(first) + 1, self.projection.last_seq_before(last)
        if from_seq <= to_seq:
            self._compact(snipped=Snipped(from_seq, to_seq, "[snipped]"))

    def undo(self, number: int) -> None:
        if self.projection.active:
            self.log(CompactionUndone(self.projection.active[number % len(self.projection.active)].id))

    def redo(self, number: int) -> None:
        if self.projection.undone:
            self.log(CompactionRedone(self.projection.undone[number % len(self.projection.undone)].id))

    def change_rules(self, number: int) -> None:
        self.log(Prelude((SystemPart("system", "You help."), SystemPart("rules", f"Rule {number}.")), TOOLS))

    def change_model(self, number: int) -> None:
        self.model = OTHER if self.model == MODEL else MODEL

    def _compact(
        self,
        summarised: Summarised | None = None,
        cleared: tuple[Cleared, ...] = (),
        snipped: Snipped | None = None,
        restored: tuple[RestoredFile, ...] = (),
    ) -> None:
        before = list(self.projection.complete_messages)
        self.made += 1
        id, through = f"c{self.made}", len(self.projection.entries)
        self.log(Compaction(id, "manual", "digest", through, cleared, snipped, summarised, restored, "Go on.", "", "ullage", 0, 0))
        after = list(self.projection.complete_messages)
        entries = list(self.projection.entries)
        undone = Projection([*entries, Logged(len(entries) + 1, 0.0, CompactionUndone(id))])
        assert list(undone.complete_messages) == before
        redone = undone.with_appended(Logged(len(entries) + 2, 0.0, CompactionRedone(id)))
        assert list(redone.complete_messages) == after

    def _judged(self, request: Request) -> Reading:
        raw = Serialiser(kept).body(
            request, opening={"model": self.model, "stream": True}, max_tokens=1_000, adaptive_thinking=True, mismatch="error"
        )
        body = json.loads(raw)
        validate_request(body, betas=betas(request, "error"))
        return self.seals.check(body, MODELS[self.model]).reading


HAPPENINGS: dict[str, Callable[[Life, int], None]] = {
    "turn": Life.turn,
    "draft": Life.draft,
    "commit": Life.commit,
    "api": Life.compact_by_api,
    "commit with more": Life.commit_with_more,
    "there and back": Life.there_and_back,
    "client": Life.compact_by_client,
    "clear": Life.clear,
    "snip": Life.snip,
    "undo": Life.undo,
    "redo": Life.redo,
    "rules": Life.change_rules,
    "model": Life.change_model,
}
kinds = st.sampled_from(
    ["turn"] * 5
    + ["draft", "draft", "commit", "commit", "commit with more", "api", "api", "there and back"]
    + ["client", "clear", "snip", "undo", "redo", "rules", "model"]
)


@given(st.lists(st.tuples(kinds, st.integers(0, 20)), max_size=25))
@settings(max_examples=many(150, deep=5_000), deadline=None)
def test_the_api_takes_every_request(happenings: list[tuple[str, int]]) -> None:
    life = Life()
    for what, number in happenings:
        HAPPENINGS[what](life, number)
    life.turn(0)


def thoughts(messages: list[Message]) -> int:
    return sum(isinstance(block, Thinking) for message in messages for block in message.blocks)


@pytest.mark.parametrize(("before", "meanwhile", "kept"), [(0, 0, 2), (0, 2, 4), (2, 0, 2)])
def test_the_turns_that_the_api_left_out_keep_their_thinking(before: int, meanwhile: int, kept: int) -> None:
    life = Life()
    for number in (0, 3, 6):
        life.turn(number)
    cuts = block_cuts(life.projection.messages)
    life.draft(cuts.index(4))
    for _ in range(meanwhile // 2):
        life.turn(0)
    for _ in range(before // 2):
        life.clear(0)  # moves the epoch on: the draft is of another
    life.commit(0)
    life.turn(0)
    messages = list(life.projection.messages)
    if before:
        assert life.projection.active[-1].summarised is None
        return
    assert isinstance(messages[0].blocks[0], CompactionBlock)
    assert thoughts(messages) == kept + 2
    life.undo(0)
    life.turn(0)


def test_a_client_written_summary_takes_thinking_with_it() -> None:
    life = Life()
    for number in (0, 3):
        life.turn(number)
    life.compact_by_client(1)
    assert thoughts(list(life.projection.messages)) == 0


def test_another_endpoint_gets_the_summary_as_text() -> None:
    life = Life()
    for number in (0, 3, 1):
        life.turn(number)
    life.draft(3)
    life.commit(1)
    life.log(prompt("Go on."))
    request = build_request(life.projection)
    assert request.block is not None
    plain = without_block(request)
    assert plain.block is None
    assert betas(plain) == ()
    assert thoughts(list(plain.messages)) == 0
    assert isinstance(plain.messages[0].blocks[0], Text)
    assert request.block.content in plain.messages[0].blocks[0].text
    validate_request(
        json.loads(Serialiser(kept).body(plain, opening={"model": MODEL, "stream": True}, max_tokens=1_000, adaptive_thinking=True))
    )
    assert without_block(plain) is plain
