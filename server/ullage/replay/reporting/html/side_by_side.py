"""The policies side by side: what they cost, how they work, what they keep. A row a policy, and project by project."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ullage.recorded.retention import WINDOW_MESSAGES, HitShare
from ullage.replay.measuring.comparison import Comparison, PolicyChoice, PolicyStanding
from ullage.replay.measuring.projects import BESIDE, ByProject, Interval, OfPolicy
from ullage.replay.reporting.html.markup import Markup, joined, tag
from ullage.replay.reporting.wording import ABSENT, PROJECTS, estimated, money, number, percent, whole_percent, with_interval

Value = float | None


@dataclass(frozen=True, slots=True)
class FigureColumn:
    """A figure of a policy: how it is called, what it means, how it is shown, which of two values is better."""

    name: str
    meaning: str
    value: Callable[[PolicyStanding], Value]
    shown: Callable[[float], str]
    better: Literal["less", "more"] | None = None
    measure: str = ""
    """The key of the measure whose interval is shown beside it; empty: none."""


def share_of_facts(standing: PolicyStanding) -> Value:
    """The share of the facts needed that was in view; None if there were none or blanks stood for summaries."""
    return standing.needed.kept.value if standing.keeps_known else None


def _of_facts(value: Callable[[PolicyStanding], float]) -> Callable[[PolicyStanding], Value]:
    return lambda standing: value(standing) if standing.keeps_known and standing.retained.compactions else _nothing(standing)


def _nothing(standing: PolicyStanding) -> Value:
    """0 for a policy without compactions, since then nothing is gone. None for any other, and where summaries were blank: it is not known
    what is gone."""
    return 0.0 if standing.keeps_known and not standing.compactions and not standing.upkeep else None


def _share(share: Callable[[PolicyStanding], HitShare]) -> Callable[[PolicyStanding], Value]:
    return lambda standing: share(standing).value if standing.keeps_known else None


def _priced(value: Callable[[PolicyStanding], float]) -> Callable[[PolicyStanding], Value]:
    return lambda standing: value(standing) if standing.priced else None


COSTS: tuple[FigureColumn, ...] = (
    FigureColumn(
        "Cost",
        "US dollars for all sessions: the agent's own requests and the calls that write summaries.",
        _priced(lambda s: s.total),
        money,
        "less",
    ),
    FigureColumn(
        "With getting back",
        "The cost, and beside it a search for each fact that was gone: one more request of the agent at its average price. That is at "
        "most what it takes, since some of them are shown again anyway.",
        lambda standing: standing.total + standing.getting_back if standing.priced and standing.keeps_known else None,
        money,
        "less",
    ),
    FigureColumn(
        "For forgetting",
        "What tools gave again within 60 messages after a compaction, and was not in view then: written to the cache once more, with the "
        "requests for it. The recorded results are in the cost of every policy already, so it stands beside the cost.",
        lambda standing: standing.forgetting if standing.forgetting_known else None,
        money,
        "less",
    ),
    FigureColumn(
        "of it summaries",
        "What the calls that write summaries cost, as the policy makes them, with the prompt cache as it was then.",
        _priced(lambda s: s.summaries.total),
        money,
    ),
    FigureColumn(
        "if uncached",
        "The same calls, had none of them found anything in the cache. Not in the cost.",
        _priced(lambda s: s.summaries_cold.total),
        money,
    ),
)

WORK: tuple[FigureColumn, ...] = (
    FigureColumn(
        "Compactions",
        "How often the context was made smaller because it was full.",
        lambda s: s.compactions,
        number,
    ),
    FigureColumn(
        "Upkeep",
        "How often it was made smaller before a call though it was not full, because the policy does so whenever it can.",
        lambda s: s.upkeep,
        number,
    ),
    FigureColumn("Mean context", "Tokens sent with a request, on average, cached or not.", lambda s: s.mean_context, number),
    FigureColumn("Largest context", "Tokens of the largest request.", lambda s: s.largest_context, number),
    FigureColumn(
        "From cache",
        "Of all tokens sent, the share that was read from the prompt cache, at about a tenth of the price.",
        lambda s: s.share_from_cache,
        percent,
    ),
    FigureColumn(
        "Own work",
        "Seconds that the policy's own work took on this computer, for all sessions, without waiting for a model.",
        lambda s: s.seconds,
        lambda v: f"{v:,.1f} s",
    ),
)

KEPT: tuple[FigureColumn, ...] = (
    FigureColumn(
        "In view",
        f"Of the facts that were needed in the {WINDOW_MESSAGES} messages after a compaction, the share that was in the context then: in "
        "the summary, or in what stayed beside it.",
        share_of_facts,
        percent,
        "more",
        "needed_in_view",
    ),
    FigureColumn(
        "Gone",
        "The number of facts that were needed and not in view. Counted anew for each compaction, so that a policy that compacts often, "
        "and each time loses a little, does not look better than one that seldom does.",
        _of_facts(lambda s: s.gone),
        number,
        "less",
    ),
    FigureColumn(
        "In view or recallable",
        "Of the facts that were needed, the share that was in view or among the first five hits of one search of the session's log.",
        lambda standing: standing.needed.within_reach.value if standing.keeps_known else None,
        percent,
        "more",
    ),
    FigureColumn(
        "of them lost",
        "Gone, not to be found by one search of the session's log, and not shown to the agent again before it used them: it had to "
        "guess, or to be told.",
        _of_facts(lambda s: s.needed.lost),
        number,
        "less",
    ),
    FigureColumn(
        "Names by file",
        "Of the names that the agent then wrote into a file that it had worked on before, the share that stands near that file's name in "
        "the context. A name alone does not say where it belongs.",
        _share(lambda s: s.retained.tied),
        percent,
        "more",
        "identifier_beside_its_file",
    ),
    FigureColumn(
        "Files in view",
        f"Of the files that the agent read again in the {WINDOW_MESSAGES} messages after a compaction, the share whose text stood in the "
        "context: put back by the policy, or read whole or made in a message that stayed.",
        _share(lambda s: s.retained.restored),
        percent,
        "more",
        "files_in_view",
    ),
)

OVER_OPTIMUM = "Over optimum"
OVER_OPTIMUM_MEANING = "How much dearer the policy is than the cheapest schedule of compactions, see there."


def side_by_side(comparison: Comparison, choice: PolicyChoice, recorded: PolicyStanding | None, by: ByProject) -> Markup:
    """Three tables that fit a screen, the cheapest policy first in each."""
    sure: _Intervals = {
        (each.policy, key): estimate.interval for each in by.together for key, estimate in each.estimates.items() if estimate.interval
    }
    return joined(
        tag("p", "The cheapest first. The best of a column is set in bold and marked ★.", class_="muted"),
        _table("What they cost", _costs(comparison.optimum), comparison, choice, recorded, {}),
        _table("How they work", WORK, comparison, choice, recorded, {}),
        _table("What they keep", KEPT, comparison, choice, recorded, sure),
    )


_Intervals = Mapping[tuple[str, str], Interval]
"""Intervals by policy and measure."""


def _table(
    caption: str,
    columns: Sequence[FigureColumn],
    comparison: Comparison,
    choice: PolicyChoice,
    recorded: PolicyStanding | None,
    sure: _Intervals,
) -> Markup:
    able = [each for each in comparison.standings if each.policy not in choice.ruled_out]
    best = {column.name: _best(column, able) for column in columns}
    head = tag(
        "tr",
        tag("th", "Policy", scope="col"),
        *(tag("th", column.name, scope="col", title=column.meaning) for column in columns),
    )
    rows = [_row(each, columns, best, choice.ruled_out.get(each.policy, ""), sure) for each in comparison.by_cost()]
    beside = [_beside(recorded, "as recorded", columns, _NOT_OF_RECORD)] if recorded is not None else []
    if comparison.optimum is not None and comparison.optimum.runs:
        beside.append(_beside(comparison.optimum, "optimum", columns, _NOT_OF_OPTIMUM))
    table = tag(
        "table",
        tag("caption", caption),
        tag("thead", head),
        tag("tbody", *rows),
        tag("tfoot", *beside) if beside else None,
        class_="figures sortable",
    )
    return tag("div", table, class_="wide", tabindex=0, role="region", aria_label=caption)


_NOT_OF_RECORD = {OVER_OPTIMUM, "Own work", "Files in view", "With getting back", "In view or recallable"}
"""Columns that stay empty for the sessions as recorded: not worked out, or, since counted and not predicted, not to be held against the
optimum."""
_NOT_OF_OPTIMUM = {
    "In view",
    "Gone",
    "In view or recallable",
    "of them lost",
    "Names by file",
    "Files in view",
    "Own work",
    "With getting back",
}


def _costs(optimum: PolicyStanding | None) -> tuple[FigureColumn, ...]:
    """The columns of cost, with how much dearer each policy is than the optimum, where there is one."""
    if optimum is None or not optimum.total:
        return COSTS
    over = FigureColumn(
        OVER_OPTIMUM, OVER_OPTIMUM_MEANING, _priced(lambda s: s.total / optimum.total - 1), lambda value: percent(value, "+")
    )
    return (COSTS[0], over, *COSTS[1:])


def _best(column: FigureColumn, standings: Sequence[PolicyStanding]) -> str:
    """The best value of a column as it is shown; empty if every policy has it."""
    values = [value for each in standings if (value := column.value(each)) is not None]
    if column.better is None or not values:
        return ""
    best = column.shown(min(values) if column.better == "less" else max(values))
    return best if any(column.shown(value) != best for value in values) else ""


def _row(standing: PolicyStanding, columns: Sequence[FigureColumn], best: dict[str, str], why_not: str, sure: _Intervals) -> Markup:
    cells = [
        _cell(column, standing, "" if why_not else best[column.name], sure.get((standing.policy, column.measure))) for column in columns
    ]
    name = (standing.policy, " ", tag("small", "ruled out", title=why_not)) if why_not else (standing.policy,)
    return tag(
        "tr",
        tag("th", *name, scope="row"),
        *cells,
        class_="unfit" if why_not else None,
    )


def _cell(column: FigureColumn, standing: PolicyStanding, best: str, interval: Interval | None = None) -> Markup:
    value = column.value(standing)
    if value is None:
        return tag("td", ABSENT)
    shown = column.shown(value)
    sure = tag("small", f" ({interval.low * 100:.0f} to {interval.high * 100:.0f})") if interval is not None else None
    return tag("td", tag("strong", shown, " ★") if best and shown == best else shown, sure, data_v=float(value))


def _beside(standing: PolicyStanding, name: str, columns: Sequence[FigureColumn], without: set[str]) -> Markup:
    cells = [tag("td", ABSENT) if column.name in without else _cell(column, standing, "") for column in columns]
    return tag("tr", tag("th", name, scope="row"), *cells)


def meanings(comparison: Comparison) -> Markup:
    """The list of what the columns mean."""
    told = [(column.name, column.meaning) for column in (*_costs(comparison.optimum), *WORK, *KEPT)]
    return tag("dl", *(joined(tag("dt", name), tag("dd", meaning)) for name, meaning in told))


# Project by project

_Cell = Callable[[OfPolicy], str]


def projects(by: ByProject) -> Markup | None:
    """A table with a column for each project; None if there is only one."""
    if len(by.projects) < 2:
        return None
    shown: list[tuple[str, str, _Cell]] = [
        ("Needed and in view", "needed_in_view", lambda figure: estimated(figure.estimates["needed_in_view"])),
        ("Files read again that were in view", "files_in_view", lambda figure: estimated(figure.estimates["files_in_view"])),
    ]
    tables = [_projects_table(caption, by, cell, key) for caption, key, cell in shown]
    if any(figure.policy == BESIDE for figure in by.together) and len(by.together) > 1:
        tables.append(
            _projects_table(
                f"Cost beside {BESIDE}, with what forgetting costs",
                by,
                lambda figure: with_interval(figure.beside_forgetting, figure.beside_forgetting_interval),
                "",
            )
        )
        tables.append(_projects_table(f"Cost beside {BESIDE}", by, lambda figure: with_interval(figure.beside, figure.beside_interval), ""))
    return joined(tag("p", PROJECTS), *tables)


def _projects_table(caption: str, by: ByProject, cell: _Cell, key: str) -> Markup:
    names = [(each.name, f"{number(each.sessions)} sessions in {', '.join(each.folders) or each.name}") for each in by.projects]
    names.append(("all", "All sessions together"))
    mean = [tag("th", "mean of projects", scope="col", title="Each project counts once")] if key else []
    head = tag("tr", tag("th", "Policy", scope="col"), *(tag("th", name, scope="col", title=told) for name, told in names), *mean)
    rows = [_project_row(figure, by, cell, key) for figure in by.together]
    table = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *rows), class_="figures")
    return tag("div", table, class_="wide", tabindex=0, role="region", aria_label=caption)


def _project_row(figure: OfPolicy, by: ByProject, cell: _Cell, key: str) -> Markup:
    cells: list[Markup] = []
    for project in by.projects:
        own = next((each for each in project.policies if each.policy == figure.policy), None)
        cells.append(tag("td", ABSENT if own is None else cell(own)))
    mean = [tag("td", whole_percent(by.mean(figure.policy, key)))] if key else []
    return tag("tr", tag("th", figure.policy, scope="row"), *cells, tag("td", cell(figure)), *mean)
