"""The `propose_plan` tool: lays a plan before the user, who edits it and has it carried out, or sends it back with comments."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from ullage.context.blocks import Json, ToolSpec
from ullage.context.summary.task_list import PLAN_ACCEPTED
from ullage.tools.tool import BadToolInput, PermissionNeed, ToolCall, ToolKind, ToolOutcome, check_input, description, text
from ullage.workspace.files import Editor

LONGEST_PLAN = 20_000
"""The most characters of a plan. An accepted one stays in view through every compaction, so it has to be short beside the context."""

EMPTIED = "The user emptied the plan before they accepted it, so there is nothing to carry out. Ask them what they want."
TOO_LONG = (
    "The plan has {length:,} characters, and at most {most:,} stay in view. Make it shorter: what is done, where, and in which order."
)


class Plans(Protocol):
    """The documents of plans while the user reads them."""

    def write(self, tool_use_id: str, plan: str) -> Path | None:
        """Writes the document of a call with that plan; gives its path, None if nothing is kept on disk. Raises `StoreFailed`."""
        ...

    def read(self, tool_use_id: str) -> str | None:
        """The text of a call's document on disk now; None if there is none."""
        ...

    def path(self, tool_use_id: str) -> Path | None:
        """The path of a call's document; None if nothing is kept on disk."""
        ...


class ProposePlan:
    """Asks the user to accept a plan."""

    kind: ToolKind = "other"

    def __init__(self, plans: Plans, editor: Editor) -> None:
        self._plans = plans
        self._editor = editor
        self.spec = ToolSpec(
            "propose_plan",
            description("propose_plan"),
            {
                "type": "object",
                "properties": {"plan": {"type": "string", "minLength": 1, "description": "The whole plan, as Markdown."}},
                "required": ["plan"],
            },
        )

    def title(self, input: Mapping[str, Json]) -> str:
        """The title of a call, by the first line of the plan: `Plan: Read the tanks in parallel`."""
        first = next((line.strip("# ").strip() for line in text(input, "plan").splitlines() if line.strip("# ").strip()), "")
        return f"Plan: {first.removeprefix('Plan:').strip()}" if first else "Propose a plan"

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """The question whether to carry out the plan, which is always asked. Raises `BadToolInput` for a plan that is too long."""
        check_input(self.spec.input_schema, input)
        plan = text(input, "plan")
        if len(plan) > LONGEST_PLAN:
            raise BadToolInput(TOO_LONG.format(length=len(plan), most=LONGEST_PLAN))
        return PermissionNeed("plan", "", "Carry out this plan?")

    async def lay_open(self, call_id: str, input: Mapping[str, Json]) -> Path | None:
        """Writes the plan as a document that the user can edit until they answer; gives its path, None if nothing is kept on disk. Raises
        `StoreFailed`."""
        return await asyncio.to_thread(self._plans.write, call_id, text(input, "plan").strip() + "\n")

    async def run(self, call: ToolCall) -> ToolOutcome:
        """The plan as it was accepted: the text of the document, saved or not, if there is one."""
        check_input(self.spec.input_schema, call.input)
        path = self._plans.path(call.id)
        shown = None if path is None else self._editor.open_text(path)
        if shown is None:
            shown = await asyncio.to_thread(self._plans.read, call.id)
        plan = (text(call.input, "plan") if shown is None else shown).replace("\r\n", "\n").strip()
        if not plan:
            return ToolOutcome(EMPTIED, is_error=True)
        if len(plan) > LONGEST_PLAN:
            return ToolOutcome(TOO_LONG.format(length=len(plan), most=LONGEST_PLAN), is_error=True)
        edited = "" if plan == text(call.input, "plan").strip() else " They changed it first."
        return ToolOutcome(f"{PLAN_ACCEPTED}{edited} Carry it out as it stands here:\n\n{plan}", accepts_plan=True)
