"""The sandbox on Linux: the command line of bubblewrap, whether there is one that works here, and how much a command may take.

A command has namespaces of its own for users, mounts, processes, network, IPC and host name, no capability, a filter of system calls
(`system_calls.py`), and sees what `confinement.py` says. Its network has the loopback device alone.

How much of the machine it takes is looked at once a second, and it is ended when it takes more. Limits of the kernel do not fit: those of a
process (`RLIMIT_AS`) break Node and Java, which reserve far more than they use; the number of processes is not limited for root; groups of
control are not the user's everywhere.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncGenerator, Generator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ullage.processes.programs import find_program
from ullage.processes.start import Asker, start
from ullage.tools.sandbox.confinement import Confined, ConfinedView, Confinement, NoSandbox, OwnFolders
from ullage.tools.sandbox.guarded import Guarded
from ullage.tools.sandbox.known_places import OWN_CACHES
from ullage.tools.sandbox.network.connection import connected, proxy_variables
from ullage.tools.sandbox.network.enter import PORT
from ullage.tools.sandbox.network.local_ports import CommandSpan
from ullage.tools.sandbox.network.proxy import Proxy
from ullage.tools.sandbox.system_calls import system_call_filter

GIBIBYTE = 1 << 30

INTERVAL_SECONDS = 1.0

PROBE_SECONDS = 5.0

BLOCKED = ("read-only file system", "device or resource busy")
"""The messages of programs (in any case) that may not write, or not put another file in the place of one that is guarded."""

_ISOLATION = (
    "--unshare-user",
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--cap-drop",
    "ALL",
    "--die-with-parent",
    "--as-pid-1",
)
"""The options that isolate a command. With their own process numbers, all its processes end when it ends, whatever they do.

