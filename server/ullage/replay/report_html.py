"""The report as one HTML page that needs nothing else: `ullage replay … --report out.html`.

Its parts are in `html/`, a file each; what is compared with what is worked out in `html/comparison.py`, what follows in `html/choice.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ullage.replay import explanations
from ullage.replay.columns import number
from ullage.replay.figures import Report
from ullage.replay.html.answer import answer
from ullage.replay.html.as_recorded import as_recorded
from ullage.replay.html.bars import absent_note, cold_note, cost_bars, fate_bars, too_dear_note
from ullage.replay.html.caveats import caveats
from ullage.replay.html.choice import CLOSE_SHARE, Choice, choose
from ullage.replay.html.comparison import Comparison, Standing, compared
from ullage.replay.html.frame import page
from ullage.replay.html.kinds import kinds
from ullage.replay.html.markup import Markup, tag
from ullage.replay.html.reading import reading
from ullage.replay.html.scatter import scatter
from ullage.replay.html.sessions import sessions
from ullage.replay.html.side_by_side import side_by_side
from ullage.replay.html.svg import patterns
from ullage.replay.recorded_models import as_of
from ullage.replay.runs import Places, Run, Summaries


@dataclass(frozen=True, slots=True)
class Settings:
    """How the runs were made. The model whose prices were taken is in the `Report`, the date of the prices in `prices.as_of`."""

    at: Places = "policy"
    summary: Summaries = "digest"
    titles: Mapping[str, str] = field(default_factory=dict[str, str])
    """What each policy does, in one line (`Policy.title`), by name."""


def as_html(report: Report, runs: Sequence[Run] = (), settings: Settings = Settings()) -> str:
    """The page. `runs` are all policies over all sessions, in any order.

    The run under the policy `optimum` is shown as what it is: the line that no schedule of compactions can go below.
    """
    comparison = compared(runs)
    choice = choose(comparison)
    recorded = as_recorded(report.rows, comparison.sessions)
    return page(
        "Ullage replay: which way of compacting to choose",
        patterns(),
        _heading(report, comparison),
        answer(comparison, choice, settings.titles, recorded),
        _caveats(report, comparison, choice),
        *(_policies(comparison, choice, recorded) if comparison.standings else ()),
        _section(
            "sessions",
            "Session by session",
            tag("p", explanations.SESSIONS) if any("/" in row.session_id for row in report.rows) else None,
            tag("p", _CURVES) if comparison.standings else None,
            sessions(report, comparison.runs),
        ),
        _section("reading", "How to read this", reading(report, comparison, settings.at, settings.summary, settings.titles)),
    )


_CLEARLY = (
    f"Clearly: costs by more than {CLOSE_SHARE:.0%}, and numbers of facts by more than two counts of the same would differ by chance "
    "(twice the square root of their sum)."
)

_ORDER = (
    "In the order of how many facts were gone, the fewest first. The share alone would mislead: a policy that compacts seldom has fewer "
    "occasions to lose something."
)

_CURVES = (
    "Each picture is one policy over the same session: tokens sent with each request, from the first to the last. Dashed: the line at "
    "which the policy compacts; unbroken: the window of the model. A full triangle marks a compaction with a summary, an empty one a "
    "compaction for which clearing or cutting out was enough."
)


def _heading(report: Report, comparison: Comparison) -> Markup:
    policies = f", carried through {_counted(len(comparison.standings), 'policy', 'policies')}" if comparison.standings else ""
    prices = f"priced as {report.as_model}" if report.as_model else "priced as the models that they ran on"
    return tag(
        "header",
        tag("h1", "What compaction costs, and what it forgets"),
        tag("p", f"{_counted(len(report.rows), 'recorded session')}{policies}; {prices}, prices of {as_of()}.", class_="muted"),
    )


def _caveats(report: Report, comparison: Comparison, choice: Choice) -> Markup | None:
    told = [tag("li", words) for words in caveats(report, comparison, choice)]
    return _section("caveats", "Before you rely on it", tag("ul", *told)) if told else None


def _policies(comparison: Comparison, choice: Choice, recorded: Standing | None) -> Iterator[Markup]:
    too_dear = too_dear_note(comparison, choice.ruled_out)
    picture = scatter(comparison, choice)
    if picture is not None:
        yield _section(
            "scatter",
            "Cost against what is kept",
            tag(
                "p",
                "Each dot is a policy. Further left is cheaper, further down fewer needed facts had gone from view. ",
                _shapes(comparison, choice) + too_dear,
            ),
            tag("div", picture, class_="wide scatter", tabindex=0, role="region", aria_label="Cost against what is kept"),
            tag("p", f"{_in_words(choice)} {_CLEARLY}"),
        )
    yield _section("policies", "The policies side by side", side_by_side(comparison, choice, recorded))
    bars = cost_bars(comparison, choice.ruled_out)
    if bars is not None:
        yield _section("cost", "What the money goes into", tag("p", cold_note() + too_dear), bars)
    fates = fate_bars(comparison)
    if fates is not None:
        note = absent_note(comparison)
        yield _section(
            "kept", "What is kept", tag("p", _ORDER), fates, tag("p", note, class_="muted") if note else None, kinds(comparison, recorded)
        )


def _in_words(choice: Choice) -> str:
    names = [each.policy for each in choice.front]
    if len(names) == 1:
        return f"No other policy is clearly better than {names[0]} in either."
    return (
        f"From the cheapest to the one that keeps most: {', '.join(names)}. No other policy is clearly better than all of these in either."
    )


def _shapes(comparison: Comparison, choice: Choice) -> str:
    unjudged = [each.policy for each in comparison.standings if each.unjudged]
    absent = f" Not in the picture, since what they keep is not known: {', '.join(unjudged)}." if unjudged else ""
    crosses = " Crosses are ruled out." if choice.ruled_out else ""
    return f"Full diamonds, joined by dots, are those that no other policy clearly beats in both.{crosses}{absent}"


def _section(id: str, title: str, *children: Markup | None) -> Markup:
    return tag("section", tag("h2", title, id=id), *children, aria_labelledby=id)


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{number(count)} {one if count == 1 else many or one + 's'}"
