"""What the compactions of a simulated session kept of what was needed later. What is slow to read is read once for all policies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ullage.context.blocks import Text, ToolResult, ToolUse
from ullage.context.entries import Compaction
from ullage.context.view.projection import Projection
from ullage.context.view.seen import whole_in_view
from ullage.replay.file_calls import FileCall, file_calls
from ullage.replay.named import named
from ullage.replay.needed_later import SessionFacts, session_facts
from ullage.replay.restoring import files_read_again, restoring
from ullage.replay.retention import Cut, Search, by_kind, judged
from ullage.replay.runs import Retained
from ullage.replay.shares import Share
from ullage.replay.tied import tied
from ullage.replay.transcript import Transcript
from ullage.replay.windows import entries_after, strings_of


@dataclass(frozen=True, slots=True)
class Left:
    """What a compaction left in the context. `kept` and `summary` are texts, `restored` the paths of files that were put back, or
    that were read whole or made in a message that stayed: what was edited there is known in part only. `put_back` is the text of the
    former."""

    after_seq: int
    kept: str
    summary: str
    restored: tuple[str, ...]
    put_back: str = ""


def left_by(compaction: Compaction, after_seq: int, seq: int, view: Projection) -> Left:
    """`view` is what the model sees right after it, `seq` its own entry in that log, `after_seq` the transcript's last entry before."""
    restored = {file.text for file in compaction.restored}
    kept = "\n\n".join(_texts(view, seq, restored))
    told = compaction.summarised.text if compaction.summarised is not None else ""
    if compaction.snipped is not None:
        told = f"{told}\n\n{compaction.snipped.marker}" if told else compaction.snipped.marker
    in_view = [file.path for file in compaction.restored if file.is_read]
    in_view += whole_in_view(view)
    put_back = "\n\n".join(file.text for file in compaction.restored if file.is_read)
    return Left(after_seq, kept, told, tuple(dict.fromkeys(in_view)), put_back)


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

    def __init__(self, transcript: Transcript, search: Search | None = None) -> None:
        self._entries = transcript.entries
        self._search = search
        self._facts: SessionFacts | None = None
        self._calls: tuple[FileCall, ...] = ()

    def retained(self, left: Sequence[Left]) -> Retained:
        """What compactions kept; `left` in their order. Of several at one place the last counts."""
        last = {each.after_seq: each for each in left}
        places = [each for each in last.values() if next(entries_after(self._entries, each.after_seq), None) is not None]
        if not places:
            return Retained()
        if self._facts is None:
            self._facts, self._calls = session_facts(self._entries), file_calls(self._entries)
        cuts = [Cut(each.after_seq, each.kept) for each in places]
        summaries = [Cut(each.after_seq, each.summary) for each in places]
        whole = [Cut(each.after_seq, f"{each.kept}\n\n{each.put_back}") for each in places]
        restored = (restoring(files_read_again(self._entries, self._calls, each.after_seq), each.restored) for each in places)
        return Retained(
            compactions=len(places),
            kinds=by_kind(judged(self._facts, cuts, self._search)),
            in_summary=by_kind(judged(self._facts, summaries)),
            tied=tied(self._entries, self._calls, cuts),
            restored=sum(restored, Share()),
            with_files=by_kind(judged(self._facts, whole)),
            named=named(self._entries, summaries),
        )
