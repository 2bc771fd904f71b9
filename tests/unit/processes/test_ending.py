"""How programs are ended on Windows, by a kernel that notes what it is asked; on Linux the tests beside hold it with real processes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import pytest

from ullage.platforms.system import System
from ullage.processes.ending import Job, own_group


class Kernel:
    """As kernel32, with handles that are numbers; functions in `refused` fail."""

    def __init__(self, refused: Sequence[str] = ()) -> None:
        self.asked: list[tuple[str, tuple[Any, ...]]] = []
        self.open: set[int] = set()
        self._refused = refused
        self._next = 100

    def __call__(self, name: str, *arguments: Any) -> int:
        self.asked.append((name, arguments))
        if name in self._refused:
            return 0
        if name == "CloseHandle":
            self.open.remove(arguments[0])
        elif name in ("OpenProcess", "CreateJobObjectW"):
            self._next += 1
            self.open.add(self._next)
            return self._next
        else:
            assert arguments[0] in self.open, f"{name} with a handle that is closed"
        return 1

    def names(self) -> list[str]:
        return [name for name, _ in self.asked]


def test_a_program_is_put_into_a_job_that_ends_with_its_handle() -> None:
    kernel = Kernel()
    job = Job(4711, kernel)
    assert kernel.names() == ["OpenProcess", "CreateJobObjectW", "SetInformationJobObject", "AssignProcessToJobObject"]
    assert kernel.asked[0][1] == (0x101, False, 4711)
    _, (_, kind, limits, size) = kernel.asked[2]
    assert (kind, size) == (9, 144 if ctypes.sizeof(ctypes.c_void_p) == 8 else 112)
    assert limits._obj.flags == 0x2000  # noqa: SLF001 (what `byref` points to has no other name)
    job.kill()
    assert kernel.names()[4:] == ["TerminateJobObject"]
    job.close()
    assert kernel.open == set()


def test_asking_ends_it_since_windows_cannot_ask() -> None:
    kernel = Kernel()
    Job(4711, kernel).ask()
    assert kernel.names()[-1] == "TerminateJobObject"


@pytest.mark.parametrize("refused", ["CreateJobObjectW", "SetInformationJobObject", "AssignProcessToJobObject"])
def test_where_a_job_is_refused_the_program_is_ended_alone(refused: str) -> None:
    kernel = Kernel([refused])
    job = Job(4711, kernel)
    job.kill()
    assert kernel.names()[-1] == "TerminateProcess"
    job.close()
    assert kernel.open == set()


def test_a_program_that_is_gone_already_is_no_error() -> None:
    kernel = Kernel(["OpenProcess"])
    job = Job(4711, kernel)
    job.kill()
    job.close()
    job.close()
    assert kernel.open == set()


def test_a_program_shares_neither_group_nor_console() -> None:
    assert own_group(System.LINUX) == own_group(System.MACOS) == {"start_new_session": True}
    assert own_group(System.WINDOWS) == {"creationflags": 0x08000200}
