"""Work that goes wrong on a worker, for tests: it lies in a module of its own, so that workers can import it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from ullage.replay.file_work import FileWork, Options, file_work
from ullage.replay.places import Place


def killed_at_some(place: Place, ours: int) -> FileWork:
    """The worker is killed (kill −9) at each `always…`, and at a `once…` when it is first worked on; never the process `ours`."""
    path = Path(str(place))
    mark = path.with_suffix(".begun")
    if os.getpid() != ours and (path.name.startswith("always") or (path.name.startswith("once") and not mark.exists())):
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return file_work(place, Options())


def fails_at_some(place: Place) -> FileWork:
    """Raises at each `bad…`."""
    if place.name.startswith("bad"):
        raise RuntimeError("out of luck")
    return file_work(place, Options())


def unfinished(reason: str) -> FileWork:
    return FileWork(failures=(reason,))
