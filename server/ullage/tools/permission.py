"""What a call has to be allowed, and whether something that the user always allows covers it.

Where the patterns are kept is not known here; never in the workspace, since a repository could bring its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import PurePosixPath

from ullage.tools.command_patterns import command_patterns, shown_pattern
from ullage.tools.tool import PermissionNeed
from ullage.workspace.folders import compared

STEERING_FOLDERS = frozenset(
    {
        ".cargo",
        ".circleci",
        ".claude",
        ".codex",
        ".continue",
        ".cursor",
        ".devcontainer",
        ".gemini",
        ".git",
        ".githooks",
        ".github",
        ".husky",
        ".idea",
        ".mvn",
        ".ssh",
        ".ullage",
        ".vs",
        ".vscode",
        ".yarn",
        ".zed",
    }
)
STEERING_FILES = frozenset(
    {
        ".bash_login",
        ".bash_profile",
        ".bashrc",
        ".clinerules",
        ".cursorrules",
        ".envrc",
        ".gitconfig",
        ".gitlab-ci.yml",
        ".gitmodules",
        ".lefthook.yml",
        ".mcp.json",
        ".mise.toml",
        ".netrc",
        ".npmrc",
        ".pnpmfile.cjs",
        ".pre-commit-config.yaml",
        ".profile",
        ".pypirc",
        ".windsurfrules",
        ".yarnrc",
        ".yarnrc.yml",
        ".zprofile",
        ".zshenv",
        ".zshrc",
        "agents.md",
        "agents.override.md",
        "claude.local.md",
        "claude.md",
        "gemini.md",
        "lefthook.yml",
    }
)
STEERING_ENDINGS = (".code-workspace",)
"""What makes editors, shells, git or agents run or obey something: each edit of these is asked for anew."""

BARE_REPOSITORY = ".git"
"""How the folder of a repository without a working tree ends; its hooks and its config run programs as those of `.git` do."""

SHORT_NAME = re.compile(r"[^.]{1,8}~\d+(?:\..*)?")
"""What Windows may take for another name (`GIT~1`)."""

SHOWN_CHARACTERS = 300
"""No more of a command is put into the question; the panel shows all of it with the call."""


def command_need(command: str, *, posix_shell: bool = True) -> PermissionNeed:
    """What running a command needs. Allowing it always allows each of its harmless parts in any combination, or just this line.

    `posix_shell` is False where another shell than that of Unix reads it: nothing is known then of what its words do.
    """
    parts = command_patterns(command, posix_shell=posix_shell)
    shown = command if len(command) <= SHOWN_CHARACTERS else f"{command[:SHOWN_CHARACTERS]} ..."
    return PermissionNeed("command", " and ".join(map(shown_pattern, parts)), f"Run `{shown}`", parts)


def edit_need(path: str) -> PermissionNeed:
    """What editing a file needs, `path` as `Folders.show` gives it. Allowing it always allows all files of its folder."""
    pure = PurePosixPath(path)
    if _steers([compared(part) for part in pure.parts]):
        return PermissionNeed("edit", "", f"Edit {path}, which steers what other programs or the agent do")
    folder = pure.parent.as_posix()
    pattern = path if folder == "." else f"{folder}/**"
    return PermissionNeed("edit", f"edits of `{pattern}`", f"Edit {path}", (pattern,))


def _steers(names: list[str]) -> bool:
    if any(name in STEERING_FOLDERS or name.endswith(BARE_REPOSITORY) or SHORT_NAME.fullmatch(name) for name in names):
        return True
    return names[-1] in STEERING_FILES or names[-1].endswith(STEERING_ENDINGS)


def patterns_of(need: PermissionNeed) -> tuple[str, ...]:
    """What is to be remembered when the user always allows it; nothing where it is asked each time."""
    if not need.pattern:
        return ()
    return need.parts or (need.pattern,)


class Allowed:
    """The patterns that the user always allows for one kind of action in one workspace."""

    def __init__(self, patterns: Collection[str]) -> None:
        self._patterns = frozenset(patterns)

    def covers(self, need: PermissionNeed) -> bool:
        """Whether every part of what is needed is allowed."""
        needed = patterns_of(need)
        return bool(needed) and all(self._covers_one(need, pattern) for pattern in needed)

    def _covers_one(self, need: PermissionNeed, pattern: str) -> bool:
        if pattern in self._patterns:
            return True
        return need.action == "edit" and any(f"{folder}/**" in self._patterns for folder in PurePosixPath(pattern).parents)
