"""One heart: what the user and the model asked for is compacted the same in a replay of their log at the recorded places.

The window is wide here, so that most policies compact nothing by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.deep import many
from tests.unit.replay.simulating.test_as_it_went import (
    BY_MODEL,
    CLICK,
    CLICK_IN_TURN,
    PIN,
    PIN_FILE,
    SMALL_WORK,
    Doing,
    check,
)
from ullage.context.compaction.decide import Decision
from ullage.context.compaction.making import Making
from ullage.context.compaction_entries import ASKED_FOR, Compaction
from ullage.context.policies.table import BUILT_IN
from ullage.context.policy import Policy

WIDE = 1_000_000
"""Tokens of the window."""
AT_WORK, AT_REST = "You were at work", "the user speaks next"


def as_asked(policy: Policy, happenings: Sequence[Doing]) -> list[Compaction]:
    """The same live and in replay at the recorded places; gives the compactions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Making, "prepare_if", _nothing_ahead)
        return check(policy, happenings, at="recorded", window=WIDE)


def _nothing_ahead(making: Making, decision: Decision) -> None:
    """A replay at recorded places drafts nothing ahead."""


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


@pytest.mark.parametrize("policy", FEW)
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
between = st.builds(Doing, st.sampled_from((*SMALL_WORK, PIN, PIN_FILE)), st.integers(0, 9))


@given(
    st.sampled_from([name for name in BUILT_IN if name != BY_ITSELF_TOO]), st.lists(st.tuples(between, asked_for), min_size=2, max_size=5)
)
@settings(max_examples=many(4, deep=200))
def test_whatever_is_asked_for_is_compacted_the_same_live_and_in_replay(policy: str, asked: list[tuple[Doing, Doing]]) -> None:
    work: list[Doing] = []
    for turn, (before, asking) in enumerate(asked):  # there is always something to compact: what fails has an entry in the log alone
        work += [Doing("read both", turn), Doing("long prompt", 5), before]
        work += [Doing("read", turn), Doing("long prompt", 4), asking, Doing("chat", 1)]
    as_asked(BUILT_IN[policy], work)
