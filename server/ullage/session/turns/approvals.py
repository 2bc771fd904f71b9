"""Asking the user before a call is run.

While the user is asked, a folder can be exchanged for a link, a file for another one, a script for a different script. So what the call
needs is found out again after the answer, and asked anew where it is not the same. The tool then gets what was allowed and keeps to it.

`tools/rules/` says what needs no question, `session/permissions/` where rules are kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ullage.context.blocks import ToolUse
from ullage.context.entries import AgentRun
from ullage.context.quoting import visible_line
from ullage.session.errors import SessionError
from ullage.session.permissions.proposed_edit import ProposedEdits
from ullage.session.timeline.items import AskedParts, PermissionOption, ProposedText, ToolCallItem, new_id
from ullage.session.timeline.timeline import Timeline
from ullage.tools.file_tools import proposed_diff
from ullage.tools.permission import hosts_need
from ullage.tools.rules.covering import Decision, PermissionRule
from ullage.tools.rules.reading import refused_outcome
from ullage.tools.tool import AskedAction, LaysOpen, PermissionNeed, ShowsBefore, Tool, ToolOutcome
from ullage.workspace.folders import Folders

CHANGED = "It has changed since you were asked. "
"""Stands before a question that is asked once more."""
CHANGED_YOURS = "The file has changed since you were asked. What you made of the proposal would replace all of it. "
"""Stands before it where the user changed the proposed text, which was made from the text of then."""
NOT_WRITTEN = (
    "The user had changed your proposal before they accepted it. Their text was not written; it is kept in {path}. What they changed, "
    "which your next proposal should have:\n{changes}"
)
NOBODY_THERE = (
    "This call needs an approval, and nobody is asked for a sub-agent. It was not run. Find another way, or report what is needed."
)
OTHER_FILES = "You allowed this for good, but a file that it names has changed since. "
"""Stands before a question about a command that was always allowed."""
OTHER_TOOL = "You allowed this for good, but the description of this tool or the configuration of its server has changed since. "
"""Stands before a question about a tool of a server that was always allowed."""


class Permits(Protocol):
    """What is allowed without a question, in one session. For another thread, but for what adds rules."""

    def decide(self, need: PermissionNeed) -> Decision:
        """The decision about one call."""
        ...

    def has_lapsed(self, need: PermissionNeed) -> bool:
        """Whether a rule allowed the call with other files than there are now, or the tool of a server as it was."""
        ...

    def used(self, rules: Sequence[PermissionRule]) -> None:
        """Notes that these rules allowed a call."""
        ...

    def allow(self, need: PermissionNeed) -> None:
        """Always allows what is asked for, in this workspace, by the patterns that are proposed for it. Raises `StoreFailed`."""
        ...

    def add(self, rule: PermissionRule, asked: PermissionNeed | None = None) -> None:
        """Adds a rule as the user wrote it, or as they answered what was `asked`. Raises `SessionError` with the reason if it cannot be
        one, `StoreFailed`."""
        ...


@dataclass(frozen=True, slots=True)
class UserRefused:
    """The answer that the user said no; `reason` is what they wrote, if anything."""

    reason: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """The answer that the user said yes; `text` is what they made of a proposed text, None if they left it as it was."""

    text: str | None = None


@dataclass(frozen=True, slots=True)
class PermissionQuestion:
    """What the user is asked about one call, and the answer that is waited for. `id` is of this question alone."""

    id: str
    need: PermissionNeed
    options: tuple[PermissionOption, ...]
    """The answers that are offered."""
    remembers: PermissionNeed
    """What is remembered if the user always allows it: new hosts come before the command that connects to them."""
    answer: asyncio.Future[UserRefused | Accepted]


@dataclass(frozen=True, slots=True)
class _StoodIn:
    """A question about a call of a sub-agent, asked in the card of the call that began it. `own` is that card without it."""

    own: ToolCallItem
    approvals: Approvals
    """The open questions of the sub-agent."""
    call_id: str
    question_id: str


class Approvals:
    """The open questions of one session, by tool call id. A call has one at most."""

    def __init__(
        self,
        timeline: Timeline,
        permits: Permits,
        proposals: ProposedEdits,
        workspace: Folders,
        refusal: Callable[[PermissionNeed], str] = lambda need: "",
        *,
        attended: bool = True,
    ) -> None:
        """`workspace` are the folders that the user has open. `refusal` says why a call may not run at all, in words for the model; empty
        if it may. `attended`: whether somebody is there to ask; what would be asked about is not run where nobody is."""
        self.attended = attended
        self._timeline = timeline
        self.permits = permits
        self.proposals = proposals
        self._workspace = workspace
        self.refusal = refusal
        self._waiting: dict[str, PermissionQuestion] = {}
        self._stood_in: dict[str, _StoodIn] = {}
        """The calls whose cards ask what their sub-agents are asked."""

    async def ask(
        self, call_id: str, need: PermissionNeed, decision: Decision, *, again: str = "", document: Path | None = None
    ) -> UserRefused | Accepted:
        """Asks the user about a call and waits for their answer. `again` says why they are asked once more, in a sentence; `document` is
        where a plan lies open. Raises `SessionError` if there is no such call."""
        item = self._timeline.get(call_id)
        if not isinstance(item, ToolCallItem):
            raise SessionError("no_such_item", f"There is no tool call {call_id} to ask about")
        other = OTHER_TOOL if need.action == "mcp" else OTHER_FILES
        why = again or (other if await asyncio.to_thread(self.permits.has_lapsed, need) else "")
        hosts = [proposal.pattern for proposal in decision.proposals if proposal.action == "host"]
        remembers = hosts_need(hosts) if hosts and need.action == "command" else need
        asked = await self._asked(call_id, need, decision)
        question = PermissionQuestion(new_id("q"), need, options(remembers), remembers, asyncio.get_running_loop().create_future())
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
                asked=asked,
            )
        )
        try:
            return await question.answer
        finally:
            del self._waiting[call_id]

    def settled(self, call_id: str, allowed: PermissionNeed | None, outcome: ToolOutcome) -> ToolOutcome:
        """The outcome of a call that is over. If the user changed a proposed text and that was not written, it is kept, and the outcome
        tells so."""
        changes = self.proposals.changes(call_id)
        kept = self.proposals.settle(call_id, written=allowed is not None and allowed.text is not None and not outcome.is_error)
        if kept is None or outcome.refusal is not None:
            return outcome
        return replace(outcome, content=f"{outcome.content}\n{NOT_WRITTEN.format(path=kept, changes=changes)}")

    async def _asked(self, call_id: str, need: PermissionNeed, decision: Decision) -> AskedParts:
        foreseen, target = need.foreseen, need.target
        laid = None if foreseen is None or target is None else await self.proposals.lay_open(call_id, target, foreseen.after)
        proposed = None
        if laid is not None and foreseen is not None:
            proposed = ProposedText(str(laid), str(target), is_new=foreseen.before is None)
        folder = self._workspace.named(Path(need.folder)) if need.folder else ""
        action: AskedAction = "outside" if need.action == "read" else need.action  # nobody is asked about reading
        return AskedParts(action, folder or need.folder, decision.parts, decision.proposals, proposed, outside=folder is None)

    def stand_in(self, call_id: str, run: AgentRun, doing: str, asked: ToolCallItem | None, agents: Approvals) -> None:
        """Shows the sub-agent of that call in its card, and what a call of that one is `asked` about; then the answer goes to `agents`.
        Meanwhile the card shows that call in place of its own input: all that is allowed can be read there."""
        item, before = self._timeline.get(call_id), self._stood_in.pop(call_id, None)
        if not isinstance(item, ToolCallItem) or item.status not in ("running", "awaiting_permission"):
            return
        own = item if before is None else before.own
        own = replace(own, agent=run, doing=doing)
        if asked is None:
            self._timeline.put(own)
            return
        self._stood_in[call_id] = _StoodIn(own, agents, asked.id, asked.permission_id)
        self._timeline.put(replace(asked, id=own.id, at=own.at, name=own.name, title=own.title, agent=run, doing=doing))

    def answer(self, call_id: str, question_id: str | None, option_id: str, reason: str, rules: Sequence[PermissionRule] = ()) -> None:
        """Takes the user's answer to that question; without an id, to the one that is asked now. `rules` are what they allow, or refuse,
        once and for all with it, in place of what was offered.

        Raises `SessionError` if it is not asked, no longer or answered already, where the option is none of those offered, or a rule cannot
        be one.
        """
        stood_in = self._stood_in.get(call_id)
        if stood_in is not None:
            stood_in.approvals.answer(stood_in.call_id, question_id or stood_in.question_id, option_id, reason, rules)
            return
        question = self._waiting.get(call_id)
        if question is None or question_id not in (None, question.id) or question.answer.done():
            raise SessionError("no_such_permission", "This approval is no longer needed")
        if option_id not in {option.option_id for option in question.options}:
            raise SessionError("invalid", f"{option_id} is not one of the answers to this approval")
        if any(option_id != ("reject_once" if rule.refuses else "allow_always") for rule in rules):
            raise SessionError("invalid", "Rules belong to the answer that allows it always, and those that refuse to a refusal")
        for rule in rules:
            self.permits.add(rule, question.need)
        if option_id == "allow_always" and not rules:
            self.permits.allow(question.remembers)
        if option_id == "reject_once":
            question.answer.set_result(UserRefused(reason.strip()))
        else:
            question.answer.set_result(Accepted(self.proposals.made_of(call_id)))


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


async def permit(call: ToolUse, tool: Tool, approvals: Approvals, asks: str = "") -> PermissionNeed | ToolOutcome | None:
    """Finds out whether a call may run, and asks the user where they have to be asked. Gives what was allowed, None if the call is free;
    the outcome if it is not to be run. Raises `BadToolInput`.

    `asks` says why the user is asked in any case, in a sentence for them; empty if they are asked as ever.
    """
    need = await _need(call, tool, approvals)
    refusal = approvals.refusal(need) if isinstance(need, PermissionNeed) else ""
    if refusal:
        return ToolOutcome(refusal, is_error=True)
    document = await tool.lay_open(call.id, call.input) if isinstance(tool, LaysOpen) else None
    if need is None and asks:
        return ToolOutcome(f"{asks}Nobody can be asked about this call, so it was not run.", is_error=True)
    again, is_theirs = asks, False
    while isinstance(need, PermissionNeed):
        decision = await asyncio.to_thread(approvals.permits.decide, need)
        if decision.refused is not None:
            return await _refused(decision.refused, approvals)
        if decision.free and not is_theirs and not asks:
            await asyncio.to_thread(approvals.permits.used, decision.rules)
            return replace(need, confined=decision.confined)
        if not approvals.attended:
            return ToolOutcome(NOBODY_THERE, is_error=True)
        answer = await approvals.ask(call.id, need, decision, again=again, document=document)
        if isinstance(answer, UserRefused):
            said = f" They said: {answer.reason}" if answer.reason else ""
            what = "does not accept this plan yet" if need.action == "plan" else "refused this call; it was not run"
            return ToolOutcome(f"The user {what}.{said}", is_error=True, refusal=answer.reason)
        now = await _need(call, tool, approvals)
        refused = None if not isinstance(now, PermissionNeed) else (await asyncio.to_thread(approvals.permits.decide, now)).refused
        if refused is not None:  # the rule was made while they were asked
            return await _refused(refused, approvals)
        if answer.text is None:
            if now == need:
                return now
            need, again, is_theirs = now, CHANGED, False
            continue
        if not isinstance(now, PermissionNeed):
            return now
        if now.target == need.target and _before(now) == _before(need):
            return replace(now, foreseen=need.foreseen, text=answer.text)
        need = replace(now, diff=proposed_diff(now.subject, _before(now) or "", answer.text))
        again, is_theirs = CHANGED_YOURS, True
    return need


async def _refused(rule: PermissionRule, approvals: Approvals) -> ToolOutcome:
    await asyncio.to_thread(approvals.permits.used, (rule,))
    return refused_outcome(rule)


def _before(need: PermissionNeed) -> str | None:
    return None if need.foreseen is None else need.foreseen.before


async def _need(call: ToolUse, tool: Tool, approvals: Approvals) -> PermissionNeed | ToolOutcome | None:
    if tool.kind in ("read", "search", "think"):
        return tool.permission(call.input)
    need = await asyncio.to_thread(tool.permission, call.input)  # it may look at files
    if need is None or need.target is None or not isinstance(tool, ShowsBefore):
        return need
    refused = (await asyncio.to_thread(approvals.permits.decide, need)).refused
    if refused is not None:  # what would be changed is not looked at: why it cannot be could quote the file
        return await _refused(refused, approvals)
    change = await tool.foresee(call.input, need.target)
    return change if isinstance(change, ToolOutcome) else replace(need, diff=change.diff, foreseen=change)
