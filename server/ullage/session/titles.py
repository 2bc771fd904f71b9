"""A session's title, taken from its first prompt."""

from __future__ import annotations

TITLE_CHARACTERS = 60


def title_of(prompt: str) -> str:
    """The first line that says something, cut at a word."""
    line = next((line.strip() for line in prompt.splitlines() if line.strip()), "New session")
    if len(line) <= TITLE_CHARACTERS:
        return line
    cut = line[:TITLE_CHARACTERS].rsplit(" ", 1)[0]
    return f"{cut} …"
