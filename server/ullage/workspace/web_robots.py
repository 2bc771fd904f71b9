"""What sites say of programs that fetch (`robots.txt`, RFC 9309), kept for an hour. Protego reads it.

It is asked before the agent's own fetches. A page that the user names is fetched like one that they open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit, urlunsplit

from ullage.workspace.web_address import NotFetched, place_of, plain_url
from ullage.workspace.web_page import MOST_REDIRECTS, Network, WebResponse

if TYPE_CHECKING:
    from protego import Protego

NAME = "Ullage"
"""The name by which a site can mean this program."""
KEPT_SECONDS = 3_600.0
"""The RFC allows a day; a site that changes its mind is heard within the hour."""
MOST_KEPT = 100
"""How many sites' rules are kept."""
MOST_BYTES = 512_000
"""The most bytes of a file that are read; a longer one is cut. The RFC asks for 500 KiB at least."""
MOST_LINES = 10_000
LONGEST_LINE = 2_000


@dataclass(frozen=True, slots=True)
class _Kept:
    rules: Protego | None
    """The site's rules; None if it refuses everything, as `why` says."""
    why: str
    until: float


class Robots:
    """The rules of the sites that were asked last."""

    def __init__(self, network: Network, agent: str) -> None:
        self._network = network
        self._agent = agent
        self._kept: dict[str, _Kept] = {}

    async def check(self, url: str) -> None:
        """Raises `NotFetched` if the site does not want the page fetched, or its rules cannot be had."""
        parts = urlsplit(url)
        site = urlunsplit((parts.scheme, parts.netloc, "/robots.txt", "", ""))
        now = asyncio.get_running_loop().time()
        kept = self._kept.pop(site, None)
        if kept is None or kept.until <= now:
            kept = await self._asked(site, now + KEPT_SECONDS)
        self._kept[site] = kept
        while len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        if kept.rules is None:
            raise NotFetched(kept.why)
        if not await asyncio.to_thread(kept.rules.can_fetch, url, NAME):
            raise NotFetched(f"the site does not want programs to fetch this page ({site} says so). The user can still attach it: @{url}")

    async def _asked(self, site: str, until: float) -> _Kept:
        """The rules of a site, asked for now. As the RFC says, without such a file everything is allowed, and one that a server fails to
        give refuses everything."""
        answer = await self._followed(site)
        if answer.status >= 500:
            return _Kept(
                None, f"{site} could not be read ({answer.status}), so the site may not want it. The user can still attach it", 0.0
            )
        from protego import Protego

        body = answer.body if answer.status == 200 else b""
        lines = body.decode("utf-8", errors="replace").splitlines()[:MOST_LINES]
        text = "\n".join(line[:LONGEST_LINE] for line in lines)
        return _Kept(await asyncio.to_thread(Protego.parse, text), "", until)

    async def _followed(self, site: str) -> WebResponse:
        """The answer to the address of the rules, after redirects. A redirect to another host, about which nobody was asked, counts as no
        file."""
        url, place = site, place_of(site)
        for _ in range(MOST_REDIRECTS + 1):
            answer = await self._network.ask(url, "agent", self._agent, _wanted)
            if answer.leads_to is None:
                return answer
            url = plain_url(urljoin(url, answer.leads_to))
            if place_of(url) != place:
                break
        return WebResponse(404, {})


def _wanted(status: int, reason: str, headers: Mapping[str, str]) -> int:
    return MOST_BYTES if status == 200 else 0
