"""Where a simulated session is compacted to save: by the agent's own decision, with time as it was recorded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.replay.working import working_session
from ullage.context.compaction.economy import Economy
from ullage.context.entries import AssistantReply, Logged, UserPrompt
from ullage.context.policies.table import BUILT_IN
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy
from ullage.recorded.transcript import Transcript
from ullage.replay.measuring.runs import CompactionPoint
from ullage.replay.simulating.prepared import PreparedSession, ReplaySettings
from ullage.replay.simulating.simulation import outcome_of

LONG = working_session(turns=18, reads=4, characters=6_000, seconds=5.0)
"""It comes near the window, a turn a minute."""


def waiting(transcript: Transcript, seconds: float, *, before: int, hour: bool = False) -> Transcript:
    """The user thinks for so long before that prompt. `hour`: the cache was bought for an hour."""
    prompts = [logged.seq for logged in transcript.entries if isinstance(logged.entry, UserPrompt)]

    def later(logged: Logged) -> Logged:
        entry = logged.entry
        if hour and isinstance(entry, AssistantReply) and entry.usage is not None:
            written = replace(entry.usage, input_tokens=entry.usage.input_tokens - 1, cache_write_1h_tokens=1)
            entry = replace(entry, usage=written)
        return replace(logged, at=logged.at + (seconds if logged.seq >= prompts[before] else 0.0), entry=entry)

    return replace(transcript, entries=tuple(map(later, transcript.entries)))


def saved(transcript: Transcript, economy: Economy, policy: Policy = ULLAGE, writing: float = 30.0) -> list[CompactionPoint]:
    """The compactions that were made to save."""
    run = outcome_of(PreparedSession(transcript), policy, ReplaySettings(economy=economy, writing_seconds=writing)).run
    assert run.failure == ""
    assert run.violations == ()
    return [point for point in run.compactions if point.trigger == "economy"]


def prompt_after(transcript: Transcript, point: CompactionPoint) -> Logged:
    """The entry that follows a compaction."""
    return transcript.entries[point.after_seq]


def test_it_saves_with_a_prompt_only_and_never_between_two_calls():
    made = saved(LONG, "cheapest", writing=0.0)
    assert made
    assert all(isinstance(prompt_after(LONG, point).entry, UserPrompt) for point in made)
    assert all(point.rung == "model" for point in made), "it was drafted when the turn before ended"


def test_the_fullest_and_other_policies_never_save():
    assert saved(LONG, "fullest") == []
    assert saved(LONG, "cheapest", BUILT_IN["claude-code"]) == []


def test_a_prompt_does_not_wait_for_a_summary_that_is_still_being_written():
    first, late = saved(LONG, "cheapest", writing=0.0)[0], saved(LONG, "cheapest", writing=30.0)[0]
    assert late.after_seq > first.after_seq, "its prompt comes five seconds after the end of the turn"


def test_before_the_cache_goes_cold_it_compacts_in_the_pause():
    paused = waiting(LONG, 3_000.0, before=14)
    [point] = [each for each in saved(paused, "balanced") if isinstance(prompt_after(paused, each).entry, UserPrompt)][:1]
    prompt = prompt_after(paused, point)
    ended = paused.entries[point.after_seq - 1].at
    assert point.rung == "model"
    assert ended + 200.0 < point.at < ended + 300.0, "four minutes after the newest request, and a summary's time"
    assert point.at < prompt.at


@pytest.mark.parametrize(("seconds", "made"), [(200.0, False), (250.0, False), (280.0, True)])
def test_the_pause_has_to_be_longer_than_the_cache_takes_to_cool_and_the_summary_to_be_written(seconds: float, made: bool):
    paused = waiting(LONG, seconds, before=14)
    prompt = [logged.seq for logged in paused.entries if isinstance(logged.entry, UserPrompt)][14]
    assert any(point.after_seq == prompt - 1 for point in saved(paused, "balanced")) is made


def test_a_cache_that_lives_an_hour_cools_later():
    short, long = waiting(LONG, 1_000.0, before=9, hour=True), waiting(LONG, 3_300.0, before=9, hour=True)
    assert [point for point in saved(short, "balanced") if point.at < prompt_after(short, point).at] == []
    [point] = [point for point in saved(long, "balanced") if point.at < prompt_after(long, point).at]
    assert 2_800.0 < point.at - long.entries[point.after_seq - 1].at < 2_950.0


def test_on_a_cache_that_went_cold_within_a_turn_the_program_compacts_with_the_next_prompt():
    prompts = [logged.seq for logged in LONG.entries if isinstance(logged.entry, UserPrompt)]
    last = prompts[14] - 1  # the reply that ends a turn takes ten minutes
    slow = replace(LONG, entries=tuple(replace(each, at=each.at + (600.0 if each.seq >= last else 0.0)) for each in LONG.entries))
    [point] = [point for point in saved(slow, "balanced") if point.after_seq == last]
    assert (point.rung, point.stood_in) == ("digest", "")


def test_without_times_the_cache_stays_warm():
    timeless = replace(LONG, entries=tuple(replace(each, at=0.0) for each in LONG.entries))
    assert all(point.rung == "model" for point in saved(timeless, "cheapest", writing=0.0))
