"""Runs one command with all that it starts, streams what it says, and leaves nothing of it behind.

`bash.py` and `sandbox/` decide what the command is and may do. Its environment is the user's own, without what is secret. Outside
of a sandbox it runs below a helper of ours that ends all that came of it (`run_alone`, `processes/reaper.py`; Linux). The helper's start
takes some 40 ms. In a sandbox nobody needs it: there all processes end with their first one. Processes that left the command's group carry
its mark in their environment. By it they are found and ended, where the system shows the environment of processes (Linux alone).
"""

from __future__ import annotations

import asyncio
import codecs
import os
import re
import secrets
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, TypeAlias

from ullage.context.redact import redact
from ullage.processes import reaper as helper
from ullage.processes.ending import KILLED, Group
from ullage.processes.programs import reaper
from ullage.processes.start import Asker, start_for_user
from ullage.tools.limit import Limit

KEPT_CHARACTERS = 4_000_000
"""How many characters of an output are kept, half from its start and half from its end, so that no command fills the memory."""

ERROR_CHARACTERS = 100_000
"""How many bytes of standard error are kept if it comes apart: it is one message."""

GRACE_SECONDS = 1.0
"""How long processes get to end by themselves when they are told to, before they are killed."""

LEFTOVER_SECONDS = 0.5
"""How long output is still waited for after the command itself has ended; what holds it open then is in the background."""

_PATIENCE = helper.GRACE_SECONDS + helper.KILLING_SECONDS + 1.0
"""How many seconds the helper may take to end everything."""

MARK = "ULLAGE_CALL"
"""The environment variable that marks the processes of a command; its value is another one for each command."""

MOST_ROUNDS = 50
"""How often marked processes are looked for, since a process may start others meanwhile."""


Ended: TypeAlias = Literal["by itself", "by timeout", "stopped"]
"""How a command came to its end; it is stopped by the user or by the model."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended. `exit_code` is negative for a signal, as `subprocess` has it."""

    output: str
    exit_code: int
    ended: Ended
    had_leftovers: bool
    """Whether it left processes in the background, which were ended."""
    dropped: int = 0
    """How many characters of the output were not kept."""
    errors: str = ""
    """The beginning of standard error, if that came apart (`ERROR_CHARACTERS`); else empty."""


async def run_process(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    limit: Limit,
    on_output: Callable[[str], None],
    pass_fds: Sequence[int] = (),
    given: IO[bytes] | None = None,
) -> Finished:
    """Runs the command to its end, as long as the limit lets it; standard output and error come as one text. With `given`, a file that it
    reads on standard input, they come apart.

    Cancelling ends it and all that it started. Raises `OSError` if it cannot be started.
    """
    mark = _new_mark()
    transport, protocol, group = await start_for_user(
        Asker.SHELL,
        command,
        lambda: Output(on_output),
        folder=folder,
        environment={**environment, MARK: mark},
        pass_fds=pass_fds,
        given=given,
    )
    try:
        ended = await wait_for_end(protocol, limit)
        had_leftovers = not protocol.closed.is_set()
        if ended != "by itself" or had_leftovers:
            await _end(group, protocol)
        had_leftovers = await asyncio.to_thread(_end_marked, mark) > 0 or had_leftovers
        code = transport.get_returncode()
        code = KILLED if code is None else code
        return Finished(protocol.text(), code, ended, had_leftovers and ended == "by itself", protocol.dropped, protocol.errors())
    finally:
        group.kill()
        await asyncio.shield(asyncio.to_thread(_end_marked, mark))
        with suppress(TimeoutError):
            await asyncio.wait_for(protocol.exited.wait(), GRACE_SECONDS)
        transport.close()
        group.close()


async def wait_for_end(protocol: Output, limit: Limit) -> Ended:
    """Waits for the end of the process, then a little for the end of its output. Gives how it ended."""
    exited, over = asyncio.ensure_future(protocol.exited.wait()), asyncio.ensure_future(limit.over())
    try:
        await asyncio.wait({exited, over}, return_when=asyncio.FIRST_COMPLETED)
        if not exited.done():
            return over.result()
    finally:
        exited.cancel()
        over.cancel()
    with suppress(TimeoutError):
        await asyncio.wait_for(protocol.closed.wait(), LEFTOVER_SECONDS)
    return "by itself"


async def _end(group: Group, protocol: Output) -> None:
    """Asks all processes of the group to end, and kills those that have not."""
    group.ask()
    with suppress(TimeoutError):
        await asyncio.wait_for(protocol.closed.wait(), GRACE_SECONDS)
    group.kill()
    with suppress(TimeoutError):
        await asyncio.wait_for(protocol.exited.wait(), GRACE_SECONDS)


