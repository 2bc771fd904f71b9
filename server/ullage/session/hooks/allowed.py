"""Which hooks the user lets run in a workspace, and where: kept by a digest of all that was shown to them, in their own state folder.

A hook that was edited has another digest, and so has one whose script was: the files of the workspace that a command names count.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from ullage.session.hooks.declared import Hook
from ullage.tools.permission import digest_of_files_named
from ullage.workspace.folders import Folders

Runs: TypeAlias = Literal["sandbox", "outside", "never"]
"""What the user decided: it runs in the sandbox, with all rights of the user, or not at all."""


_WRITTEN = re.compile(r"\d?>{1,2}[ \t]*[^\s;&|<>()]+")
"""Where a command writes its output: that this file changes with each run makes it no other hook."""


class HooksKept(Protocol):
    """What was decided, by workspace folder and digest."""

    def hook_decisions(self, workspace: Path) -> dict[str, str]:
        """All that was decided there."""
        ...

    def decide_hook(self, workspace: Path, digest: str, runs: str | None) -> None:
        """From now on, in all windows; None: it is asked again. Raises `StoreFailed`."""
        ...


class NothingDecided:
    """Where nothing is kept: no hook runs."""

    def hook_decisions(self, workspace: Path) -> dict[str, str]:
        """Nothing."""
        return {}

    def decide_hook(self, workspace: Path, digest: str, runs: str | None) -> None:
        """Is forgotten at once."""


class AllowedHooks:
    """The user's decisions about the hooks of one workspace. Where no folder is open there are neither."""

    def __init__(self, kept: HooksKept) -> None:
        self._kept = kept

    def runs(self, hook: Hook, folders: Folders) -> Runs | None:
        """What was decided about this very hook; None where nothing was. For another thread: it looks at files."""
        return self.all_of((hook,), folders)[hook]

    def all_of(self, hooks: tuple[Hook, ...], folders: Folders) -> dict[Hook, Runs | None]:
        """The same of many. For another thread."""
        kept = {} if folders.first is None else self._kept.hook_decisions(folders.first)
        return {hook: _runs(kept.get(digest_of(hook, folders))) for hook in hooks}

    def decide(self, hook: Hook, folders: Folders, runs: Runs | None) -> None:
        """The user decided. Raises `StoreFailed`. For another thread."""
        if folders.first is not None:
            self._kept.decide_hook(folders.first, digest_of(hook, folders), runs)


def digest_of(hook: Hook, folders: Folders) -> str:
    """The same as long as it is the same hook with the same scripts. For another thread."""
    read = _WRITTEN.sub(" ", hook.command)
    files = "" if folders.first is None else digest_of_files_named(read, folders.first, folders.roots)
    said = "\0".join((hook.event, hook.matcher, hook.command, f"{hook.seconds:g}", hook.source, files))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def _runs(kept: str | None) -> Runs | None:
    match kept:
        case "sandbox" | "outside" | "never":
            return kept
        case _:
            return None
