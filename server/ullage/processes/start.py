"""Starting a program, and ending it with all that it has started. And who may have one started.

Nothing else in Ullage starts one, and `tests/unit/processes/test_callers.py` lists where each asker asks. What holds for all: the program
is named by an absolute path, no shell is involved, nothing is read from our standard input, the process has a group of its own.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from asyncio import StreamReader, StreamWriter, SubprocessProtocol, SubprocessTransport
from asyncio.subprocess import DEVNULL, PIPE, Process, SubprocessStreamProtocol
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from enum import StrEnum
from importlib import import_module
from logging import CRITICAL
from multiprocessing import get_context
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from ullage.processes.ending import Group, group_of, own_group
from ullage.processes.programs import bare_environment, reaper, without_relative_entries
from ullage.processes.reaper import END

GRACE_SECONDS = 1.0
"""How long a killed process may take to be gone."""

LONGEST_LINE = 1_000_000
"""The most bytes of a line that is read from a program."""

_Protocol = TypeVar("_Protocol", bound=SubprocessProtocol)
_Started = TypeVar("_Started")


class Asker(StrEnum):
    """The reason for which a program runs. There is no other."""

    SHELL = "shell"
    """A command of the agent, as the user allowed it."""

    SANDBOX_PROBE = "sandbox probe"
    """A try whether a sandbox works here."""

    SANDBOX_NETWORK = "sandbox network"
    """Our own Python, which enters the network of a sandbox to listen there."""

    RIPGREP = "ripgrep"
    """A search in files."""

    PATTERN_MATCHER = "pattern matcher"
    """Our own Python, which matches a regular expression: that can take for ever, so it has to be a process that can be ended."""

    CHANGED_FILES = "changed files"
    """Our own Python, which asks libgit2 what changed since the last commit."""

    WORKTREES = "worktrees"
    """Our own Python, which has libgit2 make a worktree, compare it or remove it."""

    MCP_SERVER = "MCP server"
    """A server that the user configured, or trusted by its exact command."""

    REPLAY = "replay"
    """Our own Python, once for each core, where a user runs `ullage replay`."""


BRINGS_ITS_ENVIRONMENT = frozenset({Asker.SHELL, Asker.MCP_SERVER})
"""The askers that give an environment. All others run with `bare_environment`: they need nothing of what the user or a folder has set."""


class NotAbsolute(ValueError):
    """A program was named such that the system would have to look for it."""


class Running:
    """A program that was started by `start`."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._group = group_of(process.pid)

    @property
    def output(self) -> StreamReader:
        """The standard output of the program."""
        return cast("StreamReader", self._process.stdout)  # a pipe

    @property
    def complaints(self) -> StreamReader:
        """The standard error of the program, if `start` was asked for it."""
        return cast("StreamReader", self._process.stderr)

    async def feed(self, data: bytes) -> None:
        """Writes to the program's standard input, and closes that. Raises `OSError` if it has ended before."""
        await self.send(data)
        cast("StreamWriter", self._process.stdin).close()

    async def send(self, data: bytes) -> None:
        """Writes to the program's standard input, which stays open. Raises `OSError` if it has ended before."""
        writer = cast("StreamWriter", self._process.stdin)
        writer.write(data)
        await writer.drain()

    async def wait(self) -> int:
        """Waits for the end of the program; gives its exit code, negative for a signal."""
        return await self._process.wait()

    async def end(self) -> None:
        """Kills the program with its group, if it is still there, and waits until it is gone (for `GRACE_SECONDS`)."""
        if self._process.returncode is None:
            self._group.kill()
            with suppress(ProcessLookupError):
                self._process.kill()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), GRACE_SECONDS)
        self._group.close()


async def start(
    asker: Asker,
    command: Sequence[str],
    *,
    feeds: bool = False,
    complaints: bool = False,
    pass_fds: Sequence[int] = (),
) -> Running:
    """Starts a program of our own choosing, in a bare environment and in the root folder. End it with `Running.end`.

    Its standard input is empty, unless `feeds`; its standard error is dropped, unless `complaints`.
    Raises `NotAbsolute`, or `OSError` where it cannot be started.
    """
    _check(asker, command)
    process = await _whole(
        asyncio.create_subprocess_exec(
            *command,
            cwd=_root_folder(),
            env=bare_environment(os.environ),
            stdin=PIPE if feeds else DEVNULL,
            stdout=PIPE,
            stderr=PIPE if complaints else DEVNULL,
            limit=LONGEST_LINE,
            pass_fds=pass_fds,
            **own_group(),
        )
    )
    return Running(process)


