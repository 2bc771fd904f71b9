"""The items of a Codex rollout, in the order in which they come, as the entries of a session.

A reply is everything that the model said up to the next token count. Codex writes the outputs of tools as they come, often before
that count; words of the user may come while calls still run, and are sent after their outputs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ullage.context.blocks import AssistantBlock, ToolUse, Usage
from ullage.context.entries import AssistantReply, Entry, ToolReturned, UserPrompt
from ullage.replay.readers.flaws import NO_RESULT, NO_USAGE, ORPHAN_RESULT, ROLLED_BACK, USAGE_ALONE, Tally
from ullage.replay.readers.log import Log
from ullage.replay.readers.touches import patches_in, touched_by_patch


@dataclass(slots=True)
class _Reply:
    model: str
    at: float
    blocks: list[AssistantBlock] = field(default_factory=list[AssistantBlock])
    outputs: list[tuple[ToolReturned, float]] = field(default_factory=list[tuple[ToolReturned, float]])


class Entries:
    """Builds the log."""

    def __init__(self, tally: Tally) -> None:
        self.log = Log(tally)
        self.folder = ""
        self._tally = tally
        self._reply: _Reply | None = None
        self._running: dict[str, ToolUse] = {}
        """Calls of the last reply, open or closed, that have no output yet."""
        self._said: list[tuple[Entry, float]] = []
        """Words that wait for the outputs."""
        self._replies = 0

    def add_block(self, block: AssistantBlock, model: str, at: float) -> None:
        """Something that the model says or does."""
        if self._said:
            self.close()
        if self._reply is None:
            self._settle()
            self._reply = _Reply(model, at)
        self._reply.blocks.append(block)
        if not self._reply.outputs:
            self._reply.at = at or self._reply.at
        if isinstance(block, ToolUse):
            self._running[block.id] = block

    def add_output(self, call_id: str, text: str, is_error: bool, at: float) -> None:
        """What a tool gave back."""
        call = self._running.pop(call_id, None)
        if call is None:
            self._tally.count(ORPHAN_RESULT)
            return
        touched = () if is_error else touched_by_patch(patches_in(call), self.folder)
        returned = ToolReturned(call_id, call.name, text, is_error, len(text), touched=touched)
        if self._reply is not None:
            self._reply.outputs.append((returned, at))
            return
        self.log.add(returned, at)
        if not self._running:
            self._settle()

    def add_words(self, entry: Entry, at: float) -> None:
        """What the user or the program says."""
        self._said.append((entry, at))
        if self._reply is None and not self._running:
            self._settle()

    def add_usage(self, usage: Usage) -> None:
        """The token counts of the call that made the reply at hand."""
        if self._reply is None:
            self._tally.count(USAGE_ALONE)
        self._close(usage)

    def close(self) -> None:
        """The end of a reply, with or without its token counts, and of everything that still waits."""
        self._close(None)
        self._settle()

    def roll_back(self, turns: int) -> int:
        """Takes back the last turns of the user; gives how many entries are left."""
        self.close()
        self._tally.count(ROLLED_BACK, self.log.take_back_from(lambda entry: isinstance(entry, UserPrompt), turns))
        return self.log.length

    def _close(self, usage: Usage | None) -> None:
        reply, self._reply = self._reply, None
        if reply is None:
            return
        self._tally.count(NO_USAGE, int(usage is None))
        self._replies += 1
        calls = any(isinstance(block, ToolUse) for block in reply.blocks)
        stop_reason = "tool_use" if calls else "end_turn"
        self.log.add(AssistantReply(f"reply-{self._replies}", tuple(reply.blocks), reply.model, stop_reason, usage), reply.at)
        for returned, at in reply.outputs:
            self.log.add(returned, at)
        if not self._running:
            self._settle()

    def _settle(self) -> None:
        """Calls that have no output by now never get one; what was said meanwhile comes after them."""
        self._tally.count(NO_RESULT, len(self._running))
        self._running.clear()
        for entry, at in self._said:
            self.log.add(entry, at)
        self._said.clear()
