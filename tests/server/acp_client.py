"""An editor that speaks the Agent Client Protocol, by the package's own client, with a real `ullage acp` at the other end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from acp import RequestError, connect_to_agent, schema, text_block

from tests.fake_api import FakeApi
from tests.patience import PATIENCE
from tests.server import forked
from tests.server.client import environment
from tests.server.terminals import ClientTerminals
from ullage.store.folder import VARIABLE

KEY = "sk-ant-api03-" + "k3y" * 20

T = TypeVar("T")


class AcpEditor:
    """Implements the package's `Client`."""

    def __init__(self) -> None:
        self.updates: list[tuple[str, Any]] = []
        self.came = asyncio.Event()
        self.asked: list[tuple[schema.ToolCallUpdate, list[str]]] = []
        """Calls that it was asked about, with the ids of the answers."""
        self.answer: str | None = "allow_once"
        """What it answers; None for never."""
        self.forms: list[tuple[str, Any]] = []
        """What the agent asked the user: the words, and the form."""
        self.form_answer: Any = None
        """How a form is answered; None for an error."""
        self.files: dict[str, str] = {}
        """Unsaved texts, by path."""
        self.read: list[str] = []
        self.written: list[str] = []
        self.terminals: ClientTerminals | None = None
        """Where it has some."""
        self.agent: Any = None
        self.server: forked.ForkedServer

    def on_connect(self, conn: Any) -> None:
        self.agent = conn

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append((session_id, update))
        self.came.set()

    async def request_permission(
        self, session_id: str, tool_call: schema.ToolCallUpdate, options: list[schema.PermissionOption], **_: Any
    ) -> schema.RequestPermissionResponse:
        self.asked.append((tool_call, [each.option_id for each in options]))
        self.came.set()
        if self.answer is None:
            await asyncio.Event().wait()
        if self.answer == "cancelled":
            return schema.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))
        return schema.RequestPermissionResponse(outcome=schema.AllowedOutcome(outcome="selected", option_id=str(self.answer)))

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        self.forms.append((message, mode))
        if self.form_answer is None:
            raise RequestError.internal_error({"details": "no form can be shown"})
        return self.form_answer

    async def read_text_file(self, session_id: str, path: str, **_: Any) -> schema.ReadTextFileResponse:
        self.read.append(path)
        if path in self.files:
            return schema.ReadTextFileResponse(content=self.files[path])
        try:
            return schema.ReadTextFileResponse(content=Path(path).read_text())
        except OSError:
            raise RequestError.resource_not_found(path) from None

    async def write_text_file(self, session_id: str, path: str, content: str, **_: Any) -> schema.WriteTextFileResponse:
        self.written.append(path)
        self.files.pop(path, None)
        Path(path).write_text(content)
        return schema.WriteTextFileResponse()

    async def create_terminal(self, **asked: Any) -> schema.CreateTerminalResponse:
        return await self._terminals.create(**asked)

    async def terminal_output(self, session_id: str, terminal_id: str, **_: Any) -> schema.TerminalOutputResponse:
        return self._terminals.told(terminal_id)

    async def wait_for_terminal_exit(self, session_id: str, terminal_id: str, **_: Any) -> schema.WaitForTerminalExitResponse:
        return await self._terminals.exit(terminal_id)

    async def kill_terminal(self, session_id: str, terminal_id: str, **_: Any) -> schema.KillTerminalResponse:
        self._terminals.kill(terminal_id)
        return schema.KillTerminalResponse()

    async def release_terminal(self, session_id: str, terminal_id: str, **_: Any) -> schema.ReleaseTerminalResponse:
        self._terminals.release(terminal_id)
        self.came.set()
        return schema.ReleaseTerminalResponse()

    @property
    def _terminals(self) -> ClientTerminals:
        assert self.terminals is not None, "the agent asked for a terminal of a client that has none"
        return self.terminals

    async def until(self, found: Callable[[], T | None]) -> T:
        """Waits until something is found."""
        async with asyncio.timeout(PATIENCE):
            while (it := found()) is None:
                self.came.clear()
                await self.came.wait()
            return it

    def of(self, kind: type[T]) -> list[T]:
        """All updates of a kind."""
        return [update for _, update in self.updates if isinstance(update, kind)]

    def said(self, kind: type[Any] = schema.AgentMessageChunk) -> str:
        return "".join(each.content.text for each in self.of(kind))

    def call(self, call_id: str) -> dict[str, Any]:
        """A tool call as the editor shows it now."""
        fields: dict[str, Any] = {}
        for each in (*self.of(schema.ToolCallStart), *self.of(schema.ToolCallProgress)):
            if each.tool_call_id == call_id:
                fields |= {name: getattr(each, name) for name in each.model_fields_set}
        return fields

    # What its user does

    async def initialize(self, **capabilities: Any) -> schema.InitializeResponse:
        return await self.agent.initialize(protocol_version=1, client_capabilities=schema.ClientCapabilities(**capabilities))

    async def new_session(self, folder: Path) -> schema.NewSessionResponse:
        return await self.agent.new_session(cwd=str(folder), mcp_servers=[])

    async def prompt(self, session_id: str, *blocks: Any) -> str:
        """Why the turn ended."""
        given = [text_block(each) if isinstance(each, str) else each for each in blocks]
        async with asyncio.timeout(PATIENCE):
            return (await self.agent.prompt(session_id=session_id, prompt=given)).stop_reason


@asynccontextmanager
async def acp_editor(
    state: Path,
    fake: FakeApi | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
) -> AsyncGenerator[AcpEditor]:
    """An editor with an agent of its own, which ends with it."""
    section: dict[str, Any] = {"bash": {"sandbox": "off"}, **(settings or {})}
    if fake is not None:
        section["model"] = {"baseUrl": fake.base_url, "provider": "anthropic"}
    key = {} if fake is None else {"ANTHROPIC_API_KEY": KEY}
    arguments = ("--settings", json.dumps(section), "--state-folder", str(state))
    editor = AcpEditor()
    server = await forked.start(arguments, environment({VARIABLE: str(state), **key, **(env or {})}), "acp")
    editor.server = server
    told = asyncio.create_task(server.stderr.read())
    connection: Any = connect_to_agent(cast("Any", editor), server.stdin, server.stdout, use_unstable_protocol=True)
    editor.agent = connection
    try:
        yield editor
    finally:
        await connection.close()
        server.stdin.close()
        async with asyncio.timeout(PATIENCE):
            await server.wait()
        if words := await told:
            print(words.decode())  # noqa: T201 # pytest shows it where a test fails


class AcpLines:
    """A client without a library: a line goes out, and the next answer comes."""

    def __init__(self, server: forked.ForkedServer) -> None:
        self._server = server
        self.told: list[dict[str, Any]] = []
        """What came before the answers."""

    async def __call__(self, line: bytes) -> dict[str, Any]:
        self._server.stdin.write(line + b"\n")
        async with asyncio.timeout(PATIENCE):
            while True:
                message: dict[str, Any] = json.loads(await self._server.stdout.readuntil(b"\n"))
                if "method" not in message:
                    return message
                self.told.append(message)


@asynccontextmanager
async def acp_lines(state: Path, *, settings: Mapping[str, Any] | None = None) -> AsyncGenerator[AcpLines]:
    """Such a client with an agent of its own, which ends with it."""
    arguments = ("--settings", json.dumps(settings or {}), "--state-folder", str(state))
    server = await forked.start(arguments, environment({VARIABLE: str(state)}), "acp")
    try:
        yield AcpLines(server)
    finally:
        server.stdin.close()
        async with asyncio.timeout(PATIENCE):
            assert await server.wait() == 0
