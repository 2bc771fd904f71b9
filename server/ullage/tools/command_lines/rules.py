"""What a command may be given: the form of a rule, and how rules are written down.

The rules themselves stand in `known_commands.py`: what only reads, and what runs by the will of the folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Effect: TypeAlias = Literal["reads", "consults", "runs"]
"""The effect of a command by itself. `reads`: it reads what its words name, and nothing in the folder changes what it does. `consults`: it
changes nothing, but files of the folder (a config of git) could make it run something; harmless in a sandbox only. `runs`: it runs
what the folder says by definition (tests, builds, hooks): it is never harmless, but can be allowed by its name."""

Takes: TypeAlias = Literal["nothing", "place", "text", "perhaps"]
"""What follows an option: nothing, a value that may name a file (as a word, or after `=`), one that never does, or nothing or a text
after `=`."""

_ENDS: tuple[tuple[str, Takes], ...] = (("[=]", "perhaps"), ("=", "place"), (":", "text"))
_NO_END: tuple[str, Takes] = ("", "nothing")


@dataclass(frozen=True, slots=True)
class CommandRule:
    """The options and operands that a command may be given to be no more than its name says."""

    effect: Effect
    options: Mapping[str, Takes] = field(default_factory=dict[str, Takes])
    """What follows each option, by its name with its dashes. Options of one letter may stand together (`-la`)."""
    operands: Literal["none", "files", "places", "one place", "text", "anything"] = "places"
    """`files` are no folders. `anything` means that options are nothing but text, too (`echo ---`)."""
    first: re.Pattern[str] | Callable[[str], bool] | None = None
    """The form of the first operand, if it is not a place as the others; else None."""
    here: bool = False
    """Whether files of the folder that it is run in say what it does: then it may not come after `cd`."""
    installed: str = ""
    """A program that has to be in `node_modules/.bin`: otherwise the starter would fetch one of that name from the network."""

    def accepts_first(self, text: str) -> bool:
        """Whether the first operand has the form that it must have."""
        if isinstance(self.first, re.Pattern):
            return bool(self.first.fullmatch(text))
        return self.first is None or self.first(text)


def options(*texts: str) -> dict[str, Takes]:
    """The options in texts like `-q --tb= -k: --color[=]`, each with what follows it."""
    found: dict[str, Takes] = {}
    for option in " ".join(texts).split():
        end, takes = next((each for each in _ENDS if option.endswith(each[0])), _NO_END)
        found[option.removesuffix(end)] = takes
    return found


def letters(text: str) -> str:
    """A text for `options` with options of one letter each: `la` gives `-l -a`."""
    return " ".join(f"-{letter}" for letter in text)


def under(prefixes: str, rules: Mapping[str, CommandRule]) -> dict[str, CommandRule]:
    """The rules of commands behind the words that start them (`uv run pytest`). Prefixes are parted by commas."""
    return {f"{prefix.strip()} {name}": rule for prefix in prefixes.split(",") for name, rule in rules.items()}


HAVE_SUBCOMMANDS = frozenset(
    (
        *("bun", "bundle", "cargo", "composer", "dart", "dotnet", "flutter", "gh", "git", "go", "gradle", "helm", "just", "kubectl", "mix"),
        *("mvn", "npm", "nx", "pdm", "pip", "pip3", "pnpm", "poetry", "rails", "swift", "task", "terraform", "turbo", "uv", "yarn"),
    )
)
"""Programs whose second word says what they do, so that a rule is offered with any words behind it."""

_TAKE_TARGETS = HAVE_SUBCOMMANDS | {"make"}

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789:_-")


def subcommands_of(words: Sequence[str]) -> int:
    """How many words behind the program say what it does, and are no files: `npm test` has one, `npm run build` two."""
    if len(words) < 2 or words[0] not in _TAKE_TARGETS or not _is_subcommand(words[1]):
        return 0
    return 2 if len(words) > 2 and words[1] in ("run", "exec") and _is_subcommand(words[2]) else 1


def _is_subcommand(word: str) -> bool:
    return word[:1].isalpha() and set(word) <= _PLAIN
