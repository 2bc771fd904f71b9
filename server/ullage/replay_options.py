"""The options of `ullage replay` and `ullage report` on the command line, and what becomes of them.

The commands themselves are in `replay/`. That takes long to import, so it is imported when one of them runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import date
from pathlib import Path

SMALLEST_WINDOW, LARGEST_WINDOW = 1_000, 100_000_000
"""The smallest and the largest window that can be named, in tokens."""

MOST_JOBS = 1_000


def add_replay_options(replay: argparse.ArgumentParser) -> None:
    """Adds the options of `ullage replay`, all except for the transcripts and the place where sessions are kept."""
    replay.add_argument("--format", choices=("table", "json"), default="table", help="how the report is written (default: table)")
    replay.add_argument("--full", action="store_true", help="print every table, with what its columns mean")
    replay.add_argument(
        "--model", metavar="NAME", help="take window, prices and tokens of this model (default: of those that the sessions ran on)"
    )
    replay.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="P[,P...]",
        help="carry the sessions through these policies; all: through every one; fitted: through ullage with other options",
    )
    replay.add_argument(
        "--at",
        choices=("policy", "recorded"),
        default="policy",
        help="compact where the policy would, or where the transcript recorded a compaction (default: policy)",
    )
    replay.add_argument(
        "--summary",
        choices=("recorded", "digest", "none"),
        help="what stands for a summary that a model would write: the recorded one where there is one, the program summary, or a blank "
        "of the usual size, for cost alone (default: recorded with --at recorded, else digest)",
    )
    replay.add_argument("--window", type=_window, metavar="TOKENS", help="take this for the model's window")
    replay.add_argument(
        "--economy",
        choices=("cheapest", "balanced", "fullest"),
        default="fullest",
        help="how much a policy that saves does to save by compacting before its threshold (default: fullest)",
    )
    replay.add_argument(
        "--views",
        type=Path,
        metavar="DIR",
        help="write the request that follows each compaction to this folder, as JSON (of several policies each to a folder of its own)",
    )
    replay.add_argument("--report", type=Path, metavar="FILE", help="write the report as one HTML page, too")
    replay.add_argument(
        "--parquet",
        type=Path,
        metavar="NAME",
        help="write the sessions and what the policies made of them as tables, too: NAME.sessions.parquet and NAME.runs.parquet",
    )
    replay.add_argument("--jobs", type=_jobs, metavar="N", help="how many processes work (default: one for each core)")
    replay.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="work on the workers of this scheduler of Dask (tls://HOST:PORT or tcp://HOST:PORT); local: on workers on this machine",
    )


def add_report_options(report: argparse.ArgumentParser) -> None:
    """Adds the options of `ullage report`, all except for the transcripts and the place where sessions are kept."""
    report.add_argument(
        "--out",
        type=Path,
        default=Path("ullage-report.html"),
        metavar="FILE",
        help="where the page is written (default: ullage-report.html)",
    )
    report.add_argument("--since", type=_day, metavar="DATE", help="leave out what was before that day (YYYY-MM-DD, UTC)")
    report.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="P[,P...]",
        help="say what these policies would have cost, too (for example ullage,claude-code; all: every one)",
    )
    report.add_argument("--jobs", type=_jobs, metavar="N", help="how many processes work (default: one for each core)")


def run_replay(given: argparse.Namespace) -> int:
    """Runs `ullage replay`; gives the exit code."""
    from ullage.replay.command import ReplayOptions, run

    options = ReplayOptions(
        format=given.format,
        full=given.full,
        as_model=given.model,
        policies=_policy_names(given.policy),
        at=given.at,
        summary=given.summary or ("recorded" if given.at == "recorded" else "digest"),
        window=given.window,
        economy=given.economy,
        views=given.views,
        report=given.report,
        store=given.store,
        jobs=given.jobs,
        parquet=given.parquet,
        scheduler=given.scheduler,
    )
    return run(given.traces, options)


def run_report(given: argparse.Namespace) -> int:
    """Runs `ullage report`; gives the exit code."""
    from ullage.replay.spending.command import SpendingArguments, run
    from ullage.replay.spending.work import SpendingOptions

    options = SpendingOptions(_policy_names(given.policy), given.since, jobs=given.jobs)
    return run(SpendingArguments(tuple(given.traces), given.out, options, given.store))


def _policy_names(given: Sequence[str]) -> tuple[str, ...]:
    """The names in all `--policy` arguments together."""
    return tuple(name.strip() for names in given for name in names.split(",") if name.strip())


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no date such as 2026-01-31") from None


def _window(text: str) -> int:
    return _whole_number(text, SMALLEST_WINDOW, LARGEST_WINDOW)


def _jobs(text: str) -> int:
    return _whole_number(text, 1, MOST_JOBS)


def _whole_number(text: str, least: int, most: int) -> int:
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"{number} is not between {least:,} and {most:,}")
    return number
