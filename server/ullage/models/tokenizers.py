"""Claude's tokenizers, rebuilt by others for counting: the package `ctok`, which runs on Python 3.12 and newer.

Where it is not installed nobody counts, and the estimates by kind of text stand.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol, TypeAlias, cast

from ullage.models.model import TokenizerVersion

CountText: TypeAlias = Callable[[str], int]
"""Tokens of a text within a message, without what frames the message. Slow: about half a megabyte a second."""


class _Ctok(Protocol):
    def token_count(self, text: str, version: str) -> int: ...


def tokenizer(version: TokenizerVersion) -> CountText | None:
    """Counts by that tokenizer; None where it is not installed. Its vocabulary is loaded with the first text (0.1 to 0.4 s)."""
    if find_spec("ctok") is None:
        return None

    def count(text: str) -> int:
        return max(_ctok().token_count(text, version) - _framing(version), 1) if text else 0

    return count


@cache
def _ctok() -> _Ctok:
    return cast(_Ctok, import_module("ctok"))


@cache
def _framing(version: TokenizerVersion) -> int:
    """Tokens that it counts for the message around a text."""
    return _ctok().token_count("a", version) - 1
