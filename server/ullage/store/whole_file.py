"""Writing a file so that a reader sees all of it or nothing, whatever happens meanwhile."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ullage.store.errors import StoreFailed


def write_whole(path: Path, what: str | bytes) -> None:
    """Writes `what`, a text as UTF-8, in place of what was there; on disk when it returns.

    Raises `StoreFailed` (full disk, read-only folder ...) and then leaves everything as it was.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise _failed(path, error) from error
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            # Half a surrogate pair cannot be written as UTF-8; it becomes a question mark.
            file.write(what.encode("utf-8", "replace") if isinstance(what, str) else what)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise _failed(path, error) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _failed(path: Path, error: OSError) -> StoreFailed:
    return StoreFailed(
        f"Cannot write {path}: {error.strerror or error}. Make room on the disk or make the folder writable, then try again."
    )
