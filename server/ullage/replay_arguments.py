"""The arguments of `ullage replay`. Loads nothing of it: the command line is read before it is known what is wanted."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

SMALLEST_WINDOW, LARGEST_WINDOW = 1_000, 100_000_000
"""Tokens."""
MOST_JOBS = 1_000


def policy_names(given: Sequence[str]) -> tuple[str, ...]:
    """The names in all `--policy` arguments together."""
    return tuple(name.strip() for names in given for name in names.split(",") if name.strip())


def add_replay_options(replay: argparse.ArgumentParser) -> None:
    """All but the transcripts themselves."""
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
        help="carry the sessions through these policies; all: through every one",
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
        help="what stands for a summary that a model would write: the recorded one where there is one, the program's digest, or a blank "
        "of the usual size, for cost alone (default: recorded with --at recorded, else digest)",
    )
    replay.add_argument("--window", type=_window, metavar="TOKENS", help="take this for the model's window")
    replay.add_argument(
        "--economy",
        choices=("cheapest", "balanced", "fullest"),
        default="fullest",
        help="how much a policy that saves does to save by compacting before its line (default: fullest)",
    )
    replay.add_argument(
        "--views",
        type=Path,
        metavar="DIR",
        help="write the request that follows each compaction to this folder, as JSON (of several policies each to a folder of its own)",
    )
    replay.add_argument("--report", type=Path, metavar="FILE", help="write the report as one HTML page, too")
    replay.add_argument("--jobs", type=_jobs, metavar="N", help="how many processes work (default: one for each core)")


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
