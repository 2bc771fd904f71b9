"""Closing a turn: every call gets a result, and the turn an end in the log, also if the user stopped it or a crash cut it off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from ullage.context.blocks import ToolUse
from ullage.context.entries import AgentRun, AssistantReply, Forked, Logged, Outcome, ToolReturned, TurnEnded, UserPrompt
from ullage.context.summary.settled import ASK_USER, NOT_ANSWERED
from ullage.session.conversation import Conversation
from ullage.session.history.places import end_of_fork
from ullage.session.turns.incoming import take_unfinished
from ullage.store.plain_files import unfinished_file

INTERRUPTED = "This turn was interrupted when Ullage ended. What was done by then is kept."

STOPPED_ASKING = "they stopped this turn while the question was open."
ASK_AGAIN = "Ullage ended while the question was open. Ask again, if you still need the answer."


EndedAgents: TypeAlias = Mapping[str, tuple[AgentRun, str]]
"""Sub-agents that were ended before they were done, by the ids of their calls, and what is to be told of each."""


def interrupted_result(call: ToolUse, outcome: Outcome, agents: EndedAgents | None = None) -> ToolReturned:
    """The result for a call that was cut off: every call needs one."""
    who = "The user stopped this turn" if outcome == "cancelled" else "This call was interrupted"
    text = f"{who} before the call was done. It is not known what it did; look before you rely on it."
    if call.name == ASK_USER:
        text = f"{NOT_ANSWERED}: {STOPPED_ASKING if outcome == 'cancelled' else ASK_AGAIN}"
    agent, told = (agents or {}).get(call.id, (None, ""))
    if agent is not None:
        text = f"{who} before the sub-agent “{agent.name}” was done. {told}"
    return ToolReturned(call.id, call.name, text, is_error=True, characters=len(text), agent=agent)


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


def close_what_is_open(conversation: Conversation, store_folder: Path | None, agents: EndedAgents | None = None) -> None:
    """Closes the turn in which the log ends, if it ends in one: a crash left it so, or a fork was made there."""
    if not turn_is_open(conversation.entries):
        return
    take_unfinished(unfinished_file(store_folder, conversation.session_id), conversation)
    forked = isinstance(conversation.entries[-1].entry, Forked)
    close_turn(conversation, end_of_fork(conversation.entries) if forked else TurnEnded("interrupted", INTERRUPTED, "continue"), agents)


def close_turn(conversation: Conversation, end: TurnEnded, agents: EndedAgents | None = None) -> None:
    """Gives every call without a result one, so that the log is valid, and logs the end: all in one write."""
    pending = conversation.projection.pending_tool_uses
    conversation.append_all([*(interrupted_result(call, end.outcome, agents) for call in pending), end])
