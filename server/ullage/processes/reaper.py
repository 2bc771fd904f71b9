"""A program of its own, for Linux: starts a command, and ends all that came of it, whatever that did to get away.

A process whose parent ends goes to the nearest "child subreaper" above it (prctl(2)). This program is one, so all that the command has
started is below it, also what left its group and session and emptied its environment. Only another user's processes (sudo), and what some
service was asked to start, are not; and whoever kills this program itself gets away.

It is run by its file, isolated and without `site`, and imports little, since each command waits for its start.

The first argument is the number of a socket:
- `END` on it has everything asked to end, and killed after `GRACE_SECONDS`. When its other end is closed, everything is killed at once:
  so nothing outlives the server either.
- Before this program ends it writes one line: `ended CODE LEFT`, where CODE is negative for a signal and LEFT says whether processes were
  left in the background (1) or not (0); or `failed ERRNO`, where the command could not be started.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time

END = b"e"

GRACE_SECONDS = 1.0
"""How long processes get to end by themselves when they are asked to, before they are killed."""

LEFTOVER_SECONDS = 0.5
"""How long after the command the rest of what it started may go on."""

KILLING_SECONDS = 5.0
"""How long processes are killed, new ones too, before those that cannot be killed are given up."""

AGAIN_SECONDS = 0.02
"""The time between two rounds of killing."""

_PR_SET_CHILD_SUBREAPER = 36
_IGNORED_BY_PYTHON = ("SIGPIPE", "SIGXFSZ")
_TAKEN = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGCHLD")
"""Signals that shall not end this program; a handler of ours is no longer there in what is started. By their names: the server takes the
numbers above from this file on every system, and Windows has few of these."""


def main() -> None:
    """Runs the command that stands in the arguments."""
    control, command = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(control, False)
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    woken, wake = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for name in _TAKEN:
        signal.signal(signal.Signals[name], _nothing)
    first = _start(command, control)
    nothing = os.open(os.devnull, os.O_RDWR)
    for output in (1, 2):  # its end says that all who hold it are gone
        os.dup2(nothing, output)
    code, left = _Ending(first, control, woken).wait()
    try:
        os.write(control, f"ended {code} {int(left)}\n".encode())
    except OSError:  # nobody is there to hear it
        return


def _nothing(number: int, frame: object) -> None:
    """Does nothing: the byte that the system's signal has written wakes `select`."""


def _start(command: list[str], control: int) -> int:  # pyrefly: ignore[bad-return] - `_exit` does not return
    process = os.fork()
    if process:
        return process
    try:
        os.setsid()
        for name in _IGNORED_BY_PYTHON:
            signal.signal(signal.Signals[name], signal.SIG_DFL)
        os.execv(command[0], command)  # noqa: S606 - the program is absolute; the shell, where there is one, was allowed
    except OSError as error:
        os.write(control, f"failed {error.errno}\n".encode())
    finally:
        os._exit(127)


class _Ending:
    """Waits for the end of the command and of all that it started, and ends them if it is asked to."""

    def __init__(self, first: int, control: int, woken: int) -> None:
        self._first = first
        self._sources = [control, woken]
        self._control = control
        self._code: int | None = None
        self._left = False
        self._is_asked = False
        self._kills = False
        self._until: float | None = None

    def wait(self) -> tuple[int, bool]:
        """Waits for the end; gives the exit code of the command, and whether it left processes in the background."""
        while self._reap() and not self._is_given_up():
            now = time.monotonic()
            if self._kills:
                _signal_all(signal.SIGKILL)
            elif self._code is not None and self._until is None:
                self._until = now + LEFTOVER_SECONDS
            elif self._until is not None and now >= self._until:
                self._left = self._left or not self._is_asked
                self._kill() if self._is_asked else self._ask()
                continue
            ready, _, _ = select.select(self._sources, [], [], self._time_to_wait(now))
            self._take(ready)
        return -signal.SIGKILL if self._code is None else self._code, self._left

    def _reap(self) -> bool:
        """Takes the ends of processes; gives whether any process is still there."""
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if process == 0:
                return True
            if process == self._first:
                self._code = os.waitstatus_to_exitcode(status)

    def _is_given_up(self) -> bool:
        return self._kills and self._until is not None and time.monotonic() >= self._until

    def _time_to_wait(self, now: float) -> float | None:
        if self._kills:
            return AGAIN_SECONDS
        return None if self._until is None else max(0.0, self._until - now)

    def _take(self, ready: list[int]) -> None:
        for source in ready:
            try:
                said = os.read(source, 1000)
            except OSError:
                said = b""
            if source != self._control:
                continue
            if not said:
                self._sources.remove(source)
                self._kill()
            elif END in said and not self._is_asked:
                self._ask()

    def _ask(self) -> None:
        self._is_asked = True
        self._until = time.monotonic() + GRACE_SECONDS
        _signal_all(signal.SIGTERM)

    def _kill(self) -> None:
        self._kills = True
        self._until = time.monotonic() + KILLING_SECONDS


def _signal_all(number: signal.Signals) -> None:
    for process in _below(os.getpid()):
        try:
            os.kill(process, number)
        except OSError:  # it has ended, or is another user's
            continue


def _below(process: int) -> list[int]:
    """All processes below that one: those that it has started, and those that they have started."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                parent = _parent(f"/proc/{entry.name}/stat")
            except (OSError, ValueError, IndexError):  # it is gone
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found, next_ones = list[int](), [process]
    while next_ones:
        below = children.get(next_ones.pop(), [])
        found += below
        next_ones += below
    return found


def _parent(path: str) -> int:
    file = os.open(path, os.O_RDONLY)  # `pathlib` would take as long to import as all else
    try:
        # After the name, which may hold anything, come the state and the parent.
        return int(os.read(file, 1000).rpartition(b")")[2].split()[1])
    finally:
        os.close(file)


if __name__ == "__main__":
    main()
