"""Pictures of the policies.

- Tables with bars, a row for each policy: cost by price class, what became of the facts that were needed, and what was kept kind by kind.
  Since each is a table, it can be read aloud too.
- What the policies cost against what they let go: a picture with a dot a policy, and the same in words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ullage.context.compaction.needed import FACT_KINDS, FactKind
from ullage.recorded.retention import HitShare
from ullage.replay.measuring.comparison import Comparison, PolicyChoice, PolicyStanding
from ullage.replay.reporting.html.markup import Markup, joined, legend, marks, segment, short, tag
from ullage.replay.reporting.wording import ABSENT, money, number, percent


@dataclass(frozen=True, slots=True)
class _Class:
    name: str
    value: Callable[[PolicyStanding], float]


PRICE_CLASSES: tuple[_Class, ...] = (
    _Class("read from the cache", lambda s: s.dollars.cache_read),
    _Class("written for 5 minutes", lambda s: s.dollars.cache_write_5m),
    _Class("written for 1 hour", lambda s: s.dollars.cache_write_1h),
    _Class("sent at full price", lambda s: s.dollars.input),
    _Class("the model's output", lambda s: s.dollars.output),
    _Class("calls that write summaries", lambda s: s.summaries.total),
)

FATES: tuple[_Class, ...] = (
    _Class("in view", lambda s: s.needed.in_view),
    _Class("a search would find it", lambda s: s.needed.recallable),
    _Class("shown again before use", lambda s: s.needed.seen_again),
    _Class("lost", lambda s: s.needed.lost),
)
_FIRST_FATE = 7
"""The number of the first fate's filling: fates have fillings of their own, beside those of the price classes."""


def within_reach(comparison: Comparison, ruled_out: Collection[str]) -> tuple[list[PolicyStanding], list[PolicyStanding]]:
    """The policies that have a cost, in two lists: those for a picture, and those ruled out that are so dear that they would leave the
    others no room in it."""
    priced = [each for each in comparison.by_cost() if each.priced and each.runs]
    dearest = max((each.total for each in priced if each.policy not in ruled_out), default=float("inf"))
    return [each for each in priced if each.total <= 1.5 * dearest], [each for each in priced if each.total > 1.5 * dearest]


def cost_bars(comparison: Comparison, ruled_out: Collection[str]) -> Markup | None:
    """A table with a bar of cost for each policy, by price class; None if no prices are known."""
    shown, _ = within_reach(comparison, ruled_out)
    longest = max((max(each.total, min(each.dollars.total + each.summaries_cold.total, each.total * 1.3)) for each in shown), default=0.0)
    if not longest:
        return None
    return _table(
        "Cost by price class, the cheapest policy first",
        PRICE_CLASSES,
        shown,
        lambda each: _bar(each, PRICE_CLASSES, longest, 0, money, each.dollars.total + each.summaries_cold.total),
        lambda each: money(each.total),
        money,
        0,
    )


def fate_bars(comparison: Comparison) -> Markup | None:
    """A table with a bar for each policy of what became of the facts that were needed. None if nothing was needed after a compaction, or
    blanks stood for all summaries."""
    shown = [each for each in comparison.by_cost() if each.keeps_known and each.needed.needed]
    if not shown:
        return None
    return _table(
        "What became of the facts that were needed after compactions",
        FATES,
        sorted(shown, key=lambda each: each.gone),
        lambda each: _bar(each, FATES, each.needed.needed, _FIRST_FATE, number, None),
        lambda each: f"{percent(each.needed.kept.value)} of {number(each.needed.needed)}",
        number,
        _FIRST_FATE,
    )


def _table(
    caption: str,
    classes: Sequence[_Class],
    shown: Sequence[PolicyStanding],
    bar: Callable[[PolicyStanding], Markup],
    sum_of: Callable[[PolicyStanding], str],
    value: Callable[[float], str],
    first: int,
) -> Markup:
    bars = tag(
        "table",
        tag("caption", caption),
        tag(
            "tbody",
            *(
                tag("tr", tag("th", each.policy, scope="row"), tag("td", bar(each), class_="bar"), tag("td", sum_of(each)))
                for each in shown
            ),
        ),
        class_="bars",
    )
    head = tag("tr", tag("th", "Policy", scope="col"), *(tag("th", each.name, scope="col") for each in classes))
    rows = [tag("tr", tag("th", each.policy, scope="row"), *(tag("td", value(kind.value(each))) for kind in classes)) for each in shown]
    table = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *rows), class_="figures")
    inner = tag("div", table, class_="wide", tabindex=0, role="region", aria_label=caption)
    return joined(legend(tuple(each.name for each in classes), first), bars, tag("details", tag("summary", "The same in numbers"), inner))


def _bar(
    standing: PolicyStanding, classes: Sequence[_Class], longest: float, first: int, value: Callable[[float], str], tick: float | None
) -> Markup:
    segments: list[Markup] = []
    words: list[str] = []
    begin = 0.0
    for index, kind in enumerate(classes, first):
        amount = kind.value(standing)
        if amount:
            words.append(f"{kind.name} {value(amount)}")
            segments.append(segment(index, begin / longest, amount / longest, words[-1]))
        begin += amount
    is_within = tick is not None and begin * 1.002 < tick <= longest
    end = (
        tag("rect", x=f"{tick / longest * 100 - 0.2:.2f}%", width=2, height="100%", class_="cold")
        if tick is not None and is_within
        else None
    )
    return tag("svg", tag("title", f"{standing.policy}: {', '.join(words)}"), *segments, end, role="img")


