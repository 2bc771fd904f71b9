"""What the client does for MCP servers: it keeps secrets, opens pages in the browser, and hears that there is something new to show."""

from __future__ import annotations

import asyncio
import logging

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ullage.lsp.agent_protocol import AgentProtocol
from ullage.lsp.protocol import KEEP_SECRET, MCP_CHANGED, READ_SECRET, Nothing
from ullage.lsp.protocol.mcp import KeepSecretParams, SecretParams, SecretResult
from ullage.mcp_servers.sign_in import SecretsForNow
from ullage.session.sessions.workspace_servers import OfClient

SECRET_SECONDS = 10.0
"""A client that takes longer counts as one that keeps no secrets: a keyring that is locked may wait for the user for ever."""

logger = logging.getLogger(__name__)


class ClientSecrets:
    """The secrets that the client keeps, as `Secrets` describes them. If it keeps none, they last as long as this process."""

    def __init__(self, protocol: AgentProtocol) -> None:
        self._protocol = protocol
        self._here = SecretsForNow()

    async def read(self, key: str) -> str | None:
        """The value that is kept under the key; None if there is none."""
        try:
            async with asyncio.timeout(SECRET_SECONDS):
                result: SecretResult = await self._protocol.ask(READ_SECRET, SecretParams(key))
        except (JsonRpcException, TimeoutError) as error:
            logger.info("the client reads no secrets: %s", error)
            return await self._here.read(key)
        return result.value if result.value is not None else await self._here.read(key)

    async def keep(self, key: str, value: str | None) -> None:
        """Keeps a value under the key; None deletes the value that is there."""
        try:
            async with asyncio.timeout(SECRET_SECONDS):
                await self._protocol.ask(KEEP_SECRET, KeepSecretParams(key, value))
        except (JsonRpcException, TimeoutError) as error:
            logger.info("the client keeps no secrets: %s", error)
            await self._here.keep(key, value)
        else:
            await self._here.keep(key, None)


def of_client(protocol: AgentProtocol) -> OfClient:
    """The client at the other end of the wire."""

    async def open_address(address: str) -> bool:
        window = protocol.client_capabilities.window
        if window is None or window.show_document is None or not window.show_document.support:
            return False
        try:
            result: types.ShowDocumentResult = await protocol.ask(
                types.WINDOW_SHOW_DOCUMENT, types.ShowDocumentParams(uri=address, external=True)
            )
        except JsonRpcException as error:
            logger.info("the client opens no page: %s", error)
            return False
        return result.success

    return OfClient(lambda: protocol.notify(MCP_CHANGED, Nothing()), ClientSecrets(protocol), open_address)
