"""One reply of the model, put together from the lines that Claude Code wrote while it streamed.

A reply has a line for each block, all with the same id; early ones carry the `output_tokens` of a reply that has just begun.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ullage.context.blocks import AssistantBlock, Json, ToolUse, Usage
from ullage.context.counting.tokens import estimate_block
from ullage.context.entries import AssistantReply
from ullage.models.known_models import card_from_table
from ullage.replay.readers.claude_content import assistant_blocks
from ullage.replay.readers.claude_line import Line
from ullage.replay.readers.flaws import NO_USAGE, PLACEHOLDER_OUTPUT, Tally
from ullage.replay.readers.values import as_count, as_json_text, as_object, as_text

_SURELY_TOO_FEW = 0.5
"""Recorded output under this share of what the text must take is that of a reply which had just begun. In recorded sessions
placeholders lie under 0.12 in nine of ten replies, final counts over 0.7."""


@dataclass(slots=True)
class Reply:
    """A reply as far as its lines were read."""

    id: str
    model: str = ""
    at: float = 0.0
    is_answered: bool = False
    """Whether a result of its calls came already: what is written later does not move its time."""
    blocks: list[AssistantBlock] = field(default_factory=list[AssistantBlock])
    usage: Usage | None = None
    stop_reason: str = ""
    output_is_estimated: bool = False
    _known: set[object] = field(default_factory=set[object])

    def add(self, line: Line, tally: Tally) -> list[AssistantBlock]:
        """Takes in one more of its lines; gives the blocks that are new. Those that it has already are not taken twice."""
        self.model = as_text(line.message.get("model")) or self.model
        self.stop_reason = as_text(line.message.get("stop_reason")) or self.stop_reason
        if not self.is_answered:
            self.at = line.at or self.at
        usage = usage_of(line.message.get("usage"))
        if usage is not None:
            before = self.usage.output_tokens if self.usage is not None else 0
            self.usage = replace(usage, output_tokens=max(usage.output_tokens, before))
        new = [block for block in assistant_blocks(line.content, self.model, tally) if self._is_new(block)]
        self.blocks.extend(new)
        return new

    def _is_new(self, block: AssistantBlock) -> bool:
        key = (block.id, block.name, as_json_text(dict(block.input))) if isinstance(block, ToolUse) else block
        is_new = key not in self._known
        self._known.add(key)
        return is_new

    @property
    def calls(self) -> list[ToolUse]:
        """The tools that it calls."""
        return [block for block in self.blocks if isinstance(block, ToolUse)]

    def finished(self, tally: Tally) -> AssistantReply:
        """The reply, with an estimate of its output where the true count was never written."""
        if self.usage is None:
            tally.count(NO_USAGE)
        elif not self.stop_reason:
            said = _estimated_output(self.blocks, self.model)
            if self.usage.output_tokens < said * _SURELY_TOO_FEW:
                tally.count(PLACEHOLDER_OUTPUT)
                self.usage = replace(self.usage, output_tokens=said)
                self.output_is_estimated = True
        stop_reason = self.stop_reason or ("tool_use" if self.calls else "end_turn")
        return AssistantReply(self.id, tuple(self.blocks), self.model, stop_reason, self.usage)


def usage_of(value: Json) -> Usage | None:
    """The token counts of a message; None where it has none, or all are zero. Writes of no known life are taken as of 5 minutes."""
    counts = as_object(value)
    written = as_count(counts.get("cache_creation_input_tokens")) or 0
    split = as_object(counts.get("cache_creation"))
    for_an_hour = as_count(split.get("ephemeral_1h_input_tokens")) or 0
    for_minutes = as_count(split.get("ephemeral_5m_input_tokens")) or 0
    usage = Usage(
        input_tokens=as_count(counts.get("input_tokens")) or 0,
        output_tokens=as_count(counts.get("output_tokens")) or 0,
        cache_read_tokens=as_count(counts.get("cache_read_input_tokens")) or 0,
        cache_write_5m_tokens=max(for_minutes, written - for_an_hour),
        cache_write_1h_tokens=for_an_hour,
    )
    return usage if usage.context_tokens > 0 else None


def _estimated_output(blocks: Sequence[AssistantBlock], model: str) -> int:
    card = card_from_table(model)
    factor = card.characters_per_token_factor if card is not None else 1.0
    return round(factor * sum(estimate_block(block) for block in blocks))
