"""How long a prompt may be: one that would not fit into the model's window even alone would be in the way for good."""

from __future__ import annotations

from ullage.context.counting.tokens import estimate_text
from ullage.session.errors import SessionError

MOST_CHARACTERS = 4_000_000
"""Of a prompt, whatever the window: as many tokens as no model takes."""

SURELY_FITS = 20_000
"""Characters of a prompt for which nobody has to know the window."""

TOO_LONG = (
    "The prompt has {:,} characters; about {:,} of this text fit. Save the rest as a file in the workspace and name its path in the "
    "prompt: the agent then reads the parts that it needs."
)


def refuse_too_long(text: str, fits: int) -> None:
    """Raises `SessionError` where the prompt has more than `fits` tokens."""
    if len(text) > MOST_CHARACTERS or estimate_text(text) > fits:
        characters = min(MOST_CHARACTERS, int(len(text) * fits / max(1, estimate_text(text))))
        raise SessionError("invalid", TOO_LONG.format(len(text), max(0, characters)))
