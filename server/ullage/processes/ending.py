"""How a program is ended with all that it has started, on each system.

On Linux and macOS it is the first of a session and a group of processes, and the group is signalled. What leaves its group is found by
other means (`reaper.py`, `tools/process.py`). On Windows it is put into a job, which all that it starts belongs to and cannot leave. When
the last handle of a job is closed, its processes are ended. So nothing outlives the server there either.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol, TypeAlias

from ullage.platforms.system import HERE, System

KILLED = -9
"""The exit code that stands for a process that was killed, as `subprocess` has it on Linux and macOS. Windows has no such signal."""

_NEW_GROUP, _NO_WINDOW = 0x00000200, 0x08000000
"""CREATE_NEW_PROCESS_GROUP and CREATE_NO_WINDOW, "Process Creation Flags" in Microsoft's documentation. Without the second each command
would open a console, since the server has none."""


def own_group(system: System = HERE) -> dict[str, Any]:
    """The arguments for `subprocess` with which a program shares neither our group nor our console."""
    return {"creationflags": _NEW_GROUP | _NO_WINDOW} if system is System.WINDOWS else {"start_new_session": True}


class Group(Protocol):
    """A program that was started with `own_group`, and what it has started."""

    def ask(self) -> None:
        """Asks all of them to end. Does nothing if none is there any more. Windows has no way to ask: they are ended at once."""

    def kill(self) -> None:
        """Ends the program and all that it has started."""

    def close(self) -> None:
        """Lets go of the group, once nobody needs it any more. On Windows this ends what is still there."""


def group_of(process: int) -> Group:
    """The group of a program that was just started, by the number of its process."""
    return Job(process, _kernel()) if HERE is System.WINDOWS else _Session(process)


class _Session:
    def __init__(self, process: int) -> None:
        self._process = process

    def ask(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(-KILLED)

    def close(self) -> None:
        return

    def _signal(self, number: int) -> None:
        if sys.platform != "win32":
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process, number)


# Windows

_SET_QUOTA, _TERMINATE = 0x0100, 0x0001
"""PROCESS_SET_QUOTA and PROCESS_TERMINATE, which a process has to be opened with to be put into a job."""

_EXTENDED_LIMITS = 9
"""The class of information of a job that `_Limits` is: JobObjectExtendedLimitInformation."""

_KILL_ON_CLOSE = 0x2000
"""The limit that ends all processes of a job with its last handle: JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE."""


class _Limits(ctypes.Structure):
    """The structure JOBOBJECT_EXTENDED_LIMIT_INFORMATION of Windows."""

    _fields_ = [
        ("process_time", ctypes.c_int64),
        ("job_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("least_set", ctypes.c_size_t),
        ("most_set", ctypes.c_size_t),
        ("most_processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority", ctypes.c_uint32),
        ("scheduling", ctypes.c_uint32),
        ("counters", ctypes.c_uint64 * 6),
        ("memory", ctypes.c_size_t * 4),
    ]


Kernel: TypeAlias = Callable[..., int]
"""Calls a function of kernel32 by its name. A handle is a number; 0 says that it failed."""


class Job:
    """A job with one program. What the program starts before it is put in is not in it: that is the time of two calls of the system.

    Where the system refuses a job, the program alone can be ended.
    """

    def __init__(self, process: int, kernel: Kernel) -> None:
        self._call = kernel
        self._process = kernel("OpenProcess", _SET_QUOTA | _TERMINATE, False, process)
        self._job = kernel("CreateJobObjectW", None, None)
        limits = _Limits(flags=_KILL_ON_CLOSE)
        is_made = (
            self._process
            and self._job
            and kernel("SetInformationJobObject", self._job, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits))
            and kernel("AssignProcessToJobObject", self._job, self._process)
        )
        if self._job and not is_made:
            kernel("CloseHandle", self._job)
            self._job = 0

    def ask(self) -> None:
        self.kill()

    def kill(self) -> None:
        if self._job:
            self._call("TerminateJobObject", self._job, 1)
        elif self._process:
            self._call("TerminateProcess", self._process, 1)

    def close(self) -> None:
        for handle in (self._job, self._process):
            if handle:
                self._call("CloseHandle", handle)
        self._job = self._process = 0


def _kernel() -> Kernel:
    """A way to call kernel32, with the types of what its functions take: a handle is wider than ctypes would guess."""
    library: Any = ctypes.WinDLL("kernel32", use_last_error=True) if sys.platform == "win32" else None
    functions: dict[str, Callable[..., int | None]] = {}
    handle, number, flag = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int32
    for name, takes, gives in (
        ("CreateJobObjectW", [ctypes.c_void_p, ctypes.c_wchar_p], handle),
        ("SetInformationJobObject", [handle, ctypes.c_int, ctypes.c_void_p, number], flag),
        ("OpenProcess", [number, flag, number], handle),
        ("AssignProcessToJobObject", [handle, handle], flag),
        ("TerminateJobObject", [handle, ctypes.c_uint], flag),
        ("TerminateProcess", [handle, ctypes.c_uint], flag),
        ("CloseHandle", [handle], flag),
    ):
        function = getattr(library, name)
        function.argtypes, function.restype = takes, gives
        functions[name] = function

    def call(name: str, *arguments: Any) -> int:
        return functions[name](*arguments) or 0

    return call
