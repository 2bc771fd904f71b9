"""Memory blocks: named texts that the model keeps with the tool `memory`.

What they hold is computed from the log: every call of the tool that succeeded is an edit. So they are the same after a restart, in a
replay and after an undo, and nothing else needs to be kept. The tool itself is in `tools/memory.py`, which makes the same edits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ullage.context.blocks import Json, ToolUse
from ullage.context.entries import AssistantReply, Logged, ToolReturned

TOOL = "memory"

LIMITS: Mapping[str, int] = {"persona": 20_000, "human": 20_000, "task": 100_000}
"""Characters of each block (Letta's `constants.py`: persona and human 20,000, a block without a limit of its own 100,000)."""
ABOUT: Mapping[str, str] = {
    "persona": "How you work: habits and rules that you set yourself here.",
    "human": "What you know about the user: wishes, limits, preferences.",
    "task": "What the work is about: its goal, state, findings and next steps.",
}
"""What each block is for, in words for the model."""


class BlockNotEdited(Exception):
    """The edit cannot be made; the message tells the model why and what would do."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """What the blocks hold."""

    persona: str = ""
    human: str = ""
    task: str = ""

    def text(self, name: str) -> str:
        """What one block holds. Raises `BlockNotEdited` where there is none of that name."""
        match name:
            case "persona":
                return self.persona
            case "human":
                return self.human
            case "task":
                return self.task
            case _:
                raise BlockNotEdited(f"There is no block {name!r}; there are {', '.join(LIMITS)}")

    def with_text(self, name: str, text: str) -> Blocks:
        """With another text in one block. Raises `BlockNotEdited` where it is too long."""
        if len(text) > LIMITS[name]:
            raise BlockNotEdited(
                f"The block `{name}` would have {len(text):,} characters, more than its limit of {LIMITS[name]:,}. "
                "Replace parts of it by something shorter first."
            )
        match name:
            case "persona":
                return replace(self, persona=text)
            case "human":
                return replace(self, human=text)
            case _:
                return replace(self, task=text)


def edited(blocks: Blocks, input: Mapping[str, Json]) -> Blocks:
    """The blocks after one call of the tool with this input, which fits its schema. Raises `BlockNotEdited`."""
    name, text = str(input.get("block", "")), str(input.get("text", ""))
    before = blocks.text(name)
    if input.get("action") == "append":
        return blocks.with_text(name, f"{before}\n{text}" if before else text)
    old = str(input.get("old_text", ""))
    if old not in before or not old:
        raise BlockNotEdited(f"`old_text` does not stand in the block `{name}`; give a part of it exactly as it is there:\n{before}")
    return blocks.with_text(name, before.replace(old, text, 1).strip())


def blocks_of(entries: Sequence[Logged]) -> Blocks:
    """What the blocks hold after these entries, which begin with the session's first."""
    blocks = Blocks()
    uses: dict[str, ToolUse] = {}
    for logged in entries:
        entry = logged.entry
        if isinstance(entry, AssistantReply):
            uses = {block.id: block for block in entry.blocks if isinstance(block, ToolUse) and block.name == TOOL}
        elif uses and isinstance(entry, ToolReturned) and not entry.is_error and entry.tool_use_id in uses:
            try:
                blocks = edited(blocks, uses.pop(entry.tool_use_id).input)
            except BlockNotEdited:
                continue
    return blocks
