"""Who may have a program started. `tests/unit/processes/test_callers.py` lists where each of them asks."""

from __future__ import annotations

from enum import StrEnum


class Asker(StrEnum):
    """The reason for which a program runs. There is no other."""

    SHELL = "shell"
    """A command of the agent, as the user allowed it."""

    SANDBOX_PROBE = "sandbox probe"
    """Whether a sandbox works here."""

    SANDBOX_NETWORK = "sandbox network"
    """Our own Python, which enters the network of a sandbox to listen there."""

    RIPGREP = "ripgrep"
    """A search in files."""

    PATTERN_MATCHER = "pattern matcher"
    """Our own Python, which matches a regular expression: that can take for ever, so it has to be a process that can be ended."""

    CHANGED_FILES = "changed files"
    """Our own Python, which asks libgit2 what changed since the last commit."""

    REPLAY = "replay"
    """Our own Python, once for each core, where a user runs `ullage replay`."""


BRINGS_ITS_ENVIRONMENT = frozenset({Asker.SHELL})
"""All others run with `bare_environment`: they need nothing of what the user or a folder has set."""
