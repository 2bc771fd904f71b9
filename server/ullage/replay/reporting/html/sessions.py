"""Session by session: what was recorded, the context under each policy, and each policy's figures. Folded up but for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ullage.context.compaction_entries import Rung, Trigger
from ullage.replay.measuring.comparison import OPTIMUM, Standing, standing
from ullage.replay.measuring.figures import Report, Row
from ullage.replay.measuring.runs import CompactionPoint, Run
from ullage.replay.reporting.html.curves import curves, points_for
from ullage.replay.reporting.html.markup import Markup, joined, short, tag
from ullage.replay.reporting.html.side_by_side import share_of_facts
from ullage.replay.reporting.report_table import PROGRAMS
from ullage.replay.reporting.wording import ABSENT, missing, money, number, percent

LISTED_COMPACTIONS = 600
"""Of the whole page; each run has its share of them."""
MOST_LISTED = 40
"""Of one run."""

_TRIGGERS: dict[Trigger, str] = {
    "threshold": "full",
    "manual": "asked for",
    "idle": "while idle",
    "reactive": "refused by the API",
    "tool": "by the model",
    "upkeep": "before every call",
    "economy": "to save",
}
_RUNGS: dict[Rung, str] = {
    "moves": "cleared or cut",
    "api": "API's summary",
    "model": "model's summary",
    "digest": "program summary",
    "tail": "only the tail kept",
}


def sessions(report: Report, runs: Mapping[str, Sequence[Run]]) -> Markup:
    """All sessions, in the order of the report; the one with the most compactions is unfolded."""
    everything = sum(len(of_it) for of_it in runs.values())
    points, listed = points_for(everything), min(MOST_LISTED, LISTED_COMPACTIONS // max(everything, 1))
    shown = {id: [run for run in of_it if run.policy != OPTIMUM] for id, of_it in runs.items()}
    eventful = max(shown, key=lambda id: sum(len(run.compactions) for run in shown[id]), default=None)
    return joined(
        *(
            _session(index, row, runs.get(row.session_id, ()), points, listed, is_open=row.session_id == eventful)
            for index, row in enumerate(report.rows, 1)
        )
    )


def _session(index: int, row: Row, runs: Sequence[Run], points: int, listed: int, is_open: bool) -> Markup:
    drawn = [run for run in runs if run.requests and run.policy != OPTIMUM]
    return tag(
        "details",
        tag("summary", tag("b", f"{index}. "), tag("bdi", row.session_id), tag("span", f" {_in_short(row, runs)}", class_="muted")),
        tag("p", _recorded(row)),
        curves(drawn, points, f"s{index}") if drawn else None,
        _table(index, runs) if runs else None,
        _compactions(index, drawn, listed),
        tag("ul", *(tag("li", note) for note in row.notes), class_="muted") if row.notes else None,
        open=is_open,
        class_="session",
    )


def _in_short(row: Row, runs: Sequence[Run]) -> str:
    costs = [(run.total, run.policy) for run in runs if not run.failure and run.total and run.policy != OPTIMUM]
    parts = [PROGRAMS[row.source], f"{number(row.figures.calls.made)} requests"]
    if costs:
        (least, cheap), (most, dear) = min(costs), max(costs)
        parts.append(f"{money(least)} ({cheap})" if len(costs) == 1 else f"{money(least)} ({cheap}) to {money(most)} ({dear})")
    return ", ".join(parts)


def _recorded(row: Row) -> str:
    figures, without = row.figures, missing(row.figures)
    parts = [f"File {row.path.name}", f"models {', '.join(row.models) or 'not recorded'}"]
    if "dollars" not in without:
        parts.append(f"cost {money(figures.dollars.total)} without summaries")
    if "tokens" not in without:
        parts.append(f"largest context {number(figures.largest_context)} tokens")
    parts.append(f"{number(figures.compactions)} compaction{'' if figures.compactions == 1 else 's'}")
    return f"As recorded: {'; '.join(parts)}."


def _table(index: int, runs: Sequence[Run]) -> Markup:
    names = ("Cost", "of it summaries", "Compactions", "Mean context", "Largest context", "In view", "Gone")
    head = tag("tr", tag("th", "Policy", scope="col"), *(tag("th", name, scope="col") for name in names))
    ordered = sorted(runs, key=lambda run: (run.policy != OPTIMUM, bool(run.failure), run.total))
    caption = f"Session {index} under each policy"
    table = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *map(_row, ordered)), class_="figures")
    return tag("div", table, class_="wide", tabindex=0, role="region", aria_label=caption)


def _row(run: Run) -> Markup:
    if run.failure:
        return tag("tr", tag("th", run.policy, scope="row"), tag("td", f"failed: {run.failure}", colspan=7, class_="words"))
    of_it = standing(run.policy, [run])
    kept = run.policy != OPTIMUM and of_it.keeps_known
    cells = (
        money(of_it.total) if of_it.priced else ABSENT,
        money(of_it.summaries.total) if of_it.priced else ABSENT,
        f"{number(of_it.compactions)}{f' + {number(of_it.upkeep)}' if of_it.upkeep else ''}",
        number(of_it.mean_context),
        number(of_it.largest_context if of_it.requests else None),
        percent(share_of_facts(of_it)) if kept else ABSENT,
        _gone(of_it) if kept else ABSENT,
    )
    return tag("tr", tag("th", run.policy, scope="row"), *(tag("td", cell) for cell in cells))


def _gone(of_it: Standing) -> str:
    return f"{number(of_it.gone)} of {number(of_it.needed.needed)}"


def _compactions(index: int, runs: Sequence[Run], listed: int) -> Markup | None:
    rows = [row for run in runs for row in _listed(run, listed)]
    if not rows:
        return None
    names = ("Policy", "After entry", "Because", "By", "Tokens before", "after", "Summary (characters)")
    head = tag("tr", *(tag("th", name, scope="col") for name in names))
    caption = f"Compactions of session {index}"
    table = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *rows), class_="figures")
    return tag(
        "details", tag("summary", "Compactions one by one"), tag("div", table, class_="wide", tabindex=0, role="region", aria_label=caption)
    )


def _listed(run: Run, listed: int) -> list[Markup]:
    points = [point for point in run.compactions if not point.upkeep]
    rows = [_compaction(run.policy, point) for point in points[:listed]]
    if listed and len(points) > listed:
        more = f"and {number(len(points) - listed)} more (see --format json)"
        rows.append(tag("tr", tag("th", run.policy, scope="row"), tag("td", more, colspan=6, class_="words")))
    return rows


def _compaction(policy: str, point: CompactionPoint) -> Markup:
    by = _RUNGS[point.rung] + (f" (for it: {point.stood_in})" if point.stood_in else "")
    cells = (number(point.after_seq), _TRIGGERS[point.trigger], by, short(point.tokens_before), short(point.tokens_after))
    return tag(
        "tr",
        tag("th", policy, scope="row"),
        *(tag("td", cell) for cell in cells),
        tag("td", number(point.summary_characters) if point.summary_characters else ABSENT),
    )
