"""Running the tool calls of one reply: approval, the tool itself, clipping, and a logged result for each.

A result is durable as soon as its call is done, so that a crash loses only what was still running.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace

from ullage.context.blocks import CALLED_AS, NOT_A_NAME, ToolUse
from ullage.context.compaction.draft import PolicyFailed
from ullage.context.compaction_entries import CompactionFailed
from ullage.context.engines.engine import PathOf
from ullage.context.entries import Clipped, ToolReturned
from ullage.context.moves.cheap import Arrival, Clip
from ullage.context.moves.repeats import InView
from ullage.context.policies.ullage import ULLAGE
from ullage.context.summary.words import names_left_out
from ullage.models.model import UNPARSABLE_INPUT
from ullage.session.changes.recording import AgentsRecording, CallChanges, Recording
from ullage.session.conversation import Conversation
from ullage.session.hooks.at_events import HooksAtEvents
from ullage.session.policy_in_use import PolicyInUse
from ullage.session.surroundings import Surroundings
from ullage.session.timeline.items import ToolCallItem, ToolStatus, new_id
from ullage.session.turns.approvals import Approvals, permit
from ullage.session.turns.questions import Questions
from ullage.store.errors import StoreFailed
from ullage.tools.running import RunningCommands
from ullage.tools.started_command import StartedCommand
from ullage.tools.task import TASK
from ullage.tools.tool import AsksUser, BadToolInput, PermissionNeed, Tool, ToolCall, ToolOutcome

MOST_AT_ONCE = 8
"""Most calls that run side by side: enough to keep a disk busy, and few enough to leave threads to other sessions."""

CUT_OFF_INPUT = (
    "The input of this call was cut off before its end, or is no JSON object, so it was not run. Call again, with less in one call"
)


NOT_KEPT = "no file, since it could not be written ({error}) Call again if you need what is left out"
"""Stands in place of a path in the line that says where the whole output is."""


@dataclass(frozen=True, slots=True)
class Returned:
    """A call that is done: its logged result, the whole output, and what the loop must know of it."""

    seq: int
    entry: ToolReturned
    output: str
    outcome: ToolOutcome


class Calls:
    """Runs calls for one session."""

    def __init__(
        self,
        conversation: Conversation,
        tools: Mapping[str, Tool],
        approvals: Approvals,
        questions: Questions,
        surroundings: Surroundings,
        policy: PolicyInUse,
        recording: Recording | AgentsRecording,
        hooks: HooksAtEvents,
        running: RunningCommands,
        plan_accepted: Callable[[int], None],
    ) -> None:
        """`plan_accepted` is called with the seq of the result that has the plan."""
        self._conversation = conversation
        self._tools = tools
        self._approvals = approvals
        self._questions = questions
        self._surroundings = surroundings
        self._policy = policy
        self._recording = recording
        self._hooks = hooks
        self._running = running
        self._plan_accepted = plan_accepted
        self._in_view = InView()
        self._few_at_once = asyncio.Semaphore(MOST_AT_ONCE)

    async def run(self, calls: Sequence[ToolUse]) -> list[ToolOutcome]:
        """Runs the calls in order; neighbours that only read run side by side, a few at once. Every call gets a result, come what may.

        Raises `StoreFailed`, and `CancelledError` with results for what was done by then.
        """
        done: list[Returned] = []
        for group in side_by_side(calls, self._tools):
            tasks = [asyncio.ensure_future(self._run_among_few(call)) for call in group]
            try:
                done.extend(await asyncio.gather(*tasks))
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        self._clip_together(done)
        return [returned.outcome for returned in done]

    async def _run_among_few(self, call: ToolUse) -> Returned:
        async with self._few_at_once:
            return await self._run_one(call)

    async def _run_one(self, call: ToolUse) -> Returned:
        changes = CallChanges(call.id)
        try:
            outcome, allowed = await self._outcome(call, changes)
        except BaseException:
            self._approvals.proposals.settle(call.id, written=False)
            raise
        outcome = self._approvals.settled(call.id, allowed, outcome)
        where: list[str] = []

        def keep(tool_use_id: str) -> str:
            try:
                where.append(self._surroundings.outputs.keep(tool_use_id, outcome.content))
            except StoreFailed as error:  # the call is done: the model hears of it all the same
                return NOT_KEPT.format(error=error)
            return where[-1]

        told = self._recording.for_result(changes)
        earlier = () if outcome.is_error else self._in_view.earlier(self._conversation.projection, call.id, outcome.touched)
        clipped = self._arrive([Arrival(call.id, outcome.content, outcome.complete, earlier)], keep)[0]
        entry = ToolReturned(
            tool_use_id=call.id,
            tool=call.name,
            content=clipped.content,
            is_error=outcome.is_error,
            characters=len(outcome.content),
            full_output=where[-1] if where else None,
            touched=outcome.touched,
            diff=outcome.diff,
            refusal=outcome.refusal,
            names_left_out=names_left_out(outcome.content, clipped.content) if where else (),
            media=() if outcome.is_error else outcome.media,
            began=self._began(call.id),
            line=outcome.line,
            changed=told.files,
            uncovered=told.uncovered,
            answers=outcome.answers,
            agent=outcome.agent,
            goes_on=outcome.goes_on,
            cost=outcome.cost,
        )
        logged = self._conversation.append(entry)
        if not outcome.goes_on:
            self._recording.logged(call.id)
        self._note_edits(entry)
        if outcome.accepts_plan:
            self._plan_accepted(logged.seq)
        return Returned(logged.seq, entry, outcome.content, outcome)

    def _note_edits(self, result: ToolReturned) -> None:
        now = self._conversation.clock()
        for touch in result.touched:
            if touch.kind != "read":
                self._surroundings.recent.record(touch.path, now, "agent", result.line)

    async def _outcome(self, call: ToolUse, changes: CallChanges) -> tuple[ToolOutcome, PermissionNeed | None]:
        """Asks for a call and runs it; gives what came of it, and what was allowed for it (None: nothing had to be)."""
        tool = self._tools.get(call.name)
        if tool is None:
            names = ", ".join(self._tools)
            called = call.input.get(CALLED_AS, call.name) if call.name == NOT_A_NAME else call.name
            return ToolOutcome(f"There is no tool {called!r}. The tools are: {names}", is_error=True), None
        if UNPARSABLE_INPUT in call.input:
            return ToolOutcome(CUT_OFF_INPUT, is_error=True), None
        allowed: PermissionNeed | ToolOutcome | None = None
        try:
            self._recording.ahead(tool.kind)
            before = await self._hooks.before_call(call)
            if before.blocks is not None:
                return ToolOutcome(before.blocks, is_error=True), None
            allowed = await permit(call, tool, self._approvals, before.asks)
            if isinstance(allowed, ToolOutcome):
                return allowed, None
            if isinstance(tool, AsksUser):
                answers = await self._questions.ask(call.id, tool.questions(call.input))
                outcome = await tool.run(ToolCall(call.id, call.input, answers=answers))
                await self._hooks.after_call(call, outcome)
                return outcome, None
            self._show(call.id, "running")
            async with AsyncExitStack() as around:
                await around.enter_async_context(self._recording.around(changes, tool.kind, allowed))
                outcome = await tool.run(ToolCall(call.id, call.input, lambda text: self._stream(call.id, text), allowed))
                await self._hooks.after_call(call, outcome)  # within: a formatter changes the file as part of the call
                if outcome.goes_on:
                    self._record_at_end(outcome.goes_on, around.pop_all(), changes)
        except BadToolInput as error:
            outcome = ToolOutcome(str(error), is_error=True)
        except (OSError, StoreFailed) as error:
            outcome = ToolOutcome(f"{call.name} failed: {error}", is_error=True)
        return outcome, allowed if isinstance(allowed, PermissionNeed) else None

    def _record_at_end(self, id: str, around: AsyncExitStack, changes: CallChanges) -> None:
        """Has what a command changes that goes on recorded when it has ended."""

        async def record(command: StartedCommand) -> None:
            await around.aclose()
            self._recording.ended_later(changes)

        self._running.when_ended(id, record)

    def _began(self, call_id: str) -> float | None:
        item = self._conversation.timeline.get(call_id)
        return item.began if isinstance(item, ToolCallItem) else None

    def _show(self, call_id: str, status: ToolStatus) -> None:
        item = self._conversation.timeline.get(call_id)
        if isinstance(item, ToolCallItem):
            began = self._conversation.clock()
            self._conversation.timeline.put(
                replace(item, status=status, permission=(), permission_id="", permission_reason="", document=None, asked=None, began=began)
            )

    def _stream(self, call_id: str, text: str) -> None:
        if text:
            self._conversation.timeline.append_text(call_id, "output", text)

    def _clip_together(self, done: Sequence[Returned]) -> None:
        """Shortens results that are too long only in sum, before any request holds them."""
        outputs = {each.entry.tool_use_id: each for each in done if each.entry.full_output is None}
        where: dict[str, str] = {}

        def keep(tool_use_id: str) -> str:
            if tool_use_id in outputs:
                with suppress(StoreFailed):  # it stays whole
                    where[tool_use_id] = self._surroundings.outputs.keep(tool_use_id, outputs[tool_use_id].output)
            return where.get(tool_use_id, "")

        arrivals = [Arrival(each.entry.tool_use_id, each.entry.content, each.outcome.complete) for each in done]
        clips = self._arrive(arrivals, keep)
        for clipped, each in zip(clips, done, strict=True):
            if each.entry.tool_use_id in where:
                path = where[each.entry.tool_use_id]
                self._conversation.append(Clipped(each.seq, clipped.content, path))

    def _arrive(self, arrivals: Sequence[Arrival], path_of: PathOf) -> tuple[Clip, ...]:
        """What the model gets of each result; by Ullage's own engine if that of the policy fails."""
        try:
            return self._policy.arrive(arrivals, path_of)
        except PolicyFailed as failure:
            self._conversation.append(CompactionFailed(new_id("c"), "upkeep", f"{failure}. The result came as Ullage itself shows it"))
            return ULLAGE.engine.arrive(arrivals, path_of)


def side_by_side(calls: Sequence[ToolUse], tools: Mapping[str, Tool]) -> list[list[ToolUse]]:
    """The calls in groups that may run at once: neighbours that only read or search, sub-agents too; everything else alone."""
    groups: list[list[ToolUse]] = []
    free_before = False
    for call in calls:
        tool = tools.get(call.name)
        free = tool is not None and (tool.kind in ("read", "search") or call.name == TASK)
        if free and free_before:
            groups[-1].append(call)
        else:
            groups.append([call])
        free_before = free
    return groups
