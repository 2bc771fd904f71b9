"""The report as Parquet: a row for each session as it was recorded, and one for each session under each policy."""

from __future__ import annotations

from pathlib import Path

from ullage.recorded.retention import HitShare
from ullage.replay.measuring.figures import MeasuredSession, Report
from ullage.replay.measuring.runs import Run
from ullage.replay.parquet import Table, TableColumn, published, text

SESSIONS: tuple[TableColumn[MeasuredSession], ...] = (
    TableColumn("file", "text", lambda each: text(str(each.path))),
    TableColumn("session", "text", lambda each: text(each.session_id)),
    TableColumn("program", "text", lambda each: each.source),
    TableColumn("project", "text", lambda each: text(each.project) or None),
    TableColumn("models", "texts", lambda each: [text(model) for model in each.models]),
    TableColumn("requests", "whole", lambda each: each.figures.calls.made),
    TableColumn("requests_counted", "whole", lambda each: each.figures.calls.counted),
    TableColumn("requests_priced", "whole", lambda each: each.figures.calls.priced),
    TableColumn("input_tokens", "whole", lambda each: each.figures.tokens.input_tokens),
    TableColumn("output_tokens", "whole", lambda each: each.figures.tokens.output_tokens),
    TableColumn("cache_read_tokens", "whole", lambda each: each.figures.tokens.cache_read_tokens),
    TableColumn("cache_write_5m_tokens", "whole", lambda each: each.figures.tokens.cache_write_5m_tokens),
    TableColumn("cache_write_1h_tokens", "whole", lambda each: each.figures.tokens.cache_write_1h_tokens),
    TableColumn("dollars", "amount", lambda each: each.figures.dollars.total if each.figures.calls.priced else None),
    TableColumn("largest_context_tokens", "whole", lambda each: each.figures.largest_context),
    TableColumn("compactions", "whole", lambda each: each.figures.compactions),
    TableColumn("mended", "whole", lambda each: sum(repair.count for repair in each.repairs)),
)
"""The columns of a session as it was recorded. Dollars are null where no request has a price; they are those of the priced requests."""

RUNS: tuple[TableColumn[Run], ...] = (
    TableColumn("policy", "text", lambda each: text(each.policy)),
    TableColumn("session", "text", lambda each: text(each.session_id)),
    TableColumn("failure", "text", lambda each: text(each.failure) or None),
    TableColumn("requests", "whole", lambda each: len(each.requests)),
    TableColumn("requests_too_long", "whole", lambda each: sum(not request.fits for request in each.requests)),
    TableColumn("compactions", "whole", lambda each: sum(not point.upkeep for point in each.compactions)),
    TableColumn("upkeep", "whole", lambda each: sum(point.upkeep for point in each.compactions)),
    TableColumn("dollars", "amount", lambda each: each.dollars.total),
    TableColumn("summary_dollars", "amount", lambda each: each.summaries.total),
    TableColumn("forgetting_dollars", "amount", lambda each: each.forgetting),
    TableColumn("largest_context_tokens", "whole", lambda each: max((request.context_tokens for request in each.requests), default=0)),
    TableColumn("needed", "whole", lambda each: _needed(each).of),
    TableColumn("needed_in_view", "whole", lambda each: _needed(each).hits),
    TableColumn("rules_broken", "whole", lambda each: len(each.violations)),
)
"""The columns of a session under a policy."""


def _needed(run: Run) -> HitShare:
    """How many of the facts that were needed after a run's compactions were in view."""
    kinds = run.retained.with_files.values()
    return HitShare(sum(kind.in_view for kind in kinds), sum(kind.needed for kind in kinds))


def paths_of(name: Path) -> tuple[Path, Path]:
    """The paths of the two files: `NAME.sessions.parquet` and `NAME.runs.parquet`."""
    return name.with_name(f"{name.name}.sessions.parquet"), name.with_name(f"{name.name}.runs.parquet")


def write_tables(name: Path, report: Report) -> None:
    """Writes both files, of sessions and of runs. Raises `OSError`; what was there before then stays."""
    sessions, runs = paths_of(name)
    of_sessions, of_runs = Table(sessions, SESSIONS), Table(runs, RUNS)
    with published((of_sessions, of_runs)):
        of_sessions.add(report.rows)
        of_runs.add(report.runs)
