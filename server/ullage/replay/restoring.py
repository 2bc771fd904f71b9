"""Whether restoring put the right files back: those that the agent would else have read again."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ullage.context.entries import Logged
from ullage.replay.fact_patterns import tail_of
from ullage.replay.file_calls import FileCall
from ullage.replay.shares import Share
from ullage.replay.windows import entries_after


def files_read_again(entries: Sequence[Logged], calls: Sequence[FileCall], after_seq: int) -> frozenset[str]:
    """The files (last two components) that were read in the window after the entry `after_seq` and had been read before it. `calls` are
    those of `entries`."""
    last_seq = max((logged.seq for logged in entries_after(entries, after_seq)), default=after_seq)
    read = {call.path for call in calls if call.seq <= after_seq and call.reads}
    return frozenset(call.path for call in calls if after_seq < call.seq <= last_seq and call.reads and call.path in read)


def restoring(read_again: Collection[str], in_view: Collection[str]) -> Share:
    """Of the files `read_again`, the share whose text a policy had put in view; `in_view` are paths of any form."""
    restored = {tail_of(path) for path in in_view}
    return Share(sum(1 for path in read_again if tail_of(path) in restored), len(read_again))
