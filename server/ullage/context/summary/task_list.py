"""The agent's list of tasks, as it last wrote it: all at once, task by task, or as the steps of a plan that the user accepted.

The tools of several programs are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ullage.context.blocks import Json, ToolUse
from ullage.context.calls import Call
from ullage.context.entries import AssistantReply

LIST_TOOLS = ("todo", "TodoWrite", "update_plan", "todo_write", "todowrite", "write_todos")
"""Tools that write the whole list with each call: Ullage's; Claude Code's; Codex'; others'."""
CREATING, UPDATING, SHOWING = "TaskCreate", "TaskUpdate", "TaskList"
"""Claude Code's newer tools: a task for each call, and one that shows the list as it is, which others may have changed meanwhile."""
PROPOSING = "propose_plan"
"""Ullage's tool that proposes a plan. Its result has the plan if the user accepted it."""
PLAN_ACCEPTED = "The user accepted this plan."
"""The beginning of such a result. The plan follows after the first empty line."""
STEP = re.compile(r"^(?:\d{1,3}[.)]|[-*+] \[[ xX]\])\s+(\S.*)$", re.MULTILINE)
"""A numbered line or a box to tick, not indented. Lines that are indented below it belong to it."""
POINT = re.compile(r"^[-*+]\s+(\S.*)$", re.MULTILINE)
STEP_CHARACTERS = 200
NUMBERED = re.compile(r"#(\d+)")
SHOWN = re.compile(r"^[^\w\n]*#(\d+) \[(\w+)\] (.+)$", re.MULTILINE)
MOST_TASKS = 200
DONE = ("completed", "done", "complete", "cancelled", "deleted")


@dataclass(frozen=True, slots=True)
class ListedTask:
    """One task of the agent's list, as it was last written."""

    content: str
    status: str
    """`pending`, `in_progress` or `completed`."""

    @property
    def is_open(self) -> bool:
        """Whether something is still to be done for the task."""
        return self.status not in DONE


class TaskHistory:
    """The agent's list of tasks, as a session goes on."""

    def __init__(self) -> None:
        self._written: ToolUse | None = None
        """The last call that wrote the whole list; None if there was none."""
        self._tasks: dict[str, ListedTask] = {}
        """The tasks by number, if each has a call of its own. Of two kinds of list the newest counts."""

    def copy(self) -> TaskHistory:
        """A copy that goes on by itself."""
        other = TaskHistory()
        other._written, other._tasks = self._written, self._tasks.copy()
        return other

    def add_reply(self, reply: AssistantReply) -> None:
        """Takes in the next reply."""
        for block in reply.blocks:
            if isinstance(block, ToolUse) and block.name in LIST_TOOLS:
                self._written, self._tasks = block, {}

    def add(self, call: Call) -> None:
        """Takes in the next call that has its result."""
        if not call.returned.is_error and call.returned.tool == PROPOSING:
            steps = steps_of_result(call.returned.content)
            self._tasks = {str(number): ListedTask(step, "pending") for number, step in enumerate(steps, 1)}
            return
        if call.returned.is_error or call.returned.tool not in (CREATING, UPDATING, SHOWING):
            return
        if call.returned.tool == SHOWING:
            shown = SHOWN.findall(call.returned.content)[:MOST_TASKS]
            self._tasks.update((number, ListedTask(" ".join(subject.split()), status)) for number, status, subject in shown)
            return
        if call.returned.tool == CREATING:
            number, subject = NUMBERED.search(call.returned.content), call.input.get("subject")
            if number and isinstance(subject, str) and len(self._tasks) < MOST_TASKS:
                self._tasks[number[1]] = ListedTask(" ".join(subject.split()), "pending")
            return
        id, status, subject = (call.input.get(key) for key in ("taskId", "status", "subject"))
        if isinstance(id, str) and (task := self._tasks.get(id)):
            content = subject if isinstance(subject, str) and subject.strip() else task.content
            self._tasks[id] = ListedTask(" ".join(content.split()), status if isinstance(status, str) else task.status)

    @property
    def tasks(self) -> tuple[ListedTask, ...]:
        """The tasks as they were last written."""
        if self._tasks:
            return tuple(task for task in self._tasks.values() if task.status != "deleted")
        return tuple(_read(self._written.input)) if self._written is not None else ()


def _read(input: Mapping[str, Json]) -> Iterator[ListedTask]:
    todos = input.get("todos", input.get("plan"))
    for todo in todos if isinstance(todos, list) else []:
        content = todo.get("content", todo.get("step")) if isinstance(todo, dict) else None
        status = todo.get("status") if isinstance(todo, dict) else None
        if isinstance(content, str) and content.strip():
            yield ListedTask(" ".join(content.split()), status if isinstance(status, str) else "pending")


def steps_of_result(content: str) -> tuple[str, ...]:
    """The steps of the plan in a result of `propose_plan`; empty if no plan was accepted."""
    return steps_in(content.partition("\n\n")[2]) if content.startswith(PLAN_ACCEPTED) else ()


def steps_in(plan: str) -> tuple[str, ...]:
    """The steps of a plan in Markdown: its numbered lines and boxes to tick; if it has none, its list items."""
    found = STEP.findall(plan) or POINT.findall(plan)
    return tuple(" ".join(step.replace("**", "").split())[:STEP_CHARACTERS] for step in found[:MOST_TASKS])
