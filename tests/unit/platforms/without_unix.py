"""A program of its own: takes from Python what it does not have on Windows, imports all of Ullage, and prints what could not be.

Packages of others are read before: they bring other files for Windows, and are tested there by those who make them.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import sys
from types import ModuleType

import ullage

MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty")

KEPT_SIGNALS = {"SIGABRT", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM", "SIG_DFL", "SIG_IGN"}

NAMES: dict[ModuleType, set[str]] = {
    signal: {name for name in dir(signal) if name.startswith("SIG") and name.isupper()} - KEPT_SIGNALS | {"pidfd_send_signal", "setitimer"},
    socket: {"AF_UNIX", "recv_fds", "send_fds"},
    select: {"epoll", "poll"},
    os: {
        *("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_PATH", "WNOHANG"),
        *(
            "chown",
            "fchmod",
            "fork",
            "getgid",
            "getuid",
            "geteuid",
            "getpgid",
            "killpg",
            "mkfifo",
            "pidfd_open",
            "setsid",
            "sysconf",
            "uname",
        ),
    },
}
"""What "Availability: Unix" or "Linux" says in Python's documentation, of what programs use."""


def names() -> list[str]:
    return [each.name for each in pkgutil.walk_packages(ullage.__path__, "ullage.") if not each.name.endswith("__main__")]


def main() -> None:
    all_of_it = names()
    for name in all_of_it:
        importlib.import_module(name)
    for name in list(sys.modules):
        if name == "ullage" or name.startswith("ullage."):
            del sys.modules[name]
    for module, gone in NAMES.items():
        for name in gone:
            if hasattr(module, name):
                delattr(module, name)
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    sys.platform = "win32"
    failed: dict[str, str] = {}
    for name in all_of_it:
        try:
            importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 - what it is is printed
            failed[name] = repr(error)
    print(json.dumps({"failed": failed, "imported": len(all_of_it)}))  # noqa: T201


if __name__ == "__main__":
    main()
