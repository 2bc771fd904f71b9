"""Tables with bars, a row for each policy: cost by price class, what became of the facts that were needed, and what was kept kind by kind.

Since each is a table, it can be read aloud too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from ullage.replay.measuring.comparison import Comparison, Standing
from ullage.replay.measuring.facts import FACT_KINDS, FactKind
from ullage.replay.measuring.retention import Share
from ullage.replay.reporting.html.markup import Markup, joined, legend, segment, tag
from ullage.replay.reporting.wording import ABSENT, money, number, percent


@dataclass(frozen=True, slots=True)
class _Class:
    name: str
    value: Callable[[Standing], float]


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
"""Fates have fillings of their own, beside those of the price classes."""


def within_reach(comparison: Comparison, ruled_out: Collection[str]) -> tuple[list[Standing], list[Standing]]:
    """The policies with a cost, and of those that are ruled out the ones so dear that in a picture they would leave the others no room."""
    priced = [each for each in comparison.by_cost() if each.priced and each.runs]
    dearest = max((each.total for each in priced if each.policy not in ruled_out), default=float("inf"))
    return [each for each in priced if each.total <= 1.5 * dearest], [each for each in priced if each.total > 1.5 * dearest]


def cost_bars(comparison: Comparison, ruled_out: Collection[str]) -> Markup | None:
    """None where no prices are known."""
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
    """None where nothing was needed after a compaction, or blanks stood for all summaries."""
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
    shown: Sequence[Standing],
    bar: Callable[[Standing], Markup],
    sum_of: Callable[[Standing], str],
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
    standing: Standing, classes: Sequence[_Class], longest: float, first: int, value: Callable[[float], str], tick: float | None
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
    """What the tick beside a bar of cost means."""
    return "A thin upright line behind a bar: where it would end if no call that writes a summary had found anything in the cache."


def too_dear_note(comparison: Comparison, ruled_out: Collection[str]) -> str:
    """Which policies are too dear to be in the pictures."""
    _, beyond = within_reach(comparison, ruled_out)
    return (
        f" Too dear to be shown, and ruled out: {', '.join(f'{each.policy} ({money(each.total)})' for each in beyond)}." if beyond else ""
    )


def absent_note(comparison: Comparison) -> str:
    """Which policies have no bar."""
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


def kinds(comparison: Comparison, recorded: Standing | None) -> Markup:
    """A row a policy, a column a kind."""
    shown = [each for each in comparison.by_cost() if each.keeps_known and each.retained.compactions]
    columns: list[tuple[str, Callable[[Standing], Share]]] = [(NAMES[kind], _kept(kind)) for kind in FACT_KINDS]
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


def _kept(kind: FactKind) -> Callable[[Standing], Share]:
    return lambda each: each.retained.kinds[kind].kept


def _all(each: Standing) -> Share:
    return each.needed.kept


def _tied(each: Standing) -> Share:
    return each.retained.tied


def _restored(each: Standing) -> Share:
    return each.retained.restored


def _row(standing: Standing, name: str, shares: Sequence[Callable[[Standing], Share]]) -> Markup:
    return tag("tr", tag("th", name, scope="row"), *(_cell(share(standing)) for share in shares))


def _cell(share: Share) -> Markup:
    if share.value is None:
        return tag("td", ABSENT)
    bar = tag("svg", segment(_IN_VIEW, 0.0, share.value, percent(share.value)), class_="mini", aria_hidden="true")
    return tag("td", percent(share.value), " ", joined(tag("small", f"{number(share.hits)}/{number(share.of)}"), bar))
