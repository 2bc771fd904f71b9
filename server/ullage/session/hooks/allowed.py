"""Which hooks the user lets run in a workspace, and where: kept by a digest of all that was shown to them, in their own state folder.

A hook that was edited has another digest, and so has one whose script was: the files of the workspace that a command names count.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from ullage.session.hooks.declared import Hook
from ullage.tools.permission import digest_of_files_named
from ullage.workspace.folders import Folders

Runs: TypeAlias = Literal["sandbox", "outside", "never"]
"""What the user decided of a hook: it runs in the sandbox, with all rights of the user, or not at all."""


_WRITTEN = re.compile(r"""(?P<kept>'[^']*'|"(?:[^"\\]|\\.)*"|\\.)|(?<!<)\d?>{1,2}[ \t]*[^\s;&|<>()'"\\]+(?=[\s;&|)]|$)""", re.DOTALL)
"""Where a command writes its output: that this file changes with each run makes it no other hook. What is quoted is no such place, and `<>`
reads, too."""

ITS_FOLDER = ("CLAUDE_PROJECT_DIR", "ULLAGE_PROJECT_DIR")
"""The variables by which a hook names the workspace folder."""


class HooksKept(Protocol):
    """The decisions about hooks, kept by workspace folder and digest."""

    def hook_decisions(self, workspace: Path) -> dict[str, str]:
        """All decisions for that workspace folder, by digest."""
        ...

    def decide_hook(self, workspace: Path, digest: str, runs: str | None) -> None:
        """Keeps a decision, which counts from now on, in all windows; None: the user is asked again. Raises `StoreFailed`."""
        ...


class NothingDecided:
    """Stands for the kept decisions where nothing is kept: no hook runs."""

    def hook_decisions(self, workspace: Path) -> dict[str, str]:
        """No decisions."""
        return {}

    def decide_hook(self, workspace: Path, digest: str, runs: str | None) -> None:
        """Forgets the decision at once."""


@dataclass(frozen=True, slots=True)
class HookDecision:
    """The decision about one hook as it is now. `runs` is None if nothing was decided."""

    digest: str
    runs: Runs | None


class AllowedHooks:
    """The user's decisions about the hooks of one workspace. Without an open folder there are no hooks and no decisions."""

    def __init__(self, kept: HooksKept) -> None:
        self._kept = kept

    def about(self, hooks: Iterable[Hook], folders: Folders, started_in: Folders) -> dict[Hook, HookDecision]:
        """What was decided in `folders` about these very hooks, which run in `started_in`: a worktree has scripts of its own. For another
        thread: it looks at files."""
        kept = {} if folders.first is None else self._kept.hook_decisions(folders.first)
        digests = {hook: digest_of(hook, started_in, folders.roots) for hook in hooks}
        return {hook: HookDecision(digest, _runs(kept.get(digest))) for hook, digest in digests.items()}

    def decide(self, digest: str, folders: Folders, runs: Runs | None) -> None:
        """Keeps what the user decided about the hook that they were shown; None takes a decision back. Raises `StoreFailed`. For another
        thread."""
        if folders.first is not None:
            self._kept.decide_hook(folders.first, digest, runs)


def digest_of(hook: Hook, started_in: Folders, others: Sequence[Path] = ()) -> str:
    """The digest of a hook and its scripts, where it runs and in other folders. It stays the same as long as these do. For another
    thread."""
    read = _WRITTEN.sub(lambda match: match["kept"] or " ", hook.command)
    first, roots = started_in.first, (*started_in.roots, *others)
    files = "" if first is None else digest_of_files_named(read, first, roots, (*ITS_FOLDER, "PWD"))
    said = "\0".join((hook.event, hook.matcher, hook.command, f"{hook.seconds:g}", hook.source, files))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def _runs(kept: str | None) -> Runs | None:
    match kept:
        case "sandbox" | "outside" | "never":
            return kept
        case _:
            return None
