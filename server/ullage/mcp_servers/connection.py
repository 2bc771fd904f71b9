"""One server that is connected: a task owns its program, or its service, and the SDK's session with it from the first message to the last.

Others ask it: `call`, `prompt`, `resource`. They never hold the session themselves. A program that ends is started again, later each time;
one that could not be started at all waits for the user.
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from pathlib import Path
from time import monotonic
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast

from ullage import __version__
from ullage.context.blocks import Json
from ullage.context.quoting import visible_line
from ullage.mcp_servers.configured import Configured, StdioServer
from ullage.mcp_servers.offers import ServerOffers, line_of, prompts_of, resources_of, tools_of
from ullage.mcp_servers.results import ServerResult, of_call, of_prompt, of_resource
from ullage.mcp_servers.server_log import ServerLog

if TYPE_CHECKING:  # takes long to import
    import mcp_types
    from mcp.client import Client
    from mcp.client._transport import TransportStreams

State: TypeAlias = Literal["off", "untrusted", "starting", "running", "waiting", "sign_in", "failed"]
"""In this order: not wanted; not allowed yet; being started; running; about to be started again; waiting for the user to sign in; given
up."""

SIGN_IN = "it wants you to sign in"
"""The reason that `Ended` is told if a service wants to know who the user is."""

START_SECONDS = 90.0
"""How long a server may take to tell what it offers. A program that a package manager fetches first takes a while."""

BACK_OFF = (1.0, 5.0, 30.0)
"""How many seconds pass before it is started again, for the first time, the second ..."""

LIVED_SECONDS = 120.0
"""A server that ran for so long is started again as if for the first time."""

AGAIN_SECONDS = 1.0
"""How often a server that says that its tools changed is asked for them, at most."""

CLOSED_SECONDS = 3.0
"""How long after the end of a connection its reason may come."""

MOST_PAGES = 20

_T = TypeVar("_T")

Ended: TypeAlias = Callable[[str], None]
"""Called once with the reason why the other side talks no more; empty if it just ended."""

Reach: TypeAlias = Callable[[Configured, ServerLog, Ended], "AbstractAsyncContextManager[TransportStreams]"]
"""A function that opens the connection to a server."""

logger = logging.getLogger(__name__)


class ServerFailed(Exception):
    """A server did not do what it was asked for; the message says why, in words that may be shown to the user and the model."""


class SignInNeeded(Exception):
    """The server wants to know who the user is."""


class ServerConnection:
    """The connection to one server. `changed` is called whenever there is something new to show."""

    def __init__(
        self,
        server: Configured,
        reach: Reach,
        roots: Callable[[], Sequence[Path]],
        log: ServerLog,
        changed: Callable[[], None],
        start_seconds: float | None = None,
    ) -> None:
        self.server = server
        self.log = log
        self.state: State = "starting"
        self.why = ""
        """Why the server is not running, in words for the user."""
        self.offers = ServerOffers()
        """What the server offers, as it told last; kept while it is started again."""
        self.has_listed = False
        self.was_waited_for = False
        """Whether a prompt has waited for its first start."""
        self.instructions = ""
        self._reach = reach
        self._roots = roots
        self._changed = changed
        self._client: Client | None = None
        self._start_seconds = start_seconds
        self._starting: asyncio.Timeout | None = None
        self._over = asyncio.Event()
        self._settled = asyncio.Event()
        self._background: set[asyncio.Task[None]] = set()
        self._is_given_up = False
        """Whether a start was given up because it cannot succeed."""
        self._relisting: asyncio.Task[None] | None = None
        self._task = asyncio.create_task(self._live())

    async def settled(self) -> None:
        """Waits until the server is running, or is not going to be for now."""
        await self._settled.wait()

    async def close(self) -> None:
        """Ends the connection, with the server's program."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    # What is asked of it

    async def call(self, tool: str, arguments: dict[str, Json], output: Callable[[str], None]) -> ServerResult:
        """Has the server call a tool, and gives its result. Raises `ServerFailed`."""

        async def report(progress: float, total: float | None, message: str | None) -> None:
            share = f"{progress:g}" if total is None else f"{progress:g} of {total:g}"
            output(f"{share}{f': {line_of(message)}' if message else ''}\n")

        result = await self._ask(lambda client: client.call_tool(tool, arguments, progress_callback=report))
        return await asyncio.to_thread(of_call, result)

    async def prompt(self, name: str, arguments: dict[str, str]) -> ServerResult:
        """The content of a prompt of the server. Raises `ServerFailed`."""
        return await asyncio.to_thread(of_prompt, await self._ask(lambda client: client.get_prompt(name, arguments)))

    async def resource(self, uri: str) -> ServerResult:
        """The content of a resource of the server. Raises `ServerFailed`."""
        return await asyncio.to_thread(of_resource, await self._ask(lambda client: client.read_resource(uri, cache_mode="bypass")))

    async def _ask(self, question: Callable[[Client], Awaitable[_T]]) -> _T:
        client, name = self._client, self.server.name
        if client is None:
            raise ServerFailed(f"The MCP server {name} is not running: {self.why}" if self.why else f"The MCP server {name} is not running")
        seconds = self.server.seconds
        asking, over = asyncio.ensure_future(question(client)), asyncio.ensure_future(self._over.wait())
        try:
            async with asyncio.timeout(seconds):
                await asyncio.wait((asking, over), return_when=asyncio.FIRST_COMPLETED)
                if not asking.done():  # the answer may have come just before the end
                    await asyncio.wait((asking,), timeout=AGAIN_SECONDS)
            if not asking.done():
                raise ServerFailed(self._ended_before())
            return asking.result()
        except TimeoutError:
            raise ServerFailed(f"The MCP server {name} did not answer within {seconds:.0f} seconds; the call was given up") from None
        except ServerFailed:
            raise
        except Exception as error:
            if _is_closed(error) and await self._ended_meanwhile(over) and self.why != SIGN_IN:
                raise ServerFailed(self._ended_before()) from error
            if self.why == SIGN_IN:
                raise ServerFailed(f"The MCP server {name} wants the user to sign in first") from error
            raise ServerFailed(f"The MCP server {name} says: {in_words(error)}") from error
        finally:
            over.cancel()
            if not asking.done():
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)

    def _ended_before(self) -> str:
        name = self.server.name
        return (
            f"The MCP server {name} ended before it answered: {self.why}" if self.why else f"The MCP server {name} ended before it answered"
        )

    @staticmethod
    async def _ended_meanwhile(over: asyncio.Future[Any]) -> bool:
        await asyncio.wait((over,), timeout=CLOSED_SECONDS)
        return over.done()

    # Its life

    async def _live(self) -> None:
        tries = 0
        while True:
            began, ran = monotonic(), False
            self._over.clear()
            self._is_given_up = False
            self._set("starting")
            try:
                ran = await self._one_life()
            except Exception as error:  # noqa: BLE001 - whatever a server does wrong concerns that server alone
                ran = self.state == "running"
                self.why = self.why or _reason(error)
            finally:
                self._client = None
                for task in self._background:
                    task.cancel()
            if self.why == SIGN_IN:
                self._set("sign_in", SIGN_IN)
                return
            self.log.note(f"ended: {self.why or 'without a reason'}")
            tries = 0 if monotonic() - began > LIVED_SECONDS else tries
            if not ran or tries >= len(BACK_OFF):
                self._set("failed", self.why or "it ended as soon as it was started" if not ran else self.why or "it ended again and again")
                return
            self._set("waiting", self.why or "it ended")
            await asyncio.sleep(BACK_OFF[tries])
            tries += 1

    async def _one_life(self) -> bool:
        """Runs the connection once, from its start to its end; gives whether the server was running in between."""
        Sdk = await asyncio.to_thread(_sdk)  # noqa: N806 - a class
        stdio = isinstance(self.server.reached, StdioServer)
        self.why = ""
        async with AsyncExitStack() as stack:
            client: Client = Sdk(
                self._reach(self.server, self.log, self._has_ended),
                logging_callback=self._log,
                message_handler=self._notified,
                list_roots_callback=self._list_roots if stdio else None,
                client_info=_who_we_are(),
                cache=None,
            )
            seconds = START_SECONDS if self._start_seconds is None else self._start_seconds
            try:
                async with asyncio.timeout(seconds) as self._starting:
                    await stack.enter_async_context(client)
                    await self._list(client)
            except TimeoutError:
                if not self._is_given_up:
                    self.why = f"it did not answer within {seconds:.0f} seconds"  # and not that it ended when it was ended
                raise ServerFailed(self.why) from None
            finally:
                self._starting = None
            self.instructions = client.instructions or ""
            self._client = client
            self._set("running")
            self._listen(client)
            await self._over.wait()
            return True

    def _has_ended(self, why: str) -> None:
        if not self._over.is_set():
            self.why = visible_line(why) or self.why
        self._over.set()
        if self._starting is not None and self.why == SIGN_IN and not self._is_given_up:
            self._is_given_up = True
            self._starting.reschedule(asyncio.get_running_loop().time())

    def _set(self, state: State, why: str = "") -> None:
        self.state, self.why = state, visible_line(why)
        self.log.note(f"{state}{f': {why}' if why else ''}")
        if state in ("starting", "waiting"):
            self._settled.clear()
        else:
            self._settled.set()
        self._changed()

    # What it offers

    async def _list(self, client: Client) -> None:
        can = client.server_capabilities
        left_out: list[str] = []
        offers: dict[str, Any] = {}
        for kind, offered, ask, take in (
            ("tools", can.tools, client.list_tools, tools_of),
            ("prompts", can.prompts, client.list_prompts, prompts_of),
            ("resources", can.resources, client.list_resources, resources_of),
        ):
            if offered is None:
                continue
            listed: list[Any] = []
            cursor: str | None = None
            for _ in range(MOST_PAGES):
                page: Any = await ask(cursor=cursor, cache_mode="bypass")
                listed += getattr(page, kind)
                cursor = page.next_cursor
                if cursor is None:
                    break
            offers[kind], why = take(listed)
            left_out += why
        for line in left_out:
            self.log.note(line)
        self.offers = ServerOffers(**offers, left_out=tuple(left_out))
        self.has_listed = True

    def _listen(self, client: Client) -> None:
        """Asks a server of the newer protocol to tell of changes, if it says that something may change. Such servers tell of them only if
        asked."""
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS

        can = client.server_capabilities
        changes = any(offered is not None and offered.list_changed for offered in (can.tools, can.prompts, can.resources))
        if changes and client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            self._keep(self._follow(client))

    async def _follow(self, client: Client) -> None:
        try:
            async with client.listen(tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True) as changes:
                async for _ in changes:
                    self._relist()
        except Exception as error:  # noqa: BLE001 - then changes show at the next start
            self.log.note(f"it does not tell of changes: {in_words(error)}")

    async def _notified(self, message: object) -> None:
        if type(message).__name__ in ("ToolListChangedNotification", "PromptListChangedNotification", "ResourceListChangedNotification"):
            self._relist()
        elif isinstance(message, Exception):
            self.log.note(f"a message that cannot be read: {in_words(message)}")

    def _relist(self) -> None:
        if self._relisting is None or self._relisting.done():
            self._relisting = self._keep(self._list_again())

    async def _list_again(self) -> None:
        await asyncio.sleep(AGAIN_SECONDS)
        client = self._client
        if client is None:
            return
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._list(client)
        except Exception as error:  # noqa: BLE001 - it keeps what it offered before
            self.log.note(f"its tools could not be listed again: {in_words(error)}")
        self._changed()

    def _keep(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    async def _log(self, params: mcp_types.LoggingMessageNotificationParams) -> None:
        self.log.note(f"{params.level}: {params.data if isinstance(params.data, str) else repr(params.data)[:1_000]}")

    async def _list_roots(self, context: object) -> mcp_types.ListRootsResult:
        import mcp_types

        return mcp_types.ListRootsResult(roots=[mcp_types.Root(uri=root.as_uri(), name=root.name) for root in self._roots()])  # pyright: ignore[reportArgumentType]


def _sdk() -> type[Client]:
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # what a server does wrong stands in its own log, without traces
    _without_pywin32()
    from mcp.client import Client

    return Client


def _without_pywin32() -> None:
    """Puts empty modules in the place of pywin32 if it is missing. The SDK imports it on Windows to end the programs that it starts. Ullage
    starts them itself (`processes/`), so its packages for Windows come without these 28 MB."""
    if sys.platform == "win32" and importlib.util.find_spec("pywintypes") is None:
        for name in ("pywintypes", "win32api", "win32con", "win32job"):
            sys.modules.setdefault(name, ModuleType(name))


def _who_we_are() -> mcp_types.Implementation:
    import mcp_types

    return mcp_types.Implementation(name="ullage", title="Ullage", version=__version__)


_QUOTED_VALUE = re.compile(r"\s*\[type=\w+, input_value=.*?(?=\n|\Z)(?:\n\s*For further information visit \S+)?", re.DOTALL)
"""The part of pydantic's message that quotes a value that does not fit: it may be a token."""


def leaves(error: BaseException) -> list[BaseException]:
    """The single errors in a group of errors; the error itself if it is no group."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [leaf for each in cast("BaseExceptionGroup[BaseException]", error).exceptions for leaf in leaves(each)]


def in_words(error: BaseException) -> str:
    """An error in one line."""
    first = leaves(error)[0]
    said = (first.strerror if isinstance(first, OSError) else "") or str(first)
    return visible_line(_QUOTED_VALUE.sub("", said)[:500]) or type(first).__name__


def _reason(error: Exception) -> str:
    missing = next((each for each in leaves(error) if isinstance(each, ImportError)), None)
    with suppress(AttributeError):
        if missing is not None:
            return f"MCP cannot be used with this Python: {missing}"
    return in_words(error)


def _is_closed(error: BaseException) -> bool:
    from mcp_types import CONNECTION_CLOSED

    return getattr(error, "code", None) == CONNECTION_CLOSED
