"""Takes secrets out of text that is kept or sent on: keys, tokens, passwords with well-known shapes."""

from __future__ import annotations


def redact(text: str) -> str:
    """`text` with every secret replaced by a marker that names its kind; doing it twice changes nothing more."""
    raise NotImplementedError
