"""The report as one HTML page that needs nothing else: `ullage replay … --report out.html`.

Its parts are in `html/`, a file each; what is compared with what, and what follows, is worked out in `html/comparison.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ullage.replay.html.markup import Markup, joined, tag
from ullage.replay.rows import Report
from ullage.replay.runs import Places, Run, Summaries


@dataclass(frozen=True, slots=True)
class Settings:
    """How the runs were made. The model whose prices were taken is in the `Report`, the date of the prices in `prices.as_of`."""

    at: Places = "policy"
    summary: Summaries = "digest"
    titles: Mapping[str, str] = field(default_factory=dict[str, str])
    """What each policy does, in one line (`Policy.title`), by name."""


def as_html(report: Report, runs: Sequence[Run] = (), settings: Settings = Settings()) -> str:
    """The page. `runs` are all policies over all sessions, in any order; policies are shown in the order in which they first appear.

    The run under the policy `optimum` is shown as what it is: the line that no schedule of compactions can go below.
    """
    return "<!doctype html>\n" + tag(
        "html", tag("head", tag("meta", charset="utf-8"), tag("title", "Ullage replay")), _body(report, runs), lang="en"
    )


def _body(report: Report, runs: Sequence[Run]) -> Markup:
    return tag("body", tag("h1", f"{len(report.rows)} sessions, {len(runs)} runs"), joined())
