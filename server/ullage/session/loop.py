"""The agent loop: ask the model, run the tools, append, repeat.

How each step is done stands in `turn.py`; errors and cancelling are the business of who runs the turn (`session.py`).
"""

from __future__ import annotations

from ullage.context.blocks import ToolUse
from ullage.context.entries import AssistantReply, TurnEnded
from ullage.session.going_on import GoingOn
from ullage.session.turn import Turn

WINDOW_EXCEEDED = "model_context_window_exceeded"
"""The stop reason of a reply that filled the window (anthropic-api: Claude 4.5 and later)."""


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
        goes_on = steered or bool(calls) or again is not None
        await turn.compact_if_asked(at_work=goes_on)
        if reply.stop_reason == WINDOW_EXCEEDED:
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
