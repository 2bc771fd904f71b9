"""The report as one HTML page that needs nothing else: `ullage replay … --report out.html`.

Style and script are inside of the page, and its content policy lets it fetch and run nothing else. The parts of the page are the other
files of this folder. What they show is worked out in `measuring/comparison.py`.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import files

from ullage.replay.measuring.comparison import CLOSE_SHARE, Comparison, PolicyChoice, PolicyStanding, choose, compared
from ullage.replay.measuring.figures import Report, as_recorded
from ullage.replay.measuring.projects import ByProject, by_project
from ullage.replay.measuring.runs import Places, Run, Summaries
from ullage.replay.pricing.recorded_models import as_of
from ullage.replay.reporting import wording
from ullage.replay.reporting.answer import answer
from ullage.replay.reporting.html.bars import absent_note, cold_note, cost_bars, fate_bars, kinds, scatter, too_dear_note
from ullage.replay.reporting.html.markup import Markup, joined, patterns, tag
from ullage.replay.reporting.html.reading import caveats, reading
from ullage.replay.reporting.html.sessions import sessions
from ullage.replay.reporting.html.side_by_side import projects, side_by_side
from ullage.replay.reporting.wording import number


@dataclass(frozen=True, slots=True)
class PageSettings:
    """How the runs were made. The model whose prices were taken is in the `Report`, the date of the prices in `prices.as_of`."""

    at: Places = "policy"
    summary: Summaries = "digest"
    titles: Mapping[str, str] = field(default_factory=dict[str, str])
    """What each policy does, in one line (`Policy.title`), by name."""


def as_html(report: Report, runs: Sequence[Run] = (), settings: PageSettings = PageSettings()) -> str:
    """The report as a page. `runs` are all policies over all sessions, in any order.

    The run under the policy `optimum` is shown as what it is: the line that no schedule of compactions can go below.
    """
    comparison = compared(runs)
    choice = choose(comparison)
    recorded = as_recorded(report.rows, comparison.sessions)
    by = by_project(report.rows, comparison)
    return page(
        "Ullage replay: which way of compacting to choose",
        patterns(),
        _heading(report, comparison),
        answer(comparison, choice, settings.titles, recorded),
        _caveats(report, comparison, choice),
        *(_policies(comparison, choice, recorded, by) if comparison.standings else ()),
        section(
            "sessions",
            "Session by session",
            tag("p", wording.SESSIONS) if any("/" in row.session_id for row in report.rows) else None,
            tag("p", _CURVES) if comparison.standings else None,
            sessions(report, comparison.runs),
        ),
        section("reading", "How to read this", reading(report, comparison, settings.at, settings.summary, settings.titles)),
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


def _caveats(report: Report, comparison: Comparison, choice: PolicyChoice) -> Markup | None:
    told = [tag("li", words) for words in caveats(report, comparison, choice)]
    return section("caveats", "Before you rely on it", tag("ul", *told)) if told else None


def _policies(comparison: Comparison, choice: PolicyChoice, recorded: PolicyStanding | None, by: ByProject) -> Iterator[Markup]:
    too_dear = too_dear_note(comparison, choice.ruled_out)
    picture = scatter(comparison, choice)
    if picture is not None:
        yield section(
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
    yield section("policies", "The policies side by side", side_by_side(comparison, choice, recorded, by))
    bars = cost_bars(comparison, choice.ruled_out)
    if bars is not None:
        yield section("cost", "What the money goes into", tag("p", cold_note() + too_dear), bars)
    fates = fate_bars(comparison)
    if fates is not None:
        note = absent_note(comparison)
        yield section(
            "kept", "What is kept", tag("p", _ORDER), fates, tag("p", note, class_="muted") if note else None, kinds(comparison, recorded)
        )
    told = projects(by)
    if told is not None:
        yield section("projects", "Project by project", told)


def _in_words(choice: PolicyChoice) -> str:
    names = [each.policy for each in choice.front]
    if len(names) == 1:
        return f"No other policy is clearly better than {names[0]} in either."
    return (
        f"From the cheapest to the one that keeps most: {', '.join(names)}. No other policy is clearly better than all of these in either."
    )


def _shapes(comparison: Comparison, choice: PolicyChoice) -> str:
    unjudged = [each.policy for each in comparison.standings if each.unjudged]
    absent = f" Not in the picture, since what they keep is not known: {', '.join(unjudged)}." if unjudged else ""
    crosses = " Crosses are ruled out." if choice.ruled_out else ""
    return f"Full diamonds, joined by dots, are those that no other policy clearly beats in both.{crosses}{absent}"


def section(id: str, title: str, *children: Markup | None) -> Markup:
    """A part of the page under a heading of its own."""
    return tag("section", tag("h2", title, id=id), *children, aria_labelledby=id)


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


_STYLE = ("colours", "page", "tables", "bars", "pictures", "paper")
"""The parts of the style; a later one may change what an earlier one says."""


def page(title: str, *body: Markup | None) -> str:
    """The whole document. It fetches nothing, sends nothing, and shows the same without its script."""
    style, script = joined(*(_packaged(f"style/{name}.css") for name in _STYLE)), _packaged("page.js")
    own = f"style-src 'sha256-{_digest(style)}'; script-src 'sha256-{_digest(script)}'"
    policy = f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", style),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', joined(*body), tag('script', script)), lang='en')}\n"


@cache
def _packaged(name: str) -> Markup:
    return Markup(files("ullage.replay.reporting.html").joinpath(name).read_text(encoding="utf-8"))


def _digest(words: str) -> str:
    return b64encode(sha256(words.encode("utf-8")).digest()).decode("ascii")
