"""What the user took out of the conversation: nothing that is written of the log may repeat it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from ullage.context.entries import Entry, FilePinned, Logged, ToolReturned, UserPrompt
from ullage.context.view.file_texts import without_texts
from ullage.context.view.log_places import place_of
from ullage.context.view.projection import Projection
from ullage.context.view.quotations import to_be_read
from ullage.context.view.taken_out import EXCLUDED_MESSAGE, EXCLUDED_RESULT, all_taken_out, gone_by

__all__ = ["EXCLUDED_MESSAGE", "EXCLUDED_RESULT", "excluded", "files_out", "is_anything_excluded", "without_excluded"]


def excluded(projection: Projection) -> frozenset[int]:
    """The seqs of the entries that are taken out as long as what did it is in force."""
    return all_taken_out(projection.active)


def is_anything_excluded(projection: Projection) -> bool:
    """Whether the user took anything out, a file or whole entries."""
    return any(gone_by(each) for each in projection.active)


def files_out(projection: Projection) -> frozenset[str]:
    """The files that the user took out and that nothing has brought back since: the agent has not read or written them again, and the user
    has neither attached nor pinned them."""
    since = {file.path: seq for seq, each in projection.active_by_seq.items() for file in each.without_files}
    if not since:
        return frozenset()
    entries, out = projection.entries, excluded(projection)
    for logged in islice(entries, place_of(entries, min(since.values())), None):
        for path in _brought_by(logged.entry) if logged.seq not in out else ():
            if since.get(path, logged.seq) < logged.seq:
                del since[path]
    return frozenset(since)


def _brought_by(entry: Entry) -> Iterator[str]:
    match entry:
        case ToolReturned(touched=touched):
            yield from (touch.path for touch in touched)
        case UserPrompt(attachments=attachments):
            yield from (each.name for each in attachments)
        case FilePinned(path=path, pinned=True):
            yield path
        case _:
            return


def without_excluded(projection: Projection, entries: Iterable[Logged]) -> list[Logged]:
    """Those `entries` that are not taken out, without the texts of files that are, and compactions in force with their texts as they read
    without these."""
    left_out, active = excluded(projection), to_be_read(projection.active_by_seq, projection.entries)
    paths_out = projection.paths_out
    kept: list[Logged] = []
    for logged in entries:
        if logged.seq not in left_out:
            entry = without_texts(active.get(logged.seq, logged.entry), paths_out.get(logged.seq, ()))
            kept.append(logged if entry is logged.entry else Logged(logged.seq, logged.at, entry))
    return kept
