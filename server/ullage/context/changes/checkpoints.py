"""The moments that the files of a session can be gone back to, and what going back would mean. Folds over its log.

There is a checkpoint before each turn that changed files, and one before each time that the user went back: that is the way forward again.
To go back to one is to give each file that was changed since what it held before the first of these changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ullage.context.change_entries import FilesChanged, FileVersion, Uncovered
from ullage.context.entries import Logged, UserPrompt, files_changed

FORWARD = "before-"
"""The beginning of the id of a checkpoint that leads forward again; the seq of its entry follows. Any other checkpoint has the id of its
prompt."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A moment that the files can be brought back to. It lies before entry `seq`; `title` is the prompt of its turn, `at` is Unix
    seconds."""

    id: str
    title: str
    at: float
    seq: int
    files: int
    """The number of files that changed: in the turn, or by going back."""
    forward: bool = False


@dataclass(frozen=True, slots=True)
class WantedFile:
    """A file that going back would change: its version at the checkpoint (`then`), and the one that was logged last (`known`). None: there
    was no file."""

    path: str
    then: FileVersion | None
    known: FileVersion | None


@dataclass(frozen=True, slots=True)
class WayBack:
    """What going back to a checkpoint would do: the files that were changed since, and those whose earlier versions are not kept."""

    checkpoint: Checkpoint
    files: tuple[WantedFile, ...]
    uncovered: tuple[Uncovered, ...]


@dataclass(frozen=True, slots=True)
class _Said:
    """An entry from which a checkpoint may be made, with its place in the log: `at` is Unix seconds."""

    seq: int
    at: float
    entry: UserPrompt | FilesChanged


def checkpoints(entries: Sequence[Logged]) -> list[Checkpoint]:
    """All checkpoints of a log, the oldest first."""
    found: dict[str, Checkpoint] = {}
    paths: dict[str, set[str]] = {}
    prompt: _Said | None = None
    for said in _said(entries):
        entry = said.entry
        if isinstance(entry, UserPrompt):
            if not entry.steering or prompt is None:
                prompt = said
        elif entry.gone_back_to:
            id = f"{FORWARD}{said.seq}"
            titles = found.get(entry.gone_back_to)
            found[id] = Checkpoint(id, titles.title if titles else "", said.at, said.seq, len(entry.files), forward=True)
        elif entry.tool_use_id is not None and prompt is not None and isinstance(prompt.entry, UserPrompt):
            of_turn = paths.setdefault(prompt.entry.id, set())
            of_turn.update(each.path for each in entry.files)
            found[prompt.entry.id] = Checkpoint(prompt.entry.id, prompt.entry.text, prompt.at, prompt.seq, len(of_turn))
    return sorted(found.values(), key=lambda each: each.seq)


def way_back(entries: Sequence[Logged], checkpoint_id: str) -> WayBack | None:
    """What going back to that checkpoint would do; None if no checkpoint has that id."""
    checkpoint = next((each for each in checkpoints(entries) if each.id == checkpoint_id), None)
    if checkpoint is None:
        return None
    files: dict[str, WantedFile] = {}
    uncovered: dict[str, Uncovered] = {}
    for said in _said(entries):
        if said.seq < checkpoint.seq or not isinstance(said.entry, FilesChanged):
            continue
        for each in said.entry.files:
            first = files.get(each.path)
            files[each.path] = WantedFile(each.path, each.before if first is None else first.then, each.after)
        uncovered |= {each.path: each for each in said.entry.uncovered}
    return WayBack(checkpoint, tuple(files[path] for path in sorted(files)), tuple(uncovered[path] for path in sorted(uncovered)))


def _said(entries: Sequence[Logged]) -> Iterator[_Said]:
    for logged in entries:
        entry = logged.entry if isinstance(logged.entry, UserPrompt) else files_changed(logged.entry)
        if entry is not None:
            yield _Said(logged.seq, logged.at, entry)
