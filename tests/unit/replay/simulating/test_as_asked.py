"""One heart: a replay at the recorded places compacts what the user, the model and a full context asked for as it was compacted.

The window is wide in the first half, so that most policies compact nothing by themselves. In the second it fills up, and drafts are made
ahead.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.deep import many, sampled
from tests.unit.replay.simulating.lived import (
    BY_HAND,
    BY_MODEL,
    CLICK,
    CLICK_IN_TURN,
    PIN,
    PIN_FILE,
    REFUSED,
    REVERSED,
    SMALL_WORK,
    WORK,
    Doing,
    check,
    doings,
    triggers,
    worked,
)
from ullage.context.compaction.economy import Economy
from ullage.context.compaction_entries import ASKED_FOR, Compaction
from ullage.context.policies.table import BUILT_IN
from ullage.context.policy import Policy
from ullage.recorded.transcript import RecordedCompaction
from ullage.replay.simulating.simulation import _Simulation

WIDE = 1_000_000
"""Tokens of the window."""
AT_WORK, AT_REST = "You were at work", "the user speaks next"


def as_asked(policy: Policy, happenings: Sequence[Doing]) -> list[Compaction]:
    """The same live and in replay at the recorded places; gives the compactions."""
    return check(policy, happenings, at="recorded", window=WIDE)


LAST = Doing("chat", 1)
"""A replay makes nothing that no reply follows."""
FEW = ("ullage", "claude-code", "aider", "memory-blocks", "none")
"""The others are among the random sessions."""
ASKED = (
    (Doing(CLICK, 1), "manual", AT_REST),
    (Doing(CLICK_IN_TURN, 2), "manual", AT_WORK),
    (Doing(BY_MODEL, 2), "tool", AT_WORK),
    (Doing(CLICK_IN_TURN, 3), "manual", AT_REST),
    (Doing(BY_MODEL, 3), "tool", AT_WORK),
    (Doing(CLICK, 3), "manual", AT_REST),
    (Doing(CLICK_IN_TURN, 6), "manual", AT_WORK),
)
"""What is asked for, why it is then made, and how the model is told to go on."""


@sampled("policy", FEW, keep=("ullage", "claude-code", "aider").__contains__)
def test_what_is_asked_for_is_compacted_the_same_live_and_in_replay(policy: str) -> None:
    work = [[Doing("read", turn), Doing("long prompt", 4), asked, Doing("chat", 1)] for turn, (asked, *_) in enumerate(ASKED)]
    made = as_asked(BUILT_IN[policy], [doing for some in work for doing in some])
    made = [each for each in made if each.trigger in ASKED_FOR]  # aider's compacts by itself, too
    assert [(each.trigger, each.focus) for each in made] == [(trigger, asked.focus) for asked, trigger, _ in ASKED]
    if policy in ("ullage", "none"):
        assert all(told in each.resume for each, (*_, told) in zip(made, ASKED, strict=True))


BY_ITSELF_TOO = "summary-buffer"
"""It keeps so little that a click often finds nothing to do. That has an entry in the live log alone, so later entries differ in number."""

asked_for = st.builds(Doing, st.sampled_from((CLICK, CLICK_IN_TURN, BY_MODEL)), st.integers(0, 9))
between = st.builds(Doing, st.sampled_from((*SMALL_WORK, PIN, PIN_FILE, *BY_HAND)), st.integers(0, 9))


@given(
    st.sampled_from([name for name in BUILT_IN if name != BY_ITSELF_TOO]), st.lists(st.tuples(between, asked_for), min_size=2, max_size=5)
)
@settings(max_examples=many(3, deep=200))
def test_whatever_is_asked_for_is_compacted_the_same_live_and_in_replay(policy: str, asked: list[tuple[Doing, Doing]]) -> None:
    work: list[Doing] = []
    for turn, (before, asking) in enumerate(asked):  # there is always something to compact: what fails has an entry in the log alone
        work += [Doing("read both", turn), Doing("long prompt", 5), before]
        work += [Doing("read", turn), Doing("long prompt", 4), asking, Doing("chat", 1)]
    as_asked(BUILT_IN[policy], work)


def drafted_ahead(made: Sequence[RecordedCompaction]) -> list[RecordedCompaction]:
    """Those that were planned before the last of what they leave behind."""
    return [each for each in made if each.planned_after is not None and each.planned_after < each.after_seq]


@sampled("policy", ["ullage", "claude-code", "hermes"], keep=("ullage", "hermes").__contains__)
def test_what_was_drafted_ahead_is_planned_where_it_was(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[RecordedCompaction] = []

    def as_recorded(simulation: _Simulation, compaction: RecordedCompaction) -> None:
        found.append(compaction)
        make(simulation, compaction)

    make = _Simulation._as_recorded  # noqa: SLF001
    monkeypatch.setattr(_Simulation, "_as_recorded", as_recorded)
    assert "threshold" in triggers(check(BUILT_IN[policy], worked(), at="recorded", window=60_000))
    assert drafted_ahead(found)


@given(st.sampled_from(list(BUILT_IN)), doings(*WORK, *WORK, *BY_HAND, PIN, PIN_FILE, CLICK, CLICK_IN_TURN, BY_MODEL))
@settings(max_examples=many(3, deep=300))
def test_whatever_is_compacted_is_so_live_and_at_the_recorded_places(policy: str, happenings: list[Doing]) -> None:
    check(BUILT_IN[policy], [*happenings, LAST], at="recorded")


@sampled(
    "reversed",
    REVERSED,
    keep=REVERSED[2::2].__contains__,  # live and at the places of the policy they are all tried
    ids=lambda doings: ", ".join(doing.what for doing in doings),
)
def test_what_is_undone_redone_and_excluded_is_so_at_the_recorded_places(reversed: Sequence[Doing]) -> None:
    assert "threshold" in triggers(check(BUILT_IN["ullage"], [*worked()[:9], *reversed, *worked()[:6], LAST], at="recorded"))


@pytest.mark.parametrize(("economy", "pauses"), [("cheapest", (40.0, 290.0)), ("balanced", (40.0, 40.0, 4_000.0))], ids=["warm", "cold"])
def test_what_saves_is_compacted_the_same_at_the_recorded_places(economy: Economy, pauses: Sequence[float]) -> None:
    work = [Doing("read" if turn < 3 else "chat", turn, pauses[turn % len(pauses)]) for turn in range(18)]
    assert "economy" in triggers(check(BUILT_IN["ullage"], [*work, LAST], economy, at="recorded"))


def test_what_the_api_refused_is_compacted_the_same_at_the_recorded_places() -> None:
    work = [Doing("read", 3), Doing("edit", 1), Doing(REFUSED, 2), Doing("read", 2), LAST]
    assert "reactive" in triggers(check(BUILT_IN["ullage"], work, at="recorded"))
