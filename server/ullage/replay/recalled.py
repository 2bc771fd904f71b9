"""What the agent's own search would have found in a recorded session: the store's index, over its entries, in memory."""

from __future__ import annotations

from collections.abc import Sequence

from ullage.replay.transcript import Transcript
from ullage.store.log_store import LogStore
from ullage.store.results import ResultFiles
from ullage.store.search import SearchHit, SearchIndex

MANY_HITS = 100
"""So many are kept of what was looked for, so that looking for it again at another place of the session costs nothing."""


class SessionSearch:
    """A `Search` over one session. The index is made when something is first looked for, and what was found is kept."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._index: SearchIndex | None = None
        self._found: dict[str, list[SearchHit]] = {}

    def __call__(self, words: str, through_seq: int, limit: int) -> Sequence[str]:
        """The excerpts that the agent would have been shown, best first."""
        if self._index is None:
            self._index = _index(self._transcript)
        if words not in self._found:
            self._found[words] = self._index.search(words, MANY_HITS)
        every = self._found[words]
        hits = [hit for hit in every if hit.seq <= through_seq][:limit]
        if not hits or (len(hits) < limit and len(every) == MANY_HITS):
            hits = self._index.search(words, limit, through_seq)
        return tuple(hit.excerpt for hit in hits)


def _index(transcript: Transcript) -> SearchIndex:
    log = LogStore.open(None)
    session = log.create_session(transcript.session_id, 0.0)
    log.append_many(session.id, [logged.entry for logged in transcript.entries], 0.0)
    return SearchIndex(None, log, ResultFiles(None))
