"""The `task` tool: hands work to a sub-agent, which is a session of its own, and gives back its report.

`session/` implements `Agents`: which sub-agents there are, how they run and what they may cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from ullage.context.blocks import Json, ToolSpec
from ullage.tools.tool import PermissionNeed, ToolCall, ToolKind, ToolOutcome, check_input, description, text

TASK = "task"

EXPLORE = "explore"
"""The sub-agent that every workspace has: it starts small, and reads."""

FORK = "fork"
"""The sub-agent that begins with the conversation of its parent."""

NO_DEEPER = "A sub-agent starts no sub-agents. Do this part of the work yourself."


@dataclass(frozen=True, slots=True)
class SubAgentTask:
    """The task that a sub-agent is given."""

    call_id: str
    agent: str
    """The name of the sub-agent."""
    title: str
    prompt: str
    allowed: PermissionNeed | None = None
    """The permission that the sub-agent acts, as it was given for the call; None if it only reads."""


class Agents(Protocol):
    """The sub-agents that one session can call."""

    def need(self, agent: str) -> PermissionNeed | None:
        """What has to be allowed before that sub-agent begins; None if it only reads. For another thread."""
        ...

    async def run(self, task: SubAgentTask) -> ToolOutcome:
        """Runs a sub-agent to its end, and gives its report. If this is cancelled, it ends the sub-agent first. Raises `StoreFailed`."""
        ...


class TaskTool:
    """Hands work to a sub-agent."""

    kind: ToolKind = "other"

    def __init__(self, agents: Agents | None) -> None:
        """`agents` is None in a sub-agent, which has none of its own."""
        self._agents = agents
        self.spec = ToolSpec(
            TASK,
            description(TASK),
            {
                "type": "object",
                "properties": {
                    "title": {"type": "string", "minLength": 1, "maxLength": 100, "description": "3 to 6 words for the user."},
                    "prompt": {"type": "string", "minLength": 1, "description": "The whole task, and what to report."},
                    "agent": {"type": "string", "minLength": 1, "description": f"`{EXPLORE}` (default), `{FORK}`, or one that is listed."},
                },
                "required": ["title", "prompt"],
            },
        )

    def title(self, input: Mapping[str, Json]) -> str:
        """The title of a call: `explore: Find the callers`."""
        return f"{text(input, 'agent', EXPLORE)}: {text(input, 'title')}"

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """What has to be allowed: that a sub-agent acts as the project tells it to; None if it only reads. What it then does is asked about
        call by call. Raises `BadToolInput`."""
        check_input(self.spec.input_schema, input)
        return None if self._agents is None else self._agents.need(text(input, "agent", EXPLORE))

    async def run(self, call: ToolCall) -> ToolOutcome:
        """The report of the sub-agent, or why there is none."""
        check_input(self.spec.input_schema, call.input)
        if self._agents is None:
            return ToolOutcome(NO_DEEPER, is_error=True)
        agent = text(call.input, "agent", EXPLORE).strip()
        return await self._agents.run(
            SubAgentTask(call.id, agent, text(call.input, "title").strip(), text(call.input, "prompt"), call.allowed)
        )
