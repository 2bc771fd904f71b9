"""The entries of a session as a reader finds them, numbered from 1."""

from __future__ import annotations

from collections.abc import Callable

from ullage.context.entries import Entry, Logged
from ullage.replay.readers.flaws import NO_TIME, Tally


class Log:
    """Entries in order. `estimated_outputs` are the seqs of replies whose output the reader estimated, `media_tokens` what images and
    documents take, by the seq of the entry that has only words for them."""

    def __init__(self, tally: Tally) -> None:
        self.estimated_outputs: set[int] = set()
        self.media_tokens: dict[int, int] = {}
        self._entries: list[Logged] = []
        self._tally = tally

    @property
    def length(self) -> int:
        """How many there are: the seq of the last one."""
        return len(self._entries)

    @property
    def entries(self) -> tuple[Logged, ...]:
        """All of them."""
        return tuple(self._entries)

    def add(self, entry: Entry, at: float, media_tokens: int = 0) -> int:
        """Adds an entry at the end; gives its seq. `at` is 0.0 where its time is not known."""
        self._tally.count(NO_TIME, int(at == 0.0))
        self._entries.append(Logged(self.length + 1, at, entry))
        if media_tokens:
            self.media_tokens[self.length] = media_tokens
        return self.length

    def take_back_from(self, starts: Callable[[Entry], bool], number: int) -> int:
        """Takes back everything from the `number`-th last entry of which `starts` holds, or from the first one where there are
        fewer; gives how many of them were taken back."""
        places = [index for index, logged in enumerate(self._entries) if starts(logged.entry)]
        taken = places[-number:] if number > 0 else []
        if taken:
            del self._entries[taken[0] :]
            self.estimated_outputs = {seq for seq in self.estimated_outputs if seq <= self.length}
            self.media_tokens = {seq: tokens for seq, tokens in self.media_tokens.items() if seq <= self.length}
        return len(taken)
