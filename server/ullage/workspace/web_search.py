"""A search of the web, as values: what is asked, and what came of it.

The provider of the model searches (`models/web_search.py`), where the model can. The agent asks by its tool (`tools/web_search.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class WebSearch:
    """A search of the web as it is asked for."""

    query: str
    without: tuple[str, ...] = ()
    """Hosts from which no page is wanted, each with all hosts below it."""


@dataclass(frozen=True, slots=True)
class WebHit:
    """One page that was found."""

    title: str
    url: str
    host: str
    age: str = ""
    """How old the page is, in the provider's words; empty if it does not say."""
    quotes: tuple[str, ...] = ()
    """The words of the page that the report goes by."""


@dataclass(frozen=True, slots=True)
class WebSearchResult:
    """The result of a search in the web."""

    queries: tuple[str, ...]
    """The queries that were really searched for."""
    hits: tuple[WebHit, ...]
    report: str
    """The report of a model that read the pages. `[2]` stands for the second of `hits`."""
    cost: float | None = None
    """What the search cost, in dollars; None if the prices are not known."""
    problem: str = ""
    """Why there is no result, or not a whole one, in words that stand alone; empty if all went well."""


class NotSearched(Exception):
    """The search failed; `str()` says why, in words for the model and the user. `cost` is what it cost all the same (dollars); None if that
    is not known."""

    def __init__(self, message: str, cost: float | None = None) -> None:
        super().__init__(message)
        self.cost = cost


class Searcher(Protocol):
    """Searches the web for one session."""

    @property
    def provider(self) -> str:
        """The name of who searches, in words that follow "by"; empty if the model in use cannot search."""
        ...

    async def search(self, query: str) -> WebSearchResult:
        """Searches once. Raises `NotSearched`. Cancelling ends it."""
        ...
