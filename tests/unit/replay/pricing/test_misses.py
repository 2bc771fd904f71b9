"""Which recorded requests missed the prompt cache, why, and what that cost."""

from __future__ import annotations

import pytest

from tests.unit.replay.recorded import At, compacted, prompt, reply, returned, session
from ullage.context.blocks import Usage
from ullage.context.entries import AssistantReply, Entry
from ullage.recorded.transcript import RecordedCompaction, Source
from ullage.replay.pricing.misses import Missed, missed_dollars, misses_in
from ullage.replay.pricing.recorded_models import prices_of

FIRST = reply(input=10, written=20_000)
OTHER_MODEL = reply(input=10, written=20_500, model="claude-haiku-4-5")
SHORT = reply(input=10, written=3_000)
NEXT_TURN = (prompt(), reply(20_000), prompt(), reply(3_500, read=17_000))


def after(seconds: float, usage: AssistantReply) -> tuple[At | Entry, ...]:
    """A prompt so long after the first reply, and its answer."""
    return At(0, prompt()), At(1, FIRST), At(seconds, prompt()), At(seconds + 1, usage)


def automatic(usage: AssistantReply) -> tuple[Entry, ...]:
    """A call, and the answer to its result, where caching is automatic."""
    return prompt(), reply(20_000), returned("x"), usage


@pytest.mark.parametrize(
    ("entries", "compactions", "source", "expected"),
    [
        pytest.param(after(10, reply(10, read=20_000, written=500)), (), "claude-code", [], id="it was read"),
        pytest.param(after(10, reply(10, read=19_800, written=700)), (), "claude-code", [], id="less than a step of the cache"),
        pytest.param(after(400, reply(10, written=20_500)), (), "claude-code", [Missed(4, 20_000, ("expired",))], id="a long pause"),
        pytest.param(after(10, reply(10, written=20_500)), (), "claude-code", [Missed(4, 20_000, ("evicted",))], id="nothing is told"),
        pytest.param(after(10, OTHER_MODEL), (), "claude-code", [Missed(4, 20_000, ("model",))], id="another model"),
        pytest.param(after(10, SHORT), (compacted(2),), "claude-code", [Missed(4, 3_010, ("compaction",))], id="a compaction"),
        pytest.param(after(400, SHORT), (compacted(2),), "claude-code", [Missed(4, 3_010, ("compaction", "expired"))], id="two reasons"),
        pytest.param(automatic(reply(500, read=20_000)), (), "codex", [], id="automatic: all was left there"),
        pytest.param(automatic(reply(15_500, read=5_000)), (), "codex", [Missed(4, 15_000, ("evicted",))], id="automatic: missed"),
        pytest.param(NEXT_TURN, (), "codex", [Missed(4, 3_000, ("reasoning",))], id="automatic: reasoning is left out"),
    ],
)
def test_misses(entries: tuple[At | Entry, ...], compactions: tuple[RecordedCompaction, ...], source: Source, expected: list[Missed]):
    assert list(misses_in(session(*entries, compactions=compactions, source=source))) == expected


@pytest.mark.parametrize(
    ("usage", "tokens", "expected"),
    [
        # $5 a million in, half a dollar to read, $6.25 to write for five minutes, $10 for an hour
        (Usage(1_000_000, 7, 0), 1_000_000, 4.5),
        (Usage(0, 7, 0, 1_000_000), 1_000_000, 5.75),
        (Usage(0, 7, 0, 0, 1_000_000), 1_000_000, 9.5),
        (Usage(500_000, 7, 100_000, 300_000, 200_000), 600_000, 0.2 * 9.5 + 0.3 * 5.75 + 0.1 * 4.5),
        (Usage(1_000_000, 7, 0), 0, 0.0),
    ],
)
def test_what_a_miss_costs(usage: Usage, tokens: int, expected: float):
    prices = prices_of("claude-opus-4-5")
    assert prices is not None
    assert missed_dollars(prices, usage, tokens) == pytest.approx(expected)
