"""What a front end was told of a session besides its items: state, title, gauge; every update numbered, none told twice."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from ullage.session.items import (
    EndedTurn,
    Gauge,
    GaugeChanged,
    ModelInfo,
    PinnedItems,
    RetryInfo,
    SessionState,
    Snapshot,
    StateChanged,
    TitleChanged,
    Update,
)
from ullage.session.timeline import Timeline

SNAPSHOT_ITEMS = 200
"""Items of a snapshot; older ones are asked for when the user scrolls up."""


class Display:
    """The numbered stream of updates of one session. `tell` takes the session's id, the number and the update."""

    def __init__(self, session_id: str, title: str, tell: Callable[[str, int, Update], None]) -> None:
        self.session_id = session_id
        self.title = title
        self.state: SessionState = "idle"
        self._tell = tell
        self._seq = 0
        self._retry: RetryInfo | None = None
        self._ended: EndedTurn | None = None
        self._gauge: Gauge | None = None

    def tell(self, update: Update) -> None:
        """Tells the front end, under the next number."""
        self._seq += 1
        self._tell(self.session_id, self._seq, update)

    def set_state(self, state: SessionState, retry: RetryInfo | None = None) -> None:
        """What the session does from now on."""
        ended, self._ended = self._ended, None
        if (state, retry) != (self.state, self._retry) or ended is not None:
            self.state, self._retry = state, retry
            self.tell(StateChanged(state, retry, ended))

    def turn_ended(self, ended: EndedTurn) -> None:
        """Told with what the session does next: nothing, or the next turn."""
        self._ended = ended

    def command_ended(self, ended: EndedTurn) -> None:
        """A command that was typed is done; told at once, beside what the session does."""
        self.tell(StateChanged(self.state, self._retry, ended))

    @contextmanager
    def as_compacting(self) -> Generator[None]:
        """A compaction is being made meanwhile. Where a turn is running it goes on afterwards; one alone is over when its work is."""
        before = self.state
        self.set_state("compacting")
        try:
            yield
        finally:
            if before == "running":
                self.set_state(before)

    def set_title(self, title: str) -> None:
        """The title from now on."""
        self.title = title
        self.tell(TitleChanged(title))

    def set_gauge(self, gauge: Gauge) -> None:
        """The gauge now."""
        if gauge != self._gauge:
            self._gauge = gauge
            self.tell(GaugeChanged(gauge))

    def snapshot(self, timeline: Timeline, gauge: Gauge, model: ModelInfo, pins: PinnedItems, limit: int) -> Snapshot:
        """All that a panel needs; later updates have a higher `seq`."""
        items, earlier = timeline.newest(limit)
        return Snapshot(self.session_id, self._seq, self.title, self.state, self._retry, items, earlier, timeline.plan, gauge, model, pins)
