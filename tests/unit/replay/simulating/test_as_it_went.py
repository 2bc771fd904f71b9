"""One heart: a random live session, replayed from its own log, makes the same compactions at the same entries with the same bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.deep import DEEP, diagonal, many, sampled
from tests.unit.context.policies.families import is_one_of_each
from tests.unit.replay.simulating.lived import (
    BY_HAND,
    EXCLUDE_FILE,
    FILLED,
    PIN,
    PIN_FILE,
    REFUSED,
    REVERSED,
    SMALL_WORK,
    UNDO,
    WINDOW,
    WORK,
    Doing,
    Live,
    as_asked,
    check,
    doings,
    triggers,
    worked,
)
from tests.unit.session.test_every_policy import BY_ITSELF
from ullage.context.blocks import ToolResult
from ullage.context.compaction.economy import ECONOMIES, NONE_YET, Economy, Refetched
from ullage.context.compaction_entries import BY_THE_USER
from ullage.context.policies.table import BUILT_IN
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy
from ullage.replay.measuring.runs import Places
from ullage.replay.simulating import means, simulation
from ullage.replay.simulating.prepared import PreparedSession, ReplaySettings


@sampled("policy", BY_ITSELF, keep=is_one_of_each, ids=lambda policy: policy.name)
def test_a_long_session_is_compacted_the_same_live_and_in_replay(policy: Policy) -> None:
    assert check(policy, worked()[: many(12, deep=18)])


@given(st.sampled_from(list(BUILT_IN)), doings(*WORK))
@settings(max_examples=many(3, deep=300))
def test_any_session_is_compacted_the_same_live_and_in_replay(policy: str, happenings: list[Doing]) -> None:
    check(BUILT_IN[policy], happenings)


@pytest.mark.parametrize(
    ("economy", "pauses"),
    [("cheapest", (40.0,)), ("cheapest", (40.0, 290.0)), ("balanced", (40.0, 40.0, 4_000.0))],
    ids=["prepared after a turn", "in a pause", "on a cold cache"],
)
def test_what_saves_is_compacted_the_same_live_and_in_replay(economy: Economy, pauses: Sequence[float]) -> None:
    work = [Doing("read" if turn < 3 else "chat", turn, pauses[turn % len(pauses)]) for turn in range(18)]
    assert "economy" in triggers(check(ULLAGE, work, economy))


def test_what_others_of_the_workspace_had_to_fetch_again_decides_the_same_live_and_in_replay() -> None:
    work = [Doing("read" if turn < 3 else "chat", turn, 290.0 if turn % 2 else 40.0) for turn in range(18)]
    cheap, dear = (check(ULLAGE, work, "cheapest", elsewhere=each) for each in (Refetched(9, 0, 0), Refetched(9, 900_000, 900)))
    assert triggers(cheap).count("economy") > triggers(dear).count("economy")


@given(st.sampled_from(["cheapest", "balanced"]), doings(*SMALL_WORK), st.sampled_from([NONE_YET, Refetched(3, 600, 0)]))
@settings(max_examples=many(3, deep=300))
def test_whatever_saves_is_compacted_the_same_live_and_in_replay(economy: Economy, happenings: list[Doing], elsewhere: Refetched) -> None:
    check(ULLAGE, happenings, economy, elsewhere=elsewhere)


@pytest.mark.parametrize("policy", [ULLAGE, BUILT_IN["claude-code"]], ids=lambda policy: policy.name)
@pytest.mark.parametrize("what", [REFUSED, FILLED])
def test_what_the_window_could_not_hold_is_compacted_the_same_live_and_in_replay(policy: Policy, what: str) -> None:
    work = [Doing("read", 3), Doing("edit", 1), Doing(what, 2), Doing("read", 2), Doing("long prompt", 2)]
    assert "reactive" in triggers(check(policy, work))


def test_a_draft_that_a_refused_request_overtakes_is_spent_in_vain_in_both() -> None:
    work = [Doing("look", 0), Doing("read", 4, 400.0), Doing("look", 5, 4_000.0), Doing(REFUSED, 5), Doing("long prompt", 3, 400.0)]
    made = check(BUILT_IN["token-prune"], [*work, Doing(REFUSED, 9, 4_000.0), Doing("read both", 0, 400.0)])
    assert "reactive" in triggers(made)


@given(st.sampled_from(list(BUILT_IN)), doings(*WORK, *SMALL_WORK, REFUSED, FILLED), st.sampled_from(list(ECONOMIES)))
@settings(max_examples=many(3, deep=300))
def test_whatever_the_window_could_not_hold_is_compacted_the_same(policy: str, happenings: list[Doing], economy: Economy) -> None:
    check(BUILT_IN[policy], happenings, economy)


@given(st.sampled_from(list(BUILT_IN)), doings(*WORK, PIN, PIN, PIN_FILE))
@settings(max_examples=many(2, deep=300))
def test_whatever_is_pinned_is_spared_the_same_live_and_in_replay(policy: str, happenings: list[Doing]) -> None:
    check(BUILT_IN[policy], happenings)


def test_what_is_pinned_is_spared_the_same_live_and_in_replay() -> None:
    pinned = [Doing("read", 1), Doing(PIN, 1), Doing("read both", 2), Doing(PIN_FILE, 1), Doing(PIN, 4)]
    assert "threshold" in triggers(check(ULLAGE, [*pinned, *worked()[:8]]))


@given(st.sampled_from(list(BUILT_IN)), doings(*WORK, *BY_HAND, *BY_HAND, PIN, PIN_FILE))
@settings(max_examples=many(3, deep=300))
def test_whatever_is_undone_redone_and_excluded_is_so_live_and_in_replay(policy: str, happenings: list[Doing]) -> None:
    check(BUILT_IN[policy], happenings)


REVERSED_UNDER = ("claude-code", "three-layer", "ullage")


@sampled(
    ("policy", "doings"),
    product(REVERSED_UNDER, REVERSED),
    # Random ones stand above; Ullage's own, which takes longest, has two more at the recorded places, and an undo alone below.
    keep=lambda row: row in diagonal(REVERSED_UNDER, REVERSED, 1),
    ids=lambda each: each if isinstance(each, str) else ", ".join(doing.what for doing in each),
)
def test_what_is_undone_redone_and_excluded_is_so_live_and_in_replay(policy: str, doings: Sequence[Doing]) -> None:
    done: list[str] = []
    made = check(BUILT_IN[policy], [*worked()[:9], *doings, *worked()[:6]], by_hand=done)
    assert "threshold" in triggers(made)
    assert len(done) == sum(doing.what in BY_HAND for doing in doings)


@pytest.fixture(scope="module")
def excluding(tmp_path_factory: pytest.TempPathFactory) -> PreparedSession:
    """A session in which the user excluded a file."""
    work = [*worked()[:6], Doing("edit", 2), Doing(EXCLUDE_FILE, 2), *[Doing("look", turn) for turn in range(9)]]
    lived = Live(tmp_path_factory.mktemp("excluding").resolve(), WINDOW, NONE_YET)
    asyncio.run(lived.live(ULLAGE, work, "fullest"))
    assert lived.by_hand
    return lived.prepared()


@pytest.mark.deep
@pytest.mark.parametrize("at", ["policy", "recorded"])
def test_what_was_excluded_is_excluded_under_every_policy(at: Places, excluding: PreparedSession) -> None:
    for policy in filter(lambda policy: DEEP or is_one_of_each(policy), BUILT_IN.values()):
        view = simulation.carry(excluding, policy, ReplaySettings(at=at, window=WINDOW))
        out = [each for each in view.active if each.policy == BY_THE_USER]
        results = (block for message in view.messages for block in message.blocks if isinstance(block, ToolResult))
        assert [file.path for each in out for file in each.without_files] == ["f2.py"], policy.name
        assert not any("tank_2_7 = " in block.content for block in results), policy.name


def test_an_undo_means_nothing_where_the_policy_compacts_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(means, "stand_in", as_asked)
    lived = Live(tmp_path.resolve(), WINDOW, NONE_YET)
    asyncio.run(lived.live(ULLAGE, [*worked()[:9], Doing(UNDO, 2), Doing("chat", 1)], "fullest"))
    session = lived.prepared()
    for policy, is_undone in ((ULLAGE, True), (BUILT_IN["none"], False), (BUILT_IN["sink-window"], False)):
        view = simulation.carry(session, policy, ReplaySettings(window=WINDOW, writing_seconds=0.0))
        assert bool(view.undone) == is_undone, policy.name
