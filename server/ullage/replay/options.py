"""What `ullage replay` was asked for, as one value that goes to every process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ullage.context.economy import Economy
from ullage.replay.runs import Places, Summaries

Format: TypeAlias = Literal["table", "json"]


@dataclass(frozen=True, slots=True)
class Options:
    """`policies` by name, in the order of the report; empty where only what was recorded is reported. `jobs` of None: one a core."""

    format: Format = "table"
    full: bool = False
    """Whether a table shows every figure."""
    as_model: str | None = None
    policies: tuple[str, ...] = ()
    at: Places = "policy"
    summary: Summaries = "recorded"
    window: int | None = None
    """Tokens, instead of the model's own."""
    economy: Economy = "fullest"
    """How much policies that save do to save."""
    views: Path | None = None
    """A folder for the requests that follow compactions."""
    report: Path | None = None
    """A file for the report as a page."""
    store: str = ""
    """Where what is kept of all workspaces lies; empty: the system's own place."""
    jobs: int | None = None
