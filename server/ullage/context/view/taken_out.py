"""What the user took out of the conversation by hand, as the compactions that did it say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from ullage.context.entries import Compaction, CompactionRedone, CompactionUndone, FileTakenOut, Logged

EXCLUDED_RESULT = "[The user took this result out of the conversation.]"
EXCLUDED_MESSAGE = "[The user took a message out of the conversation here.]"

FilePart: TypeAlias = tuple[int, str]
"""The text of a file (its path) in an entry (its seq) that is there but for that."""
Gone: TypeAlias = int | FilePart
"""What is taken out: an entry as a whole, by its seq, or the text of a file in one."""


def taken_out(compaction: Compaction) -> frozenset[int]:
    """The seqs of the entries that this one takes out as a whole; of most compactions none."""
    found = {each.seq for each in compaction.cleared if each.placeholder == EXCLUDED_RESULT}
    return frozenset(found) | messages_taken_out(compaction)


def messages_taken_out(compaction: Compaction) -> frozenset[int]:
    """Those of them that are no results whose calls stay."""
    snipped = compaction.snipped
    if snipped is None or snipped.marker != EXCLUDED_MESSAGE:
        return frozenset()
    return frozenset({*range(snipped.first_seq, snipped.last_seq + 1)} - {*snipped.carried})


def all_taken_out(compactions: Iterable[Compaction]) -> frozenset[int]:
    """The seqs of all entries that they take out together as a whole."""
    return frozenset[int]().union(*(taken_out(each) for each in compactions))


def out_of_sight(entries: Iterable[Logged]) -> frozenset[int]:
    """What is not to be found of a log, by seq: what is taken out, as a whole or in part, and records where anything is, as they may tell
    of it.

    Nothing but compactions that take something out or have a record, and what undoes and redoes them, is looked at.
    """
    made: list[Compaction] = []
    undone: set[str] = set()
    records: set[int] = set()
    for logged in entries:
        match logged.entry:
            case Compaction() as entry:
                if gone_by(entry):
                    made.append(entry)
                if entry.summarised is not None:
                    records.add(logged.seq)
            case CompactionUndone(compaction_id=made_id) if any(each.id == made_id for each in made):
                undone.add(made_id)
            case CompactionRedone(compaction_id=made_id):
                undone.discard(made_id)
            case _:
                pass
    out = frozenset(map(seq_of, gone_by_all(each for each in made if each.id not in undone)))
    return out | records if out else out


def file_parts(files: Iterable[FileTakenOut]) -> frozenset[FilePart]:
    """Each place where the text of one of these was."""
    return frozenset((seq, file.path) for file in files for seq in file.seqs)


def gone_by(compaction: Compaction) -> frozenset[Gone]:
    """All that it takes out, whole entries and texts of files."""
    return taken_out(compaction) | file_parts(compaction.without_files)


def gone_by_all(compactions: Iterable[Compaction]) -> frozenset[Gone]:
    """All that they take out together."""
    return frozenset[Gone]().union(*(gone_by(each) for each in compactions))


def seq_of(gone: Gone) -> int:
    """The entry that it is, or was a part of."""
    return gone if isinstance(gone, int) else gone[0]


def paths_out(compactions: Iterable[Compaction]) -> Mapping[int, frozenset[str]]:
    """By the seq of the entry: the files whose texts are taken out of it, as long as these compactions are in force."""
    found: dict[int, frozenset[str]] = {}
    for compaction in compactions:
        for seq, path in file_parts(compaction.without_files):
            found[seq] = found.get(seq, frozenset[str]()) | {path}
    return found
