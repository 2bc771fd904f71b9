"""What the tools of one session work with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ullage.context.entries import Logged
from ullage.tools.media import Shelf
from ullage.tools.recall import Recall
from ullage.tools.sandbox.sandbox import SandboxFinder, SandboxWanted
from ullage.workspace.editor import Editor
from ullage.workspace.files import WorkspaceFiles
from ullage.workspace.folders import Folders
from ullage.workspace.reads import FileReads


@dataclass(frozen=True, slots=True)
class ToolDependencies:
    """Everything the tools need from outside. One `reads` belongs to one session; the others may be shared."""

    folders: Folders
    files: WorkspaceFiles
    editor: Editor
    reads: FileReads
    recall: Recall
    bash_timeout: float = 120.0
    """Seconds after which a command is ended when the model names no timeout."""
    sandbox: SandboxWanted = "auto"
    """Whether commands run in a sandbox."""
    sandbox_finder: SandboxFinder = field(default_factory=SandboxFinder)
    """Which sandbox this machine has."""
    entries: Callable[[], Sequence[Logged]] = tuple
    """The session's log so far."""
    shelf: Shelf | None = None
    """Where images go that the model is shown; None where it is shown none."""
