"""What the decision looks at, gathered from a log alone."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.context.logs import compaction
from ullage.context.blocks import SystemPart, Text, Usage
from ullage.context.compaction.decide import Compact, Fullness, State
from ullage.context.compaction.economy import NONE_YET, Refetched, Terms
from ullage.context.compaction.gathering import RETRY_AFTER, Circumstances, Gathering, newest_seq
from ullage.context.compaction_entries import CompactionUndone, FetchedAgain, SpentInVain
from ullage.context.counting.accounting import Counted
from ullage.context.entries import AssistantReply, Entry, Forked, Logged, Notice, Prelude, SizeStated, UserPrompt
from ullage.context.policies.table import BUILT_IN
from ullage.context.policies.ullage import ULLAGE
from ullage.context.view.projection import Projection

TERMS = Terms(0.1, 1.25, 5.0, 0.000_005)
AROUND = Circumstances(ULLAGE, "cheapest", TERMS, by_model=True)
USED = 100_000
FULL = Fullness(Counted(USED, 0, (("system", 10_000), ("user", USED - 10_000)), None), USED, 160_000, 200_000, 200_000)


def carried(requests: int, at: float = 1_000.0) -> Projection:
    """Requests that each held as much, a second apart."""
    entries: list[Entry] = [Prelude((SystemPart("system", "Help."),), ()), UserPrompt("p", "Go on.")]
    entries += [AssistantReply(f"r{each}", (Text("Yes."),), "m", "end_turn", Usage(USED, 10)) for each in range(requests)]
    return Projection([Logged(seq, at + seq, entry) for seq, entry in enumerate(entries, 1)])


def gathered(
    gathering: Gathering, view: Projection, now: float = 1_100.0, around: Circumstances = AROUND, *, prepared: bool = False
) -> State:
    return gathering.state(view, FULL, around, now, lambda: prepared)


def test_what_a_draft_saves_is_announced_for_the_next_prompt_and_without_one_for_a_pause():
    view = carried(20)
    found = gathered(Gathering(), view)
    assert found.saving is not None
    assert (found.saving.when, found.saving.pays, found.prepared) == ("pause", "now", False)
    ready = gathered(Gathering(), view, prepared=True)
    assert ready.saving is not None
    assert (ready.saving.when, ready.prepared) == ("prompt", True)


def test_nothing_is_announced_without_prices_or_for_a_policy_that_does_not_save():
    for around in (
        Circumstances(ULLAGE, "cheapest", None, by_model=True),
        Circumstances(BUILT_IN["codex"], "cheapest", TERMS, by_model=True),
    ):
        assert gathered(Gathering(), carried(20), around=around).saving is None


def test_a_cache_that_lives_an_hour_is_warm_for_so_long_and_cools_later():
    view, gathering = carried(1), Gathering()
    hour = Circumstances(ULLAGE, "cheapest", TERMS, by_model=True, cache_lives=3_600.0)
    cold, warm = gathered(gathering, view, 2_000.0), gathered(gathering, view, 2_000.0, hour)
    assert cold.saving is not None
    assert warm.saving is not None
    assert (cold.saving.pays, warm.saving.pays) == ("cold", "pause")
    started = view.entries[1].at
    assert gathering.cools_at(view, FULL.counted, started) == started + 240.0
    assert gathering.cools_at(view, FULL.counted, started, 3_600.0) == started + 2_880.0
    assert gathering.cools_at(view, FULL.counted, 9_000.0) == 9_000.0


def test_what_gave_nothing_is_tried_again_after_some_entries_that_matter():
    view, gathering = carried(20), Gathering()
    gathering.gave_nothing(newest_seq(view.entries))
    assert gathered(gathering, view).in_vain
    for number in range(RETRY_AFTER):
        found = gathered(gathering, view)
        assert found.saving is None
        last = view.entries[-1].seq
        aside = SizeStated(last, "m", USED) if number % 2 else SpentInVain(Usage(1, 1))
        view.append(Logged(last + 1, 1_030.0, aside))
        view.append(Logged(last + 2, 1_030.0, Notice("resume", "Go on.")))
    assert gathered(gathering, view).saving is not None


def test_what_fails_three_times_rests_and_what_another_policy_does_not_find_is_no_failure():
    gathering, view = Gathering(), carried(1)
    threshold = Compact("threshold", "threshold")
    for _ in range(3):
        gathering.tried(threshold, BUILT_IN["codex"], FULL, 3, 1_100.0, made=False)
    found = gathered(gathering, view)
    assert (found.rests, found.nothing_below) == (0.0, USED + 8_000)
    for _ in range(3):
        gathering.tried(threshold, ULLAGE, FULL, 3, 1_100.0, made=False)
    found = gathered(gathering, view, 1_110.0)
    assert (found.rests, found.nothing_below, found.saving) == (50.0, 0, None)
    gathering.tried(threshold, ULLAGE, FULL, 3, 1_200.0, made=True)
    assert gathered(gathering, view, 1_110.0).rests == 0.0


def test_what_compactions_brought_about_here_and_elsewhere_decides_together():
    view, dear = carried(1), FetchedAgain("c0", (), 9, 90_000, 40, 60)
    cold = gathered(Gathering(), view, 9_000.0)
    assert cold.saving is not None
    usual = cold.saving.dollars
    two = replace(AROUND, elsewhere=Refetched(2, 0, 0))
    found = gathered(Gathering(), view, 9_000.0, two)
    assert found.saving is not None
    assert found.saving.dollars == usual, "two are not enough"
    gathering = Gathering()
    made = replace(compaction("c1"), fetched_again=dear)
    view.append(Logged(view.entries[-1].seq + 1, 1_030.0, made))
    view.append(Logged(view.entries[-1].seq + 1, 1_040.0, CompactionUndone("c1")))
    assert gathering.refetched(view.entries) == Refetched(1, 90_000, 40), "it was paid, undone or not"
    view.append(Logged(view.entries[-1].seq + 1, 1_050.0, made))
    assert gathering.refetched(view.entries) == Gathering().refetched(view.entries) == Refetched(2, 180_000, 80)
    view.append(Logged(view.entries[-1].seq + 1, 1_060.0, Forked("another", "")))
    assert gathering.refetched(view.entries) == NONE_YET, "that was paid there"


def test_where_next_to_nothing_is_fetched_again_more_is_saved():
    view = carried(1)
    saved = [
        found.saving.dollars  # pyrefly: ignore[missing-attribute] - the last line looks
        for elsewhere in (Refetched(3, 0, 0), NONE_YET, Refetched(3, 30_000, 30))
        if (found := gathered(Gathering(), view, 9_000.0, replace(AROUND, elsewhere=elsewhere))).saving is not None
    ]
    assert len(saved) == 3
    assert saved[0] > saved[1] > saved[2]