class Output(asyncio.SubprocessProtocol):
    """Takes the output as it comes. The low-level protocol tells the end of the process apart from the end of its output."""

    def __init__(self, on_output: Callable[[str], None]) -> None:
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()
        self._on_output = on_output
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._head: list[str] = []
        self._head_room = KEPT_CHARACTERS // 2
        self._tail: deque[str] = deque()
        self._tail_length = 0
        self.dropped = 0
        """How many characters were not kept."""
        self._errors = bytearray()
        self._open = {1}
        """The numbers of the pipes from which something may still come."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.SubprocessTransport) and transport.get_pipe_transport(2) is not None:
            self._open.add(2)

    def errors(self) -> str:
        """The text of standard error, if that comes apart, up to `ERROR_CHARACTERS`; else empty."""
        return self._errors.decode("utf-8", "replace")

    def text(self) -> str:
        """All of the output that was kept, with a remark where some was dropped."""
        gap = [f"\n[{self.dropped:,} characters of the output were not kept]\n"] if self.dropped else []
        return "".join([*self._head, *gap, *self._tail])

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._errors += data[: max(0, ERROR_CHARACTERS - len(self._errors))]
        else:
            self._take(self._decoder.decode(data))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self._take(self._decoder.decode(b"", final=True))
        self._open.discard(fd)
        if not self._open:
            self.closed.set()

    def process_exited(self) -> None:
        self.exited.set()

    def _take(self, text: str) -> None:
        if not text:
            return
        self._on_output(text)
        head, tail = text[: self._head_room], text[self._head_room :]
        if head:
            self._head.append(head)
            self._head_room -= len(head)
        if tail:
            self._tail.append(tail)
            self._tail_length += len(tail)
        while self._tail_length > KEPT_CHARACTERS // 2:
            oldest = self._tail.popleft()
            self._tail_length -= len(oldest)
            self.dropped += len(oldest)


async def run_alone(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    limit: Limit,
    on_output: Callable[[str], None],
    given: IO[bytes] | None = None,
) -> Finished:
    """Runs the command to its end, as long as the limit lets it, and leaves nothing of it behind, as far as the system lets us. `given` is
    as for `run_process`.

    Cancelling ends it and all that it started. Raises `OSError` if it cannot be started.
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        before = reaper(theirs.fileno())
        if before is None:
            return await run_process(command, folder, environment, limit, on_output, given=given)
        mark = _new_mark()
        transport, protocol, group = await start_for_user(
            Asker.SHELL,
            [*before, *command],
            lambda: Output(on_output),
            folder=folder,
            environment={**environment, MARK: mark},
            pass_fds=(theirs.fileno(),),
            given=given,
        )
        theirs.close()
        try:
            ended = await wait_for_end(protocol, limit)
            if ended != "by itself":
                with suppress(OSError):
                    ours.send(helper.END)
                with suppress(TimeoutError):
                    await asyncio.wait_for(protocol.exited.wait(), _PATIENCE)
            code, left = _told(ours)
            left = await asyncio.to_thread(_end_marked, mark) > 0 or left
            return Finished(protocol.text(), code, ended, left and ended == "by itself", protocol.dropped, protocol.errors())
        finally:
            ours.close()  # it kills all that is still there
            with suppress(TimeoutError):
                await asyncio.wait_for(protocol.exited.wait(), _PATIENCE)
            group.kill()
            await asyncio.shield(asyncio.to_thread(_end_marked, mark))
            transport.close()
            group.close()


def _told(ours: socket.socket) -> tuple[int, bool]:
    """What the helper said before it ended: the exit code, and whether processes were left in the background. Raises `OSError` if the
    command could not be started."""
    ours.setblocking(False)
    try:
        said = ours.recv(1000).decode().split()
    except OSError:
        said = []
    match said:
        case ["failed", number, *_]:
            raise OSError(int(number), os.strerror(int(number)))
        case ["ended", code, left]:
            return int(code), left == "1"
        case _:  # it was killed
            return KILLED, False


def _new_mark() -> str:
    """A value that no other command has."""
    return secrets.token_hex(16)


def _end_marked(mark: str) -> int:
    """Kills all processes with that mark; gives how many there were."""
    ended: set[int] = set()
    for _ in range(MOST_ROUNDS):
        found = [process for process in _marked(mark) if process not in ended]
        if not found:
            break
        for process in found:
            with suppress(OSError):
                os.kill(process, -KILLED)
            ended.add(process)
    return len(ended)


def _marked(mark: str) -> Iterator[int]:
    if sys.platform != "linux":
        return
    line = f"{MARK}={mark}".encode()
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            if line in Path(f"/proc/{entry.name}/environ").read_bytes().split(b"\0"):
                yield int(entry.name)
        except OSError:
            continue


# The environment of a command

