"""Server processes that are forked from one which has imported the server already (`tests/forking.py`). What a forked one does from there
on is what the command does: `ullage serve` with its arguments and its environment. How the command itself starts is tested in
`test_lifecycle.py` and `test_listening.py`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import reduction
from multiprocessing.context import ForkServerProcess, SpawnProcess
from pathlib import Path
from typing import Protocol

from tests.forking import forking
from ullage.cli import main


class Handed(Protocol):
    """A file descriptor on its way to a forked process."""

    def detach(self) -> int:
        """Its number there."""
        ...


class ForkedServer:
    """A process as `asyncio.subprocess.Process` shows one, as far as a client needs it."""

    def __init__(
        self,
        process: ForkServerProcess | SpawnProcess,
        stdin: asyncio.StreamWriter,
        stdout: asyncio.StreamReader,
        stderr: asyncio.StreamReader,
    ) -> None:
        self._process = process
        self._ended = asyncio.Event()
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self.returncode: int | None = None
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(process.sentinel, self._end)

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    async def wait(self) -> int:
        """Until it has ended; gives its exit code, or the negative number of the signal that ended it."""
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        if self.returncode is None:
            self._process.terminate()

    def _end(self) -> None:
        self._loop.remove_reader(self._process.sentinel)
        self._process.join()
        self.returncode = self._process.exitcode
        self._ended.set()


def nothing() -> None:
    """What most do before."""


async def start(
    arguments: Sequence[str], environment: Mapping[str, str], command: str = "serve", *, before: Callable[[], None] = nothing
) -> ForkedServer:
    """`ullage serve` (or another command) with more arguments, in this environment alone. `before` is done in its process first."""
    stdin, stdin_of_ours = os.pipe()
    stdout_of_ours, stdout = os.pipe()
    stderr_of_ours, stderr = os.pipe()
    handed = tuple(reduction.DupFd(each) for each in (stdin, stdout, stderr))  # pyright: ignore[reportAttributeAccessIssue] # only on Unix
    process = forking().Process(target=_serve, args=(handed, [command, *arguments], dict(environment), Path.cwd(), before))
    process.start()
    for each in (stdin, stdout, stderr):
        os.close(each)
    return ForkedServer(process, await _writer(stdin_of_ours), await _reader(stdout_of_ours), await _reader(stderr_of_ours))


def _serve(
    handed: Sequence[Handed], arguments: Sequence[str], environment: Mapping[str, str], folder: Path, before: Callable[[], None]
) -> None:
    for number, each in enumerate(handed):
        descriptor = each.detach()
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin, sys.stdout, sys.stderr = open(0, closefd=False), open(1, "w", closefd=False), open(2, "w", 1, closefd=False)  # noqa: SIM115 # as long as the process
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has what it runs in the background ignore it
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    before()
    raise SystemExit(main(arguments))


async def _reader(descriptor: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(descriptor, "rb", 0))
    return reader


async def _writer(descriptor: int) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(descriptor, "wb", 0)
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)
