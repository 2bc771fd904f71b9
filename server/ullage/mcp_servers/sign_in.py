"""Signing in to a service: OAuth by the SDK, with the user's browser, and what comes of it in the client's store of secrets.

The browser comes back to a page of this machine, which listens while the user signs in. Nothing of it is written to disk or log.
"""

from __future__ import annotations

import asyncio
import html
import json
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias, cast
from urllib.parse import parse_qs, urlsplit

from ullage.mcp_servers.connection import ServerFailed, SignInNeeded

if TYPE_CHECKING:  # takes long to import
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthToken

SIGN_IN_SECONDS = 300.0
"""How long the user may take in the browser."""

MOST_BYTES = 16_000
"""The most bytes of a request to the page that the browser comes back to."""

EARLY_SECONDS = 30.0
"""How long before its end a token counts as over."""

OpenAddress: TypeAlias = Callable[[str], Awaitable[bool]]
"""Shows an address in the user's browser; gives whether that was possible."""

logger = logging.getLogger(__name__)


class Secrets(Protocol):
    """The client's store of secrets."""

    async def read(self, key: str) -> str | None:
        """The value that is kept under the key; None if there is none."""
        ...

    async def keep(self, key: str, value: str | None) -> None:
        """Keeps a value under the key; None deletes the value that was kept."""
        ...


class SecretsForNow:
    """Secrets in memory, where the client keeps none."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    async def read(self, key: str) -> str | None:
        """The value that was kept under the key since the process began; None if there is none."""
        return self._kept.get(key)

    async def keep(self, key: str, value: str | None) -> None:
        """Keeps a value until the process ends; None deletes the value that was kept."""
        if value is None:
            self._kept.pop(key, None)
        else:
            self._kept[key] = value


class Tokens:
    """All that is kept of a sign-in at one address: the SDK's `TokenStorage`."""

    def __init__(self, secrets: Secrets, url: str) -> None:
        self._secrets = secrets
        self._key = f"mcp:{url}"
        self._kept: dict[str, Any] = {}
        self.provider: OAuthClientProvider | None = None

    async def load(self, *, anew: bool = False) -> None:
        """Reads what is kept. With `anew` the user signs in again, so that nothing of before counts."""
        self._kept = {}
        if not anew:
            with suppress(ValueError, TypeError):
                read = json.loads(await self._secrets.read(self._key) or "{}")
                self._kept = cast("dict[str, Any]", read) if isinstance(read, dict) else {}

    async def forget(self) -> None:
        """Deletes what is kept, because the user signed out."""
        self._kept = {}
        await self._secrets.keep(self._key, None)

    @property
    async def there(self) -> bool:
        """Whether the user is signed in."""
        return bool(await self._secrets.read(self._key))

    @property
    def metadata(self) -> object:
        """The addresses of the service for signing in, as it named them then: a token is renewed there. None if they are not kept."""
        return self._kept.get("metadata")

    async def get_tokens(self) -> OAuthToken | None:
        """The tokens that are kept; None if there are none. An access token that is over has no value, so that it is renewed."""
        from mcp.shared.auth import OAuthToken
        from pydantic import ValidationError

        try:
            tokens = OAuthToken.model_validate(self._kept["tokens"])
        except (KeyError, ValidationError):
            return None
        over = self._kept.get("over")
        if isinstance(over, int | float) and over - EARLY_SECONDS <= time.time():
            tokens.access_token = ""
        return tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keeps these tokens, with the time at which they are over."""
        self._kept["tokens"] = tokens.model_dump(mode="json", exclude_none=True)
        self._kept["over"] = None if tokens.expires_in is None else time.time() + tokens.expires_in
        metadata = None if self.provider is None else self.provider.context.oauth_metadata
        if metadata is not None:
            self._kept["metadata"] = metadata.model_dump(mode="json", exclude_none=True)
        await self._secrets.keep(self._key, json.dumps(self._kept))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """The registration by which the service knows Ullage; None if none is kept."""
        from mcp.shared.auth import OAuthClientInformationFull
        from pydantic import ValidationError

        try:
            return OAuthClientInformationFull.model_validate(self._kept["client"])
        except (KeyError, ValidationError):
            return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Takes note of the registration. It is kept with the tokens: without these it is of no use."""
        self._kept["client"] = client_info.model_dump(mode="json", exclude_none=True)


def provider_for(
    url: str, tokens: Tokens, callback: Callback, opens: OpenAddress | None, needed: Callable[[], None]
) -> OAuthClientProvider:
    """The SDK's provider of sign-ins. Without `opens` it uses only what is kept, and calls `needed` if that is not enough."""
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import OAuthClientMetadata, OAuthMetadata
    from pydantic import ValidationError

    async def redirect(address: str) -> None:
        if opens is None:
            needed()
            raise SignInNeeded
        if urlsplit(address).scheme not in ("http", "https"):
            raise ServerFailed("it wants another address opened than that of a page")
        if not await opens(address):
            raise ServerFailed("no browser could be opened to sign in")

    metadata = OAuthClientMetadata.model_validate(
        {
            "client_name": "Ullage",
            "redirect_uris": [callback.address],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }
    )
    provider = OAuthClientProvider(url, metadata, tokens, redirect, callback.answer)
    with suppress(ValidationError):
        provider.context.oauth_metadata = OAuthMetadata.model_validate(tokens.metadata)
    tokens.provider = provider
    return provider


class Callback:
    """The page of this machine that the browser comes back to."""

    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._came: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()
        self.address = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=MOST_BYTES)
        self.address = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/callback"
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._server is not None:
            self._server.close()
        self._came.cancel()

    async def answer(self) -> AuthorizationCodeResult:
        """Waits for the code that the browser brings back. Raises `ServerFailed` if the user cancels there, or does nothing."""
        from mcp.shared.auth import AuthorizationCodeResult

        try:
            async with asyncio.timeout(SIGN_IN_SECONDS):
                came = await asyncio.shield(self._came)
        except TimeoutError:
            raise ServerFailed("nobody signed in within five minutes") from None
        if "code" not in came:
            refused = came.get("error", "")
            raise ServerFailed("the sign-in was cancelled" if refused == "access_denied" else f"the sign-in was refused: {refused[:100]}")
        return AuthorizationCodeResult(code=came["code"], state=came.get("state"), iss=came.get("iss"))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(10):
                head = await reader.readuntil(b"\r\n\r\n")
            method, target, _ = head.split(b"\r\n", 1)[0].decode("ascii").split(" ", 2)
            parts = urlsplit(target)
            found = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if method != "GET" or parts.path != "/callback" or not ("code" in found or "error" in found):
                writer.write(_page(404, "There is nothing here."))
            else:
                writer.write(_page(200, "Done. You can close this page and go back to your editor."))
                if not self._came.done():
                    self._came.set_result(found)
            await writer.drain()
        except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            logger.info("a request to the page for signing in could not be read")
        finally:
            writer.close()


def _page(status: int, said: str) -> bytes:
    text = f"<!doctype html><meta charset=utf-8><title>Ullage</title><p>{html.escape(said)}</p>"
    head = f"HTTP/1.1 {status} {'OK' if status == 200 else 'Not Found'}\r\nContent-Type: text/html; charset=utf-8\r\n"
    return f"{head}Content-Length: {len(text.encode())}\r\nConnection: close\r\n\r\n{text}".encode()
