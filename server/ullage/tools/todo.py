"""The `todo` tool: the agent's task list, which the user sees and which survives every compaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast

from ullage.context.blocks import Json, ToolSpec
from ullage.tools.tool import PermissionNeed, PlanEntry, ToolCall, ToolKind, ToolOutcome, check_input, description


class Todo:
    """Replaces the agent's task list."""

    kind: ToolKind = "think"

    def __init__(self) -> None:
        self.spec = ToolSpec(
            "todo",
            description("todo"),
            {
                "type": "object",
                "properties": {
                    "todos": {
                        "type": "array",
                        "description": "All tasks, in order.",
                        "items": {
                            "type": "object",
                            "properties": {
                                "content": {"type": "string", "minLength": 1, "description": "What is to be done."},
                                "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
                            },
                            "required": ["content", "status"],
                        },
                    }
                },
                "required": ["todos"],
            },
        )

    def title(self, input: Mapping[str, Json]) -> str:
        """The title of a call, which is always the same."""
        return "Update the task list"

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """Always None: planning is free."""
        return None

    async def run(self, call: ToolCall) -> ToolOutcome:
        """The numbers of tasks in the new list, by status."""
        check_input(self.spec.input_schema, call.input)
        plan = plan_of(call.input)
        if not plan:
            return ToolOutcome("The task list is empty now.")
        counts = {status: sum(entry.status == status for entry in plan) for status in ("completed", "in_progress", "pending")}
        return ToolOutcome(f"Task list: {counts['completed']} completed, {counts['in_progress']} in progress, {counts['pending']} pending.")


def plan_of(input: Mapping[str, Json]) -> tuple[PlanEntry, ...]:
    """The task list in an input, which must fit the schema."""
    todos = cast("list[dict[str, str]]", input["todos"])
    return tuple(
        PlanEntry(todo["content"].strip(), cast("Literal['pending', 'in_progress', 'completed']", todo["status"])) for todo in todos
    )
