"""The folder `.ullage/` of a workspace: where each thing in it lies, and making it so that git ignores it."""

from __future__ import annotations

from pathlib import Path

from ullage.store.errors import StoreFailed

NAME = ".ullage"


def prepare(workspace: Path) -> Path:
    """Makes `.ullage/` with a `.gitignore` that ignores it whole; gives its path. Raises `StoreFailed`."""
    folder = workspace / NAME
    ignore = folder / ".gitignore"
    try:
        folder.mkdir(exist_ok=True)
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise StoreFailed(f"Cannot write to {folder}: {error.strerror or error}. Make the folder writable, or open another one.") from error
    return folder


def database(workspace: Path) -> Path:
    """The log."""
    return workspace / NAME / "ullage.db"


def search_index(workspace: Path) -> Path:
    """The full-text index; can be thrown away, it is made again from the log."""
    return workspace / NAME / "search.db"


def session_lock(workspace: Path, session_id: str) -> Path:
    """Held by the process that writes the session."""
    return workspace / NAME / "locks" / f"{session_id}.lock"


def unfinished(workspace: Path, session_id: str) -> Path:
    """The reply that streams in, or did when the process was killed."""
    return workspace / NAME / "unfinished" / f"{session_id}.jsonl"


def results(workspace: Path) -> Path:
    """Whole outputs of clipped tool results."""
    return workspace / NAME / "tool-results"


def media(workspace: Path) -> Path:
    """Images and documents that the model was shown, by their hash."""
    return workspace / NAME / "media"


def transcripts(workspace: Path) -> Path:
    """Messages as they were before each summary."""
    return workspace / NAME / "transcripts"
