"""The report as Parquet: a row for each session as it was recorded, and one for each session under each policy."""

from __future__ import annotations

from pathlib import Path

from ullage.recorded.retention import Share
from ullage.replay.measuring.figures import Report, Row
from ullage.replay.measuring.runs import Run
from ullage.replay.parquet import Column, Table, published, text

SESSIONS: tuple[Column[Row], ...] = (
    Column("file", "text", lambda each: text(str(each.path))),
    Column("session", "text", lambda each: text(each.session_id)),
    Column("program", "text", lambda each: each.source),
    Column("project", "text", lambda each: text(each.project) or None),
    Column("models", "texts", lambda each: [text(model) for model in each.models]),
    Column("requests", "whole", lambda each: each.figures.calls.made),
    Column("requests_counted", "whole", lambda each: each.figures.calls.counted),
    Column("requests_priced", "whole", lambda each: each.figures.calls.priced),
    Column("input_tokens", "whole", lambda each: each.figures.tokens.input_tokens),
    Column("output_tokens", "whole", lambda each: each.figures.tokens.output_tokens),
    Column("cache_read_tokens", "whole", lambda each: each.figures.tokens.cache_read_tokens),
    Column("cache_write_5m_tokens", "whole", lambda each: each.figures.tokens.cache_write_5m_tokens),
    Column("cache_write_1h_tokens", "whole", lambda each: each.figures.tokens.cache_write_1h_tokens),
    Column("dollars", "amount", lambda each: each.figures.dollars.total if each.figures.calls.priced else None),
    Column("largest_context_tokens", "whole", lambda each: each.figures.largest_context),
    Column("compactions", "whole", lambda each: each.figures.compactions),
    Column("mended", "whole", lambda each: sum(repair.count for repair in each.repairs)),
)
"""As recorded. Dollars are null where no request has a price; they are those of the priced requests."""

RUNS: tuple[Column[Run], ...] = (
    Column("policy", "text", lambda each: text(each.policy)),
    Column("session", "text", lambda each: text(each.session_id)),
    Column("failure", "text", lambda each: text(each.failure) or None),
    Column("requests", "whole", lambda each: len(each.requests)),
    Column("requests_too_long", "whole", lambda each: sum(not request.fits for request in each.requests)),
    Column("compactions", "whole", lambda each: sum(not point.upkeep for point in each.compactions)),
    Column("upkeep", "whole", lambda each: sum(point.upkeep for point in each.compactions)),
    Column("dollars", "amount", lambda each: each.dollars.total),
    Column("summary_dollars", "amount", lambda each: each.summaries.total),
    Column("forgetting_dollars", "amount", lambda each: each.forgetting),
    Column("largest_context_tokens", "whole", lambda each: max((request.context_tokens for request in each.requests), default=0)),
    Column("needed", "whole", lambda each: _needed(each).of),
    Column("needed_in_view", "whole", lambda each: _needed(each).hits),
    Column("rules_broken", "whole", lambda each: len(each.violations)),
)
"""Under a policy."""


def _needed(run: Run) -> Share:
    """Of the facts that were needed after its compactions, those in view."""
    kinds = run.retained.with_files.values()
    return Share(sum(kind.in_view for kind in kinds), sum(kind.needed for kind in kinds))


def paths_of(name: Path) -> tuple[Path, Path]:
    """`NAME.sessions.parquet` and `NAME.runs.parquet`."""
    return name.with_name(f"{name.name}.sessions.parquet"), name.with_name(f"{name.name}.runs.parquet")


def write_tables(name: Path, report: Report) -> None:
    """Both files. Raises `OSError`; what was there before then stays."""
    sessions, runs = paths_of(name)
    of_sessions, of_runs = Table(sessions, SESSIONS), Table(runs, RUNS)
    with published((of_sessions, of_runs)):
        of_sessions.add(report.rows)
        of_runs.add(report.runs)
