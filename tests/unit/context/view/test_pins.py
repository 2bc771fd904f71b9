from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import calls, log, prompt, returned, says, session
from tests.unit.context.strategies import histories
from tests.unit.context.watched_log import Watched
from ullage.context.blocks import ToolUse
from ullage.context.entries import AssistantReply, Clipped, Entry, EntryPinned, FilePinned, FileTouch, Logged, ToolReturned, TouchKind
from ullage.context.view.pins import PinnedEntries, Pins, pins
from ullage.context.view.projection import Projection

# 1 the prelude, 2 a prompt, 3 two calls, 4 and 5 their results, 6 a last word
TURN: Sequence[Entry] = (prompt("go"), calls("t1", "t2"), returned("t1", "one"), returned("t2", "two"), says("done"))


def read(id: str, path: str) -> ToolReturned:
    return ToolReturned(id, "read_file", "text", False, 4, touched=(FileTouch(path, "read", "0"),))


@pytest.mark.parametrize(
    ("pinned", "stay"),
    [
        ((), set[int]()),
        ((EntryPinned(2, True),), {2}),
        ((EntryPinned(4, True),), {3, 4, 5}),
        ((EntryPinned(3, True),), {3, 4, 5}),
        ((EntryPinned(4, True), EntryPinned(4, False)), set[int]()),
        ((EntryPinned(6, True), EntryPinned(2, True)), {2, 6}),
    ],
)
def test_what_the_api_wants_together_stays_together(pinned: Sequence[Entry], stay: set[int]):
    assert Projection(session(*TURN, *pinned)).pinned_entries == stay


def test_of_a_pinned_file_the_newest_text_stays():
    entries = session(
        prompt("go"),
        calls("t1"),
        read("t1", "a.py"),
        calls("t2"),
        read("t2", "a.py"),
        calls("t3"),
        read("t3", "b.py"),
        FilePinned("a.py", True),
    )
    assert Projection(entries).pinned_entries == {5, 6}


def touched(id: str, kind: TouchKind, *, partial: bool = False, path: str = "a.py") -> ToolReturned:
    return ToolReturned(id, "tool", "text", False, 4, touched=(FileTouch(path, kind, "0", partial),))


@pytest.mark.parametrize(
    ("happened", "stay"),
    [
        (("read", "edited"), (0, 1)),
        (("read", "edited", "edited", "read"), (3,)),
        (("created", "edited"), (0, 1)),
        (("edited", "edited"), (0, 1)),
        (("read", "edited", "part", "part"), (0, 1, 3)),
        (("part", "edited", "part", "edited"), (2, 3)),
        (("read", "edited", "deleted"), (2,)),
    ],
)
def test_of_a_pinned_file_that_was_changed_its_text_and_the_changes_stay(happened: Sequence[str], stay: Sequence[int]):
    entries: list[Entry] = [prompt("go")]
    for index, kind in enumerate(happened):
        told = touched(f"t{index}", "read", partial=True) if kind == "part" else touched(f"t{index}", cast(TouchKind, kind))
        entries += [calls(f"t{index}"), told]
    expected = {seq for index in stay for seq in (3 + 2 * index, 4 + 2 * index)}
    assert Projection(session(*entries, FilePinned("a.py", True))).pinned_entries == expected


def test_what_shortened_a_pinned_result_stays_with_it():
    entries = session(prompt("go"), calls("t1"), returned("t1", "long"), Clipped(4, "short", "file"), says("done"), EntryPinned(4, True))
    assert Projection(entries).pinned_entries == {3, 4, 5}


def test_the_last_word_on_a_pin_counts():
    said = session(EntryPinned(2, True), FilePinned("a", True), EntryPinned(2, False), EntryPinned(5, True), FilePinned("a", False))
    assert pins(said) == Pins(frozenset({5}))


@st.composite
def pinned_histories(draw: st.DrawFn) -> list[Logged]:
    """Histories in which entries and files are pinned, and no longer are, here and there."""
    entries: list[Entry] = []
    for logged in draw(histories()):
        entries.append(logged.entry)
        match draw(st.integers(0, 5)):
            case 0:
                entries.append(EntryPinned(draw(st.integers(1, len(entries) + 1)), draw(st.booleans())))
            case 1:
                entries.append(FilePinned(draw(st.sampled_from(["a.py", "b.py"])), draw(st.booleans())))
            case 2:
                kind = draw(st.sampled_from(["read", "edited", "created", "deleted"]))
                id = f"call {len(entries)}"
                part = draw(st.booleans())
                entries.append(calls(id))
                entries.append(touched(id, cast("TouchKind", kind), partial=part, path=draw(st.sampled_from(["a.py", "b.py"]))))
            case _:
                pass
    return log(*entries)


def grouped(entries: Sequence[Logged]) -> Iterable[frozenset[int]]:
    """The entries by what must stay together, each looked at."""
    batch: list[int] = []
    open_calls: set[str] = set()
    results: set[int] = set()
    for logged in entries:
        entry = logged.entry
        if isinstance(entry, AssistantReply):
            yield frozenset(batch)
            batch, results = [logged.seq], set()
            open_calls = {block.id for block in entry.blocks if isinstance(block, ToolUse)}
        elif isinstance(entry, ToolReturned) and entry.tool_use_id in open_calls:
            open_calls.discard(entry.tool_use_id)
            batch.append(logged.seq)
            results.add(logged.seq)
        elif isinstance(entry, Clipped) and entry.seq in results:
            batch.append(logged.seq)
        else:
            yield frozenset((logged.seq,))
    yield frozenset(batch)


@given(pinned_histories(), st.lists(st.integers(0, 60), max_size=5))
def test_what_stays_is_the_same_as_the_log_grows_and_whole_groups_of_it(entries: list[Logged], ends: list[int]):
    growing = PinnedEntries()
    for end in sorted(ends):
        now, pinned = entries[:end], pins(entries[:end])
        stay = growing.of(now, pinned)
        assert stay == Projection(now).pinned_entries
        assert stay == frozenset[int]().union(*(group for group in grouped(now) if not stay.isdisjoint(group)))
        assert pinned.seqs & {logged.seq for logged in now} <= stay
        if not pinned:
            assert not stay


def test_of_a_longer_log_no_more_is_looked_at():
    looks: list[int] = []
    for turns in (20, 2_000):
        before = [entry for turn in range(turns) for entry in (prompt("go"), calls(f"t{turn}"), read(f"t{turn}", "a.py"))]
        watched = Watched(session(*before, FilePinned("a.py", True), EntryPinned(3, True)))
        growing, pinned = PinnedEntries(), pins(watched)
        assert growing.of(watched, pinned) == {3, 4, len(watched) - 3, len(watched) - 2}
        watched.append(Logged(len(watched) + 1, 0.0, prompt("More")))
        watched.looks = 0
        assert growing.of(watched, pinned) == {3, 4, len(watched) - 4, len(watched) - 3}
        looks.append(watched.looks)
    assert looks[1] <= looks[0]
