"""The helper that ends all that came of a command, as a real process."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ullage.processes.programs import reaper

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to a process of ours")


def started(command: list[str], folder: Path) -> tuple[subprocess.Popen[bytes], socket.socket]:
    ours, theirs = socket.socketpair()
    with theirs:
        before = reaper(theirs.fileno())
        assert before is not None
        return subprocess.Popen([*before, *command], cwd=folder, pass_fds=(theirs.fileno(),)), ours


def test_it_says_how_the_command_ended(tmp_path: Path) -> None:
    for script, said in (("exit 3", "ended 3 0"), ("kill -9 $$", "ended -9 0"), ("env -i setsid sleep 1000 &", "ended 0 1")):
        process, ours = started(["/bin/sh", "-c", script], tmp_path)
        with ours:
            assert process.wait() == 0
            assert ours.recv(100).decode().strip() == said


def test_it_says_that_a_command_cannot_be_started(tmp_path: Path) -> None:
    process, ours = started([str(tmp_path / "none")], tmp_path)
    with ours:
        assert process.wait() == 0
        assert ours.recv(100).decode().startswith(f"failed {errno.ENOENT}\n")


def test_nothing_outlives_the_server(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "alive")
    process, ours = started(["/bin/sh", "-c", "exec 3>alive; env -i setsid sh -c 'trap \"\" TERM; sleep 1000' & sleep 1000"], tmp_path)
    with (tmp_path / "alive").open("rb") as alive:
        ours.close()  # as the system does for one that was killed
        assert alive.read() == b""
    process.wait()
