"""Sessions and what came of them under policies, made up by a seeded generator: for tests of how runs are shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from ullage.context.blocks import Usage
from ullage.context.compaction.needed import FACT_KINDS, FactKind
from ullage.context.compaction_entries import Rung
from ullage.context.policies.table import BUILT_IN
from ullage.recorded.retention import HitShare, KindRetention
from ullage.replay.measuring.figures import CacheReads, Figures, MeasuredSession, Report, RequestCounts
from ullage.replay.measuring.runs import CompactionPoint, RequestPoint, Retained, Run
from ullage.replay.pricing.cost import Dollars

POLICIES = tuple(BUILT_IN)


def row(id: str, requests: int = 40, path: str = "") -> MeasuredSession:
    """A recorded session without compactions, its cost known."""
    tokens = Usage(requests * 100, requests * 300, requests * 50_000, requests * 900)
    return MeasuredSession(
        path=Path(path or f"{id}.jsonl"),
        session_id=id,
        source="claude-code",
        models=("claude-opus-4-5",),
        figures=Figures(
            calls=RequestCounts(requests, requests, requests),
            tokens=tokens,
            largest_context=150_000,
            dollars=Dollars(0.1, 0.2, requests * 0.025, 0.4),
            cache_reads=CacheReads(requests, requests * 50_000, requests * 49_300),
        ),
        repairs=(),
        notes=(),
    )


RUNGS: tuple[Rung, ...] = ("moves", "digest", "model")


def run(policy: str, id: str, requests: int = 40, *, line: int = 100_000, keeps: float = 0.6, seed: int = 0, price: float = 1.0) -> Run:
    """A session that grows until the threshold, is compacted, and grows again."""
    random = Random(f"{policy} {id} {seed}")
    points: list[RequestPoint] = []
    compactions: list[CompactionPoint] = []
    context = 18_000
    for index in range(requests):
        context += random.randint(500, 6_000)
        if context > line:
            after = random.randint(15_000, 35_000)
            rung = random.choice(RUNGS)
            stood_in = "digest" if rung == "model" else ""
            compactions.append(CompactionPoint(2 * index, 60.0 * index, "threshold", rung, context, after, 4_000, False, stood_in))
            context = after
        points.append(RequestPoint(2 * index + 1, 60.0 * index, context, Usage(200, 400, context - 1_200, 1_000), context <= 200_000))
    sent = sum(point.context_tokens for point in points)
    return Run(
        policy=policy,
        session_id=id,
        requests=tuple(points),
        compactions=tuple(compactions),
        usage=Usage(200 * requests, 400 * requests, sent - 1_200 * requests, 1_000 * requests),
        dollars=Dollars(0.001 * requests, 0.01 * requests, price * sent * 0.5e-6, 0.00625 * requests),
        summaries=Dollars(output=0.02 * len(compactions), cache_read=0.05 * len(compactions)),
        summaries_cold=Dollars(output=0.02 * len(compactions), input=0.5 * len(compactions)),
        retained=retained(len(compactions), keeps, random),
        seconds=random.random(),
        line=line,
        window=200_000,
    )


def retained(compactions: int, keeps: float, random: Random) -> Retained:
    """Some forty needed facts a compaction, of which `keeps` stay in view."""
    kinds: dict[FactKind, KindRetention] = {kind: KindRetention() for kind in FACT_KINDS}
    for _ in range(compactions):
        for kind in FACT_KINDS:
            for _ in range(random.randint(2, 14)):
                kinds[kind] += (
                    KindRetention(in_view=1)
                    if random.random() < keeps
                    else random.choice((KindRetention(recallable=1), KindRetention(seen_again=1), KindRetention(lost=1)))
                )
    return Retained(compactions, kinds, kinds, HitShare(compactions * 3, compactions * 11), HitShare(compactions, compactions * 4))


def many(sessions: int, policies: Sequence[str] = POLICIES, requests: int = 200, seed: int = 1) -> tuple[Report, list[Run]]:
    """So many sessions under so many policies, and the optimum."""
    random = Random(seed)
    rows = [row(f"0c6ea1b2-{index:04}-4f3e-9d1a-cafe{index:08}", requests + random.randint(-50, 50)) for index in range(sessions)]
    runs: list[Run] = []
    for place, policy in enumerate(policies):
        line, keeps = 40_000 + 7_000 * ((place * 7) % len(policies)), 0.2 + 0.6 * random.random()
        line = 10**9 if policy == "none" else line
        runs.extend(run(policy, each.session_id, each.figures.calls.made, line=line, keeps=keeps, seed=seed) for each in rows)
    runs.extend(run("optimum", each.session_id, each.figures.calls.made, line=35_000, seed=seed, price=0.5) for each in rows)
    return Report(tuple(rows)), runs
