"""What became of each message in one epoch, as of that epoch."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given

from tests.fake_api import Say
from tests.unit.context.logs import calls, compaction, prompt, returned, says, session
from tests.unit.context.strategies import planned_histories
from tests.unit.session import harness
from tests.unit.session.filling import WINDOW, fill, make_project
from ullage.context.compaction_entries import Cleared, Compaction, CompactionUndone, RestoredFile, Snipped, Summarised
from ullage.context.entries import Entry, Logged
from ullage.context.view.fates import counts, is_message
from ullage.context.view.projection import Projection
from ullage.session.errors import SessionError
from ullage.session.history.epochs import FatePage, Group, epochs, fate_page
from ullage.session.settings import Settings
from ullage.session.timeline.timeline import Timeline

GROUPS: tuple[Group, ...] = ("changed", "before", "kept")

# 1 the prelude, 2 a prompt, 3 a bare call, 4 its result, 5 a last word, 6 a prompt, 7 a word
TURNS = (prompt("go"), calls("t1"), returned("t1", "one"), says("done"), prompt("more"), says("again"))


def page(entries: list[Logged], number: int, group: Group, offset: int = 0, limit: int = 1_000) -> FatePage:
    timeline = Timeline(lambda name, _: (name, "other"), lambda _: None, entries)
    found = fate_page(Projection(entries), timeline, number, group, offset, limit)
    assert found is not None
    return found


def told(entries: list[Logged], number: int) -> dict[str, str]:
    """By group: title and fate of each message."""
    return {
        group: ", ".join(f"{fate.title} {fate.fate}" for fate in page(entries, number, group).fates)
        for group in GROUPS
        if page(entries, number, group).fates
    }


@pytest.mark.parametrize(
    ("then", "number", "expected"),
    [
        ((), 1, {"kept": "go kept, read_file kept, done kept, more kept, again kept"}),
        (
            (compaction("c", summarised=Summarised(5, "record")),),
            2,
            {"changed": "go summarised, read_file summarised, done summarised", "kept": "more kept, again kept"},
        ),
        (  # one that was undone tells what it did all the same
            (compaction("c", summarised=Summarised(5, "record", carried=(2,))), CompactionUndone("c"), prompt("and")),
            2,
            {"changed": "go pinned, read_file summarised, done summarised", "kept": "more kept, again kept, and kept"},
        ),
        (  # and where the model is again in what was before it, all is seen
            (compaction("c", summarised=Summarised(5, "record")), CompactionUndone("c"), prompt("and")),
            1,
            {"kept": "go kept, read_file kept, done kept, more kept, again kept, and kept"},
        ),
        (
            (compaction("c", summarised=Summarised(5, "one")), prompt("and"), compaction("d", summarised=Summarised(8, "two"))),
            3,
            {
                "changed": "more summarised, again summarised",
                "before": "go summarised, read_file summarised, done summarised",
                "kept": "and kept",
            },
        ),
        (  # as of that epoch, whatever came later
            (compaction("c", cleared=[Cleared(4, "gone")]), prompt("and"), compaction("d", summarised=Summarised(8, "two"))),
            2,
            {"changed": "read_file cleared", "kept": "go kept, done kept, more kept, again kept, and kept"},
        ),
        (  # an earlier one that was undone since leaves the count as it is
            (
                compaction("c", summarised=Summarised(5, "one")),
                prompt("and"),
                compaction("d", summarised=Summarised(8, "two")),
                CompactionUndone("c"),
            ),
            3,
            {
                "changed": "more summarised, again summarised",
                "before": "go summarised, read_file summarised, done summarised",
                "kept": "and kept",
            },
        ),
        (  # and what the model sees again for it stays
            (compaction("c", cleared=[Cleared(4, "gone")]), compaction("d", snipped=Snipped(5, 6, "[cut]")), CompactionUndone("c")),
            3,
            {"changed": "done snipped, more snipped", "kept": "go kept, read_file kept, again kept"},
        ),
        (
            (compaction("c", cleared=[Cleared(4, "gone")]), compaction("d", snipped=Snipped(5, 6, "[cut]"))),
            3,
            {"changed": "done snipped, more snipped", "before": "read_file cleared", "kept": "go kept, again kept"},
        ),
    ],
)
def test_each_message_has_its_fate_in_each_epoch(then: tuple[Entry, ...], number: int, expected: dict[str, str]):
    assert told(session(*TURNS, *then), number) == expected


def test_a_page_is_a_part_and_says_how_many_there_are():
    log = session(*TURNS, compaction("c", summarised=Summarised(5, "record")))
    first, second = page(log, 2, "changed", 0, 2), page(log, 2, "changed", 2, 2)
    assert [fate.item_id for fate in (*first.fates, *second.fates)] == [fate.item_id for fate in page(log, 2, "changed").fates]
    assert (len(first.fates), len(second.fates), first.changed, first.before, first.kept) == (2, 1, 3, 0, 2)
    assert page(log, 2, "changed", 7).fates == ()


def test_a_result_whose_file_was_read_again_says_so():
    read = returned("t1", "one", "src/tank.py")
    made = compaction("c", summarised=Summarised(5, "record"), restored=[RestoredFile("src/tank.py", "text", "whole", "0")])
    log = session(*TURNS[:2], read, *TURNS[3:], made)
    assert [fate.restored for fate in page(log, 2, "changed").fates] == [None, "src/tank.py", None]


@given(planned_histories())
def test_every_message_has_one_fate_and_the_counts_are_those_of_the_compaction(history: list[Logged]):
    by_seq = dict(enumerate(history))
    starts = [index for index, logged in by_seq.items() if index and isinstance(logged.entry, Compaction)]
    for number, start in enumerate(starts, 2):
        made = history[start].entry
        assert isinstance(made, Compaction)
        before = Projection(history[:start])
        expected = counts(before, made)
        found = page(history[: start + 1], number, "changed")
        kinds = Counter(fate.fate for fate in found.fates)
        assert (kinds["summarised"], kinds["cleared"], kinds["snipped"]) == (expected.summarised, expected.cleared, expected.snipped)
        messages = sum(is_message(logged.entry) for logged in history[:start])
        assert found.changed + found.before + found.kept == messages
    last = len(epochs(Projection(history), {}))
    for number in range(1, last + 1):
        groups = [page(history, number, group) for group in GROUPS]
        assert [len(groups[index].fates) for index in range(3)] == [groups[0].changed, groups[0].before, groups[0].kept]


async def test_the_numbers_of_epochs_are_those_of_the_list_and_others_are_refused(tmp_path: Path):
    async with harness.stage(make_project(tmp_path), window=WINDOW, settings=Settings(summary_engine="digest")) as here:
        session = await here.new()
        await fill(here, session, 3)
        session.compact()
        await here.idle(session)
        here.fake.enqueue(Say("Noted."))
        await here.say(session, "One more thing")
        [card] = harness.compactions(session)
        found = await session.history.epoch_fates(2, "changed", 0, 100)
        assert found.changed == len(found.fates) == card.summarised + card.cleared
        shown = {item.id for item in harness.items(session)}
        for group in GROUPS:
            assert {fate.item_id for fate in (await session.history.epoch_fates(2, group, 0, 100)).fates} <= shown
        await session.history.undo()
        assert (await session.history.epoch_fates(2, "changed", 0, 100)).changed == found.changed
        assert (await session.history.epoch_fates(1, "changed", 0, 100)).changed == 0
        for number in (0, 3):
            with pytest.raises(SessionError):
                await session.history.epoch_fates(number, "kept", 0, 100)
