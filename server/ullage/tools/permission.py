"""What a call has to be allowed, and whether something that the user always allows covers it.

Where the patterns are kept is not known here; never in the workspace, since a repository could bring its own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

from ullage.tools.command_lines.patterns import as_of, covered_before, covers, shown_pattern
from ullage.tools.steering import steers
from ullage.tools.tool import PermissionNeed


def edit_need(path: str, *, at_top: bool = False) -> PermissionNeed:
    """What editing a file needs, `path` as `Folders.show` gives it. Allowing it always allows all files of its folder.

    Not so `at_top` of a workspace folder: it would be all of the workspace, and the first folder's top is known by its empty parent alone.
    """
    pure = PurePosixPath(path)
    reason = steers(pure)
    if reason is not None:
        return PermissionNeed("edit", "", f"Edit {path} (asked each time, because {reason})")
    folder = pure.parent.as_posix()
    pattern = path if at_top or folder == "." else f"{folder}/**"
    return PermissionNeed("edit", f"edits of `{pattern}`", f"Edit {path}", (pattern,))


def patterns_of(need: PermissionNeed) -> tuple[str, ...]:
    """What is to be remembered when the user always allows it; nothing where it is asked each time."""
    if not need.pattern:
        return ()
    parts = need.parts or (need.pattern,)
    return tuple(as_of(part, need.files) for part in parts) if need.files else parts


def shown_approval(action: str, pattern: str) -> str:
    """A remembered pattern as the user reads it in the list of what is always allowed."""
    if action == "command":
        return shown_pattern(pattern)
    if action == "host":
        return f"connections to `{pattern}`"
    return f"edits of `{pattern}`" if action == "edit" else f"`{pattern}`"


def hosts_need(hosts: Sequence[str]) -> PermissionNeed:
    """What connecting to these hosts needs. Allowing it always allows each of them, whatever command connects."""
    named = f"connections to {', '.join(f'`{host}`' for host in hosts)}"
    return PermissionNeed("host", named, f"Make {named}", tuple(hosts))


class Allowed:
    """The patterns that the user always allows for one kind of action in one workspace."""

    def __init__(self, patterns: Collection[str]) -> None:
        self._patterns = frozenset(patterns)

    def covers(self, need: PermissionNeed) -> bool:
        """Whether every part of what is needed is allowed."""
        needed = patterns_of(need)
        return bool(needed) and all(self._covers_one(need, pattern) for pattern in needed)

    def covered_before(self, need: PermissionNeed) -> bool:
        """Whether a command was allowed when the files that it names were others."""
        return need.action == "command" and any(covered_before(self._patterns, pattern) for pattern in patterns_of(need))

    def _covers_one(self, need: PermissionNeed, pattern: str) -> bool:
        if need.action == "command":
            return covers(self._patterns, pattern)
        if pattern in self._patterns:
            return True
        return need.action == "edit" and any(f"{folder}/**" in self._patterns for folder in PurePosixPath(pattern).parents)
