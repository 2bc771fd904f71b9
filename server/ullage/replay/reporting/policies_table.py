"""The policies side by side, for a terminal: what each would have cost, and what it would have kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ullage.replay.measuring.comparison import Comparison, Standing
from ullage.replay.measuring.files_and_names import Named
from ullage.replay.measuring.retention import Share
from ullage.replay.measuring.runs import Retained
from ullage.replay.reporting.wording import ABSENT, columns, money, number, percent


def cost_lines(standings: Iterable[Standing]) -> Iterator[str]:
    """Requests, dollars by price class, summaries, compactions and contexts, a line a policy."""
    head = [
        "policy",
        "requests",
        "full|price",
        "written",
        "read",
        "output",
        "summaries",
        "uncached",
        "in all",
        "compactions",
        "upkeep",
        "context|mean",
        "context|largest",
        "do not|fit",
    ]
    return columns(head, [[each.policy, *_cost_cells(each)] for each in standings], left=1)


def _cost_cells(standing: Standing) -> list[str]:
    if not standing.runs:
        return [ABSENT] * 13
    dollars = standing.dollars
    classes = (dollars.input, dollars.cache_write_5m + dollars.cache_write_1h, dollars.cache_read, dollars.output)
    told = [*classes, standing.summaries.total, standing.summaries_cold.total, standing.total]
    return [
        number(standing.requests),
        *(money(each) if standing.priced else ABSENT for each in told),
        number(standing.compactions),
        number(standing.upkeep),
        number(standing.mean_context),
        number(standing.largest_context),
        number(standing.refused),
    ]


def kept_lines(standings: Iterable[Standing]) -> Iterator[str]:
    """What was needed after the compactions and was in view, a line a policy."""
    head = [
        "policy",
        "after",
        "paths",
        "names",
        "hashes",
        "errors",
        "user's|messages",
        "names by|file",
        "files|in view",
        "text again|in view",
        "put back|and kept",
        "characters|a summary",
        "names in it|then used",
        "violations",
        "seconds",
    ]
    return columns(head, [[each.policy, *_kept_cells(each)] for each in standings], left=1)


def _kept_cells(standing: Standing) -> list[str]:
    if not standing.runs:
        return [ABSENT] * 14
    kept = standing.retained
    is_blank = bool(standing.stood_in.get("blank"))
    shares = [*_shares(kept), *_beside(kept), *_summaries(kept.named)] if kept.compactions and not is_blank else [ABSENT] * 11
    mark = "*" if standing.unjudged else ""
    return [number(kept.compactions) + mark, *shares, number(len(standing.violations)), f"{standing.seconds:.1f}"]


def _shares(kept: Retained) -> list[str]:
    return [_share(each) for each in (*(of_kind.kept for of_kind in kept.kinds.values()), kept.tied, kept.restored)]


def _beside(kept: Retained) -> list[str]:
    return [percent(kept.acquired.again.value) if kept.acquired.again.of else ABSENT, number(kept.acquired.mean_beside_summary)]


def _summaries(named: Named) -> list[str]:
    return [number(named.mean_characters), _share(named.names)]


def _share(share: Share) -> str:
    return f"{percent(share.value)} of {share.of:,}" if share.of else ABSENT


def fate_lines(standings: Iterable[Standing]) -> Iterator[str]:
    """What became of all that was needed, kinds together, a line a policy."""
    head = [
        "policy",
        "needed",
        "in view",
        "recallable",
        "shown|again",
        "lost",
        "in view or|recallable",
        "getting|back",
        "summaries",
    ]
    return columns(head, [[each.policy, *_fate_cells(each)] for each in standings], left=1)


def _fate_cells(standing: Standing) -> list[str]:
    stood_in = ", ".join(f"{number(count)} {what}" for what, count in standing.stood_in.items()) or ABSENT
    needed = standing.needed
    if not needed.needed or standing.stood_in.get("blank"):
        return [*[ABSENT] * 7, stood_in]
    told = (needed.needed, needed.in_view, needed.recallable, needed.seen_again, needed.lost)
    back = money(standing.getting_back) if standing.priced else ABSENT
    return [*map(number, told), percent(needed.within_reach.value), back, stood_in]


def cautions(standings: Iterable[Standing]) -> Iterator[str]:
    """Of policies of which what they kept says little, why."""
    return (f"* {each.policy}: {each.unjudged}" for each in standings if each.unjudged)


def listed(standings: Sequence[Standing], of_all: Comparison) -> Iterator[str]:
    """What went wrong, in words: policies that failed, sessions without any figures, rules that requests would have broken."""
    for each in standings:
        yield from (f"{each.policy} failed on {session}: {why}" for session, why in each.failures)
        yield from (f"{each.policy}: {rule}" for rule in each.violations)
    yield from (f"{session} is left out: {why}" for session, why in of_all.left_out.items())
