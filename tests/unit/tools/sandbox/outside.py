"""A world outside the sandbox for tests: a home folder with secrets, servers on sockets, a repository, and what of it has changed."""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import shutil
import socket
import stat
import subprocess
import tempfile
import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.unit.tools.sandbox.ways_out import CANARY, SECRET_FILES

REPOSITORY = {
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/config": "[core]\n\tbare = false\n\thooksPath = scripts/hooks\n\tfsmonitor = tools/monitor.sh\n",
    ".git/hooks/pre-commit.sample": "",
    ".git/objects/info/x": "",
    ".git/refs/heads/x": "",
    ".vscode/settings.json": "{}",
    ".husky/pre-commit": "true",
    ".envrc": "true",
    ".claude/settings.json": "{}",
    ".github/workflows/ci.yml": "on: push",
    "a.code-workspace": "{}",
    "AGENTS.md": "Be brief.",
    "scripts/hooks/pre-commit": "true",
    "tools/monitor.sh": "true",
    "sub/.git/HEAD": "ref: refs/heads/main\n",
    "sub/.git/config": "[core]\n",
    "src/a.txt": "a",
}

STEERING = (
    ".git/config",
    ".git/hooks",
    ".vscode",
    ".husky",
    ".envrc",
    ".claude",
    ".github",
    "a.code-workspace",
    "AGENTS.md",
    "scripts",
    "tools",
    "sub/.git",
)


SEGMENT = 0x756C6C61
"""The key of a shared memory."""

_DISPLAY = Path("/tmp/.X11-unix/X977")


@dataclass(slots=True)
class Outside:
    """The world of one run."""

    home: Path
    work: Path
    user: int | None
    reached: list[str] = field(default_factory=list[str])
    """Names of servers that somebody reached."""
    port: int = 0
    victim: int = 0

    def unlike(self, before: dict[str, str]) -> list[str]:
        """What stands otherwise than before."""
        now = self.state()
        return sorted(name for name in {*before, *now} if before.get(name) != now.get(name))

    def state(self) -> dict[str, str]:
        """A digest of all that nobody in the sandbox may change."""
        seen = {str(path): _digest(path) for path in sorted(self.home.rglob("*")) if not path.is_socket()}
        for name in STEERING:
            for path in [self.work / name, *sorted((self.work / name).rglob("*"))]:
                seen[str(path)] = _digest(path)
        for path in map(Path, ("/usr/local/ullage-out", "/ullage-out", "/tmp/ullage-out", "/var/tmp/ullage-out", "/dev/shm/ullage-out")):
            seen[str(path)] = _digest(path)
        return seen

    def runs_as_owner(self) -> list[str]:
        """Files in the workspace with the bit that makes a program its owner's."""
        return [path.name for path in self.work.rglob("*") if path.lstat().st_mode & stat.S_ISUID]


def _digest(path: Path) -> str:
    try:
        return (
            f"link {path.readlink()}"
            if path.is_symlink()
            else hashlib.sha256(path.read_bytes()).hexdigest()
            if path.is_file()
            else str(path.exists())
        )
    except OSError as error:
        return str(error)


@contextmanager
def _alone() -> Generator[None]:
    """Waits until no other process has such a world: some of it has a place that the whole machine shares."""
    with Path(tempfile.gettempdir(), "ullage-outside.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def outside(user: int | None) -> Generator[Outside]:
    """Makes the world, owned by `user` where one is given, and takes it away."""
    with ExitStack() as stack:
        stack.enter_context(_alone())
        # Where everybody may go, as to a home: the tests' own temporary folder is closed to the other user.
        folder = Path(tempfile.mkdtemp(prefix="ullage-outside-", dir="/tmp")).resolve()
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        world = Outside(folder / "home", folder / "work", user)
        for name in SECRET_FILES:
            _put(world.home / name, f"[user]\n# https://{CANARY}:{CANARY}-password@example.org\n")
        _put(world.home / ".bashrc", "true")
        (world.home / ".cache").mkdir()
        for name, text in REPOSITORY.items():
            _put(world.work / name, text)
        (world.work / "brought").symlink_to(world.home / ".ssh")
        for canary in map(Path, ("/tmp/ullage-canary", "/var/tmp/ullage-canary", "/dev/shm/ullage-canary")):
            canary.write_text(CANARY)
            stack.callback(canary.unlink, missing_ok=True)
        _serve(world, stack)
        _share_memory(stack)
        victim = subprocess.Popen(["/bin/sleep", "300"], env={"SECRET_OUTSIDE": CANARY}, user=user)
        world.victim = victim.pid
        stack.callback(victim.wait)
        stack.callback(victim.kill)
        if user is not None:
            for path in [folder, *folder.rglob("*")]:
                os.chown(path, user, user, follow_symlinks=False)
        yield world


def _share_memory(stack: ExitStack) -> None:
    """A segment of System V that everybody may read."""
    system = ctypes.CDLL(None)
    segment = system.shmget(SEGMENT, 4096, 0o1666)  # IPC_CREAT
    if segment >= 0:
        stack.callback(system.shmctl, segment, 0, None)  # IPC_RMID


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _serve(world: Outside, stack: ExitStack) -> None:
    places = [world.work / "service.sock", world.home / "service.sock", Path("/tmp/ullage-canary.sock"), _DISPLAY]
    _DISPLAY.parent.mkdir(exist_ok=True)
    for place in places:
        place.unlink(missing_ok=True)
        _listen(world, stack, socket.AF_UNIX, str(place))
        place.chmod(0o777)
        stack.callback(place.unlink, missing_ok=True)
    _listen(world, stack, socket.AF_UNIX, "\0ullage-canary")
    world.port = _listen(world, stack, socket.AF_INET, ("0.0.0.0", 0))[1]
    datagram = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    datagram.bind(str(world.work / "datagram.sock"))
    (world.work / "datagram.sock").chmod(0o777)
    threading.Thread(target=_take_datagram, args=(world, datagram), daemon=True).start()


def _listen(world: Outside, stack: ExitStack, family: int, address: str | tuple[str, int]) -> tuple[str, int]:
    server = stack.enter_context(socket.socket(family))
    server.bind(address)
    server.listen()
    stack.callback(_stop, server)
    threading.Thread(target=_take, args=(world, server, str(address)), daemon=True).start()
    return server.getsockname() if family == socket.AF_INET else ("", 0)


def _stop(server: socket.socket) -> None:
    with suppress(OSError):
        server.shutdown(socket.SHUT_RDWR)


def _take(world: Outside, server: socket.socket, name: str) -> None:
    with suppress(OSError):
        while True:
            connection, _ = server.accept()
            connection.close()
            world.reached.append(name)


def _take_datagram(world: Outside, server: socket.socket) -> None:
    with suppress(OSError):
        while server.recv(100):
            world.reached.append("datagram")
