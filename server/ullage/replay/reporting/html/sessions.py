"""Session by session: what was recorded, the context under each policy, and each policy's figures. Folded up but for one.

The context over a session is a small picture a policy, all of one session at one scale.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from ullage.context.compaction_entries import Rung, Trigger
from ullage.replay.measuring.comparison import OPTIMUM, PolicyStanding, standing
from ullage.replay.measuring.figures import MeasuredSession, Report
from ullage.replay.measuring.runs import CompactionPoint, Run
from ullage.replay.reporting.html.markup import Markup, joined, marks, short, tag
from ullage.replay.reporting.html.side_by_side import share_of_facts
from ullage.replay.reporting.report_table import PROGRAMS
from ullage.replay.reporting.wording import ABSENT, missing, money, number, percent

LISTED_COMPACTIONS = 600
"""How many compactions are listed on the whole page; each run has its share of them."""
MOST_LISTED = 40
"""How many compactions of one run are listed at most."""

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
    """The part of the page with all sessions, in the order of the report; the one with the most compactions is unfolded."""
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


def _session(index: int, row: MeasuredSession, runs: Sequence[Run], points: int, listed: int, is_open: bool) -> Markup:
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


def _in_short(row: MeasuredSession, runs: Sequence[Run]) -> str:
    costs = [(run.total, run.policy) for run in runs if not run.failure and run.total and run.policy != OPTIMUM]
    parts = [PROGRAMS[row.source], f"{number(row.figures.calls.made)} requests"]
    if costs:
        (least, cheap), (most, dear) = min(costs), max(costs)
        parts.append(f"{money(least)} ({cheap})" if len(costs) == 1 else f"{money(least)} ({cheap}) to {money(most)} ({dear})")
    return ", ".join(parts)


def _recorded(row: MeasuredSession) -> str:
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


def _gone(of_it: PolicyStanding) -> str:
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


# The context over a session

WIDTH, HEIGHT = 280, 112
LEFT, RIGHT, TOP, BOTTOM = 36, 4, 12, 16
_PLOT = WIDTH - LEFT - RIGHT
_FLOOR = HEIGHT - BOTTOM

ABOVE_WINDOW = 1.15
"""The highest share of the window that is shown of a context too long for it; what is beyond is cut off."""

ALL_POINTS = 40_000
"""How many points all curves of a page have together: about 200 kB."""
MARK_DISTANCE = 4
"""The distance below which marks of compactions are drawn as one; the words below the picture count all."""
FEWEST, MOST = 24, 240
"""Points of one curve."""


def points_for(runs: int) -> int:
    """How many points each curve may have where there are so many runs."""
    return max(FEWEST, min(MOST, ALL_POINTS // max(runs, 1)))


def curves(runs: Sequence[Run], points: int, name: str) -> Markup:
    """The pictures of the context over a session, one for each run. `name` is an identifier of the session's own in the page."""
    top = _top(runs)
    requests = max((len(run.requests) for run in runs), default=0)
    axes = joined(_axes(top, requests), *(_limit(window, top, "window") for window in sorted({run.window for run in runs})))
    drawn = [
        tag(
            "figure",
            _picture(run, top, requests, points, tag("g", axes, id=name) if index == 0 else tag("use", href=f"#{name}")),
            _caption(run),
        )
        for index, run in enumerate(run for run in runs if run.requests)
    ]
    return tag("div", *drawn, class_="curves")


