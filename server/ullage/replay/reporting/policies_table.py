"""The policies side by side, for a terminal: what each would have cost, what it would have kept, and that project by project.

Shares of a project stand with their intervals, beside the other projects and the mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ullage.recorded.readers.values import printable
from ullage.recorded.retention import HitShare
from ullage.replay.measuring.comparison import Comparison, PolicyStanding
from ullage.replay.measuring.files_and_names import NamedInSummaries
from ullage.replay.measuring.projects import BESIDE, CHOSEN_BY, MEASURES, ByProject, OfPolicy, Project
from ullage.replay.measuring.runs import Retained
from ullage.replay.reporting.wording import ABSENT, columns, estimated, money, number, percent, whole_percent, with_interval


def cost_lines(standings: Iterable[PolicyStanding]) -> Iterator[str]:
    """The table of requests, dollars by price class, summaries, compactions and contexts, a line for each policy."""
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
        "for|forgetting",
        "compactions",
        "upkeep",
        "context|mean",
        "context|largest",
        "do not|fit",
    ]
    return columns(head, [[each.policy, *_cost_cells(each)] for each in standings], left=1)


def _cost_cells(standing: PolicyStanding) -> list[str]:
    if not standing.runs:
        return [ABSENT] * 14
    dollars = standing.dollars
    classes = (dollars.input, dollars.cache_write_5m + dollars.cache_write_1h, dollars.cache_read, dollars.output)
    told = [*classes, standing.summaries.total, standing.summaries_cold.total, standing.total]
    return [
        number(standing.requests),
        *(money(each) if standing.priced else ABSENT for each in told),
        money(standing.forgetting) if standing.forgetting_known else ABSENT,
        number(standing.compactions),
        number(standing.upkeep),
        number(standing.mean_context),
        number(standing.largest_context),
        number(standing.refused),
    ]


def kept_lines(standings: Iterable[PolicyStanding]) -> Iterator[str]:
    """The table of what was needed after the compactions and was in view, a line for each policy."""
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


def _kept_cells(standing: PolicyStanding) -> list[str]:
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


def _summaries(named: NamedInSummaries) -> list[str]:
    return [number(named.mean_characters), _share(named.names)]


def _share(share: HitShare) -> str:
    return f"{percent(share.value)} of {share.of:,}" if share.of else ABSENT


def fate_lines(standings: Iterable[PolicyStanding]) -> Iterator[str]:
    """The table of what became of all that was needed, all kinds together, a line for each policy."""
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


def _fate_cells(standing: PolicyStanding) -> list[str]:
    stood_in = ", ".join(f"{number(count)} {what}" for what, count in standing.stood_in.items()) or ABSENT
    needed = standing.needed
    if not needed.needed or standing.stood_in.get("blank"):
        return [*[ABSENT] * 7, stood_in]
    told = (needed.needed, needed.in_view, needed.recallable, needed.seen_again, needed.lost)
    back = money(standing.getting_back) if standing.priced else ABSENT
    return [*map(number, told), percent(needed.within_reach.value), back, stood_in]


def cautions(standings: Iterable[PolicyStanding]) -> Iterator[str]:
    """The warnings of policies of which what they kept says little, a line for each, with the reason."""
    return (f"* {each.policy}: {each.unjudged}" for each in standings if each.unjudged)


def listed(standings: Sequence[PolicyStanding], of_all: Comparison) -> Iterator[str]:
    """The sentences about what went wrong: policies that failed, sessions without any figures, rules that requests would have broken."""
    for each in standings:
        yield from (f"{each.policy} failed on {session}: {why}" for session, why in each.failures)
        yield from (f"{each.policy}: {rule}" for rule in each.violations)
    yield from (f"{session} is left out: {why}" for session, why in of_all.left_out.items())


# Project by project

_HEAD = ["policy", "project", "sessions", "compactions", "cost", f"beside|{BESIDE}", "with|forgetting"]
_SHOWN = tuple(each for each in MEASURES if each.key != "identifier_beside_its_file")
_ALL, _MEAN = "all", "mean of projects"
_FIRST = "needed_in_view"


def project_lines(by: ByProject) -> Iterator[str]:
    """The table with a line for each policy and project; below them all together, and the mean of the projects."""
    head = [*_HEAD, "in view|elsewhere", *(each.name for each in _SHOWN), "characters|a summary"]
    return columns(head, [cells for figure in by.together for cells in _of_policy(by, figure)], left=2)


def _of_policy(by: ByProject, figure: OfPolicy) -> Iterator[list[str]]:
    several = len(by.projects) > 1
    for project in by.projects:
        own = next((each for each in project.policies if each.policy == figure.policy), None)
        if own is not None and several:
            yield _cells(printable(project.name), own, _elsewhere(project, figure.policy))
    yield _cells(_ALL if several else printable(by.projects[0].name), figure, ABSENT)
    if several:
        means = [whole_percent(by.mean(figure.policy, each.key)) for each in _SHOWN]
        yield [figure.policy, _MEAN, *[""] * 6, *means, ""]


def _elsewhere(project: Project, policy: str) -> str:
    others = next((each for each in project.without if each.policy == policy), None)
    return whole_percent(others.value(_FIRST)) if others is not None else ABSENT


def _cells(name: str, figure: OfPolicy, elsewhere: str) -> list[str]:
    return [
        figure.policy,
        name,
        number(figure.sessions),
        number(figure.compactions),
        ABSENT if figure.dollars is None else money(figure.dollars),
        with_interval(figure.beside, figure.beside_interval) if figure.policy != BESIDE else ABSENT,
        with_interval(figure.beside_forgetting, figure.beside_forgetting_interval) if figure.policy != BESIDE else ABSENT,
        elsewhere,
        *(estimated(figure.estimates[each.key]) for each in _SHOWN),
        number(figure.mean_characters),
    ]


def in_short(by: ByProject, policy: str) -> Iterable[str]:
    """The line with what was in view under one policy, in each project; none if there is only one project."""
    if len(by.projects) < 2:
        return
    figures = [(project.name, each) for project in by.projects for each in project.policies if each.policy == policy]
    told = [f"{printable(name)} {estimated(each.estimates[_FIRST])}" for name, each in figures if each.estimates[_FIRST].share.of]
    if told:
        yield f"needed later and in view under {policy}, by project: {', '.join(told)}; the mean {whole_percent(by.mean(policy, _FIRST))}"


def left_out_lines(by: ByProject) -> Iterator[str]:
    """The lines with what the options hold that were chosen without each project; none if none were to be chosen."""
    if by.left_out is None:
        return
    for project in by.projects:
        name = by.chosen.get(project.name)
        own = next((each for each in project.policies if each.policy == name), None)
        if own is not None and own.estimates[CHOSEN_BY].share.of:
            yield f"{printable(project.name)}: {estimated(own.estimates[CHOSEN_BY])} by {own.policy}"
    yield f"all, each chosen without it: {estimated(by.left_out.estimates[CHOSEN_BY])}"
