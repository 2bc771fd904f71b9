"""Whole outputs of clipped tool results, one plain file each, readable with the agent's own tools."""

from __future__ import annotations

import hashlib
import re
from itertools import count
from pathlib import Path

from ullage.store import folder as ullage_folder
from ullage.store.whole_file import write_whole

_NAME_CHARACTERS = 100
"""Longer ids are cut: file systems end at 255 bytes."""


class ResultFiles:
    """The files of one workspace; without a folder they are held in memory and end with the process."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else ullage_folder.results(folder)
        self._in_memory: dict[str, str] = {}

    def save(self, tool_use_id: str, output: str) -> str | None:
        """Keeps the output; gives its absolute path (with `/`), None where there is no folder.

        A file that is there already stays: some servers give the same id twice, and the second gets a number then.
        Raises `StoreFailed`; no half file is left then.
        """
        if self._folder is None:
            self._in_memory[tool_use_id] = output
            return None
        name = safe_name(tool_use_id)
        path = self._folder / f"{name}.txt"
        for number in count(2):
            if not path.exists():
                break
            path = self._folder / f"{name}-{number}.txt"
        write_whole(path, output)
        return path.as_posix()

    def read(self, tool_use_id: str, full_output: str | None) -> str | None:
        """The output that was saved under the id, at the path that `save` gave; None where there is none (any more)."""
        if self._folder is None or full_output is None:
            return self._in_memory.get(tool_use_id)
        try:
            return _within(self._folder, full_output).read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def remove(self, full_output: str) -> None:
        """Removes the file at the path that `save` gave, for good; does nothing where it cannot be removed."""
        if self._folder is None:
            return
        try:
            _within(self._folder, full_output).unlink(missing_ok=True)
        except OSError:
            return


def _within(folder: Path, full_output: str) -> Path:
    """Only the name counts: a damaged log must not lead out of the folder, and the folder may have been another one when it was kept."""
    return folder / Path(full_output).name


def safe_name(identifier: str) -> str:
    """The identifier as a file name.

    Models choose ids: one that is more than letters, digits, `_` and `-` is changed, with a hash at its end so that no two
    become the same.
    """
    safe = re.sub(r"[^A-Za-z0-9_-]", "_", identifier)[:_NAME_CHARACTERS]
    if safe and safe == identifier:
        return safe
    digest = hashlib.sha256(identifier.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{safe}-{digest[:12]}"
