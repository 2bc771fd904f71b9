"""Files that a rule of the user refuses to have read: every tool and everything else that puts texts of files before the model asks here.

Named files are refused, and the model is told which rule it was. What is found by itself (listings, searches, files read again after a
compaction) leaves such files out. It says so in words that do not depend on what is in these files. What the model has seen by then stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

from ullage.tools.rules.covering import PermissionRule
from ullage.tools.rules.patterns import BadRulePattern, RuleAction
from ullage.tools.rules.refusing import refuses_reading
from ullage.tools.tool import ToolOutcome
from ullage.workspace.folders import Folders

BY_RULE = (
    "A rule of the user's refuses this call, so it was not run: never `{pattern}` ({action}). Do not do the same in another way. If it "
    "has to be, say so to the user, who can change the rule."
)

_ACTIONS: Mapping[RuleAction, str] = {
    "command": "commands",
    "edit": "edits of files",
    "host": "connections",
    "read": "reading of files",
    "mcp": "tools of MCP servers",
    "agent": "sub-agents that act",
    "search": "searches of the web",
}


def refused_outcome(rule: PermissionRule) -> ToolOutcome:
    """The outcome of a call that a rule refuses, which tells the model so."""
    return ToolOutcome(BY_RULE.format(pattern=rule.pattern, action=_ACTIONS[rule.action]), is_error=True, refusal="")


@dataclass(frozen=True, slots=True)
class ReadRules:
    """The rules that refuse reading, as they are now."""

    folders: Folders
    rules: tuple[PermissionRule, ...] = ()
    used: Callable[[PermissionRule], None] = lambda rule: None
    """Notes that a rule refused something. To be called in another thread."""

    def refusing(self, path: Path, name: str = "") -> PermissionRule | None:
        """The rule that refuses reading a file, or all of a folder; None if none does. `path` has its links resolved, `name` is as it was
        given."""
        if not self.rules:
            return None
        shown = [self.folders.show(path)]
        if name and self.folders.first is not None:
            shown.append(self.folders.show(self.folders.first / Path(name)))
        return next((rule for rule in self.rules if any(_is_refused(rule.pattern, each) for each in shown)), None)

    def refusing_text(self, name: str) -> PermissionRule | None:
        """The rule that refuses reading the file that a text may come from which came by hand; None if none does.

        `name` is the name that it came with. It may be the text of no file (`terminal`), so rules that fit every name are not about it, and
        pages of the web are no files.
        """
        parts = urlsplit(name) if "://" in name else None
        if not name or (parts is not None and parts.scheme in ("http", "https")):
            return None
        named = name if parts is None else unquote(parts.path)
        telling = tuple(rule for rule in self.rules if not _is_refused(rule.pattern, _ANY_NAME))
        first = self.folders.first or Path("/")
        try:
            path = (first / named).resolve()
        except (OSError, RuntimeError, ValueError):  # loops of links, NUL in the name
            return None
        return ReadRules(self.folders, telling).refusing(path, named)

    def refuses_in_diff(self, name: str) -> bool:
        """Whether a rule refuses reading a file in a git repository, by its path there: the repository may be rooted above the workspace
        folder."""
        parts = name.split("/")
        return any(_is_refused(rule.pattern, "/".join(parts[start:])) for rule in self.rules for start in range(len(parts)))

    async def refused(self, rule: PermissionRule) -> ToolOutcome:
        """The outcome of a call that names a file which that rule refuses. Notes that the rule was used."""
        await asyncio.to_thread(self.used, rule)
        return refused_outcome(rule)

    @property
    def in_words(self) -> str:
        """The patterns of the rules, for the model."""
        return ", ".join(f"`{rule.pattern}`" for rule in self.rules)


ReadRulesNow: TypeAlias = Callable[[], ReadRules]
"""The rules of one session. They may have changed since the last call."""


def none_refused(folders: Folders) -> ReadRulesNow:
    """Rules under which everything may be read, where no rules are known."""
    return lambda: ReadRules(folders)


_ANY_NAME = "\0"
"""A name that no pattern spells out: only a pattern that fits every name fits it."""


def _is_refused(pattern: str, name: str) -> bool:
    try:
        return refuses_reading(pattern, name)
    except BadRulePattern:
        return False
