"""The numbers of the compaction pipeline, with their sources. A policy is data; the moves that use it are elsewhere."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClipNumbers:
    """When a tool result is too long to be sent whole (characters)."""

    result_characters: int = 30_000
    """A longer single result goes to a file (learn-claude-code s08)."""
    message_characters: int = 200_000
    """All results of one message together (Claude Code's tool-result budget)."""
    preview_characters: int = 2_000
    """What stays of a clipped result: head and tail together (learn-claude-code s08)."""


@dataclass(frozen=True, slots=True)
class ClearNumbers:
    """When an old result becomes a placeholder."""

    keep_results: int = 3
    """The newest results stay (the default of the API's own `clear_tool_uses`)."""
    minimum_characters: int = 120
    """Shorter results stay: a placeholder would save nothing (learn-claude-code s08)."""


@dataclass(frozen=True, slots=True)
class SnipNumbers:
    """When the middle of a long conversation is cut out (messages)."""

    keep_first: int = 3
    keep_last: int = 47
    """More than their sum, and the middle goes (learn-claude-code s08: 50 = 3 + 47)."""


@dataclass(frozen=True, slots=True)
class SummaryNumbers:
    """What a summary keeps beside it (tokens)."""

    tail_tokens: int = 20_000
    """The newest messages stay as they are (Cline, Pi) ..."""
    tail_share: float = 0.2
    """... but no more than this share of the line (Hermes)."""
    user_message_tokens: int = 20_000
    """The user's own words stand verbatim in the handoff, newest first (Codex)."""
    output_tokens: int = 12_000
    """Ceiling of a model-written summary (Hermes; Cline's 1,024 proved too small)."""
    reactive_keep_messages: int = 5
    """What stays after the API refused the prompt as too long (learn-claude-code s08)."""


@dataclass(frozen=True, slots=True)
class RestoreNumbers:
    """How much is read again after a summary (files, tokens; Claude Code)."""

    files: int = 5
    file_tokens: int = 5_000
    total_tokens: int = 50_000


@dataclass(frozen=True, slots=True)
class LineNumbers:
    """Where the context counts as full (tokens; the first two are Claude Code's)."""

    reserve: int = 20_000
    margin: int = 13_000
    cap: int = 200_000
    """Never later than this, even on a model with a larger window: cost grows with what is carried."""
    warn_share: float = 0.75
    """From here the gauge warns and a compaction is prepared (Copilot)."""
    error_share: float = 0.95
    goal_share: float = 0.6
    """Cheap moves alone suffice only if they bring the context down to this share of the line; else it would be
    full again a turn later."""
    hold_share: float = 0.98
    """Of the window: where compaction is off or its breaker is open, model calls are held from here."""


@dataclass(frozen=True, slots=True)
class Policy:
    """One way of compacting: its name and the numbers of each move."""

    name: str = "ullage"
    clip: ClipNumbers = ClipNumbers()
    clear: ClearNumbers = ClearNumbers()
    snip: SnipNumbers = SnipNumbers()
    summary: SummaryNumbers = SummaryNumbers()
    restore: RestoreNumbers = RestoreNumbers()
    line: LineNumbers = LineNumbers()


ULLAGE = Policy()
"""The default."""
