"""The context over a session, a small picture a policy, all of one session at one scale."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from ullage.replay.measuring.runs import Run
from ullage.replay.reporting.html.markup import Markup, joined, marks, short, tag
from ullage.replay.reporting.wording import number

WIDTH, HEIGHT = 280, 112
LEFT, RIGHT, TOP, BOTTOM = 36, 4, 12, 16
_PLOT = WIDTH - LEFT - RIGHT
_FLOOR = HEIGHT - BOTTOM

ABOVE_WINDOW = 1.15
"""So much of a context that is too long for the window is shown; what is beyond is cut off."""

ALL_POINTS = 40_000
"""Points of all curves of a page together: about 200 kB."""
MARK_DISTANCE = 4
"""Marks of compactions that are nearer to one another are drawn as one; the words below the picture count all."""
FEWEST, MOST = 24, 240
"""Points of one curve."""


def points_for(runs: int) -> int:
    """How many points a curve may have where there are so many of them."""
    return max(FEWEST, min(MOST, ALL_POINTS // max(runs, 1)))


def curves(runs: Sequence[Run], points: int, name: str) -> Markup:
    """One picture a run. `name` is an identifier of the session's own in the page."""
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
    """Values with their places, no more than `points`: of each stretch the smallest and the largest, in their order."""
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
    """The scale's end: the largest context, but not far beyond the window; the line and the window too where they are not far above it."""
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
        *_compactions(run, requests),
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
    """In whole units, each step from the one before: that takes the fewest characters."""
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


def _compactions(run: Run, requests: int) -> list[Markup]:
    """A full triangle where a summary was made, an empty one where cheaper moves sufficed; upkeep is not marked."""
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