async def _whole(starting: Coroutine[Any, Any, _Started]) -> _Started:
    """Starts to the end, in some milliseconds, though the task is cancelled meanwhile. The cancel takes effect at the next `await` of
    whoever has what was started, and ends it.

    A start that is cancelled in asyncio waits for ever in Python 3.11: for the end of pipes that were not connected yet
    (`BaseSubprocessTransport._try_finish`).
    """
    task = asyncio.ensure_future(starting)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    current = asyncio.current_task()
    if cancelled is None or current is None:
        return task.result()
    if task.exception() is not None:
        raise cancelled
    current.uncancel()  # else it would count twice, and a time limit would not know its own
    current.cancel()
    return task.result()


async def start_for_user(
    asker: Asker,
    command: Sequence[str],
    protocol: Callable[[], _Protocol],
    *,
    folder: Path,
    environment: Mapping[str, str],
    pass_fds: Sequence[int] = (),
    given: IO[bytes] | None = None,
) -> tuple[SubprocessTransport, _Protocol, Group]:
    """Starts what the user allowed, in `folder`, with an environment of the asker's own; output and errors come as one to `protocol`.

    With `given`, a file that its standard input reads, the errors come apart.
    Its group has to be closed when it has ended. Raises `NotAbsolute`, or `OSError` where it cannot be started.
    """
    _check(asker, command)
    if asker not in BRINGS_ITS_ENVIRONMENT:
        raise ValueError(f"{asker} has no environment of its own")
    transport, made = await _whole(
        asyncio.get_running_loop().subprocess_exec(
            protocol,
            *command,
            cwd=folder,
            env=without_relative_entries(environment),
            stdin=subprocess.DEVNULL if given is None else given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if given is None else subprocess.PIPE,
            pass_fds=pass_fds,
            **own_group(),
        )
    )
    return transport, made, group_of(transport.get_pid())


class Talking:
    """A program that was started by `start_talking`."""

    def __init__(self, transport: SubprocessTransport, process: Process, control: socket.socket | None) -> None:
        self._transport = transport
        self._process = process
        self._group = group_of(process.pid)
        self._control = control

    @property
    def output(self) -> StreamReader:
        """The standard output of the program."""
        return cast("StreamReader", self._process.stdout)

    @property
    def complaints(self) -> StreamReader:
        """The standard error of the program."""
        return cast("StreamReader", self._process.stderr)

    async def say(self, data: bytes) -> None:
        """Writes to the program's standard input. Raises `OSError` if it has ended."""
        writer = cast("StreamWriter", self._process.stdin)
        writer.write(data)
        await writer.drain()

    async def ended(self) -> int:
        """Waits for the end of the program; gives its exit code, negative for a signal. Raises `OSError` if it could not be started."""
        code = await self._process.wait()
        match (_last_words(self._control) or "").split():
            case ["failed", number, *_]:
                raise OSError(int(number), os.strerror(int(number)))
            case ["ended", own, *_]:
                return int(own)
            case _:
                return code

    async def end(self) -> None:
        """Closes the program's input, which is how such a program is told to end, and ends it with all that it started if it does not."""
        cast("StreamWriter", self._process.stdin).close()
        try:
            await asyncio.wait_for(self._process.wait(), GRACE_SECONDS)
        except TimeoutError:
            self._ask()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), 2 * GRACE_SECONDS)
        finally:
            if self._control is not None:
                self._control.close()  # what is still there is killed
            if self._process.returncode is None:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._process.wait(), GRACE_SECONDS)
            self._group.kill()
            self._group.close()
            self._transport.close()  # somebody may not have read all of its output

    def _ask(self) -> None:
        if self._control is None:
            self._group.ask()
            return
        with suppress(OSError):
            self._control.send(END)


