"""`ullage` with each choice of the options that were fitted to recorded sessions, as policies to carry sessions through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

from ullage.context.policies.ullage import RESTORED, ULLAGE
from ullage.context.policy import Policy
from ullage.replay.measuring.leaving_out import variant_name

TESTS_SHARES = (1.0, 0.7, 0.5, 0.25)
FILE_TOKENS = (12_000, 16_000, 19_500)
"""All of the room is the most that one file can take."""


def variants() -> Mapping[str, Policy]:
    """By name; that with the options in force has its usual name."""
    found: dict[str, Policy] = {}
    for share, tokens in product(TESTS_SHARES, FILE_TOKENS):
        restore = replace(RESTORED, tests_share=share, file_tokens=tokens)
        name = ULLAGE.name if restore == RESTORED else variant_name(f"tests {share}, a file {tokens:,}")
        found[name] = replace(ULLAGE, name=name, restore=restore)
    return found
