"""A recorded session, prepared for any number of policies, and the settings that say how it is carried through them.

What does not depend on the policy is worked out once. Estimates are kept too: a view is counted again and again, and only its last
messages are new.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace

from ullage.context.blocks import Block, Text, ToolResult
from ullage.context.compaction.economy import NONE_YET, Economy, Refetched
from ullage.context.counting.media import shown_tokens
from ullage.context.counting.tokens import TOOL_BLOCK_TOKENS, estimate_block, estimate_text
from ullage.recorded.transcript import RecordedCompaction, Transcript
from ullage.replay.measuring.retaining import Needed, SessionSearch
from ullage.replay.measuring.runs import Places, Summaries
from ullage.replay.pricing.recorded_models import window_in
from ullage.replay.pricing.recorded_requests import OPENING, SYSTEM
from ullage.replay.simulating.block_sizes import BlockSize, RecordedSizes, recorded_sizes
from ullage.replay.simulating.carried import tells_prelude

WRITING_SECONDS = 30.0
"""How long a model writes a summary. Other agents need 25 to 37 s for one (as at `SECONDS` in `session/compacting/means.py`)."""


@dataclass(frozen=True, slots=True)
class ReplaySettings:
    """How sessions are carried through policies. `as_model` is the model that the session was put on, where it is not its own;
    `window` tokens take the place of the model's."""

    at: Places = "policy"
    summary: Summaries = "digest"
    as_model: str | None = None
    window: int | None = None
    economy: Economy = "fullest"
    """How much policies that can save are to save."""
    elsewhere: Refetched = NONE_YET
    """What the compactions of other sessions of the workspace brought about. No transcript tells that."""
    writing_seconds: float = WRITING_SECONDS
    """How long a model writes a summary. One that is drafted in the background is there only then."""


USUAL = ReplaySettings()


class PreparedSession:
    """A session with all that is worked out of it once, whatever the policy."""

    def __init__(self, transcript: Transcript, needed: Needed | None = None, sources: Mapping[str, str] | None = None) -> None:
        """`sources`: the texts of the repository, by path, where somebody has them; no transcript holds them."""
        self.transcript = transcript
        self.sources = sources or {}
        self.sizes: RecordedSizes = recorded_sizes(transcript)
        self.needed = needed or Needed(transcript, SessionSearch(transcript))
        self.memo = Memo()
        self.requests = {each.recorded.seq: each for each in self.sizes.requests}
        self.precedes = 0 if tells_prelude(transcript.entries) else self._tokens_before_the_messages()

    def with_compactions(self, compactions: tuple[RecordedCompaction, ...]) -> PreparedSession:
        """The same session with these compactions in place of its own; what it was really counted with stays."""
        other = copy(self)
        other.transcript = replace(self.transcript, compactions=compactions, history=())
        other.needed = Needed(replace(self.transcript, entries=()))
        return other

    def windows(self, settings: ReplaySettings) -> dict[str, int]:
        """The window of each model of the session, in tokens."""
        models = {request.recorded.shape.model for request in self.sizes.requests}
        return {model: settings.window or window_in(self.transcript, model, settings.as_model) for model in models}

    def _tokens_before_the_messages(self) -> int:
        first: Mapping[str, BlockSize] = self.sizes.requests[0].sizes if self.sizes.requests else {}
        return sum(self.sizes.of(identity, first).tokens for identity in (SYSTEM, OPENING))


MOST_REMEMBERED = 4_000_000
"""The most characters of texts that a `Memo` keeps alive."""


class Memo:
    """Remembers the estimated tokens of texts and blocks, without any ratio. What was counted is kept alive for a while, so that it is
    known by its identity."""

    def __init__(self) -> None:
        self._characters = 0
        self._texts: dict[int, tuple[str, int]] = {}
        self._blocks: dict[int, tuple[object, int]] = {}

    def text(self, text: str) -> int:
        """The estimated tokens of a text."""
        known = self._texts.get(id(text))
        if known is None:
            self._characters += len(text)
            if self._characters > MOST_REMEMBERED:
                self._texts.clear()
                self._characters = len(text)
            known = self._texts[id(text)] = (text, estimate_text(text))
        return known[1]

    def block(self, block: Block) -> int:
        """The estimated tokens of a block with its framing."""
        if isinstance(block, Text):
            return self.text(block.text)
        if isinstance(block, ToolResult):
            return TOOL_BLOCK_TOKENS + self.text(block.content) + shown_tokens(block)
        known = self._blocks.get(id(block))
        if known is None:
            known = self._blocks[id(block)] = (block, estimate_block(block))
        return known[1]
