"""What the endpoints of one fake share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from tests.fake_api.cache import PromptCache
from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.holds import Holds
from tests.fake_api.record import RequestLog
from tests.fake_api.script import Script
from tests.fake_api.search_seals import SearchSeals
from tests.fake_api.thinking import ThinkingSeals


@dataclass(slots=True)
class FakeState:
    """The parts that outlive a request."""

    models: Mapping[str, ModelFacts]
    script: Script
    clock: Callable[[], float]
    """Seconds; read when a request has arrived."""
    keys: Collection[str] | None
    """The credentials that are accepted; None: any."""
    lists_models: bool = True
    """Whether there is `/v1/models`. Some servers answer messages and have no such page."""
    log: RequestLog = field(default_factory=RequestLog)
    cache: PromptCache = field(default_factory=PromptCache)
    seals: ThinkingSeals = field(default_factory=ThinkingSeals)
    searches: SearchSeals = field(default_factory=SearchSeals)
    holds: Holds = field(default_factory=Holds)
    faults: list[Exception] = field(default_factory=list[Exception])
    """Exceptions inside the fake itself; leaving `FakeApi` raises them."""

    def reset(self) -> None:
        """Forgets requests, script and prompt cache; releases what is held. Signed thinking stays valid."""
        self.holds.release()
        self.log.clear()
        self.script.clear()
        self.cache.clear()