SECRET_NAMES = re.compile(
    r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|WEBHOOK|COOKIE|BEARER|JWT|CONNECTION_?STRING|CONN_?STR|^ANTHROPIC_"
    r"|(?:^|_)(?:PASS|AUTH)(?:_CONFIG|_JSON)?$|(?:^|_)PASS_|_(?:PWD|PAT|DSN|SAS|JDBC)$|__AUTH"
    r"|(?:DATABASE|DB|REDIS|MONGO|MONGODB|POSTGRES|POSTGRESQL|PG|MYSQL|MARIADB|SQL|AMQP|RABBITMQ|BROKER|KAFKA|ELASTIC\w*|CLICKHOUSE"
    r"|SUPABASE|CACHE|CELERY\w*|STORAGE)_(?:URL|URI|DIRECT_URL)$",
    re.IGNORECASE,
)
"""Names of variables that are left out as secret. Something harmless may go too (`KEYBOARD_LAYOUT`). Under other names, a variable is left
out if its value shows that it is secret."""

SECRET_VALUES = re.compile(
    r"[a-z][a-z0-9+.-]*://[^/\s@]+@|(?:^|;)\s*(?:password|pwd|accountkey|sharedaccesskey|user id|uid)\s*="
    r"|^jdbc:|[?&](?:sig|token|access_token|key)=",
    re.IGNORECASE,
)
"""Values that are secret, beside those that `redact` knows: an address with a name before the host (which may be a token), and what
databases are reached with."""

EDITOR_NAMES = re.compile(r"^(VSCODE|ELECTRON)_|^(GIT|SSH)_ASKPASS$")
"""Names of variables that the editor sets for its own processes, or that make `code` or Electron programs misbehave below it."""

ADDED = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "PAGER": "cat",
    "PYTHONUNBUFFERED": "1",
    "TERM": "dumb",
}
"""Variables that are set so that no program waits for someone to press a key, colours its output, or holds it back."""

LEFT_OUT = frozenset({"CDPATH", "BASHOPTS", "SHELLOPTS", "GLOBIGNORE"})
"""Variables that are left out: with them, `cd src` and `*.py` would mean something else than they say."""

KEPT_FOR_READING = re.compile(r"PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TEMP|TMP|SYSTEMROOT|WINDIR", re.IGNORECASE)
"""Names of the variables that a command that only reads gets: none that names options, programs, libraries or functions (`BASH_ENV`,
`RIPGREP_CONFIG_PATH`)."""

ADDED_FOR_READING = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_CONFIG_KEY_1": "core.hooksPath",
    "GIT_CONFIG_VALUE_1": "/dev/null",
}
"""Variables with which git fetches nothing, locks nothing, and runs no monitor and no hook. It still runs filters: the sandbox is there for
these."""


def reading_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """The environment for a command that is known to only read."""
    kept = {name: value for name, value in tool_environment(inherited).items() if KEPT_FOR_READING.fullmatch(name)}
    return kept | ADDED | ADDED_FOR_READING


WAYS_OUT = re.compile(
    r"^(?:SSH_AUTH_SOCK|SSH_AGENT_PID|GPG_AGENT_INFO|GNOME_KEYRING_CONTROL|DBUS_\w+|XDG_RUNTIME_DIR|XDG_SESSION_\w+|DISPLAY|WAYLAND_DISPLAY"
    r"|XAUTHORITY|TMUX\w*|STY|DOCKER_\w+|CONTAINER_HOST|PODMAN_\w+|KUBECONFIG|WSL_INTEROP|NOTIFY_SOCKET|LISTEN_\w+|SESSION_MANAGER|ICEAUTHORITY"
    r"|(?:HTTPS?|ALL|FTP|NO)_PROXY)$",
    re.IGNORECASE,
)
"""Names of variables that lead to sockets of the user or to proxies: none can be reached from the sandbox."""


def sandbox_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a command in the sandbox, from the one that it would have outside."""
    kept = {name: value for name, value in environment.items() if not WAYS_OUT.match(name)}
    for name in ("TMPDIR", "TEMP", "TMP"):
        kept.pop(name, None)
    if hasattr(os, "getuid") and os.getuid() == 0:
        kept["TAR_OPTIONS"] = "--no-same-owner"  # without capabilities root cannot give files away either, and tar would fail
    return kept | {"TMPDIR": "/tmp"}  # noqa: S108 - the sandbox's own


def tool_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """The environment for a command, from the inherited one: without what is secret or belongs to the editor."""
    return {name: value for name, value in inherited.items() if not _is_left_out(name, value)} | ADDED


def _is_left_out(name: str, value: str) -> bool:
    if name in LEFT_OUT or SECRET_NAMES.search(name) or EDITOR_NAMES.search(name):
        return True
    return bool(SECRET_VALUES.search(value)) or redact(value) != value