Bubblewrap's own first process in there would be without the filter, and a command could steer it as a debugger does. So the shell of
`_FIRST_PROCESS` takes its place.
"""

_FIRST_PROCESS = ("/bin/sh", "-c", '"$@"; exit $?', "sh")
"""The first process: it has the filter, collects what ends, and leaves the command itself a number with which signals work as usual."""

TEMPORARY = "/tmp"  # noqa: S108 - the name in there; what it stands for is the sandbox's own

IN_MEMORY = ("/dev/shm", "/var/tmp")  # noqa: S108 - likewise

IN_MEMORY_BYTES = 2 << 30
"""How many bytes a folder in memory may hold, from bubblewrap 0.8 on."""

_NO_NESTING = "--disable-userns"
"""The option that forbids namespaces of users within, from bubblewrap 0.8 on. The filter refuses them, too."""


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """A bubblewrap that works here."""

    program: str
    isolation: tuple[str, ...] = _ISOLATION

    @property
    def blocked(self) -> Sequence[str]:
        """The messages of programs that may not write."""
        return BLOCKED

    @asynccontextmanager
    async def confine(
        self, command: Sequence[str], confinement: Confinement, proxy: Proxy | None, place: CommandSpan | None = None
    ) -> AsyncGenerator[Confined]:
        """The command as it is to be started in namespaces of its own. With a proxy it is watched how much the command takes of the
        machine, too. Raises `OSError`."""
        with filter_file() as descriptor:
            if proxy is None:
                yield Confined(sandboxed(self, command, confinement, descriptor), pass_fds=(descriptor,))
                return
            hit: list[str] = []
            async with connected(proxy, place) as connection:
                watching = asyncio.ensure_future(_watch(connection.started, confinement.roots, hit))
                try:
                    line = sandboxed(self, command, confinement, descriptor, connection.arguments)
                    yield Confined(line, proxy_variables(PORT), (descriptor, *connection.pass_fds), hit)
                finally:
                    watching.cancel()
                    await asyncio.gather(watching, return_exceptions=True)


async def _watch(started: asyncio.Future[int], roots: Sequence[Path], hit: list[str]) -> None:
    await watch(await started, roots, usual_limits(), hit)


def sandboxed(
    bubblewrap: Bubblewrap, command: Sequence[str], confinement: Confinement, filter_fd: int, more: Sequence[str] = ()
) -> list[str]:
    """The command line that runs `command` so confined. `filter_fd` gives the program of `system_call_filter` to bubblewrap;
    `more` are arguments for it.

    `/proc` is read-only: for root the kernel lets anybody with its number write to `/proc/sys`, where programs of the kernel are named.
    A later mount lies over an earlier one, so folders come before those inside of them. What is masked comes last: it may be guarded, too
    (`~/.ssh` in a home folder that was opened). The folders around it are mounts then, which cannot be moved away with it.
    """
    view = confinement.view
    arguments = [bubblewrap.program, *bubblewrap.isolation, "--seccomp", str(filter_fd), *more]
    arguments += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc"]
    size = ["--size", str(IN_MEMORY_BYTES)] if _NO_NESTING in bubblewrap.isolation else []
    for folder in view.empty:
        arguments += [*size, "--tmpfs", str(folder)]
    for folder in IN_MEMORY:
        arguments += ["--perms", "1777", *size, "--tmpfs", folder]
    arguments += _own_folders(confinement, size)
    for source, place in view.shown:
        arguments += ["--ro-bind-try", str(source), str(place)]
    bind = "--bind" if confinement.writable else "--ro-bind"
    for root in sorted(confinement.roots, key=lambda root: len(root.parts)):
        arguments += [bind, str(root), str(root)]
    if confinement.writable:
        for folder in confinement.held:
            arguments += ["--bind-try", str(folder), str(folder)]
        for path in confinement.guarded:
            arguments += ["--ro-bind-try", str(path), str(path)]
    for path in view.masked:
        arguments += ["--tmpfs", str(path)] if path.is_dir() else ["--ro-bind", "/dev/null", str(path)]
    return [*arguments, "--", *_FIRST_PROCESS, *command]


def _own_folders(confinement: Confinement, size: Sequence[str]) -> list[str]:
    """The arguments for `/tmp`, the home folder and its caches.

    A folder of the disk in which another mount has to be made could hold links that a command put there earlier, and bubblewrap would
    follow them; so `/tmp` is in memory if a workspace folder lies in it.
    """
    own, home = confinement.own, confinement.home
    temporary = None if any(root.is_relative_to(TEMPORARY) for root in confinement.roots) else own.temporary
    arguments = ["--perms", "1777", *size, "--tmpfs", TEMPORARY] if temporary is None else ["--bind", str(temporary), TEMPORARY]
    arguments += ["--perms", "0700", *size, "--tmpfs", str(home)]
    for name in OWN_CACHES:
        arguments += ["--dir", str(home / name)] if own.home is None else ["--bind", str(own.home / name), str(home / name)]
    return arguments


@contextmanager
def filter_file() -> Generator[int]:
    """A descriptor with the program of system calls, to be handed to one bubblewrap.

    Raises `OSError` if this machine's system calls are not known.
    """
    program = system_call_filter()
    if program is None or sys.platform != "linux":
        raise OSError("The system calls of this machine are not known to the sandbox")
    descriptor = os.memfd_create("ullage-system-calls")
    try:
        os.write(descriptor, program)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


async def find_bubblewrap(not_in: Sequence[Path]) -> Bubblewrap | NoSandbox:
    """The bubblewrap of this machine outside of the folders `not_in`, tried out with all that commands get; or why there is none."""
    program = find_program("bwrap", not_in)
    if program is None:
        return NoSandbox(
            "bubblewrap is not installed", "Install it (Debian, Ubuntu: `apt install bubblewrap`; Fedora: `dnf install bubblewrap`)."
        )
    if system_call_filter() is None:
        return NoSandbox("this processor is not one that the sandbox knows (x86_64, aarch64)", "Run Ullage on another machine.")
    said = ""
    for isolation in ((*_ISOLATION, _NO_NESTING), _ISOLATION):
        code, said = await _try_out(Bubblewrap(program, isolation))
        if code == 0:
            return Bubblewrap(program, isolation)
    return NoSandbox(f"bubblewrap does not work here ({said or 'it ended without a word'})", _remedy())


async def _try_out(bubblewrap: Bubblewrap) -> tuple[int, str]:
    """Runs an empty command in that sandbox; gives its exit code, and the last line that it said."""
    confinement = Confinement((Path("/usr"),), ConfinedView(), Guarded(), OwnFolders(), Path.home().resolve(), writable=False)
    try:
        with filter_file() as descriptor:
            command = sandboxed(bubblewrap, ["/bin/sh", "-c", ":"], confinement, descriptor)
            process = await start(Asker.SANDBOX_PROBE, command, complaints=True, pass_fds=(descriptor,))
    except OSError as error:
        return 1, str(error)
    try:
        said = await asyncio.wait_for(process.complaints.read(), PROBE_SECONDS)
        code = await asyncio.wait_for(process.wait(), PROBE_SECONDS)
    except TimeoutError:
        return 1, f"no answer within {PROBE_SECONDS:g} seconds"
    finally:
        await process.end()
    lines = said.decode(errors="replace").strip().splitlines()
    return code, lines[-1] if lines else ""


def _remedy() -> str:
    if Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").exists():
        return (
            "Ubuntu lets only programs with an AppArmor profile make user namespaces: put one for /usr/bin/bwrap with the rule `userns,` "
            "into /etc/apparmor.d (docs/sandbox.md has it), and load it with `apparmor_parser -r`."
        )
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        return "In a container, user namespaces and the mounting of /proc have to be allowed (docs/sandbox.md says how)."
    return "User namespaces have to be allowed (`sysctl kernel.unprivileged_userns_clone=1`, `user.max_user_namespaces` above 0)."


@dataclass(frozen=True, slots=True)
class Limits:
    """How much all processes of one command may take together."""

    memory: int
    """The most bytes of memory that are theirs alone."""
    processes: int = 4_000
    """The most processes: far above any build; a machine has 32,768 numbers or more."""
    free_disk: int = GIBIBYTE
    """How many bytes must stay free on the disk of each workspace folder. If fewer were free at the start, half of those."""


def usual_limits() -> Limits:
    """The usual limits: three quarters of the memory, at least 2 GiB. That is enough for any build that the machine can do, and the editor
    goes on."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Limits(max(2 * GIBIBYTE, total * 3 // 4))


