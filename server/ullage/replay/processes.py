"""The files of a replay over the cores of the machine: one process a core, one file at a time in each."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from ullage.processes.askers import Asker
from ullage.processes.start import worker_pool
from ullage.replay.file_work import FileWork, file_work
from ullage.replay.options import Options

WORTH_A_PROCESS = 300_000
"""Bytes on disk of all files together. For less, starting processes takes longer than the work."""


def work_through(paths: Sequence[Path], options: Options) -> Generator[FileWork]:
    """The work of each file, in the order of `paths`, as soon as it and those before it are done."""
    jobs = min(options.jobs or os.cpu_count() or 1, len(paths))
    if jobs < 2 or (options.jobs is None and sum(_size(path) for path in paths) < WORTH_A_PROCESS):
        yield from (file_work(path, options) for path in paths)
        return
    with worker_pool(Asker.REPLAY, jobs, _let_go_at_once) as executor:
        try:
            waiting: list[Future[FileWork]] = [executor.submit(file_work, path, options) for path in paths]
            waiting.reverse()
            places = list(reversed(paths))
            while waiting:
                yield _done(waiting.pop(), places.pop())
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise


def _done(future: Future[FileWork], path: Path) -> FileWork:
    try:
        return future.result()
    except BrokenProcessPool:
        return FileWork(failures=(f"{path} was not finished: the process that worked on it ended (was there enough memory?)",))
    except Exception as error:  # noqa: BLE001 - whatever went wrong with one file, the others go on
        return FileWork(failures=(f"{path} was not finished: {type(error).__name__}: {error}",))


def _let_go_at_once() -> None:
    """An interrupt ends a worker without a word; the first process says what is to be said."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
