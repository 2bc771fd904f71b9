"""How a turn ends that does not end by itself: what is logged, what the user is told, what the model is told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Literal

from ullage.context.blocks import ToolUse
from ullage.context.entries import AssistantReply, Logged, Outcome, ToolReturned, TurnEnded, UserPrompt
from ullage.models.errors import AuthenticationFailed, EndpointUnreachable, ModelError, UnknownModel
from ullage.session.compacting.fullness import ContextFull
from ullage.session.conversation import Conversation
from ullage.session.items import StopReason
from ullage.store.errors import StoreFailed

logger = logging.getLogger(__name__)

INTERRUPTED = "This turn was interrupted when Ullage ended. What was done by then is kept."

RESUMED = "The turn was interrupted before it was finished. Go on where it was cut, without repeating what is done."


@dataclass(frozen=True, slots=True)
class Ending:
    """The entry that closes the turn, and whether the queue goes on after it."""

    entry: TurnEnded
    went_well: bool


async def ending_of(turn: Coroutine[None, None, TurnEnded], reason: Callable[[], Literal["cancelled", "interrupted"]]) -> Ending:
    """Runs a turn and gives its ending, whatever happens in it. A cancel is taken here: the task goes on after it.

    `reason` says what a cancel meant: the user stopped the turn, or the server is closing.
    """
    try:
        ended = await turn
    except asyncio.CancelledError:
        return Ending(_cancelled(reason()), went_well=False)
    except (ContextFull, StoreFailed) as error:
        return Ending(TurnEnded("error", str(error), "continue"), went_well=False)
    except AuthenticationFailed as error:
        return Ending(TurnEnded("error", str(error), "set_key"), went_well=False)
    except UnknownModel as error:
        return Ending(TurnEnded("error", str(error), "choose_model"), went_well=False)
    except EndpointUnreachable as error:
        return Ending(TurnEnded("error", str(error), "settings"), went_well=False)
    except ModelError as error:
        return Ending(TurnEnded("error", str(error), "continue"), went_well=False)
    except Exception as error:
        logger.exception("a turn failed")
        message = f"Something in Ullage itself went wrong: {type(error).__name__}: {error}. The log has the details."
        return Ending(TurnEnded("error", message, "continue"), went_well=False)
    return Ending(ended, went_well=ended.outcome == "end_turn")


def _cancelled(reason: Literal["cancelled", "interrupted"]) -> TurnEnded:
    if reason == "interrupted":
        return TurnEnded("interrupted", INTERRUPTED, "continue")
    return TurnEnded("cancelled", "Stopped.", "continue")


def stop_reason_of(end: TurnEnded) -> StopReason:
    """Why the turn ended, for a client. That the server ended is a cancel to it."""
    return "cancelled" if end.outcome == "interrupted" else end.outcome


def interrupted_result(call: ToolUse, outcome: Outcome) -> ToolReturned:
    """The result of a call that has none: every call needs one."""
    who = "The user stopped this turn" if outcome == "cancelled" else "This call was interrupted"
    text = f"{who} before the call was done. It is not known what it did; look before you rely on it."
    return ToolReturned(call.id, call.name, text, is_error=True, characters=len(text))


def turn_is_open(entries: Sequence[Logged]) -> bool:
    """Whether the log ends in the middle of a turn: the process that wrote it was ended by force."""
    for logged in reversed(entries):
        if isinstance(logged.entry, TurnEnded):
            return False
        if isinstance(logged.entry, UserPrompt | AssistantReply | ToolReturned):
            return True
    return False


def is_unfinished(entries: Sequence[Logged]) -> bool:
    """Whether the newest turn did not come to its own end, so that it can be gone on with."""
    ends = (logged.entry for logged in reversed(entries) if isinstance(logged.entry, TurnEnded))
    ended = next(ends, None)
    return turn_is_open(entries) or (ended is not None and ended.outcome != "end_turn")


def close_turn(conversation: Conversation, end: TurnEnded) -> None:
    """Gives every call without a result one, so that the log is valid, and logs the end: all in one write."""
    pending = conversation.projection.pending_tool_uses
    conversation.append_all([*(interrupted_result(call, end.outcome) for call in pending), end])
