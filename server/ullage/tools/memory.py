"""The `memory` tool: the model's own notes in named blocks, which stay in view however often the conversation is compacted.

It is offered only under a policy whose engine wants it (`Engine.tools`). The blocks are computed from the
log (`context/policies/memgpt.py`), so there is nothing to save.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from ullage.context.blocks import Json, ToolSpec
from ullage.context.policies.memgpt import ABOUT, LIMITS, TOOL, BlockNotEdited, Blocks, edited
from ullage.tools.tool import BadToolInput, PermissionNeed, ToolCall, ToolKind, ToolOutcome, check_input, description, text


class MemoryTool:
    """Appends to a block of notes, or replaces a part of it."""

    kind: ToolKind = "think"

    def __init__(self, blocks: Callable[[], Blocks]) -> None:
        self._blocks = blocks
        about = " ".join(f"`{name}`: {ABOUT[name]} At most {limit:,} characters." for name, limit in LIMITS.items())
        self.spec = ToolSpec(
            TOOL,
            description(TOOL),
            {
                "type": "object",
                "properties": {
                    "block": {"type": "string", "enum": list(LIMITS), "description": about},
                    "action": {"type": "string", "enum": ["append", "replace"], "description": "`append` adds a line at the end."},
                    "text": {"type": "string", "description": "What is added, or what takes the place of `old_text` (may be empty)."},
                    "old_text": {
                        "type": "string",
                        "minLength": 1,
                        "description": "For `replace`: a part of the block, exactly as it stands there.",
                    },
                },
                "required": ["block", "action", "text"],
            },
        )

    @staticmethod
    def title(input: Mapping[str, Json]) -> str:
        """The title of a call: `Note in memory: task`."""
        return f"Note in memory: {text(input, 'block')}".removesuffix(": ")

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """Always None: notes are free."""
        return None

    async def run(self, call: ToolCall) -> ToolOutcome:
        """The block as it is after the edit. Nothing else keeps it than the log of the call itself. Raises `BadToolInput`."""
        check_input(self.spec.input_schema, call.input)
        replaces = call.input["action"] == "replace"
        if replaces != ("old_text" in call.input):
            raise BadToolInput("`old_text` goes with `replace`, and only with it")
        name = text(call.input, "block")
        try:
            after = edited(await asyncio.to_thread(self._blocks), call.input).text(name)
        except BlockNotEdited as refused:
            return ToolOutcome(str(refused), is_error=True)
        return ToolOutcome(f"The block `{name}` has {len(after):,} of {LIMITS[name]:,} characters now:\n{after or '(empty)'}")
