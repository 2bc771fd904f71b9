"""Commands in the client's own terminals, where it offers them (`terminal/create`).

A command never runs in one: it would leave the sandbox, and what it changes could not be taken back
([0023](../../../docs/decisions/0023-the-agent-client-protocol-is-a-second-adapter.md)). What runs there is a small program of Ullage's own
(`terminal_viewer.py`). It shows what the command says as it says it, and ends with the command's exit code. Whoever ends it, or closes the
terminal, stops the turn. Nothing waits for the client: a command starts at once, and one whose terminal cannot be had is shown as text.
"""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
import socket
import sys
import tempfile
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from acp import RequestError, schema

from ullage.acp.outbox import ClientOutbox
from ullage.acp.terminal_viewer import VARIABLE, frame
from ullage.session.timeline.items import ToolCallItem
from ullage.session.timeline.updates import ItemUpdated, TextAppended, Update
from ullage.tools.bash import exit_code_in

if TYPE_CHECKING:
    from acp.interfaces import Client

logger = logging.getLogger(__name__)

BYTE_LIMIT = 1_048_576
"""How many bytes of an output the client is asked to keep; the value of the protocol's own example."""

END_SECONDS = 5.0
"""How long the program in the terminal may take to end once the command has, and to say who it is when it comes."""

SECRET_BYTES = 16

FAILED = 1
"""The exit code of a command that was stopped or could not be run."""

LAST_CHARACTERS = 2_000
"""How many characters at the end of a result are shown if it was not shown whole while the command ran: the end says how it went."""

_SEQUENCE = re.compile(
    r"(?P<kept>\x1b\[[0-9;:]*m)"  # colours
    r"|\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8})?\Z")


def can_be_shown(capabilities: schema.ClientCapabilities) -> bool:
    """Whether a client with these capabilities has terminals, and this system the sockets for it; Windows has none in Python."""
    return bool(capabilities.terminal) and hasattr(socket, "AF_UNIX")


@dataclass(frozen=True, slots=True)
class Shows:
    """What is done for the commands of one session in terminals."""

    session_id: str
    folder: Path | None
    show: Callable[[ToolCallItem, str | None], None]
    """Tells the client in which terminal a call is shown; None if that failed."""
    stop: Callable[[], None]
    """Called when the user has ended the terminal."""


