"""Each policy project by project, for a terminal: shares with their intervals, beside the other projects and the mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ullage.replay.measuring.projects import BESIDE, MEASURES, ByProject, OfPolicy, Project
from ullage.replay.readers.values import printable
from ullage.replay.reporting.wording import ABSENT, columns, estimated, money, number, whole_percent, with_interval

_HEAD = ["policy", "project", "sessions", "compactions", "cost", f"beside|{BESIDE}"]
_SHOWN = tuple(each for each in MEASURES if each.key != "identifier_beside_its_file")
_ALL, _MEAN = "all", "mean of projects"
_FIRST = "needed_in_view"


def project_lines(by: ByProject) -> Iterator[str]:
    """A line for each policy and project; below them all together, and the mean of the projects."""
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
        yield [figure.policy, _MEAN, *[""] * 5, *means, ""]


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
        elsewhere,
        *(estimated(figure.estimates[each.key]) for each in _SHOWN),
        number(figure.mean_characters),
    ]


def in_short(by: ByProject, policy: str) -> Iterable[str]:
    """What was in view under one policy, in each project; nothing where there is only one."""
    if len(by.projects) < 2:
        return
    figures = [(project.name, each) for project in by.projects for each in project.policies if each.policy == policy]
    told = [f"{printable(name)} {estimated(each.estimates[_FIRST])}" for name, each in figures if each.estimates[_FIRST].share.of]
    if told:
        yield f"needed later and in view under {policy}, by project: {', '.join(told)}; the mean {whole_percent(by.mean(policy, _FIRST))}"
