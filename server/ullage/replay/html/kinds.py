"""What was kept, kind by kind: a table with a bar in each cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ullage.replay.columns import ABSENT, number, percent
from ullage.replay.facts import FACT_KINDS, FactKind
from ullage.replay.html.comparison import Comparison, Standing
from ullage.replay.html.markup import Markup, joined, tag
from ullage.replay.html.svg import segment
from ullage.replay.retention import Share

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
