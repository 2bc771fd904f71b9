"""The agent loop: ask the model, run the tools, append, repeat.

How each step is done stands in `turn.py`; errors and cancelling are the business of who runs the turn (`turns.py`).

A turn goes on though nothing was run after some replies: empty ones, paused ones, calls whose input could not be read. Each may come once
or twice from a model that is well. From one that is not they come for ever, and each costs a request; so they are counted, and the turn
ends where there are too many in a row (`GoingOn`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ullage.context.blocks import ToolUse
from ullage.context.compaction.decide import WINDOW_EXCEEDED
from ullage.context.entries import AssistantReply, Notice, TurnEnded
from ullage.context.view.fold import spoken
from ullage.models.model import UNPARSABLE_INPUT
from ullage.session.turns.turn import Turn


async def run_turn(turn: Turn) -> TurnEnded:
    """Runs one turn to its end and says how it ended. Raises what the model, the tools' store or a compaction raise.

    Every step leaves the log valid, so that the task can be cancelled anywhere.
    """
    going_on = GoingOn()
    while True:
        await turn.make_room()
        reply = await turn.ask()
        calls = [block for block in reply.blocks if isinstance(block, ToolUse)]
        if calls:
            await turn.run_tools(calls)
        again = going_on.after(reply, calls)
        if isinstance(again, TurnEnded):
            return again
        steered = turn.take_steering()
        filled = reply.stop_reason == WINDOW_EXCEEDED
        goes_on = steered or bool(calls) or again is not None or filled
        await turn.compact_if_asked(at_work=goes_on)
        if filled:
            await turn.make_room_after_overflow()
        elif not goes_on:
            return turn.with_written_call_told(end_of(reply), reply)
        if again is not None and (calls or not steered):
            turn.tell(again)


def end_of(reply: AssistantReply) -> TurnEnded:
    """How a turn ends with its last reply."""
    if reply.stop_reason == "max_tokens":
        return TurnEnded("max_tokens", "The reply reached the model's output limit. Press Continue to let it go on.", "continue")
    if reply.stop_reason == "refusal":
        return TurnEnded("refusal", "The model declined to answer this. Rephrase the prompt, or choose another model.")
    return TurnEnded("end_turn")


PAUSED = "pause_turn"
"""The stop reason of a reply in whose middle the endpoint paused (its own tools took long). It is sent back as it is; as no tool of the
endpoint's was asked for, nothing in it waits for the endpoint, and newer models take no request that ends with their own words. So the
word to go on follows it."""
NOT_EMPTY = ("refusal", "max_tokens", WINDOW_EXCEEDED)
"""Stop reasons that say why nothing was said."""
MOST_PAUSES = 5
MOST_EMPTY = 2
MOST_UNREADABLE = 3

GO_ON = "Your reply was paused. Go on where it ended, without repeating it."
SAY_SOMETHING = "Your last reply was empty. Go on with what is to be done; if all of it is done, say so in a sentence."
WRITE_LESS = (
    "The last two calls did not arrive whole: a reply can be only so long, and they were longer, or their input was no JSON object. Do it"
    " in smaller steps: write a long file in parts, with a first call that creates it and further ones that add to it."
)

EMPTY = "The model sent an empty reply twice. Press Continue to ask again, or rephrase your prompt."
NO_END_OF_PAUSES = f"The reply was paused {MOST_PAUSES} times in a row without an end. Press Continue to let it go on."
UNREADABLE = (
    f"{MOST_UNREADABLE} calls in a row did not arrive whole, so none of them was run: they did not fit into the model's output limit, or"
    " their input was no JSON object. Ask for smaller steps, such as a long file in parts. Press Continue to let it try again."
)


class GoingOn:
    """Counts them in one turn."""

    def __init__(self) -> None:
        self._empty = 0
        self._paused = 0
        self._unreadable = 0

    def after(self, reply: AssistantReply, calls: Sequence[ToolUse]) -> Notice | TurnEnded | None:
        """What the model is told before it is asked again, or how the turn ends; None where the reply is none of these."""
        unreadable = bool(calls) and all(UNPARSABLE_INPUT in call.input for call in calls)
        paused = not calls and reply.stop_reason == PAUSED
        empty = not paused and reply.stop_reason not in NOT_EMPTY and not spoken(reply)
        self._unreadable = self._unreadable + 1 if unreadable else 0
        self._paused = self._paused + 1 if paused else 0
        self._empty = self._empty + 1 if empty else 0
        if unreadable:
            return self._after_unreadable()
        if paused:
            return Notice("resume", GO_ON) if self._paused < MOST_PAUSES else TurnEnded("max_turn_requests", NO_END_OF_PAUSES, "continue")
        if empty:
            return Notice("resume", SAY_SOMETHING) if self._empty < MOST_EMPTY else TurnEnded("error", EMPTY, "continue")
        return None

    def _after_unreadable(self) -> Notice | TurnEnded | None:
        if self._unreadable >= MOST_UNREADABLE:
            return TurnEnded("max_tokens", UNREADABLE, "continue")
        return Notice("resume", WRITE_LESS) if self._unreadable == MOST_UNREADABLE - 1 else None
