"""What a session needs from outside itself, gathered in one place; shared by all sessions of a workspace."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from ullage.context.counting.cache_clock import SentPreludes
from ullage.context.counting.fixed_parts import FixedParts
from ullage.context.counting.tokens import Calibration, Counts
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy
from ullage.mcp_servers.servers import Servers
from ullage.models.model import ModelCard
from ullage.session.changes.progress import ShowProgress, nowhere
from ullage.session.changes.scanning import Scanner
from ullage.session.hooks.allowed import HooksKept, NothingDecided
from ullage.session.permissions.rules_kept import Remembered
from ullage.session.settings import Settings
from ullage.store.log_store import LogStore
from ullage.store.plain_files import MediaFiles, ResultFiles
from ullage.store.versions import Versions
from ullage.tools.hook_command import RunHook, no_runner
from ullage.workspace.files import Editor, WorkspaceFiles
from ullage.workspace.folders import Folders
from ullage.workspace.touched import RecentEdits, WrittenMeanwhile
from ullage.workspace.web import Web
from ullage.workspace.web_page import Page, fetch_page
from ullage.workspace.worktrees import Worktree


class Outputs:
    """Keeps the whole output of a clipped result, and says what the model is told about where it is."""

    def __init__(self, results: ResultFiles) -> None:
        self._results = results

    def keep(self, tool_use_id: str, text: str) -> str:
        """Keeps the output of a call; gives where the model finds it: a path, or how to recall it. Raises `StoreFailed`."""
        path = self._results.save(tool_use_id, text)
        return path if path is not None else f"recall, tool_use_id {tool_use_id}"


@dataclass
class Surroundings:
    """One workspace as its sessions see it. `settings` and `policy` are replaced when the user changes them."""

    folders: Folders
    editor: Editor
    files: WorkspaceFiles
    recent: RecentEdits
    store: LogStore
    outputs: Outputs
    media: MediaFiles
    store_folder: Path | None
    """The folder that takes the transcripts; None if nothing is kept on disk."""
    remembered: Remembered
    settings: Settings
    clock: Callable[[], float]
    policy: Policy = ULLAGE
    calibrations: dict[str, Calibration] = field(default_factory=dict[str, Calibration])
    """What real usage taught about the estimates, by model name."""
    versions: Versions = field(default_factory=lambda: Versions(None))
    """The bytes of files before and after the agent changed them."""
    written: WrittenMeanwhile = field(default_factory=WrittenMeanwhile)
    show_progress: ShowProgress = nowhere
    """Shows the user what takes long, where they can see and stop it."""
    fetch_page: Callable[[str], Awaitable[Page]] = fetch_page
    """Fetches a page of the web that the user named in a prompt. Raises `NotFetched`."""
    web: Web = field(default_factory=Web)
    """The pages of the web that the agent asks for."""
    web_turned: Callable[[], None] = lambda: None
    """Is called when the user turned the web on or off: the tools of all sessions are others then."""
    counts_of: Callable[[ModelCard], Counts | None] = lambda card: None
    """Who counts tokens for a model; None if nobody does."""
    sandbox_missing: Callable[[], str] = lambda: "nobody has looked for a sandbox yet"
    """Why no sandbox confines commands, in words that follow "because"; empty if one does."""
    fixed_of: Callable[[ModelCard], FixedParts | None] = lambda card: None
    """What system prompt, rules and tools take with a model; None if nothing is kept of it."""

    preludes_sent: SentPreludes = field(default_factory=SentPreludes)
    """What requests, of whichever session, sent before their messages lately: the prompt cache has it."""

    hooks_kept: HooksKept = field(default_factory=NothingDecided)
    """What the user decided about hooks."""
    run_hook: RunHook = no_runner
    """Runs a hook that the user allowed."""
    servers: Servers | None = None
    """The MCP servers of the workspace; None if there can be none. They work in the workspace folder, for sessions in worktrees, too."""

    worktree: Worktree | None = None
    """The worktree that these folders are of; None if they are those of the workspace."""
    home: Surroundings | None = None
    """The surroundings of the workspace, if these are those of a worktree; None if they are the workspace's own."""

    @cached_property
    def scanner(self) -> Scanner:
        """The scanner that looks through the workspace before and after commands."""
        return Scanner(self.folders, self.versions)

    def calibration(self, card: ModelCard) -> Calibration:
        """How tokens are counted for that model: what it corrects estimates by was learned, or is known of its tokenizer."""
        learned = self.calibrations.get(card.name, Calibration(card.characters_per_token_factor))
        return replace(learned, counts=self.counts_of(card), fixed=self.fixed_of(card), images=card.images)
