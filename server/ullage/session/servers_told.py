"""What the model of one session is told of MCP servers: their index in the prelude, and a notice when that has changed.

The prelude stays as it is until a compaction, since all that follows is cached behind it. So a server that comes, goes or changes its tools
is told at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ullage.context.blocks import SystemPart
from ullage.context.compaction_entries import Compaction
from ullage.context.entries import Entry, Logged, Notice, Prelude
from ullage.mcp_servers.index import CHANGED, NAME, as_notice, index_of
from ullage.session.surroundings import Surroundings
from ullage.tools.registry import OF_SERVERS

_ANY_SIZE = 10**9


class ServersTold:
    """Knows what the model was told of MCP servers. `entries` is the log so far, `window` gives the tokens of the model's window."""

    def __init__(self, surroundings: Surroundings, window: Callable[[], int], entries: Iterable[Logged]) -> None:
        self._surroundings = surroundings
        self._window = window
        self._in_prelude = ""
        self._told = ""
        self._has_tools = False
        for logged in entries:
            self.see(logged.entry)

    @property
    def wanted(self) -> bool:
        """Whether there are servers that the model has to know of."""
        servers = self._surroundings.servers
        return servers is not None and servers.any_configured

    async def ready(self) -> None:
        """Looks, before a turn, at what is configured now. It waits a little for servers that are just starting, for each of them once."""
        servers = self._surroundings.servers
        if servers is None:
            return
        await servers.look()
        await servers.settled(once=True)

    def parts(self) -> tuple[SystemPart, ...]:
        """The index as it stands in a prelude; empty if there are no servers."""
        servers = self._surroundings.servers
        if servers is None or not servers.any_configured:
            return ()
        return tuple(SystemPart("system", text, name) for name, text in index_of(servers.listed(), self._in_full()))

    def _in_full(self) -> int:
        return int(self._window() * self._surroundings.settings.mcp_in_full / 100)

    def see(self, entry: Entry) -> None:
        """Takes in the next entry of the log."""
        if isinstance(entry, Prelude):
            self._has_tools = any(tool.name in OF_SERVERS for tool in entry.tools)
            index = [part.text for part in entry.system if part.name == NAME or part.name.startswith(f"{NAME} ")]
            self._told = self._in_prelude = "\n".join((CHANGED, *index))
        elif isinstance(entry, Notice) and entry.text.startswith(CHANGED):
            self._told = entry.text
        elif isinstance(entry, Compaction) and entry.trigger != "upkeep":
            self._told = self._in_prelude  # the notice may be out of view

    def notice(self) -> Notice | None:
        """What the model has to be told now; None if it knows already, or could not call anything anyway."""
        servers = self._surroundings.servers
        if servers is None or not self._has_tools:
            return None
        listed = servers.listed()
        known = (as_notice(index_of(listed)), as_notice(index_of(listed, _ANY_SIZE)))
        return None if self._told in known else Notice("rules", as_notice(index_of(listed, self._in_full())))
