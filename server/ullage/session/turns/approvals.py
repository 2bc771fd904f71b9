"""Asking the user before a call is run, and remembering what they always allow.

While the user is asked, a folder can be exchanged for a link, a file for another one, a script for a different script. So what the call
needs is found out again after the answer, and asked anew where it is not the same. The tool then gets what was allowed and keeps to it.

What is remembered lies in the user's own state folder, never in the workspace: a repository could bring its own. Where no folder is open it
is remembered until the process ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ullage.context.blocks import ToolUse
from ullage.context.quoting import visible_line
from ullage.session.errors import SessionError
from ullage.session.timeline.items import PermissionOption, ToolCallItem, new_id
from ullage.session.timeline.timeline import Timeline
from ullage.store.user_state import UserState
from ullage.tools.permission import Allowed, hosts_need, patterns_of, shown_approval
from ullage.tools.tool import LaysOpen, PermissionNeed, ShowsBefore, Tool, ToolOutcome

CHANGED = "It has changed since you were asked. "
"""Before a question that is asked once more."""
OTHER_FILES = "You always allow this, but a file that it names has changed since. "
"""Before a question about a command that was always allowed."""


class Remembered(Protocol):
    """What the user always allows in this workspace."""

    def allows(self, need: PermissionNeed) -> bool:
        """Whether it was allowed once and for all."""
        ...

    def allowed_before(self, need: PermissionNeed) -> bool:
        """Whether it was allowed once and for all when the files that it names were others."""
        ...

    def allow(self, need: PermissionNeed) -> None:
        """From now on. Raises `StoreFailed`."""
        ...

    def approvals(self) -> Sequence[Approval]:
        """All that is always allowed."""
        ...

    def forget(self, action: str, pattern: str) -> None:
        """It is asked again from now on. Raises `StoreFailed`."""
        ...

    def forget_all(self) -> None:
        """Everything is asked again. Raises `StoreFailed`."""
        ...


@dataclass(frozen=True, slots=True)
class Refused:
    """The user said no; `reason` is what they wrote, if anything."""

    reason: str


@dataclass(frozen=True, slots=True)
class Question:
    """What the user is asked about one call, and the answer that is waited for. `id` is of this question alone."""

    id: str
    need: PermissionNeed
    hosts: PermissionNeed | None
    """Hosts that it would connect to and that are not always allowed yet."""
    answer: asyncio.Future[Refused | None]

    @property
    def options(self) -> tuple[PermissionOption, ...]:
        """The answers that are offered."""
        return options(self.need if self.hosts is None else self.hosts)


class Approvals:
    """The open questions of one session, by tool call id. A call has one at most."""

    def __init__(self, timeline: Timeline, remembered: Remembered, refusal: Callable[[PermissionNeed], str] = lambda need: "") -> None:
        """`refusal` says why a call may not run at all, in words for the model; empty where it may."""
        self._timeline = timeline
        self._remembered = remembered
        self.refusal = refusal
        self._waiting: dict[str, Question] = {}

    def allows(self, need: PermissionNeed) -> bool:
        """Whether the user allowed it once and for all."""
        return self._remembered.allows(need) and self._new_hosts(need) is None

    def _new_hosts(self, need: PermissionNeed) -> PermissionNeed | None:
        new = [host for host in need.hosts if not self._remembered.allows(hosts_need((host,)))]
        return hosts_need(new) if new else None

    async def ask(self, call_id: str, need: PermissionNeed, *, again: bool = False, document: Path | None = None) -> Refused | None:
        """Waits for the user's answer. None means: go ahead. `again` says that it is not what they were asked before, `document` where
        what they are asked about lies open for them."""
        item = self._timeline.get(call_id)
        if not isinstance(item, ToolCallItem):
            raise SessionError("no_such_item", f"There is no tool call {call_id} to ask about")
        why = CHANGED if again else OTHER_FILES if self._remembered.allowed_before(need) else ""
        question = Question(new_id("q"), need, self._new_hosts(need), asyncio.get_running_loop().create_future())
        self._waiting[call_id] = question
        self._timeline.put(
            replace(
                item,
                status="awaiting_permission",
                diff=need.diff,
                document=None if document is None else str(document),
                permission=question.options,
                permission_id=question.id,
                permission_reason=visible_line(f"{why}{need.description}"),
            )
        )
        try:
            return await question.answer
        finally:
            del self._waiting[call_id]

    def answer(self, call_id: str, question_id: str | None, option_id: str, reason: str) -> None:
        """The user's answer to that question; without an id, to the one that is asked now.

        Raises `SessionError` where it is not asked, no longer or answered already, or the option is none of those offered.
        """
        question = self._waiting.get(call_id)
        if question is None or question_id not in (None, question.id) or question.answer.done():
            raise SessionError("no_such_permission", "This approval is no longer needed")
        if option_id not in {option.option_id for option in question.options}:
            raise SessionError("invalid", f"{option_id} is not one of the answers to this approval")
        if option_id == "allow_always":
            self._remembered.allow(question.need if question.hosts is None else question.hosts)
        question.answer.set_result(Refused(reason.strip()) if option_id == "reject_once" else None)


def options(need: PermissionNeed) -> tuple[PermissionOption, ...]:
    """The answers that are offered. There is no "always" where `need` has no pattern that could be remembered.

    Of a command that would connect to new hosts these come first: the command itself is remembered when it is asked for with known ones.
    """
    if need.action == "plan":
        return (
            PermissionOption("allow_once", "Carry out the plan", "allow_once"),
            PermissionOption("reject_once", "Keep planning", "reject_once"),
        )
    once = PermissionOption("allow_once", "Allow once", "allow_once")
    refuse = PermissionOption("reject_once", "Refuse", "reject_once")
    if not need.pattern:
        return (once, refuse)
    return (once, PermissionOption("allow_always", visible_line(f"Always allow {need.pattern}"), "allow_always"), refuse)


async def permit(call: ToolUse, tool: Tool, approvals: Approvals) -> PermissionNeed | ToolOutcome | None:
    """What was allowed, None where the call is free; the outcome where it is not to be run. Raises `BadToolInput`."""
    need = await _need(call, tool)
    refusal = approvals.refusal(need) if isinstance(need, PermissionNeed) else ""
    if refusal:
        return ToolOutcome(refusal, is_error=True)
    document = await tool.lay_open(call.id, call.input) if isinstance(tool, LaysOpen) else None
    again = False
    while isinstance(need, PermissionNeed) and not approvals.allows(need):
        answer = await approvals.ask(call.id, need, again=again, document=document)
        if isinstance(answer, Refused):
            said = f" They said: {answer.reason}" if answer.reason else ""
            what = "does not accept this plan yet" if need.action == "plan" else "refused this call; it was not run"
            return ToolOutcome(f"The user {what}.{said}", is_error=True, refusal=answer.reason)
        now = await _need(call, tool)
        if now == need:
            break
        need, again = now, True
    return need


async def _need(call: ToolUse, tool: Tool) -> PermissionNeed | ToolOutcome | None:
    if tool.kind in ("read", "search", "think"):
        return tool.permission(call.input)
    need = await asyncio.to_thread(tool.permission, call.input)  # it may look at files
    if need is None or need.target is None or not isinstance(tool, ShowsBefore):
        return need
    change = await tool.foresee(call.input, need.target)
    return change if isinstance(change, ToolOutcome) else replace(need, diff=change)


@dataclass(frozen=True, slots=True)
class Approval:
    """One thing that is always allowed; `name` is for the user, with backticks around what is literal."""

    action: str
    pattern: str
    name: str


class RememberedInWorkspace:
    """Approvals of one workspace folder; shared by all windows on it."""

    def __init__(self, state: UserState, workspace: Path) -> None:
        self._state = state
        self._workspace = workspace

    def allows(self, need: PermissionNeed) -> bool:
        """Whether it was allowed once and for all, in this window or another."""
        return Allowed(self._state.patterns(self._workspace, need.action)).covers(need)

    def allowed_before(self, need: PermissionNeed) -> bool:
        """Whether it was allowed with other files than there are now."""
        return Allowed(self._state.patterns(self._workspace, need.action)).covered_before(need)

    def allow(self, need: PermissionNeed) -> None:
        """From now on. Raises `StoreFailed`."""
        for pattern in patterns_of(need):
            self._state.add_pattern(self._workspace, need.action, pattern)

    def approvals(self) -> Sequence[Approval]:
        """All that is always allowed, by kind of action."""
        return _approvals(self._state.approvals(self._workspace))

    def forget(self, action: str, pattern: str) -> None:
        """It is asked again from now on, in all windows. Raises `StoreFailed`."""
        self._state.forget_approval(self._workspace, action, pattern)

    def forget_all(self) -> None:
        """Everything is asked again. Raises `StoreFailed`."""
        self._state.forget_approvals(self._workspace)


class RememberedForNow:
    """Approvals where there is no workspace folder to remember them for."""

    def __init__(self) -> None:
        self._patterns: dict[str, set[str]] = {}

    def allows(self, need: PermissionNeed) -> bool:
        """Whether it was allowed since the process began."""
        known: Collection[str] = self._patterns.get(need.action, ())
        return Allowed(known).covers(need)

    def allowed_before(self, need: PermissionNeed) -> bool:
        """Whether it was allowed with other files than there are now."""
        return Allowed(self._patterns.get(need.action, ())).covered_before(need)

    def allow(self, need: PermissionNeed) -> None:
        """From now on."""
        self._patterns.setdefault(need.action, set()).update(patterns_of(need))

    def approvals(self) -> Sequence[Approval]:
        """All that was allowed since the process began."""
        return _approvals(self._patterns)

    def forget(self, action: str, pattern: str) -> None:
        """It is asked again from now on."""
        self._patterns.get(action, set()).discard(pattern)

    def forget_all(self) -> None:
        """Everything is asked again."""
        self._patterns.clear()


def _approvals(patterns: Mapping[str, Collection[str]]) -> list[Approval]:
    return [
        Approval(action, pattern, visible_line(shown_approval(action, pattern)))
        for action, known in sorted(patterns.items())
        for pattern in sorted(known)
    ]
