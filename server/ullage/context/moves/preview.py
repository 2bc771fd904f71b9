"""The view as it would be after a compaction that nobody has logged yet."""

from __future__ import annotations

from ullage.context.entries import Cleared, Compaction, FileTakenOut, Logged, Snipped, Summarised
from ullage.context.view.projection import Projection


def preview(
    projection: Projection,
    cleared: tuple[Cleared, ...] = (),
    snipped: Snipped | None = None,
    summarised: Summarised | None = None,
    without_files: tuple[FileTakenOut, ...] = (),
) -> Projection:
    """`projection` with these moves made in one compaction; it stays as it is itself. Costs one whole fold."""
    last = projection.entries[-1] if projection.entries else None
    through = last.seq if last else 0
    compaction = Compaction(
        id=f"preview after {through}",
        trigger="manual",
        rung="moves",
        through=through,
        cleared=cleared,
        snipped=snipped,
        summarised=summarised,
        restored=(),
        resume="",
        focus="",
        policy="",
        tokens_before=0,
        estimated_after=0,
        without_files=without_files,
    )
    return projection.with_appended(Logged(through + 1, last.at if last else 0.0, compaction))
