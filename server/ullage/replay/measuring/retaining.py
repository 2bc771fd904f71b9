"""What the compactions of a simulated session kept of what was needed later, and what the agent's own search would have found of the rest.

What is slow to read is read once for all policies. The search is the store's index over the session's entries,
in a file of SQLite's own that is gone with it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from ullage.context.blocks import Text, ToolResult, ToolUse
from ullage.context.calls import strings_of
from ullage.context.compaction_entries import Compaction
from ullage.context.view.fates import whole_in_view
from ullage.context.view.projection import Projection
from ullage.recorded.retention import (
    AgentSearch,
    Cut,
    HitShare,
    SessionBlocks,
    SessionFacts,
    ViewAfter,
    by_kind,
    entries_after,
    judged,
    session_facts,
)
from ullage.recorded.transcript import Transcript
from ullage.replay.measuring.files_and_names import FileCall, file_calls, files_read_again, named, restoring, tied
from ullage.replay.measuring.runs import Retained
from ullage.store.elsewhere import EntryHit
from ullage.store.log_store import LogStore
from ullage.store.plain_files import ResultFiles
from ullage.store.search import SearchIndex

MANY_HITS = 100
"""How many hits are kept of what was looked for, so that looking for it again at another place of the session costs nothing."""
MOST_HITS = 20_000
"""How many hits are kept in all: some 10 MB."""


@dataclass(frozen=True, slots=True)
class Left:
    """What a compaction left in the context. `kept` and `summary` are texts, `restored` the paths of files that were put back, or
    that were read whole or made in a message that stayed: what was edited there is known in part only. `put_back` is the text of the
    former."""

    after_seq: int
    _kept: bytes
    _summary: bytes
    restored: tuple[str, ...]
    _put_back: bytes = b""

    @classmethod
    def of(cls, after_seq: int, kept: str, summary: str, restored: tuple[str, ...], put_back: str = "") -> Left:
        """Packs what a compaction left. Of a long session there are hundreds, each as large as a context, so each is packed until it is
        asked for."""
        return cls(after_seq, _pressed(kept), _pressed(summary), restored, _pressed(put_back))

    @property
    def kept(self) -> str:
        """The text that stayed in view, unpacked anew each time."""
        return _unpressed(self._kept)

    @property
    def summary(self) -> str:
        """The text of the summary, unpacked anew each time."""
        return _unpressed(self._summary)

    @property
    def put_back(self) -> str:
        """The text of the files that were put back, unpacked anew each time."""
        return _unpressed(self._put_back)

    @property
    def view(self) -> ViewAfter:
        """All that was in view after the compaction, with the files that were put back."""
        kept, put_back = self.kept, self.put_back
        return ViewAfter(self.after_seq, f"{kept}\n\n{put_back}", len(kept) - len(self.summary) + len(put_back))


def _pressed(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 1)


def _unpressed(data: bytes) -> str:
    return zlib.decompress(data).decode("utf-8", "surrogatepass")


def left_by(compaction: Compaction, after_seq: int, seq: int, view: Projection) -> Left:
    """What a compaction left in the context. `view` is what the model sees right after it, `seq` its own entry in that log, `after_seq` the
    transcript's last entry before."""
    restored = {file.text for file in compaction.restored}
    kept = "\n\n".join(_texts(view, seq, restored))
    told = compaction.summarised.text if compaction.summarised is not None else ""
    if compaction.snipped is not None:
        told = f"{told}\n\n{compaction.snipped.marker}" if told else compaction.snipped.marker
    in_view = [file.path for file in compaction.restored if file.is_read]
    in_view += whole_in_view(view)
    put_back = "\n\n".join(file.text for file in compaction.restored if file.is_read)
    return Left.of(after_seq, kept, told, tuple(dict.fromkeys(in_view)), put_back)


def _texts(view: Projection, seq: int, restored: set[str]) -> Iterator[str]:
    for message in view.complete_messages:
        for block, source in zip(message.blocks, message.sources, strict=True):
            if isinstance(block, Text):
                if source != seq or block.text not in restored:
                    yield block.text
            elif isinstance(block, ToolResult):
                yield block.content
            elif isinstance(block, ToolUse):
                yield "\n".join(strings_of(block.input))


class Needed:
    """What was needed in one session, to be asked for the compactions of any policy."""

    def __init__(self, transcript: Transcript, search: AgentSearch | None = None) -> None:
        self._entries = transcript.entries
        self._search = search
        self._facts: SessionFacts | None = None
        self._calls: tuple[FileCall, ...] = ()
        self._seen: SessionBlocks | None = None

    def retained(self, left: Sequence[Left]) -> Retained:
        """What compactions kept of what was needed after them; `left` has what each left, in their order. Of several at one place the last
        counts."""
        last = {each.after_seq: each for each in left}
        places = [each for each in last.values() if next(entries_after(self._entries, each.after_seq), None) is not None]
        if not places:
            return Retained()
        if self._facts is None or self._seen is None:
            self._facts, self._calls, self._seen = session_facts(self._entries), file_calls(self._entries), SessionBlocks(self._entries)
        # Of a long session the views after its compactions are larger together than the session: one is unpacked at a time.
        restored = (restoring(files_read_again(self._entries, self._calls, each.after_seq), each.restored) for each in places)
        return Retained(
            compactions=len(places),
            kinds=by_kind(judged(self._facts, _cuts(places), self._search)),
            in_summary=by_kind(judged(self._facts, _summaries(places))),
            tied=tied(self._entries, self._calls, _cuts(places)),
            restored=sum(restored, HitShare()),
            with_files=by_kind(judged(self._facts, (Cut(each.after_seq, f"{each.kept}\n\n{each.put_back}") for each in places))),
            named=named(self._entries, _summaries(places)),
            acquired=self._seen.acquired(each.view for each in places),
        )


def _cuts(places: Sequence[Left]) -> Iterator[Cut]:
    return (Cut(each.after_seq, each.kept) for each in places)


def _summaries(places: Sequence[Left]) -> Iterator[Cut]:
    return (Cut(each.after_seq, each.summary) for each in places)


class SessionSearch:
    """A `AgentSearch` over one session. The index is made when something is first looked for, and what was found is kept."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._index: SearchIndex | None = None
        self._found: dict[str, list[EntryHit]] = {}
        self._hits = 0
        """The number of hits that are kept in all."""

    def __call__(self, words: str, through_seq: int, limit: int) -> Sequence[str]:
        """The excerpts that the agent would have been shown for these words, best first."""
        if self._index is None:
            self._index = _index(self._transcript)
        if words not in self._found:
            if self._hits > MOST_HITS:
                self._found.clear()
                self._hits = 0
            self._found[words] = self._index.search(words, MANY_HITS)
            self._hits += len(self._found[words])
        every = self._found[words]
        hits = [hit for hit in every if hit.seq <= through_seq][:limit]
        if not hits or (len(hits) < limit and len(every) == MANY_HITS):
            hits = self._index.search(words, limit, through_seq)
        return tuple(hit.excerpt for hit in hits)


_ROWS_AT_ONCE = 1_000


def _index(transcript: Transcript) -> SearchIndex:
    log = LogStore.temporary()
    session = log.create_session(transcript.session_id, 0.0)
    entries = (logged.entry for logged in transcript.entries)
    while some := list(islice(entries, _ROWS_AT_ONCE)):
        log.append_many(session.id, some, 0.0)
    return SearchIndex.temporary(log, ResultFiles(None))
