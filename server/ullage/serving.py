"""What `ullage serve` and `ullage acp` do: one editor speaks to the agent until it goes.

`serve` listens to stdin, a port or a socket, `acp` to stdin alone. The server takes long to import. So the functions import it, after the
secrets have left the environment.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ullage.processes.programs import drop_relative_entries
from ullage.starting import Keys, quick_imports, take_keys, take_secret

if TYPE_CHECKING:  # takes long to import
    from ullage.lsp.transport import ClientConnection
    from ullage.session.settings import Settings

logger = logging.getLogger("ullage")


class CannotServe(Exception):
    """The port, the socket or the settings cannot be used. `str()` says which, and why."""


def serve(port: int | None, path: Path | None, log_level: str) -> int:
    """Serves one client, on a port of the loopback address or on a Unix socket where one is named. Gives the exit code.

    Raises `CannotServe`.
    """
    drop_relative_entries(os.environ)
    keys, auth_token = take_keys(), take_secret("ANTHROPIC_AUTH_TOKEN")
    from ullage.lsp.log import log_to_stderr

    log_to_stderr(log_level)
    if auth_token and keys == Keys():
        logger.warning("ANTHROPIC_AUTH_TOKEN is not used; set ANTHROPIC_API_KEY")
    try:
        return asyncio.run(_serve_client(port, path, keys))
    except KeyboardInterrupt:
        return 130


async def _serve_client(port: int | None, path: Path | None, keys: Keys) -> int:
    with quick_imports():
        from ullage.lsp.server import UllageServer, register_features
        from ullage.lsp.transport import open_stdio

    if port is not None:
        connection = await _client_on_port(port)
    elif path is not None:
        connection = await _client_on_socket(path)
    else:
        connection = open_stdio()
    server = UllageServer(keys)
    register_features(server)
    return await server.serve(connection)


async def _client_on_port(port: int) -> ClientConnection:
    from ullage.lsp.listening import listen_on_port, make_token

    token = make_token()
    try:
        listening_on, listener = await listen_on_port(port, token)
    except OSError as error:
        raise CannotServe(f"Cannot listen on port {port}: {error.strerror or error}. Choose another port.") from error
    logger.info("listening on 127.0.0.1:%d", listening_on)
    sys.stderr.write(f"token: {token}\n")  # not logged: a log may be kept, and be sent to the client
    sys.stderr.flush()
    return await listener.client()


async def _client_on_socket(path: Path) -> ClientConnection:
    from ullage.lsp.listening import UnsafePlace, listen_on_socket

    try:
        listener = await listen_on_socket(path)
    except UnsafePlace as error:
        raise CannotServe(str(error)) from error
    except OSError as error:
        raise CannotServe(f"Cannot listen on {path}: {error.strerror or error}. Name another place.") from error
    logger.info("listening on %s", path)
    try:
        return await listener.client()
    finally:
        path.unlink(missing_ok=True)


def serve_acp(settings: str, state_folder: Path | None, log_level: str) -> int:
    """Serves one client of the Agent Client Protocol. `settings` is JSON, or the path of a file with it. Gives the exit code.

    Raises `CannotServe`.
    """
    drop_relative_entries(os.environ)
    keys = take_keys()
    take_secret("ANTHROPIC_AUTH_TOKEN")
    from ullage.lsp.log import log_to_stderr
    from ullage.session.reading_settings import read_settings

    log_to_stderr(log_level)
    try:
        section = _section(settings)
    except (OSError, ValueError) as error:
        raise CannotServe(f"ullage acp: --settings is neither JSON nor a file with JSON: {error}") from error
    understood, complaints = read_settings(section, trusted=True)
    for complaint in complaints:
        logger.warning("%s", complaint)
    try:
        return asyncio.run(_serve_acp(understood, keys, state_folder))
    except KeyboardInterrupt:
        return 130


def _section(given: str) -> object:
    """The settings as nested objects; None if none are given. Raises `OSError` or `ValueError`."""
    text = given.strip()
    if not text:
        return None
    return json.loads(text if text.startswith("{") else Path(text).expanduser().read_text(encoding="utf-8"))


async def _serve_acp(settings: Settings, keys: Keys, state_folder: Path | None) -> int:
    with quick_imports():
        from ullage.acp.serve import serve

    return await serve(settings, keys, state_folder)
