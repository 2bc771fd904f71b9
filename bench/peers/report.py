"""The run as a section of RESULTS.md: ratios (Ullage is 1) beside milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bench.peers.measuring import Figures, Timed
from bench.peers.run import LONGEST, OWN, ROWS, Failed, Row, Run
from bench.results import machine, table

HOW = (
    "All rows ran one after the other, on the same generated session (`bench/sessions.py`, about 1,000 characters a message), each in "
    "a process of its own with a fixed text in place of the model's summary. Milliseconds of the processor are the median, in brackets "
    "the 99th percentile (the slowest of fewer than a hundred rounds); the factor before them is the median's, with Ullage as 1. No row "
    "includes a model, a disk or a wire. The window is taken to be as large as the history needs."
)
"""What a reader has to know of the figures."""


def section(run: Run, date: str) -> str:
    """The whole section. `date` as it is to stand there."""
    measured = [each for each in run.figures.values() if isinstance(each, Figures)]
    pythons = sorted({each.python for each in measured})
    head = [
        f"## Speed beside peers, {date}",
        f"{machine()}, Python {', '.join(pythons)}; load average {run.load[0]:.1f} before and {run.load[1]:.1f} after. {_versions(run)}",
        HOW,
        "### A turn at which nothing is compacted",
        _timings(run, lambda figures: figures.turn),
        "### One compaction",
        _timings(run, lambda figures: figures.compaction, left=True),
        _longest(run),
        "### What is timed",
        table(["", "each turn", "compaction"], [[row.title, row.turn, row.compaction] for row in ROWS]).replace("---:", "---"),
    ]
    return "\n\n".join(part for part in head if part)


def _versions(run: Run) -> str:
    named: dict[str, None] = {}
    for figures in run.figures.values():
        if isinstance(figures, Figures) and figures.versions:
            (peer, version), *others = figures.versions.items()
            beside = f" ({', '.join(' '.join(each) for each in others)})" if others else ""
            named[f"{peer} {version}{beside}"] = None
    return f"Versions: {', '.join(named)}." if named else ""


def _timings(run: Run, timed: Callable[[Figures], Timed], *, left: bool = False) -> str:
    rows = [_line(run, row, timed, left=left) for row in ROWS]
    return table(["", *(f"{size:,} messages" for size in run.sizes)], rows)


def _line(run: Run, row: Row, timed: Callable[[Figures], Timed], *, left: bool) -> Sequence[str]:
    cells: list[str] = []
    for size in run.sizes:
        figures, own = run.figures[row.title, size], run.figures[OWN.title, size]
        if isinstance(figures, Failed):
            cells.append(figures.reason)
            continue
        here = timed(figures)
        factor = f"**{_short(here.median / timed(own).median)}** · " if isinstance(own, Figures) else ""
        kept = f", {figures.left:,} left" if left else ""
        cells.append(f"{factor}{_short(here.median)} ms ({_short(here.p99)}){kept}")
    return [row.title, *cells]


def _longest(run: Run) -> str:
    figures = run.figures.get((OWN.title, LONGEST))
    if not isinstance(figures, Figures):
        return ""
    turn, compaction = figures.turn, figures.compaction
    return (
        f"Ullage at {LONGEST:,} messages: {_short(turn.median)} ms ({_short(turn.p99)}) a turn, "
        f"{_short(compaction.median)} ms ({_short(compaction.p99)}) for a compaction that leaves {figures.left:,} of them."
    )


def _short(number: float) -> str:
    """Three digits that count."""
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.3g}" if number >= 0.1 else f"{number:.3f}"
