"""Which options of `ullage` would have been chosen without a project, and what they hold on it.

Some options of the policy were set by hand while recorded sessions were looked at. So its figures on these sessions may be too good. Here
the same options are chosen anew, each time without one project. What they then hold on that project is what others may expect.
`variants` has the choices, each a policy to carry sessions through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import TypeVar

from ullage.context.policies.ullage import RESTORED, ULLAGE
from ullage.context.policy import Policy

FITTED = "fitted"
"""In the place of a policy's name: `ullage` with each choice of the options that were fitted."""
LEFT_OUT = "chosen without the project"
"""The name of what a choice without the project comes to, beside the names of policies."""
_OPTIONS = "ullage, "
"""The beginning of the names of `ullage` with other options."""

_Figure = TypeVar("_Figure")


def variant_name(options: str) -> str:
    """The name of `ullage` with other options, which are told in a few words."""
    return _OPTIONS + options


def variants_in(policies: Iterable[str]) -> tuple[str, ...]:
    """The policies that can be chosen from: `ullage` and its variants. Empty if there is no variant."""
    found = tuple(dict.fromkeys(policies))
    if not any(name.startswith(_OPTIONS) for name in found):
        return ()
    return tuple(name for name in found if name == "ullage" or name.startswith(_OPTIONS))


def chosen(elsewhere: Sequence[_Figure], share: Callable[[_Figure], float | None]) -> _Figure | None:
    """The figure of the choice that did best on the other projects; the first of several that did. None if nothing is known of any."""
    known = [(value, each) for each in elsewhere if (value := share(each)) is not None]
    return max(known, key=lambda each: each[0])[1] if known else None


def left_out(elsewhere: Mapping[str, Sequence[_Figure]], share: Callable[[_Figure], float | None]) -> dict[str, _Figure]:
    """For each project the figure of what is chosen without it. `elsewhere` has for each project the figures of all others together, a
    choice each."""
    found = {project: chosen(figures, share) for project, figures in elsewhere.items()}
    return {project: figure for project, figure in found.items() if figure is not None}


TESTS_SHARES = (1.0, 0.7, 0.5, 0.25)
FILE_TOKENS = (12_000, 16_000, RESTORED.total_tokens)
"""The choices for the most tokens that one file can take; the last is all of the room."""


@cache
def variants() -> Mapping[str, Policy]:
    """The choices of options as policies, by name. The one with the options in force has its usual name."""
    found: dict[str, Policy] = {}
    for share, tokens in product(TESTS_SHARES, FILE_TOKENS):
        restore = replace(RESTORED, tests_share=share, file_tokens=tokens)
        name = ULLAGE.name if restore == RESTORED else variant_name(f"tests {share}, a file {tokens:,}")
        found[name] = replace(ULLAGE, name=name, restore=restore)
    return found
