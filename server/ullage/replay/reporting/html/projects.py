"""The policies project by project: what was needed and in view, and what they cost beside Claude Code's way."""

from __future__ import annotations

from collections.abc import Callable

from ullage.replay.measuring.projects import BESIDE, ByProject, OfPolicy
from ullage.replay.reporting.html.markup import Markup, joined, tag
from ullage.replay.reporting.wording import ABSENT, PROJECTS, estimated, number, whole_percent, with_interval

_Cell = Callable[[OfPolicy], str]


def projects(by: ByProject) -> Markup | None:
    """A table with a column for each project; None where there is only one."""
    if len(by.projects) < 2:
        return None
    shown: list[tuple[str, str, _Cell]] = [
        ("Needed and in view", "needed_in_view", lambda figure: estimated(figure.estimates["needed_in_view"])),
        ("Files read again that were in view", "files_in_view", lambda figure: estimated(figure.estimates["files_in_view"])),
    ]
    tables = [_table(caption, by, cell, key) for caption, key, cell in shown]
    if any(figure.policy == BESIDE for figure in by.together) and len(by.together) > 1:
        tables.append(_table(f"Cost beside {BESIDE}", by, lambda figure: with_interval(figure.beside, figure.beside_interval), ""))
    return joined(tag("p", PROJECTS), *tables)


def _table(caption: str, by: ByProject, cell: _Cell, key: str) -> Markup:
    names = [(each.name, f"{number(each.sessions)} sessions in {', '.join(each.folders) or each.name}") for each in by.projects]
    names.append(("all", "All sessions together"))
    mean = [tag("th", "mean of projects", scope="col", title="Each project counts once")] if key else []
    head = tag("tr", tag("th", "Policy", scope="col"), *(tag("th", name, scope="col", title=told) for name, told in names), *mean)
    rows = [_row(figure, by, cell, key) for figure in by.together]
    table = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *rows), class_="figures")
    return tag("div", table, class_="wide", tabindex=0, role="region", aria_label=caption)


def _row(figure: OfPolicy, by: ByProject, cell: _Cell, key: str) -> Markup:
    cells: list[Markup] = []
    for project in by.projects:
        own = next((each for each in project.policies if each.policy == figure.policy), None)
        cells.append(tag("td", ABSENT if own is None else cell(own)))
    mean = [tag("td", whole_percent(by.mean(figure.policy, key)))] if key else []
    return tag("tr", tag("th", figure.policy, scope="row"), *cells, tag("td", cell(figure)), *mean)
