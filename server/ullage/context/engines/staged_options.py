"""The options of a staged engine: what it does before every call, what at the threshold, and how its summary is to be.

Only values; what is done with them is in `staged.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ullage.context.moves.cuts import Tail
from ullage.context.policy import ClearOptions, SnipOptions


@dataclass(frozen=True, slots=True)
class WindowOptions:
    """When all but the first few and a window over the newest messages is cut out."""

    keep_first: int
    tail: Tail


CheapMove: TypeAlias = ClearOptions | SnipOptions | WindowOptions
"""A move that no model is needed for."""


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Cheap moves that are made however full the context is."""

    moves: tuple[CheapMove, ...] = ()
    between_turns: bool = False
    """Whether they are made only before the first call of a turn; else before every call."""
    after_seconds: float = 0.0
    """They are made only where the model has not been asked for so long: when its prompt cache has gone cold."""


@dataclass(frozen=True, slots=True)
class OwnText:
    """What a model reads that is not asked on the warm conversation: the messages as text. It always fits into the window."""

    characters: int | None = None
    """No more than this of it; None: what fits."""
    keeps: Literal["beginning", "end"] = "end"
    """Which part stays where it is too long."""
    result_characters: int | None = None
    """So much of the beginning of each tool result; None: all of it."""
    uncleared: bool = False
    """Whether results that are cleared in the same compaction are read as they were, where all of that fits."""
    dropped_shares: tuple[float, ...] = ()
    """Where it does not fit, these shares of the tool results are left out, one share after the other, from the middle outwards."""


@dataclass(frozen=True, slots=True)
class SummaryTokens:
    """How much a model may write for a summary (tokens)."""

    most: int
    share_of_window: float | None = None
    """No more than this share of the window either."""
    share_of_covered: float | None = None
    """No more than this share of what it stands for ..."""
    least: int = 0
    """... but at least this."""

    def of(self, window: int, covered: int) -> int:
        """Tokens, where `covered` stand for what is summarised."""
        most = self.most if self.share_of_window is None else min(self.most, int(window * self.share_of_window))
        wanted = most if self.share_of_covered is None else max(self.least, int(covered * self.share_of_covered))
        return max(1, min(most, wanted))


ONLY_UNANSWERED = Tail()


@dataclass(frozen=True, slots=True)
class SummaryShape:
    """What a summary stands for, how it is asked for, and the text that it becomes."""

    prompt: str
    """With `{focus}` where what the user wants favoured is put in."""
    tokens: SummaryTokens
    sections: int = 0
    """How many headings the prompt asks for; 0 if it asks for none."""
    reads: OwnText | None = None
    """What the model reads; None: the conversation as the last request had it, so that the prompt cache serves it."""
    check: str = ""
    """What it is asked in a second call, whose answer counts; empty: there is none."""
    update: str = ""
    """What it is asked, instead of `prompt`, where there is an earlier summary to go on from; empty: the same. For own text only."""
    keep_first: int = 0
    """So many of the first messages stay; more where a call would be parted from its result."""
    tail: Tail = ONLY_UNANSWERED
    reactive_tail: Tail | None = None
    """The tail where the API refused the prompt as too long; None: the same."""
    reactive_by_model: bool = True
    """Whether a model is asked even then."""
    preface: str = ""
    """What stands before the summary, on lines of its own."""
    acknowledgement: str = ""
    """What the assistant is shown to have answered."""
    user_message_tokens: int = 0
    """So much of the user's own messages stands verbatim before the preface, the newest in first."""
    carries_last_prompt: bool = False
    """Whether what the user asked last stays as it is while the model is still at it, also where it is covered."""
