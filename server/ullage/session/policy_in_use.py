"""The policy that the user chose, as one session uses it: which one is in force, and how its engine fares.

An engine may come from any package. What it raises becomes `PolicyFailed`, and one that fails several times in a row is not asked for a
while. What is done instead is decided where its answer was wanted (`context/compaction/drafting.py`, `turns/calls.py`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from ullage.context.compaction.draft import PolicyFailed
from ullage.context.compaction.gathering import Breaker
from ullage.context.engines.engine import PathOf
from ullage.context.moves.cheap import Arrival, Clip
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy
from ullage.session.surroundings import Surroundings

logger = logging.getLogger(__name__)


class PolicyInUse:
    """The policy that the user chose, as one session uses it."""

    def __init__(self, surroundings: Surroundings, taken_over: Callable[[], None]) -> None:
        self._surroundings = surroundings
        self._taken_over = taken_over
        self._policy = self._at_boundary = surroundings.policy
        self._breaker = Breaker()

    @property
    def policy(self) -> Policy:
        """The policy that the settings name now."""
        if self._surroundings.policy is not self._policy:
            self._policy, self._breaker = self._surroundings.policy, Breaker()
        return self._policy

    def take_over(self) -> None:
        """Takes over another policy at a boundary, and tells so if it is another one than at the boundary before: the tools may be others
        too."""
        if self.policy is not self._at_boundary:
            self._at_boundary = self.policy
            self._taken_over()

    @property
    def keeps_up(self) -> bool:
        """Whether the engine is to be asked before every call."""
        return self._surroundings.settings.auto_compact and self.policy.engine.keeps_up and not self.rests

    @property
    def rests(self) -> bool:
        """Whether the engine failed too often and is not asked at the moment."""
        return self.policy.has_stand_in and self._breaker.is_open(self._surroundings.clock())

    @contextmanager
    def asked(self, policy: Policy, *, counts: bool) -> Generator[None]:
        """Stands around waiting for an answer of the policy's engine. Raises `PolicyFailed` for what an engine raises; what Ullage's own
        engine raises stays as it is.

        `counts`: a failure is one of those after which the engine rests.
        """
        if not policy.has_stand_in:
            yield
            return
        if self.rests:
            raise PolicyFailed(f"The policy {policy.name} failed several times in a row; it is not asked at the moment")
        try:
            yield
        except Exception as error:
            raise self._failed(error, counts=counts) from error

    def succeeded(self) -> None:
        """Tells that the engine gave an answer that can be used."""
        self._breaker.succeeded()

    def arrive(self, arrivals: Sequence[Arrival], path_of: PathOf) -> tuple[Clip, ...]:
        """What the model gets of each result of one message. Raises `PolicyFailed`."""
        if self.rests:
            return ULLAGE.engine.arrive(arrivals, path_of)
        try:
            clips = tuple(self.policy.engine.arrive(arrivals, path_of))
            for clip, _ in zip(clips, arrivals, strict=True):
                if not isinstance(clip.content, str):  # pyright: ignore[reportUnnecessaryIsInstance] - a package may give anything
                    raise TypeError(f"a result became {type(clip.content).__name__}")
        except Exception as error:
            raise self._failed(error) from error
        return clips

    def _failed(self, error: Exception, *, counts: bool = True) -> PolicyFailed:
        logger.error("the engine of the policy %s failed", self.policy.name, exc_info=error)
        if counts:
            self._breaker.failed(self._surroundings.clock())
        return PolicyFailed(f"The policy {self.policy.name} failed: {type(error).__name__}: {error}")