class Terminals:
    """The terminals of one client in which commands are shown."""

    def __init__(self, client: Callable[[], Client], outbox: ClientOutbox, keep: Callable[[Coroutine[Any, Any, None]], object]) -> None:
        """`keep` runs work in the background."""
        self._client = client
        self._outbox = outbox
        self._keep = keep
        self._commands: dict[str, _Command] = {}
        """The commands that run, by the id of the call."""
        self._expected: dict[str, _Command] = {}
        """The commands whose program has not come yet, by secret."""
        self._opening = asyncio.Lock()
        self._server: asyncio.Server | None = None
        self._folder: str | None = None

    def take(self, shows: Shows, update: Update) -> None:
        """Takes an update of a session, and shows in a terminal what it says of a running command."""
        match update:
            case ItemUpdated(ToolCallItem(tool_kind="execute") as call):
                running = self._commands.get(call.id)
                if running is not None:
                    running.call = call
                    if call.status != "running":
                        running.end()
                        del self._commands[call.id]
                elif call.status == "running":
                    command = self._commands[call.id] = _Command(token_hex(SECRET_BYTES), call, shows.stop)
                    self._expected[command.secret] = command
                    self._keep(self._show(shows, command))
            case TextAppended(call_id, "output", text) if call_id in self._commands:
                self._commands[call_id].write(text)
            case _:
                pass

    async def close(self) -> None:
        """Ends all terminals' connections, because the client is gone."""
        if self._server is not None:
            self._server.close()
        if self._folder is not None:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    async def _show(self, shows: Shows, command: _Command) -> None:
        """Shows a command in a terminal of the client, from the command's start to the end of its terminal."""
        try:
            address = await self._address()
            made = await self._client().create_terminal(
                session_id=shows.session_id,
                command=sys.executable,
                args=["-I", "-S", str(Path(__file__).with_name("terminal_viewer.py")), address],
                env=[schema.EnvVariable(name=VARIABLE, value=command.secret)],
                cwd=None if shows.folder is None else str(shows.folder),
                output_byte_limit=BYTE_LIMIT,
            )
        except (RequestError, OSError, ValueError) as error:
            logger.warning("the client made no terminal for a command, so it is shown as text: %s", error)
            self._expected.pop(command.secret, None)
            return
        terminal = made.terminal_id
        shows.show(command.call, terminal)
        exited, ended = asyncio.ensure_future(self._exit(shows.session_id, terminal)), asyncio.ensure_future(command.ended.wait())
        try:
            await asyncio.wait({exited, ended}, return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                await asyncio.wait({exited}, timeout=END_SECONDS)
            elif command.came:
                command.left()
            if not command.came:
                await self._say_why(shows.session_id, terminal)
                shows.show(command.call, None)
            await self._outbox.flush()  # it is named in the call before it is released
            await self._let_go(shows.session_id, terminal, kill=not exited.done())
        finally:
            exited.cancel()
            ended.cancel()
            self._expected.pop(command.secret, None)

    async def _exit(self, session_id: str, terminal: str) -> None:
        try:
            await self._client().wait_for_terminal_exit(session_id=session_id, terminal_id=terminal)
        except (RequestError, OSError, ValueError) as error:
            logger.info("the client does not tell the end of a terminal: %s", error)
            await asyncio.Event().wait()

    async def _say_why(self, session_id: str, terminal: str) -> None:
        """Writes to the log what a terminal said whose program did not come."""
        try:
            said = (await self._client().terminal_output(session_id=session_id, terminal_id=terminal)).output
        except (RequestError, OSError, ValueError) as error:
            said = str(error)
        logger.warning("the program of a terminal did not come, so the command is shown as text: %s", " ".join(said.split())[:500])

    async def _let_go(self, session_id: str, terminal: str, *, kill: bool) -> None:
        try:
            if kill:
                await self._client().kill_terminal(session_id=session_id, terminal_id=terminal)
            await self._client().release_terminal(session_id=session_id, terminal_id=terminal)
        except (RequestError, OSError, ValueError) as error:
            logger.warning("the client did not let go of a terminal: %s", error)

    async def _address(self) -> str:
        """The address of the socket, in a folder that nobody else may enter. Listens there if nothing does yet. Raises `OSError`."""
        async with self._opening:
            if self._folder is None:
                self._folder = await asyncio.to_thread(tempfile.mkdtemp, prefix="ullage-")
            address = str(Path(self._folder) / "s")
            if self._server is None:
                self._server = await asyncio.start_unix_server(self._came, address)
            return address

    async def _came(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Serves one connection to the socket: the program of a terminal, if it knows a secret."""
        try:
            async with asyncio.timeout(END_SECONDS):
                secret = (await reader.readexactly(2 * SECRET_BYTES)).decode("ascii", "replace")
            command = self._expected.pop(secret, None)
            if command is not None:
                command.take(writer)
                while await reader.read(4_096):
                    pass  # it has nothing to say
                command.left()
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            logger.info("somebody at the socket of the terminals did not say who they are: %s", error or "no word")
        finally:
            writer.close()


class _Command:
    """One command and the program that shows it."""

    def __init__(self, secret: str, call: ToolCallItem, stop: Callable[[], None]) -> None:
        self.secret = secret
        self._stop = stop
        self.call = call
        """The call as it is now."""
        self.ended = asyncio.Event()
        self.came = False
        """Whether the program has said who it is."""
        self._plain = PlainText()
        self._said: list[str] = []
        """What the command said so far, in pieces."""
        self._waiting: list[bytes] = []
        self._writer: StreamWriter | None = None

    def take(self, writer: StreamWriter) -> None:
        """Sends the program what the command said so far, because it has come."""
        self.came, self._writer = True, writer
        for each in self._waiting:
            writer.write(each)
        self._waiting.clear()

    def left(self) -> None:
        """Stops the command if it still runs, because the user has ended its program."""
        if not self.ended.is_set():
            logger.info("a command is stopped, since its terminal was ended")
            self._stop()

    def write(self, text: str) -> None:
        """Shows a piece of what the command says."""
        self._said.append(text)
        self._send(frame(b"o", self._plain.of(text).encode("utf-8", "replace")))

    def end(self) -> None:
        """Shows, once the command has ended, what was not shown while it ran, and how it went."""
        rest = rest_of(self.call.output, "".join(self._said))
        self._send(frame(b"o", PlainText().of(rest).encode("utf-8", "replace")))
        self._send(frame(b"e", str(exit_code(self.call)).encode()))
        self.ended.set()

    def _send(self, data: bytes) -> None:
        if self._writer is None:
            self._waiting.append(data)
        else:
            self._writer.write(data)


def rest_of(result: str, said: str) -> str:
    """The part of a result that was not said while the command ran, to be shown after that. If the result does not begin with what was
    said, its end."""
    before = said.rstrip()
    between = "\n" if said and not said.endswith("\n") else ""
    if result.startswith(before):
        rest = result[len(before) :].strip("\n")
        return f"{between}{rest}\n" if rest else between
    return f"{between}…\n{result[-LAST_CHARACTERS:]}\n"


def exit_code(call: ToolCallItem) -> int:
    """The exit code of a command that has ended, as a shell gives it."""
    return 0 if call.status == "completed" else exit_code_in(call.output) or FAILED


class PlainText:
    """Text for a terminal, as it comes in pieces: line ends, tabs and colours, and nothing else that a terminal would act upon."""

    def __init__(self) -> None:
        self._held = ""

    def of(self, text: str) -> str:
        """The next piece in plain text. What may be the beginning of a sequence is held back, and never shown if nothing follows."""
        text = self._held + text
        unfinished = _UNFINISHED.search(text)
        self._held = "" if unfinished is None else unfinished.group()
        whole = text if unfinished is None else text[: unfinished.start()]
        return _SEQUENCE.sub(lambda found: found.group("kept") or "", whole)
