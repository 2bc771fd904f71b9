"""pygls' protocol extended by the methods of PROTOCOL.md."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Generator
from typing import Any, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcServerNotInitialized
from pygls.protocol import lsp_method

from ullage.lsp.messages import MESSAGES, RESULTS
from ullage.lsp.protocol import PROTOCOL_VERSION
from ullage.lsp.pygls_fixes import FixedProtocol


class AgentProtocol(FixedProtocol):
    """LSP and Ullage's own methods over one connection."""

    on_exit: Callable[[int], None]
    """Called with the exit code when the client sends `exit`."""

    @property
    def is_initialized(self) -> bool:
        """Whether `initialize` was answered; nothing may be sent before."""
        return self._workspace is not None

    is_shutting_down = False
    """Whether the client has sent `shutdown`."""

    # pygls caches both per method, which pyright takes for another kind of member.
    def get_message_type(self, method: str) -> type[Any] | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The type of a whole message."""
        return MESSAGES.get(method) or super().get_message_type(method)

    def get_result_type(self, method: str) -> type[Any] | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The type of the answer to a request of ours."""
        return RESULTS.get(method) or super().get_result_type(method)

    def handle_message(self, message: Any) -> None:
        """Reads a message and passes it on. Params that are left out are `{}`; before `initialize` nothing is answered."""
        if isinstance(message, dict):
            fields = cast("dict[str, Any]", message)
            method = fields.get("method")
            if "method" in fields and not self.is_initialized and method not in (types.INITIALIZE, types.EXIT):
                self.refuse(message, JsonRpcServerNotInitialized("The first request has to be initialize"))
                return
            if isinstance(method, str) and method in MESSAGES and fields.get("params") is None:
                fields["params"] = {}
        super().handle_message(message)

    async def ask(self, method: str, params: object) -> Any:
        """Asks the client and waits; tells it when the waiting is given up. Raises `JsonRpcException`."""
        message_id = str(uuid.uuid4())
        try:
            return await self.send_request_async(method, params, msg_id=message_id)
        except asyncio.CancelledError:
            self.notify(types.CANCEL_REQUEST, types.CancelParams(id=message_id))
            raise

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """As pygls does it, with our version."""
        result = yield from super().lsp_initialize(params)
        result.capabilities.experimental = {"ullage": {"protocolVersion": PROTOCOL_VERSION}}
        return result

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *args: object) -> Generator[Any, Any, None]:
        """As pygls does it; an `exit` that comes before it is done is in order too."""
        self.is_shutting_down = True
        return (yield from super().lsp_shutdown(*args))  # pyright: ignore[reportUnknownMemberType]

    @lsp_method(types.EXIT)
    def lsp_exit(self, *args: object) -> Generator[Any, Any, None]:
        """Ends the server in good order, where pygls would end the process on the spot."""
        yield from ()
        self.on_exit(0 if self.is_shutting_down else 1)
