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
    """Cuts out all messages but the first few and a window over the newest."""

    keep_first: int
    tail: Tail


CheapMove: TypeAlias = ClearOptions | SnipOptions | WindowOptions
"""A move that no model is needed for."""


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Cheap moves that are made before calls, however full the context is."""

    moves: tuple[CheapMove, ...] = ()
    between_turns: bool = False
    """Whether they are made only before the first call of a turn; else before every call."""
    after_seconds: float = 0.0
    """Seconds for which the model must not have been asked, so that its prompt cache has gone cold; 0 for none."""


@dataclass(frozen=True, slots=True)
class OwnText:
    """How the messages are written out as text for a model that is not asked on the warm conversation. The text always fits into the
    window."""

    characters: int | None = None
    """Characters of the text at most; None: as many as fit."""
    keeps: Literal["beginning", "end"] = "end"
    """The part that stays where the text is too long."""
    result_characters: int | None = None
    """Characters of the beginning of each tool result that are kept; None: all."""
    uncleared: bool = False
    """Whether results that are cleared in the same compaction are given as they were, if all of that fits."""
    dropped_shares: tuple[float, ...] = ()
    """Shares of the tool results that are left out where the text does not fit, tried one after the other, from the middle outwards."""


@dataclass(frozen=True, slots=True)
class SummaryTokens:
    """Tokens that a model may write for a summary."""

    most: int
    share_of_window: float | None = None
    """Share of the window that it may take at most; None: no such limit."""
    share_of_covered: float | None = None
    """Share of what it stands for that it may take at most (None: no such limit) ..."""
    least: int = 0
    """... but in any case so many tokens."""

    def of(self, window: int, covered: int) -> int:
        """Tokens that a summary of `covered` tokens may take."""
        most = self.most if self.share_of_window is None else min(self.most, int(window * self.share_of_window))
        wanted = most if self.share_of_covered is None else max(self.least, int(covered * self.share_of_covered))
        return max(1, min(most, wanted))


ONLY_UNANSWERED = Tail()


@dataclass(frozen=True, slots=True)
class SummaryShape:
    """What a summary stands for, how it is asked for, and the text that it becomes."""

    prompt: str
    """What the model is asked, with `{focus}` where what the user wants favoured is put in."""
    tokens: SummaryTokens
    sections: int = 0
    """The number of headings that the prompt asks for; 0 for none."""
    reads: OwnText | None = None
    """How the model is given the messages as text; None: it gets the conversation as the last request had it, so that the prompt cache
    serves it."""
    check: str = ""
    """What the model is asked in a second call, whose answer counts; empty: there is no second call."""
    update: str = ""
    """What the model is asked, instead of `prompt`, if there is an earlier summary to go on from; empty: `prompt`. For own text only."""
    keep_first: int = 0
    """The number of first messages that stay; more where a call would be parted from its result."""
    tail: Tail = ONLY_UNANSWERED
    reactive_tail: Tail | None = None
    """The tail after the API refused the prompt as too long; None: the same as `tail`."""
    reactive_by_model: bool = True
    """Whether a model is asked even after such a refusal."""
    preface: str = ""
    """The text before the summary, on lines of its own."""
    acknowledgement: str = ""
    """What the assistant is shown to have answered; empty for nothing."""
    user_message_tokens: int = 0
    """Tokens of the user's own messages that stand verbatim before the preface; the newest have precedence."""
    carries_last_prompt: bool = False
    """Whether the user's last prompt stays as it is while the model is still at it, also where the summary covers it."""
