"""The `compact` tool: the model asks for its context to be compacted. The session does it, once this turn's results are in."""

from __future__ import annotations

from collections.abc import Mapping

from ullage.context.blocks import Json, ToolSpec
from ullage.tools.tool import PermissionNeed, ToolCall, ToolKind, ToolOutcome, check_input, description, text


class CompactTool:
    """Passes on the model's wish for a compaction."""

    kind: ToolKind = "other"

    def __init__(self) -> None:
        self.spec = ToolSpec(
            "compact",
            description("compact"),
            {
                "type": "object",
                "properties": {"focus": {"type": "string", "description": "What the summary should favour."}},
                "required": [],
            },
        )

    def title(self, input: Mapping[str, Json]) -> str:
        """The title of a call, which is always the same."""
        return "Compact the conversation"

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """Always None: a compaction is free, since nothing is lost by it, and the user can undo it."""
        return None

    async def run(self, call: ToolCall) -> ToolOutcome:
        """Tells the model when the compaction will be done."""
        check_input(self.spec.input_schema, call.input)
        return ToolOutcome(
            "The conversation is compacted as soon as all results of this reply are in.", compact_focus=text(call.input, "focus").strip()
        )
