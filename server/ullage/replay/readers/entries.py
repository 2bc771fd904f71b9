"""What all readers need to make entries.

Entries are numbered from 1 as they are found. A call says which files it read or changed, as far as its input tells. A text under the
user's role may have been written by the program instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ullage.context.blocks import ToolUse
from ullage.context.entries import Entry, FileTouch, Logged, TouchKind
from ullage.replay.readers.flaws import NO_TIME, Tally
from ullage.replay.readers.values import as_list, as_text


class Log:
    """Entries in order. `estimated_outputs` are the seqs of replies whose output the reader estimated, `media_tokens` what images and
    documents take, by the seq of the entry that has only words for them."""

    def __init__(self, tally: Tally) -> None:
        self.estimated_outputs: set[int] = set()
        self.media_tokens: dict[int, int] = {}
        self._entries: list[Logged] = []
        self._tally = tally

    @property
    def length(self) -> int:
        """How many there are: the seq of the last one."""
        return len(self._entries)

    @property
    def entries(self) -> tuple[Logged, ...]:
        """All of them."""
        return tuple(self._entries)

    def add(self, entry: Entry, at: float, media_tokens: int = 0) -> int:
        """Adds an entry at the end; gives its seq. `at` is 0.0 where its time is not known."""
        self._tally.count(NO_TIME, int(at == 0.0))
        self._entries.append(Logged(self.length + 1, at, entry))
        if media_tokens:
            self.media_tokens[self.length] = media_tokens
        return self.length

    def take_back_from(self, starts: Callable[[Entry], bool], number: int) -> int:
        """Takes back everything from the `number`-th last entry of which `starts` holds, or from the first one where there are
        fewer; gives how many of them were taken back."""
        places = [index for index, logged in enumerate(self._entries) if starts(logged.entry)]
        taken = places[-number:] if number > 0 else []
        if taken:
            del self._entries[taken[0] :]
            self.estimated_outputs = {seq for seq in self.estimated_outputs if seq <= self.length}
            self.media_tokens = {seq: tokens for seq, tokens in self.media_tokens.items() if seq <= self.length}
        return len(taken)


_FILE_TOOLS: dict[str, TouchKind] = {
    # Claude Code
    "Read": "read",
    "NotebookRead": "read",
    "Edit": "edited",
    "MultiEdit": "edited",
    "NotebookEdit": "edited",
    "Write": "edited",
    # OpenCode, pi
    "read": "read",
    "edit": "edited",
    "multiedit": "edited",
    "write": "edited",
    # Gemini CLI, Cline
    "read_file": "read",
    "replace": "edited",
    "write_file": "edited",
    "replace_in_file": "edited",
    "write_to_file": "edited",
    "read_files": "read",
    "editor": "edited",
}
_PATH_KEYS = ("file_path", "notebook_path", "filePath", "path", "absolute_path")
"""Claude Code and Gemini CLI; notebooks; OpenCode; Cline and pi; Gemini CLI before 0.20."""
_PATCH_HEADS: dict[str, TouchKind] = {"Add": "created", "Update": "edited", "Delete": "deleted"}
PATCH_START = "*** Begin Patch"
PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
"""A file in a patch of Codex (`apply_patch`): what is done to it, and its path."""
_MOVED = re.compile(r"^\*\*\* Move to: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FileOnDisk:
    """What the program noted beside a result of the file that the call was about."""

    kind: TouchKind
    sha256: str
    """Empty where the whole text is not noted."""
    partial: bool


def touched_by_call(call: ToolUse, found: FileOnDisk | None, folder: str) -> tuple[FileTouch, ...]:
    """The file that a call of a file tool was about. `found` is what was noted beside its result.

    `sha256` is empty where the transcript does not hold the file's whole text.
    """
    kind, input = _FILE_TOOLS.get(call.name), call.input
    files = as_list(input.get("files"))
    if len(files) == 1 and isinstance(files[0], dict):
        input = files[0]
    path = next((path for key in _PATH_KEYS if (path := as_text(input.get(key)))), "")
    if kind is None or not path:
        return ()
    if found is None:
        is_part = kind == "read" and bool(any(input.get(name) for name in ("offset", "limit", "start_line", "end_line")))
        return (FileTouch(relative(path, folder), kind, "", is_part),)
    return (FileTouch(relative(path, folder), found.kind, found.sha256, found.partial),)


def touched_by_patch(patch: str, folder: str) -> tuple[FileTouch, ...]:
    """The files that a patch in the form of `apply_patch` changes; a renamed one under its new name too."""
    changed = [FileTouch(relative(path.strip(), folder), _PATCH_HEADS[head], "") for head, path in PATCHED.findall(patch)]
    moved = [FileTouch(relative(path.strip(), folder), "created", "") for path in _MOVED.findall(patch)]
    return (*changed, *moved)


def patches_in(call: ToolUse) -> str:
    """The patch that a call of Codex applies, also by way of a shell; empty where there is none."""
    command = call.input.get("command")
    texts = (call.input.get("input"), call.input.get("cmd"), command, *as_list(command))
    return next((as_text(text) for text in texts if PATCH_START in as_text(text)), "")


def relative(path: str, folder: str) -> str:
    """The path relative to `folder` where it lies in it, with `/`."""
    shown = path.replace("\\", "/")
    root = folder.replace("\\", "/").rstrip("/") + "/"
    return shown.removeprefix(root) if folder else shown


_STARTS = (
    "[Request interrupted by user",
    "<local-command-",
    "<command-name>",
    "<command-message>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<agent-notification>",
    "<system-reminder>",
    "<user-prompt-submit-hook>",
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<skill>",
    "<permissions instructions>",
    "<subagent_notification>",
    "<collaboration_mode>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
)
"""How such texts begin in Claude Code and in Codex."""


def is_of_the_program(text: str) -> bool:
    """Whether a text under the user's role was written by the program."""
    return text.lstrip().startswith(_STARTS)
