"""What the parent of a sub-agent is told of it: its report, how it ended without one, and what it changed. Folds over the two logs.

All that one call leaves in the parent, the call itself included, is kept within `LEFT_TOKENS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ullage.context.blocks import Text
from ullage.context.change_entries import FilesChanged
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import AgentRun, AssistantReply, FileTouch, Logged, ToolReturned, TurnEnded, UserPrompt
from ullage.context.quoting import in_a_line, quoted
from ullage.session.changes.recording import is_of_agent
from ullage.session.timeline.updates import StopReason
from ullage.tools.task import SubAgentTask
from ullage.tools.tool import ToolOutcome

LEFT_TOKENS = 2_000
"""Most tokens that a call of `task` leaves in its parent: what the model wrote as the call, and the result."""

AROUND_TOKENS = 100
"""Tokens of the names, marks and ids of a call and of its result. A guess that is a little high."""

LEAST_REPORT_TOKENS = 500
"""Tokens of a report that stay whatever the call took: a task of a thousand words is the caller's own doing."""

LAST_WORDS_TOKENS = 400
"""Most tokens of what a sub-agent had said that was ended early."""

MOST_FILES = 10
"""Most changed files that are named; the user sees all of them in the review."""

ITS_LOG = "[Its log is kept: `recall` with agent {id} gives back all that it saw. A record of the past: files may have changed since.]"
CHANGED = "[It changed {files}. What you knew of {these} is out of date: read again before you rely on it.]"


def agents_in_turn(entries: Sequence[Logged]) -> list[AgentRun]:
    """The sub-agents of the newest turn that are done, the newest first."""
    found: list[AgentRun] = []
    for logged in reversed(entries):
        if isinstance(logged.entry, UserPrompt) and not logged.entry.steering:
            break
        if isinstance(logged.entry, ToolReturned) and logged.entry.agent is not None:
            found.append(logged.entry.agent)
    return found


def spent_in_turn(entries: Sequence[Logged]) -> float:
    """What the sub-agents of the newest turn that are done cost (dollars), as far as that is known."""
    return sum(each.cost or 0.0 for each in agents_in_turn(entries))


def last_words(entries: Sequence[Logged]) -> str:
    """What a sub-agent said last; empty if it said nothing."""
    for logged in reversed(entries):
        if isinstance(logged.entry, UserPrompt):
            break
        if isinstance(logged.entry, AssistantReply):
            said = "\n\n".join(block.text for block in logged.entry.blocks if isinstance(block, Text)).strip()
            if said:
                return said
    return ""


def changed_by(agent_id: str, entries: Iterable[Logged]) -> tuple[FileTouch, ...]:
    """The files that a sub-agent changed, by the log of its parent. The parent has not seen their texts: they have no hash."""
    found: dict[str, FileTouch] = {}
    for logged in entries:
        entry = logged.entry
        if isinstance(entry, FilesChanged) and entry.tool_use_id is not None and is_of_agent(entry.tool_use_id, agent_id):
            for file in entry.files:
                found[file.path] = FileTouch(file.path, "deleted" if file.after is None else "edited", "")
    return tuple(found.values())


def outcome_of(
    run: AgentRun, how: StopReason, limit: str, entries: Sequence[Logged], parents: Sequence[Logged], task: SubAgentTask
) -> ToolOutcome:
    """What the parent is told of a sub-agent: the report, or how it ended without one and what it had said by then. `entries` is its log,
    `parents` that of the parent."""
    said, touched = last_words(entries), changed_by(run.session_id, parents)
    below = "\n".join(part for part in (_changed_in_words(touched), ITS_LOG.format(id=run.session_id)) if part)
    if said and how in ("end_turn", "max_tokens"):
        cut = " It was cut off at the model's output limit." if how == "max_tokens" else ""
        head = f"Report of the sub-agent “{run.name}”, in its own words:{cut}"
        taken = AROUND_TOKENS + sum(map(estimate_text, (head, below, task.agent, task.title, task.prompt)))
        report = bounded(said, max(LEAST_REPORT_TOKENS, LEFT_TOKENS - taken))
        return ToolOutcome(f"{head}\n{report}\n{below}", touched=touched, agent=run)
    end = next((logged.entry for logged in reversed(entries) if isinstance(logged.entry, TurnEnded)), None)
    why = (
        {
            "end_turn": "it said nothing",
            "max_tokens": "it reached the model's output limit and said nothing",
            "refusal": "its model declined to answer",
            "cancelled": limit or "the user stopped it",
        }.get(how)
        or in_a_line(end.message if end is not None else "").rstrip(".")
        or "it failed"
    )
    by_then = f" It had said by then:\n{bounded(said, LAST_WORDS_TOKENS)}" if said else ""
    told = f"There is no report of the sub-agent “{run.name}”: {why}.{by_then}\n{below}"
    return ToolOutcome(told, is_error=True, touched=touched, agent=run)


def told_of_early_end(agent_id: str, entries: Sequence[Logged], parents: Sequence[Logged]) -> str:
    """What the parent is told of a sub-agent that was ended with it: what it had said by then, and what it changed."""
    said = last_words(entries)
    by_then = f"It had said by then:\n{bounded(said, LAST_WORDS_TOKENS)}" if said else ""
    return "\n".join(part for part in (by_then, _changed_in_words(changed_by(agent_id, parents)), ITS_LOG.format(id=agent_id)) if part)


def _changed_in_words(touched: Sequence[FileTouch]) -> str:
    if not touched:
        return ""
    named = [f"`{in_a_line(each.path)}`" for each in touched[:MOST_FILES]]
    more = len(touched) - len(named)
    return CHANGED.format(files=", ".join(named) + f" and {more:,} more" * (more > 0), these="it" if len(touched) == 1 else "them")


def bounded(text: str, tokens: int) -> str:
    """A text quoted line by line, so that nothing in it passes for another's words; its middle is left out where it is longer."""
    whole = quoted(text)
    if estimate_text(whole) <= tokens:
        return whole
    room = len(text)
    while True:
        room = min(room - 1, int(room * tokens / max(1, estimate_text(quoted(text[:room])))) - 100)
        head, tail = text[: max(0, room * 2 // 3)], text[len(text) - max(0, room // 3) :]
        shown = f"{quoted(head)}\n[{len(text) - len(head) - len(tail):,} characters are left out here]\n{quoted(tail)}"
        if room <= 0 or estimate_text(shown) <= tokens:
            return shown
