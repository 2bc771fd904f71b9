"""The files of the workspace that a command line names, as they are now: what is allowed as `sh build.sh` is that script.

Every word that could be a file is looked at, by a splitting that is only to find candidates: one that is none costs nothing. What such a
script reads or runs in turn is not followed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ullage.workspace.without_links import open_regular

MOST_WORDS = 200
MOST_BYTES = 10_000_000
"""Of all files together. What is over it counts by its identity, time and size, not by its content."""

_SEPARATORS = re.compile(r"[\s;&|<>()`'\"$=,:{}]+")


def digest_of_files_named(line: str, folder: Path, workspaces: Sequence[Path]) -> str:
    """The same as long as the files are the same; empty where the line names none. For another thread."""
    digest = hashlib.sha256()
    left = MOST_BYTES
    found = False
    for path in _files(line, folder, workspaces):
        found = True
        content, left = _content(path, left)
        digest.update(f"{path}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
    return digest.hexdigest()[:24] if found else ""


def _files(line: str, folder: Path, workspaces: Sequence[Path]) -> Iterator[Path]:
    words = list(dict.fromkeys(word for word in _SEPARATORS.split(line.replace("\\", "")) if word))[:MOST_WORDS]
    folders = [folder, *(folder / word for word in words if _is_folder(folder / word))]  # `cd sub && sh s.sh`
    seen: set[Path] = set()
    for base in folders:
        for word in words:
            path = _file(base / word, workspaces)
            if path is not None and path not in seen:
                seen.add(path)
                yield path


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _file(path: Path, workspaces: Sequence[Path]) -> Path | None:
    try:
        resolved = path.resolve()
        inside = any(resolved.is_relative_to(root) for root in workspaces)
        return resolved if inside and resolved.is_file() else None
    except (OSError, RuntimeError, ValueError):
        return None


def _content(path: Path, left: int) -> tuple[bytes, int]:
    """Its content, or what stands for it, and how many bytes may still be read."""
    try:
        with open_regular(path) as file:
            content = file.read(left + 1)
        if len(content) <= left:
            return content, left - len(content)
        status = path.stat()
    except OSError:
        return b"not readable", left
    return f"{status.st_ino} {status.st_mtime_ns} {status.st_size}".encode(), 0
