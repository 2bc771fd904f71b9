"""The sandbox on macOS: a profile for Seatbelt, which `sandbox-exec` puts on a command and all that it starts.

Generated, and tested as text. It was never run on a Mac: docs/sandbox.md says so to the user.

Seatbelt has no mounts. It asks the profile at each call of the system, by the path with its links resolved, and **the last rule that
matches decides**. So the rules come as mounts would be laid over one another: nothing, the system, what is hidden, what of that is shown
again, the workspace folders, what is masked, what is guarded. A path-based guard could be moved away with the folder that it lies in; so
these folders cannot be renamed, removed or replaced.

The rules were compared with those of @anthropic-ai/sandbox-runtime 0.0.78, which run on Macs. It says of Seatbelt that a rule for a single
operation is not undone by a later one for a group of them (`file-write*`). No rule here needs that. Beyond ours, it lets commands use
keychains, preferences, fonts, sounds, graphics memory and distributed notifications.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from ullage.processes.start import Asker, start
from ullage.tools.sandbox.confinement import Confined, ConfinedView, Confinement, NoSandbox, OwnFolders, folders_around
from ullage.tools.sandbox.guarded import Guarded
from ullage.tools.sandbox.known_places import OWN_CACHES
from ullage.tools.sandbox.network.connection import proxy_variables
from ullage.tools.sandbox.network.local_ports import CommandSpan
from ullage.tools.sandbox.network.proxy import Proxy

PROGRAM = "/usr/bin/sandbox-exec"

PROBE_SECONDS = 5.0

BLOCKED = ("operation not permitted",)
"""The messages of programs (in lower case) when the profile does not let them do something."""

LONGEST_STRING = 1_000
"""The most bytes of a string in a profile. `sandbox-exec` takes 1,025."""

MACH_SERVICES = (
    "com.apple.bsd.dirhelper",
    "com.apple.logd",
    "com.apple.system.logger",
    "com.apple.system.notification_center",
    "com.apple.system.opendirectoryd.libinfo",
    "com.apple.system.opendirectoryd.membership",
)
"""Services that a command may talk to: names of users, the log, temporary folders. Not those that hold keys (`securityd`), look names up in
the network, open documents or start programs (`launchservicesd`, `appleevents`): what these do is outside of the sandbox."""

SYSTEM_VALUES = (
    "hw.",
    "kern.argmax",
    "kern.bootargs",
    "kern.hostname",
    "kern.maxfiles",
    "kern.maxproc",
    "kern.ngroups",
    "kern.os",
    "kern.proc.all",
    "kern.proc.pgrp.",
    "kern.proc.pid.",
    "kern.secure_kernel",
    "kern.tcsm_",
    "kern.usrstack64",
    "kern.version",
    "kern.willshutdown",
    "machdep.",
    "net.routetable.",
    "security.mac.lockdown_mode_state",
    "sysctl.",
    "vm.loadavg",
)
"""The beginnings of the names of system values that may be read. `kern.procargs` is not among them: it tells the arguments and variables of
other processes. `net.routetable` tells of network interfaces: Node ends with an error if a program asks for them and gets no answer."""

READ_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/dtracehelper", "/dev/fd", "/dev/stdin")
WRITTEN_DEVICES = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper", "/dev/fd", "/dev/stdout", "/dev/stderr")
"""The devices that may be written to. All devices that are not named here are hidden: for root a disk is one."""

CACHES = {"XDG_CACHE_HOME": ".cache", "npm_config_cache": ".npm", "PIP_CACHE_DIR": ".cache/pip", "GOCACHE": ".cache/go-build"}
"""The variables by which tools are told where to keep what they fetch, each with its folder: nothing can be laid over `~/.cache` here."""


class Unquotable(OSError):
    """A path cannot stand in a profile. No command runs in a sandbox that leaves it out."""


def profile(confinement: Confinement, proxy_port: int | None) -> str:
    """The profile for one command. Raises `Unquotable`."""
    return "".join(f"{rule}\n" for rule in _rules(confinement, proxy_port))


def _rules(confinement: Confinement, proxy_port: int | None) -> Iterator[str]:
    view, own = confinement.view, _own(confinement)
    yield "(version 1)"
    yield "(deny default)"  # hard links, raw sockets, drivers, debugging and other services of the system among the rest
    yield "(allow process-exec process-fork)"
    yield "(allow process-info* signal (target same-sandbox))"
    yield "(allow ipc-posix-sem ipc-posix-shm)"
    yield _rule("allow", "sysctl-read", (f"(sysctl-name-prefix {quoted(name)})" for name in SYSTEM_VALUES))
    yield _rule("allow", "mach-lookup", (f"(global-name {quoted(name)})" for name in MACH_SERVICES))

    yield '(allow file-read* (subpath "/"))'
    yield _rule("deny", "file-read*", _below(view.empty))
    yield "(allow file-read-metadata (vnode-type DIRECTORY))"  # so that a path through what is hidden can be resolved
    yield _rule("allow", "file-read*", _below(map(Path, READ_DEVICES)))
    yield _rule("allow", "file-write-data file-ioctl", _below(map(Path, WRITTEN_DEVICES)))
    yield _rule("allow", "file-read*", _below(source for source, _ in view.shown))
    yield _rule("allow", "file-read*", (f"(literal {quoted(place)})" for source, place in view.shown if source != place))
    yield _rule("allow", "file-read* file-write*" if confinement.writable else "file-read*", _below((*confinement.roots, *own)))

    yield _rule("deny", "file-read* file-write*", _below(view.masked))
    if confinement.writable:
        kept = {folder: None for path in confinement.guarded for folder in folders_around(path, confinement.roots)}
        kept |= dict.fromkeys(confinement.held)
        yield _rule("deny", "file-write*", _below(confinement.guarded))
        yield _rule("deny", "file-write-unlink file-write-create", (f"(literal {quoted(folder)})" for folder in kept))
    if proxy_port is not None:
        yield f'(allow network-outbound (remote ip "localhost:{proxy_port}"))'


def _own(confinement: Confinement) -> tuple[Path, ...]:
    own = confinement.own
    folders = [] if own.temporary is None else [own.temporary]
    folders += [] if own.home is None else [own.home / name for name in OWN_CACHES]
    return tuple(folder.resolve() for folder in folders)


def _rule(action: str, operations: str, filters: Iterable[str]) -> str:
    """A rule for whatever one of the filters matches; empty without filters: such a rule would match everything."""
    several = " ".join(dict.fromkeys(filters))
    return f"({action} {operations} {several})" if several else ""


def _below(paths: Iterable[Path]) -> Iterator[str]:
    return (f"(subpath {quoted(path)})" for path in paths)


def quoted(text: str | Path) -> str:
    """The text as a string of the profile's language, whatever is in it. Raises `Unquotable`."""
    try:
        length = len(str(text).encode())
    except UnicodeEncodeError as error:
        raise Unquotable(f"{str(text)!r} is no UTF-8, so the sandbox cannot name it") from error
    if length > LONGEST_STRING or "\0" in str(text):
        raise Unquotable(f"{str(text)[:80]!r}… is too long for the sandbox to name it")
    return '"' + str(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


@dataclass(frozen=True, slots=True)
class Seatbelt:
    """The `sandbox-exec` of this Mac."""

    program: str = PROGRAM

    @property
    def blocked(self) -> Sequence[str]:
        """The messages of programs that may not write."""
        return BLOCKED

    @asynccontextmanager
    async def confine(
        self, command: Sequence[str], confinement: Confinement, proxy: Proxy | None, place: CommandSpan | None = None
    ) -> AsyncGenerator[Confined]:
        """The command as it is to be started, with a profile.

        The proxy listens on this machine, at a port that is the only one it may connect to. It has no neighbours: no command can listen.
        Raises `OSError`.
        """
        port, environment = None, _folders_of(confinement.own)
        if proxy is not None:
            listener = socket.create_server(("127.0.0.1", 0))
            listener.setblocking(False)
            port = int(listener.getsockname()[1])
            await proxy.serve(listener)
            environment |= proxy_variables(port)
        yield Confined([self.program, "-p", profile(confinement, port), *command], environment)


def _folders_of(own: OwnFolders) -> dict[str, str]:
    """The environment variables that tell the command where the folders are that are the sandbox's own."""
    found = {} if own.temporary is None else {"TMPDIR": str(own.temporary.resolve())}
    if own.home is not None:
        found |= {name: str(own.home.resolve() / folder) for name, folder in CACHES.items()}
    return found


async def find_seatbelt(not_in: Sequence[Path]) -> Seatbelt | NoSandbox:
    """The sandbox of macOS, tried out; or why it does not work. `not_in` does not matter: the program lies where only the system writes."""
    if not Path(PROGRAM).is_file():
        return NoSandbox(f"{PROGRAM} is not there", "It belongs to macOS: look whether the system is whole.")
    confinement = Confinement((Path("/usr"),), ConfinedView(), Guarded(), OwnFolders(), Path.home().resolve(), writable=False)
    process = None
    try:
        process = await start(Asker.SANDBOX_PROBE, [PROGRAM, "-p", profile(confinement, None), "/bin/sh", "-c", ":"], complaints=True)
        said = await asyncio.wait_for(process.complaints.read(), PROBE_SECONDS)
        code = await asyncio.wait_for(process.wait(), PROBE_SECONDS)
    except TimeoutError:
        code, said = 1, b"no answer"
    except OSError as error:
        code, said = 1, str(error).encode()
    finally:
        if process is not None:
            await process.end()
    if code == 0:
        return Seatbelt()
    why = said.decode(errors="replace").strip() or "it ended without a word"
    return NoSandbox(
        f"sandbox-exec does not work here ({why})", "Within another sandbox it cannot be used: start the editor outside of it."
    )