def _last_words(control: socket.socket | None) -> str | None:
    """The line that the reaper wrote before it ended; None if it wrote none, or there is no reaper."""
    if control is None:
        return None
    try:
        return control.recv(1_000).decode()
    except OSError:
        return None


async def start_talking(asker: Asker, command: Sequence[str], *, folder: Path, environment: Mapping[str, str]) -> Talking:
    """Starts what the user allowed, to talk with it over its standard input and output, in an environment of the asker's own.

    Nothing of it outlives this process: on Linux and Windows whatever it does; on macOS it is told by the end of its input. End it with
    `Talking.end`. Raises `NotAbsolute`, or `OSError` where it cannot be started.
    """
    _check(asker, command)
    if asker not in BRINGS_ITS_ENVIRONMENT:
        raise ValueError(f"{asker} has no environment of its own")
    loop = asyncio.get_running_loop()
    ours, theirs = socket.socketpair()
    with theirs:
        before = reaper(theirs.fileno())
        try:
            transport, streams = await _whole(
                loop.subprocess_exec(
                    lambda: SubprocessStreamProtocol(LONGEST_LINE, loop),
                    *(before or []),
                    *command,
                    cwd=folder,
                    env=without_relative_entries(environment),
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=PIPE,
                    pass_fds=() if before is None else (theirs.fileno(),),
                    **own_group(),
                )
            )
        except BaseException:
            ours.close()
            raise
    process = Process(transport, streams, loop)
    if before is None:
        ours.close()
        return Talking(transport, process, None)
    ours.setblocking(False)
    return Talking(transport, process, ours)


def worker_pool(asker: Asker, jobs: int, initializer: Callable[[], Any]) -> ProcessPoolExecutor:
    """A pool of processes of our own Python, for a command line tool."""
    if asker is not Asker.REPLAY:
        raise ValueError(f"{asker} has no use for a pool")
    return ProcessPoolExecutor(jobs, initializer=initializer)


def process_apart(asker: Asker, initializer: Callable[[], Any]) -> ProcessPoolExecutor:
    """One process of our own Python, started anew: for a command line tool that has threads, which a copy of it would not have."""
    if asker is not Asker.REPLAY:
        raise ValueError(f"{asker} has no use for a process of its own")
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=initializer)


WORKER_BYTES = 500_000_000
"""How many bytes of memory a worker of `local_cluster` may take: past it, it is ended and another takes its place."""


_OF_WORKERS: dict[str, object] = {
    **{f"distributed.worker.memory.{what}": False for what in ("target", "spill", "pause")},
    **{f"distributed.{whose}.http.routes": [] for whose in ("scheduler", "worker")},
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "60s",
}
"""A worker holds results, which are fetched at once: there is nothing to write to the disk, and nothing to wait for. Nor has anybody else
anything to look at, such as what the work is doing every hundredth of a second. To look every 20 ms whether a process answers, and twice a
second at the machine, took a fiftieth of a core in each."""


@contextmanager
def local_cluster(asker: Asker, workers: int) -> Generator[Any]:
    """Workers of our own Python with a scheduler of Dask in this process (`distributed.LocalCluster`), for a command line tool.

    They speak over the loopback address, with a certificate that is made for this once: other users of the machine cannot join. A worker
    takes one thing at a time, and at most `WORKER_BYTES`. All end with this.
    """
    if asker is not Asker.REPLAY:
        raise ValueError(f"{asker} has no use for a cluster")
    distributed = import_module("distributed")
    with (
        import_module("dask").config.set(_OF_WORKERS),
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            memory_limit=WORKER_BYTES,
            host="127.0.0.1",
            security=distributed.Security.temporary(),
            dashboard_address="127.0.0.1:0",
            worker_dashboard_address="127.0.0.1:0",
            silence_logs=CRITICAL,
        ) as cluster,
    ):
        yield cluster


def _check(asker: Asker, command: Sequence[str]) -> None:
    if not Path(command[0]).is_absolute():
        raise NotAbsolute(f"{asker}: `{command[0]}` is no absolute path")


def _root_folder() -> Path:
    """The root of the file system, a folder that nobody else fills: a program may look for its configuration in the one that it starts
    in."""
    return Path(Path(sys.executable).anchor)
