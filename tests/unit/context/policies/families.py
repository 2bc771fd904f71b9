"""Which policies stand for the others where a test takes long for each of them."""

from __future__ import annotations

from ullage.context.policies.table import BUILT_IN
from ullage.context.policy import Policy

ONE_OF_EACH = frozenset(
    {"claude-code", *{type(policy.engine): policy.name for policy in reversed(list(BUILT_IN.values()))}.values()},
)
"""By name: the first of each kind of engine, Ullage's own among them, and the one that most users know."""


def is_one_of_each(policy: Policy | str) -> bool:
    """Whether `npm test` tries that policy where the long run tries all of them."""
    return (policy if isinstance(policy, str) else policy.name) in ONE_OF_EACH
