"""Searches of the web for one session: by the provider of the model in use, without the hosts that the user's rules refuse."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence

from ullage.models.model import SearchesWeb
from ullage.models.web_search import DOLLARS
from ullage.session.models_in_use import ModelInUse
from ullage.tools.rules.covering import PermissionRule
from ullage.workspace.web_search import NotSearched, WebSearch, WebSearchResult

SECONDS = 180.0
"""Seconds that one search may take, with the report."""

_NAME = re.compile(r"(\*\.)?([a-z0-9-]+(\.[a-z0-9-]+)+)")
"""The hosts of rules that the provider can be told: no address, no port."""


class WebSearching:
    """Has the provider of the model in use search. `rules` gives the user's rules as they are now."""

    def __init__(self, model: Callable[[], ModelInUse], rules: Callable[[], Sequence[PermissionRule]]) -> None:
        self._model = model
        self._rules = rules

    @property
    def provider(self) -> str:
        """Who searches, in words that follow "by", and what that costs, if prices are known; empty if the model in use cannot have it
        searched."""
        card = self._model().card
        if not card.searches_web:
            return ""
        whose = f"the provider of {card.display_name}"
        return whose if card.prices is None else f"{whose}, for ${DOLLARS:.2f} and the tokens of the results"

    async def search(self, query: str) -> WebSearchResult:
        """Searches once. Raises `NotSearched`. Cancelling ends the search."""
        model = self._model().model
        if not isinstance(model, SearchesWeb):
            raise NotSearched("This model has no search of its own")
        try:
            async with asyncio.timeout(SECONDS):
                return await model.search(WebSearch(query, refused_hosts(self._rules())))
        except TimeoutError:
            raise NotSearched(f"The search took more than {SECONDS:.0f} s and was given up") from None


def refused_hosts(rules: Sequence[PermissionRule]) -> tuple[str, ...]:
    """The hosts that rules refuse, each with all below it: the provider knows nothing narrower. So of a refused `a.org` nothing of
    `docs.a.org` is found either."""
    matches = (_NAME.fullmatch(rule.pattern.lower()) for rule in rules if rule.refuses and rule.action == "host")
    return tuple(dict.fromkeys(match[2] for match in matches if match is not None))