async def watch(process: int, folders: Sequence[Path], limits: Limits, hit: list[str]) -> None:
    """Watches the namespace of processes whose first one is `process`. Kills it when it takes too much, and adds the reason to `hit`.

    Goes on until it is cancelled, or the process is gone.
    """
    with suppress(OSError):
        handle = os.pidfd_open(process)
        try:
            namespace = Path(f"/proc/{process}/ns/pid").stat().st_ino
            floors = [(folder, min(limits.free_disk, shutil.disk_usage(folder).free // 2)) for folder in folders]
            while True:
                await asyncio.sleep(INTERVAL_SECONDS)
                said = await asyncio.to_thread(_exceeded, namespace, floors, limits)
                if said is not None:
                    hit.append(said)
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                    return
        finally:
            os.close(handle)


def _exceeded(namespace: int, floors: Sequence[tuple[Path, int]], limits: Limits) -> str | None:
    sizes = list(_sizes(namespace))
    if sum(sizes) > limits.memory:
        return f"it used more than {limits.memory / GIBIBYTE:.1f} GiB of memory"
    if len(sizes) > limits.processes:
        return f"it had more than {limits.processes:,} processes"
    for folder, floor in floors:
        if shutil.disk_usage(folder).free < floor:
            return f"it left less than {floor / GIBIBYTE:.1f} GiB free on the disk of {folder}"
    return None


def _sizes(namespace: int) -> Iterator[int]:
    """The bytes of memory of each process in that namespace, without what they share."""
    page = os.sysconf("SC_PAGE_SIZE")
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            if Path(f"/proc/{entry.name}/ns/pid").stat().st_ino == namespace:
                _, resident, shared, *_ = Path(f"/proc/{entry.name}/statm").read_text().split()
                yield (int(resident) - int(shared)) * page
        except (OSError, ValueError):
            continue
