"""The open hunks of a text: kept, undone, and what the user typed meanwhile."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ullage.context.changes.hunks import carried, open_text
from ullage.context.changes.merging import lines_of

LINE = st.sampled_from(["a\n", "b\n", "c\n", "\n", "    return\n", "d\r\n"])
TEXTS = st.lists(LINE, max_size=12).flatmap(lambda lines: st.sampled_from(["", "end", "a"]).map(lambda end: "".join([*lines, end])))


def _bare(lines: tuple[str, ...]) -> list[str]:
    """Without their ends, which joining may add."""
    return [line.rstrip("\r\n") for line in lines]


BEFORE = "one\ntwo\nthree\nfour\nfive\nsix\n"
AGENTS = "one\n2\nthree\nfour\nfive\nsix\nseven\n"


@given(TEXTS, TEXTS)
def test_undoing_all_of_an_untouched_text_gives_the_baseline(baseline: str, agents: str) -> None:
    assert open_text(baseline, agents, agents).undo() == (baseline, baseline)


@given(TEXTS, TEXTS, TEXTS)
def test_keeping_all_leaves_none(baseline: str, agents: str, now: str) -> None:
    kept = open_text(baseline, agents, now).keep()
    assert not open_text(kept, agents, now).hunks


@given(TEXTS, TEXTS, TEXTS)
def test_hunks_never_overlap_and_lie_in_their_texts(baseline: str, agents: str, now: str) -> None:
    found = open_text(baseline, agents, now)
    for one, other in pairwise(found.hunks):
        assert one.old.end <= other.old.start and one.new.end <= other.new.start
    left, right = lines_of(found.left), lines_of(now)
    assert all(hunk.old.end <= len(left) and hunk.new.end <= len(right) for hunk in found.hunks)
    assert len({hunk.id for hunk in found.hunks}) == len(found.hunks)


@given(TEXTS, TEXTS, TEXTS)
def test_outside_of_hunks_both_texts_are_the_same(baseline: str, agents: str, now: str) -> None:
    found = open_text(baseline, agents, now)
    left, right = lines_of(found.left), lines_of(now)
    at, left_at = 0, 0
    for hunk in found.hunks:
        assert _bare(left[left_at : hunk.old.start]) == _bare(right[at : hunk.new.start])
        at, left_at = hunk.new.end, hunk.old.end
    assert len(left[left_at:]) == len(right[at:])


@given(TEXTS, TEXTS, TEXTS)
def test_undoing_takes_nothing_of_the_user(baseline: str, agents: str, now: str) -> None:
    """What the user put in, outside of the agent's hunks and inside, is there afterwards."""
    found = open_text(baseline, agents, now)
    after, _ = found.undo()
    undone = {index for hunk in found.hunks if not hunk.edited for index in range(hunk.new.start, hunk.new.end)}
    stays = [line.rstrip("\r\n") for index, line in enumerate(lines_of(now)) if index not in undone]
    left = iter([line.rstrip("\r\n") for line in lines_of(after)])
    assert all(line in left for line in stays), "in order"


def test_one_hunk_is_undone_and_another_kept() -> None:
    found = open_text(BEFORE, AGENTS, AGENTS)
    first, second = found.hunks
    assert (found.added, found.removed) == (2, 1)
    now, agents = found.undo([first.id])
    assert now == agents == BEFORE + "seven\n"
    kept = open_text(BEFORE, agents, now).keep([second.id])
    assert kept == BEFORE + "seven\n"
    assert not open_text(kept, agents, now).hunks


def test_what_the_user_typed_elsewhere_stays_and_moves_the_hunks() -> None:
    now = "zero\n" + AGENTS.replace("four", "4")
    found = open_text(BEFORE, AGENTS, now)
    assert found.left == "zero\n" + BEFORE.replace("four", "4")
    assert [(hunk.new.start, hunk.edited) for hunk in found.hunks] == [(2, False), (7, False)]
    assert [hunk.id for hunk in found.hunks] == [hunk.id for hunk in open_text(BEFORE, AGENTS, AGENTS).hunks]
    assert found.undo()[0] == "zero\n" + BEFORE.replace("four", "4")


def test_a_hunk_in_which_the_user_typed_is_theirs() -> None:
    now = AGENTS.replace("2\n", "2 and a half\n")
    found = open_text(BEFORE, AGENTS, now)
    assert [hunk.edited for hunk in found.hunks] == [True, False]
    assert found.undo()[0] == now.removesuffix("seven\n")
    kept = found.keep([found.hunks[0].id])
    assert [hunk.edited for hunk in open_text(kept, AGENTS, now).hunks] == [False]
    assert carried(BEFORE, AGENTS, now) == now.removesuffix("seven\n")


def test_what_the_user_took_back_by_hand_is_no_hunk_any_more() -> None:
    found = open_text(BEFORE, AGENTS, BEFORE + "seven\n")
    assert [hunk.edited for hunk in found.hunks] == [False]


def test_in_a_text_that_was_reformatted_every_hunk_is_the_users() -> None:
    now = AGENTS.replace("\n", " \n")
    found = open_text(BEFORE, AGENTS, now)
    assert found.hunks and all(hunk.edited for hunk in found.hunks)
    assert found.undo()[0] == now


def test_equal_hunks_are_told_apart() -> None:
    found = open_text("x\ny\nx\ny\nx\n", "x\nz\ny\nx\nz\ny\nx\n", "x\nz\ny\nx\nz\ny\nx\n")
    first, second = found.hunks
    assert found.undo([second.id])[0] == "x\nz\ny\nx\ny\nx\n"
    assert first.id != second.id