def cold_note() -> str:
    """The sentence that says what the tick beside a bar of cost means."""
    return "A thin upright line behind a bar: where it would end if no call that writes a summary had found anything in the cache."


def too_dear_note(comparison: Comparison, ruled_out: Collection[str]) -> str:
    """The sentence that names the policies too dear to be in the pictures."""
    _, beyond = within_reach(comparison, ruled_out)
    return (
        f" Too dear to be shown, and ruled out: {', '.join(f'{each.policy} ({money(each.total)})' for each in beyond)}." if beyond else ""
    )


def absent_note(comparison: Comparison) -> str:
    """The sentence that names the policies without a bar, and why; empty if all have one."""
    unjudged = [each.policy for each in comparison.by_cost() if not each.keeps_known]
    never = [each.policy for each in comparison.by_cost() if each.keeps_known and not each.needed.needed]
    told = [
        f"{', '.join(unjudged)} (what is kept is not known)" if unjudged else "",
        f"{', '.join(never)} (nothing was needed after a compaction)" if never else "",
    ]
    return f"Without a bar: {'; '.join(each for each in told if each)}." if any(told) else ""


NAMES: dict[FactKind, str] = {
    "path": "Paths",
    "identifier": "Names in code",
    "hash": "Hashes",
    "error": "Errors",
    "user message": "User's messages",
}

_IN_VIEW = 7
"""The filling of what is in view (`bars.py`)."""


def kinds(comparison: Comparison, recorded: PolicyStanding | None) -> Markup:
    """The table of what was in view when needed: a row for each policy, a column for each kind."""
    shown = [each for each in comparison.by_cost() if each.keeps_known and each.retained.compactions]
    columns: list[tuple[str, Callable[[PolicyStanding], HitShare]]] = [(NAMES[kind], _kept(kind)) for kind in FACT_KINDS]
    columns += [("All facts", _all), ("Names by file", _tied), ("Files in view", _restored)]
    head = tag("tr", tag("th", "Policy", scope="col"), *(tag("th", name, scope="col") for name, _ in columns))
    rows = [_row(each, each.policy, [share for _, share in columns]) for each in shown]
    beside = (
        _row(recorded, "as recorded", [share for _, share in columns]) if recorded is not None and recorded.retained.compactions else None
    )
    table = tag(
        "table",
        tag("caption", "In view when needed, by kind: the share, and how many of how many"),
        tag("thead", head),
        tag("tbody", *rows),
        tag("tfoot", beside) if beside is not None else None,
        class_="figures kinds",
    )
    return tag("div", table, class_="wide", tabindex=0, role="region", aria_label="In view when needed, by kind")


def _kept(kind: FactKind) -> Callable[[PolicyStanding], HitShare]:
    return lambda each: each.retained.kinds[kind].kept


def _all(each: PolicyStanding) -> HitShare:
    return each.needed.kept


def _tied(each: PolicyStanding) -> HitShare:
    return each.retained.tied


def _restored(each: PolicyStanding) -> HitShare:
    return each.retained.restored


def _row(standing: PolicyStanding, name: str, shares: Sequence[Callable[[PolicyStanding], HitShare]]) -> Markup:
    return tag("tr", tag("th", name, scope="row"), *(_cell(share(standing)) for share in shares))


def _cell(share: HitShare) -> Markup:
    if share.value is None:
        return tag("td", ABSENT)
    bar = tag("svg", segment(_IN_VIEW, 0.0, share.value, percent(share.value)), class_="mini", aria_hidden="true")
    return tag("td", percent(share.value), " ", joined(tag("small", f"{number(share.hits)}/{number(share.of)}"), bar))


# Cost against what was let go

WIDTH, HEIGHT = 760, 430
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 28, 50
CHARACTER, LINE = 7.4, 13
"""About how wide and how high a letter of the labels is."""

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
    """The scale of the picture: dollars from `low` to `high`, facts from 0 to `most`."""

    low: float
    high: float
    most: float

    def x(self, dollars: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (dollars - self.low) / (self.high - self.low)

    def y(self, facts: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * facts / self.most


def scatter(comparison: Comparison, choice: PolicyChoice) -> Markup | None:
    """The picture of what policies cost against what they let go; None if cost or what is kept is not known of two policies."""
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


def _optimum(optimum: PolicyStanding, scale: _Scale) -> Markup:
    x = round(scale.x(optimum.total), 1)
    return joined(
        tag("path", d=f"M{x} {TOP}V{HEIGHT - BOTTOM}", class_="optimum"),
        tag("text", f"cheapest schedule: {money(optimum.total)}", x=x + 4, y=TOP + 2, class_="hint"),
    )


def _steps(front: Sequence[PolicyStanding], scale: _Scale) -> str:
    places = [(round(scale.x(each.total), 1), round(scale.y(each.gone), 1)) for each in front]
    return f"M{places[0][0]} {places[0][1]}" + "".join(f"H{x}V{y}" for x, y in places[1:])


def _dots(shown: Sequence[PolicyStanding], choice: PolicyChoice, scale: _Scale) -> Iterator[Markup]:
    """A dot and a name for each policy. Those of the front come first, so that they get the best places for their names."""
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
    """The box beside its dot that a name fits into, added to `taken`; None if everything is taken (the tip of the mouse and the words still
    tell)."""
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
