"""The MCP servers of one workspace, with the user's choices about them as they are kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ullage.mcp_servers.servers import ChoicesForNow, ServerChoice, Servers
from ullage.mcp_servers.services import Services
from ullage.mcp_servers.sign_in import OpenAddress, Secrets, SecretsForNow
from ullage.mcp_servers.starting import Programs
from ullage.session.settings import Settings
from ullage.store.user_state import UserState
from ullage.tools.process import tool_environment
from ullage.workspace.folders import Folders


async def no_browser(address: str) -> bool:
    """Opens no address, where the client cannot; False."""
    return False


class KeptChoices:
    """What the user chose in one workspace folder; in their own state, so that no repository can bring it along."""

    def __init__(self, state: UserState, workspace: Path) -> None:
        self._state = state
        self._workspace = workspace

    def chosen(self) -> Mapping[str, ServerChoice]:
        """The user's choices, by the name of the server."""
        return {name: ServerChoice(*kept) for name, kept in self._state.mcp_choices(self._workspace).items()}

    def choose(self, name: str, choice: ServerChoice) -> None:
        """Keeps a choice, which counts from now on, in all windows. Raises `StoreFailed`."""
        self._state.choose_mcp(self._workspace, name, choice.fingerprint, choice.on)


@dataclass(frozen=True, slots=True)
class OfClient:
    """What the client does for MCP servers."""

    changed: Callable[[], None] = lambda: None
    """Is called when something about MCP servers is new to show."""
    secrets: Secrets = field(default_factory=SecretsForNow)
    open_address: OpenAddress = no_browser


def workspace_servers(folders: Folders, state: UserState, client: OfClient) -> Servers:
    """The MCP servers of a workspace. Each gets the environment that a command of the agent gets: without secrets, unless its configuration
    names them."""
    choices = KeptChoices(state, folders.first) if folders.first else ChoicesForNow()
    programs = Programs(lambda: folders.roots, tool_environment(os.environ))
    services = Services(client.secrets, client.open_address)
    return Servers(lambda: folders.roots, choices, programs, services, os.environ, Path.home(), client.changed)


def follow(servers: Servers, settings: Settings) -> Coroutine[Any, Any, None]:
    """Has these settings count for the servers from now on. The coroutine that is returned starts and ends what they ask for; a prompt that
    comes before it is awaited goes by them as well."""
    servers.configure(settings.mcp_servers, trusted=settings.trusted)
    return servers.look()
