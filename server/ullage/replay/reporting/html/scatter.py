"""What the policies cost against what they let go: a picture with a dot a policy, and the same in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ullage.replay.measuring.comparison import Choice, Comparison, Standing
from ullage.replay.reporting.html.bars import within_reach
from ullage.replay.reporting.html.markup import Markup, joined, marks, short, tag
from ullage.replay.reporting.wording import money, number

WIDTH, HEIGHT = 760, 430
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 28, 50
CHARACTER, LINE = 7.4, 13
"""About the size of the labels' letters."""

Shape = Literal["front", "other", "unfit"]
_DRAWN: dict[Shape, str] = {"front": "m0-6l6 6-6 6-6-6z", "other": "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "unfit": "m-4-4l8 8m0-8l-8 8"}


@dataclass(frozen=True, slots=True)
class _Box:
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        return self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom


@dataclass(frozen=True, slots=True)
class _Scale:
    """Dollars from `low` to `high`, facts from 0 to `most`."""

    low: float
    high: float
    most: float

    def x(self, dollars: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (dollars - self.low) / (self.high - self.low)

    def y(self, facts: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * facts / self.most


def scatter(comparison: Comparison, choice: Choice) -> Markup | None:
    """The picture; None where cost or what is kept is not known of two policies."""
    reachable, _ = within_reach(comparison, choice.ruled_out)
    shown = [each for each in reachable if each.keeps_known and not each.failures]
    if choice.keeps_most is None or len(shown) < 2:
        return None
    optimum = comparison.optimum if comparison.optimum is not None and comparison.optimum.priced and comparison.optimum.runs else None
    costs = [each.total for each in shown] + ([optimum.total] if optimum else [])
    room = (max(costs) - min(costs)) * 0.08 or max(costs) * 0.1 or 1.0
    scale = _Scale(max(0.0, min(costs) - room), max(costs) + room, max(max(each.gone for each in shown) * 1.08, 1.0))
    return tag(
        "svg",
        tag("title", "What the policies cost against what they let go"),
        tag("desc", "Further left is cheaper, further down keeps more. The table below has the same figures."),
        *_axes(scale),
        tag("path", d=_steps(choice.front, scale), class_="front-line") if len(choice.front) > 1 else None,
        _optimum(optimum, scale) if optimum else None,
        *_dots(shown, choice, scale),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
    )


def _axes(scale: _Scale) -> Iterator[Markup]:
    floor, end = HEIGHT - BOTTOM, WIDTH - RIGHT
    for facts in marks(scale.most):
        y = round(scale.y(facts), 1)
        yield tag("path", d=f"M{LEFT} {y}H{end}", class_="grid")
        yield tag("text", short(facts), x=LEFT - 8, y=y + 4, class_="end")
    for dollars in marks(scale.high, 5, scale.low):
        x = round(scale.x(dollars), 1)
        yield tag("path", d=f"M{x} {floor}v5", class_="axis")
        yield tag("text", money(dollars), x=x, y=floor + 18, class_="middle")
    yield tag("path", d=f"M{LEFT} {TOP}V{floor}H{end}", class_="axis")
    yield tag("text", "needed, but no longer in view (facts)", x=8, y=14)
    yield tag("text", "cost of all sessions, with summaries", x=end, y=HEIGHT - 8, class_="end")
    yield tag("text", "↙ cheaper and keeps more", x=LEFT + 8, y=HEIGHT - 8, class_="hint")


def _optimum(optimum: Standing, scale: _Scale) -> Markup:
    x = round(scale.x(optimum.total), 1)
    return joined(
        tag("path", d=f"M{x} {TOP}V{HEIGHT - BOTTOM}", class_="optimum"),
        tag("text", f"cheapest schedule: {money(optimum.total)}", x=x + 4, y=TOP + 2, class_="hint"),
    )


def _steps(front: Sequence[Standing], scale: _Scale) -> str:
    places = [(round(scale.x(each.total), 1), round(scale.y(each.gone), 1)) for each in front]
    return f"M{places[0][0]} {places[0][1]}" + "".join(f"H{x}V{y}" for x, y in places[1:])


def _dots(shown: Sequence[Standing], choice: Choice, scale: _Scale) -> Iterator[Markup]:
    """Those of the front first, so that they get the best places for their names."""
    front = {each.policy for each in choice.front}
    ordered = sorted(shown, key=lambda each: (each.policy not in front, each.policy in choice.ruled_out))
    taken = [_Box(scale.x(each.total) - 6, scale.y(each.gone) - 6, scale.x(each.total) + 6, scale.y(each.gone) + 6) for each in shown]
    for each in ordered:
        shape: Shape = "front" if each.policy in front else "unfit" if each.policy in choice.ruled_out else "other"
        x, y = round(scale.x(each.total), 1), round(scale.y(each.gone), 1)
        told = f"{each.policy}: {money(each.total)}, {number(each.gone)} of {number(each.needed.needed)} needed facts gone from view"
        place = _place(x, y, each.policy, taken)
        label = tag("text", each.policy, x=round(place.left, 1), y=round(place.bottom - 3, 1), class_=f"of-{shape}") if place else None
        yield tag("g", tag("title", told), tag("path", d=f"M{x} {y}{_DRAWN[shape]}", class_=f"dot {shape}"), label)


def _place(x: float, y: float, name: str, taken: list[_Box]) -> _Box | None:
    """Where a name fits beside its dot; None where everything is taken (the tip of the mouse and the words still tell)."""
    wide = len(name) * CHARACTER
    for left, top in (
        (x + 9, y - 8),
        (x - 9 - wide, y - 8),
        (x - wide / 2, y - 22),
        (x - wide / 2, y + 8),
        (x + 8, y - 20),
        (x + 8, y + 6),
    ):
        box = _Box(left, top, left + wide, top + LINE)
        if box.left >= LEFT and box.right <= WIDTH - 4 and box.top >= TOP - 8 and not any(box.meets(other) for other in taken):
            taken.append(box)
            return box
    return None
