"""How many tokens a recorded session's model takes."""

from __future__ import annotations

from ullage.models.limits import card_from_table
from ullage.replay.prices import plain_name
from ullage.replay.transcript import Transcript

UNKNOWN_WINDOW = 200_000
"""Assumed of a model that is not known."""
CODEX_WINDOW = 272_000
"""Of OpenAI's models as Codex uses them: it records 258,400 as the window, which is 95 % of this."""
LARGER_WINDOWS = (400_000, 1_000_000)
"""Windows that are sold; Claude has only the last. A session that had more in its context than its model's usual window ran on the next
larger one that holds it; its record does not name that."""


def window_of(model: str) -> int:
    """Tokens that a model takes, by its name."""
    name = plain_name(model)
    card = card_from_table(name)
    if card is not None:
        return card.window
    return CODEX_WINDOW if name.startswith("gpt-5") else UNKNOWN_WINDOW


def window_in(transcript: Transcript, model: str, as_model: str | None = None) -> int:
    """Tokens that a model takes in a recorded session; at least what was recorded, unless another model is put in its place."""
    window = window_of(as_model or model)
    if as_model is not None:
        return window
    counted = (reply.usage.total_input_tokens for reply in transcript.replies if reply.usage is not None and reply.model == model)
    largest = max(counted, default=0)
    if largest <= window:
        return window
    sold = LARGER_WINDOWS[-1:] if plain_name(model).startswith("claude-") else LARGER_WINDOWS
    return min((each for each in sold if each >= largest), default=largest)