def thinned(values: Sequence[int], points: int) -> list[tuple[int, int]]:
    """The values with their places, no more than `points`: of each stretch the smallest and the largest, in their order."""
    if len(values) <= points:
        return list(enumerate(values))
    stretches = max(points // 2, 1)
    kept: list[tuple[int, int]] = []
    for stretch in range(stretches):
        places = range(stretch * len(values) // stretches, (stretch + 1) * len(values) // stretches)
        both = {min(places, key=values.__getitem__), max(places, key=values.__getitem__)}
        kept.extend((place, values[place]) for place in sorted(both))
    return kept


def _top(runs: Sequence[Run]) -> int:
    """The upper end of the scale: the largest context, but not far beyond the window; the line and the window too where they are not far
    above it."""
    largest = max((min(point.context_tokens, ABOVE_WINDOW * (run.window or 10**9)) for run in runs for point in run.requests), default=0)
    near = [limit for run in runs for limit in (run.line, run.window) if limit <= largest * 1.4]
    return round(max(largest, *near, 1))


def _picture(run: Run, top: int, requests: int, points: int, axes: Markup) -> Markup:
    return tag(
        "svg",
        tag("title", f"Context under {run.policy}"),
        axes,
        _limit(run.line, top, "line"),
        tag("path", d=_path(run, top, requests, points), class_="curve"),
        *_marks(run, requests),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
    )


def _axes(top: int, requests: int) -> Markup:
    lines = [
        joined(
            tag("path", d=f"M{LEFT} {_y(value, top)}h{_PLOT}", class_="grid"),
            tag("text", short(value), x=LEFT - 4, y=_y(value, top) + 3, class_="end"),
        )
        for value in marks(top, 3)
    ]
    return joined(
        *lines,
        tag("text", "1", x=LEFT, y=HEIGHT - 4),
        tag("text", f"request {number(requests)}", x=WIDTH - RIGHT, y=HEIGHT - 4, class_="end"),
    )


def _limit(tokens: int, top: int, kind: str) -> Markup | None:
    return tag("path", d=f"M{LEFT} {_y(tokens, top)}h{_PLOT}", class_=kind) if 0 < tokens <= top else None


def _path(run: Run, top: int, requests: int, points: int) -> str:
    """The curve of a run as the path of an SVG, in whole units, each step from the one before: that takes the fewest characters."""
    places = [
        (_x(index, requests), _y(min(tokens, top), top))
        for index, tokens in thinned([point.context_tokens for point in run.requests], points)
    ]
    (x, y), *rest = places
    steps = [f"M{x} {y}l"]
    for next_x, next_y in rest:
        steps.append(f"{next_x - x} {next_y - y} ")
        x, y = next_x, next_y
    return "".join(steps).replace(" -", "-").rstrip()


def _marks(run: Run, requests: int) -> list[Markup]:
    """The marks of a run's compactions: a full triangle where a summary was made, an empty one where cheaper moves sufficed. Upkeep is not
    marked."""
    seqs = [point.seq for point in run.requests]
    places: dict[str, set[int]] = {"summary": set(), "moves": set()}
    for point in run.compactions:
        if not point.upkeep:
            kind = "moves" if point.rung == "moves" else "summary"
            places[kind].add(_x(bisect_right(seqs, point.after_seq), requests))
    return [tag("path", d=_triangles(sorted(at)), class_=kind) for kind, at in places.items() if at]


def _triangles(places: Sequence[int]) -> str:
    """A path with a corner for each; none so near to the one before it that the two could not be told apart."""
    steps, last = [f"M{places[0]} 10"], places[0]
    for x in places[1:]:
        if x - last >= MARK_DISTANCE:
            steps.append(f"h{x - last}")
            last = x
    return "".join(steps)


def _caption(run: Run) -> Markup:
    return tag("figcaption", tag("b", run.policy), tag("br"), _in_words(run))


def _in_words(run: Run) -> str:
    compactions = sum(not point.upkeep for point in run.compactions)
    parts = [f"{number(compactions)} compaction{'' if compactions == 1 else 's'}"]
    if upkeep := len(run.compactions) - compactions:
        parts.append(f"upkeep before {number(upkeep)} calls")
    parts.append(f"largest {short(max(point.context_tokens for point in run.requests))}")
    if run.line:
        parts.append(f"line {short(run.line)}")
    if run.window:
        parts.append(f"window {short(run.window)}")
    if refused := sum(not point.fits for point in run.requests):
        parts.append(f"{number(refused)} requests too long for the window")
    return ", ".join(parts)


def _x(index: int, requests: int) -> int:
    return LEFT + round(_PLOT * min(index, requests - 1) / max(requests - 1, 1))


def _y(tokens: float, top: int) -> int:
    return round(_FLOOR - (_FLOOR - TOP) * tokens / top)
