"""The web as the agent reads it: pages that it asks for by its tool, in pieces where they are long.

What is fetched was allowed before, host by host (`tools/web_fetch.py`). The pages that came last are kept for a while, so that the pieces
of one fit together.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ullage.workspace.web_page import LeadsTo, Network, Page, fetch_for_agent, in_time
from ullage.workspace.web_robots import NAME, Robots

KEPT_SECONDS = 900.0
MOST_KEPT = 8
"""How many pages are kept, each of two million characters at most."""


@dataclass(frozen=True, slots=True)
class _Kept:
    page: Page
    until: float


class Web:
    """Fetches pages for the agent, within the limits of `web_page.py`."""

    def __init__(self, network: Network | None = None) -> None:
        from ullage import __version__

        self._network = network or Network()
        self._agent = f"{NAME}/{__version__} (coding agent; its user was asked for this host)"
        self._robots = Robots(self._network, self._agent)
        self._kept: dict[str, _Kept] = {}

    async def fetch(self, url: str) -> Page | LeadsTo:
        """The page as it is now, or the other host to which it leads. `url` is one of `plain_url`. Raises `NotFetched`."""
        async with in_time():
            await self._robots.check(url)
            found = await fetch_for_agent(url, self._network, self._agent)
        if isinstance(found, Page):
            self._kept.pop(url, None)
            self._kept[url] = _Kept(found, asyncio.get_running_loop().time() + KEPT_SECONDS)
            while len(self._kept) > MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        return found

    async def read_on(self, url: str) -> Page | LeadsTo:
        """The page as it was fetched before, if that is not long ago (`KEPT_SECONDS`); else as it is now. Raises `NotFetched`."""
        kept = self._kept.get(url)
        if kept is not None and kept.until > asyncio.get_running_loop().time():
            return kept.page
        return await self.fetch(url)
