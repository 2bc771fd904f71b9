"""The staged engine: cheap moves before every call and at the threshold, then a summary. Each system that works so is a set of its options.

The options are in `staged_options.py`, the summary is in `staged_summary.py`, and what the model reads is in `conversation_text.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ullage.context.blocks import ToolResult
from ullage.context.compaction_entries import Cleared, Snipped
from ullage.context.engines.engine import Covered, Occasion, PathOf, SummaryText, Unchanging
from ullage.context.engines.staged_options import CheapMove, SummaryShape, Upkeep, WindowOptions
from ullage.context.engines.staged_summary import SHORTER_TAIL, first_cut, staged_text, summarised
from ullage.context.entries import AssistantReply, Logged
from ullage.context.moves.cheap import Arrival, Clip, between, clear, clip, snip
from ullage.context.moves.cuts import Tail, begins_turn, cut_before
from ullage.context.moves.plan import Plan, preview
from ullage.context.policy import ClearOptions, ClipOptions, SnipOptions
from ullage.context.view.projection import Projection

NO_UPKEEP = Upkeep()
NO_TAIL = Tail()


@dataclass(frozen=True, slots=True)
class Staged(Unchanging):
    """An engine that makes cheap moves before a summary, as its options say."""

    arrival: ClipOptions | None = None
    """When results are clipped on arrival; None: never."""
    every_call: Upkeep = NO_UPKEEP
    at_threshold: tuple[CheapMove, ...] = ()
    """Moves that are made where the context is full, in this order, and before the summary if there is one."""
    summary: SummaryShape | None = None
    """The summary's options; None: there are cheap moves alone."""

    @property
    def keeps_up(self) -> bool:
        """Whether any moves are made before every call."""
        return bool(self.every_call.moves)

    def arrive(self, arrivals: Sequence[Arrival], path_of: PathOf) -> tuple[Clip, ...]:
        """Clips the results that are over their limit."""
        return clip(arrivals, self.arrival or ClipOptions(None, None), path_of)

    def upkeep(self, at: Occasion) -> Plan | None:
        """The plan of the cheap moves before a call; None if none is due, or there is nothing to gain."""
        if not self.every_call.moves or not _is_due(self.every_call, at.projection):
            return None
        return _cheap_alone(at, _made(at, self.every_call.moves))

    def plan(self, at: Occasion) -> Plan | None:
        """The plan of the cheap moves at the threshold, with the summary if there is one; None if there is nothing to gain."""
        if self.summary is None:
            return _cheap_alone(at, _made(at, self.at_threshold))
        cleared = _made(at, tuple(move for move in self.at_threshold if isinstance(move, ClearOptions))).cleared
        return summarised(at, cleared, self.summary) or _cheap_alone(at, _Cheap(cleared, None))

    def summarise(self, covered: Covered) -> SummaryText:
        """The summary as its options want it, by the model or by program."""
        if self.summary is None:
            return SummaryText(covered.model_text or "")
        return SummaryText(staged_text(self.summary, covered), self.summary.acknowledgement)


@dataclass(frozen=True, slots=True)
class _Cheap:
    """Cheap moves that were planned."""

    cleared: tuple[Cleared, ...]
    snipped: Snipped | None

    def __bool__(self) -> bool:
        return bool(self.cleared) or self.snipped is not None


def _is_due(upkeep: Upkeep, projection: Projection) -> bool:
    messages = projection.messages
    if not messages:
        return False
    if upkeep.between_turns and messages[-1].role == "user" and not begins_turn(projection, messages[-1]):
        return False
    return upkeep.after_seconds <= 0 or _seconds_since_reply(projection.entries) >= upkeep.after_seconds


def _seconds_since_reply(entries: Sequence[Logged]) -> float:
    """Seconds from the newest reply to the last entry; 0 if there was no reply, or its time is not known."""
    replied = next((logged.at for logged in reversed(entries) if isinstance(logged.entry, AssistantReply)), 0.0)
    return entries[-1].at - replied if replied > 0 else 0.0


def _made(at: Occasion, moves: Sequence[CheapMove]) -> _Cheap:
    """Plans the moves in their order, each on what those before it left."""
    cleared: tuple[Cleared, ...] = ()
    snipped: Snipped | None = None
    for move in moves:
        view = preview(at.projection, cleared, snipped) if cleared or snipped else at.projection
        match move:
            case ClearOptions():
                cleared += clear(view, move)
            case SnipOptions():
                snipped = snip(view, move, _says_nothing) or snipped
            case WindowOptions():
                snipped = _window(at, view, move) or snipped
    return _Cheap(cleared, snipped)


def _window(at: Occasion, view: Projection, options: WindowOptions) -> Snipped | None:
    first = first_cut(view, options.keep_first)
    cuts = (cut_before(tail, view, at.threshold, at.count) for tail in (options.tail, SHORTER_TAIL, NO_TAIL))
    return next((snipped for cut in cuts if (snipped := between(view, first, cut, _says_nothing))), None)


def _says_nothing(entries: Sequence[Logged]) -> str:
    return ""


def _cheap_alone(at: Occasion, cheap: _Cheap) -> Plan | None:
    """The plan of the cheap moves without a summary; None if they gain nothing."""
    if not cheap:
        return None
    if cheap.snipped is None:
        gain = _gain(at, cheap.cleared)
        after = max(at.used - gain, 0)
    else:
        after = at.count(preview(at.projection, cheap.cleared, cheap.snipped).messages)
        gain = at.count(at.projection.messages) - after
    return Plan(_through(at), cheap.cleared, cheap.snipped, None, 0, after) if gain > 0 else None


def _gain(at: Occasion, cleared: Sequence[Cleared]) -> int:
    """Tokens that clearing alone frees. It counts only what clearing changes, since this may be asked before every call."""
    placeholders = {each.seq: each.placeholder for each in cleared}
    gain = 0
    for message in at.projection.messages:
        if not placeholders.keys().isdisjoint(message.sources):
            shorter = tuple(
                replace(block, content=placeholders[source]) if source in placeholders and isinstance(block, ToolResult) else block
                for block, source in zip(message.blocks, message.sources, strict=True)
            )
            gain += at.count([message]) - at.count([replace(message, blocks=shorter)])
    return gain


def _through(at: Occasion) -> int:
    return at.projection.entries[-1].seq if at.projection.entries else 0
