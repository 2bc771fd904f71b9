"""A recorded session with all that is worked out of it once, whatever the policies, and how it is to be carried through them."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace

from ullage.context.economy import Economy
from ullage.replay.carried import tells_prelude
from ullage.replay.memo import Memo
from ullage.replay.model_windows import window_in
from ullage.replay.recalled import SessionSearch
from ullage.replay.recorded_sizes import RecordedSizes, Size, recorded_sizes
from ullage.replay.retaining import Needed
from ullage.replay.runs import Places, Summaries
from ullage.replay.shapes import OPENING, SYSTEM
from ullage.replay.transcript import RecordedCompaction, Transcript


@dataclass(frozen=True, slots=True)
class Settings:
    """How sessions are carried through policies. `as_model` is the model that the session was put on, where it is not its own;
    `window` tokens take the place of the model's."""

    at: Places = "policy"
    summary: Summaries = "digest"
    as_model: str | None = None
    window: int | None = None
    economy: Economy = "fullest"
    """How much policies that save do to save."""


USUAL = Settings()


class Prepared:
    """A session with all that is worked out of it once, whatever the policies."""

    def __init__(self, transcript: Transcript, needed: Needed | None = None) -> None:
        self.transcript = transcript
        self.sizes: RecordedSizes = recorded_sizes(transcript)
        self.needed = needed or Needed(transcript, SessionSearch(transcript))
        self.memo = Memo()
        self.requests = {each.recorded.seq: each for each in self.sizes.requests}
        self.precedes = 0 if tells_prelude(transcript.entries) else self._tokens_before_the_messages()

    def with_compactions(self, compactions: tuple[RecordedCompaction, ...]) -> Prepared:
        """The same session, compacted elsewhere; what it was really counted with stays."""
        other = copy(self)
        other.transcript = replace(self.transcript, compactions=compactions)
        other.needed = Needed(replace(self.transcript, entries=()))
        return other

    def windows(self, settings: Settings) -> dict[str, int]:
        """Tokens that each model of the session takes."""
        models = {request.recorded.shape.model for request in self.sizes.requests}
        return {model: settings.window or window_in(self.transcript, model, settings.as_model) for model in models}

    def _tokens_before_the_messages(self) -> int:
        first: Mapping[str, Size] = self.sizes.requests[0].sizes if self.sizes.requests else {}
        return sum(self.sizes.of(identity, first).tokens for identity in (SYSTEM, OPENING))
