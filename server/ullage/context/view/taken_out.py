"""What the user took out of the conversation by hand, as the compactions that did it say."""

from __future__ import annotations

from collections.abc import Iterable

from ullage.context.entries import Compaction, CompactionRedone, CompactionUndone, Logged

EXCLUDED_RESULT = "[The user took this result out of the conversation.]"
EXCLUDED_MESSAGE = "[The user took a message out of the conversation here.]"


def taken_out(compaction: Compaction) -> frozenset[int]:
    """The seqs of the entries that this one takes out; of most compactions none."""
    found = {each.seq for each in compaction.cleared if each.placeholder == EXCLUDED_RESULT}
    return frozenset(found) | messages_taken_out(compaction)


def messages_taken_out(compaction: Compaction) -> frozenset[int]:
    """Those of them that are no results whose calls stay."""
    snipped = compaction.snipped
    if snipped is None or snipped.marker != EXCLUDED_MESSAGE:
        return frozenset()
    return frozenset({*range(snipped.first_seq, snipped.last_seq + 1)} - {*snipped.carried})


def all_taken_out(compactions: Iterable[Compaction]) -> frozenset[int]:
    """The seqs of all entries that they take out together."""
    return frozenset[int]().union(*(taken_out(each) for each in compactions))


def out_of_sight(entries: Iterable[Logged]) -> frozenset[int]:
    """What is not to be found of a log, by seq: what is taken out, and records where anything is, as they may tell of it.

    Nothing but compactions that take something out or have a record, and what undoes and redoes them, is looked at.
    """
    made: list[Compaction] = []
    undone: set[str] = set()
    records: set[int] = set()
    for logged in entries:
        match logged.entry:
            case Compaction() as entry:
                if taken_out(entry):
                    made.append(entry)
                if entry.summarised is not None:
                    records.add(logged.seq)
            case CompactionUndone(compaction_id=made_id) if any(each.id == made_id for each in made):
                undone.add(made_id)
            case CompactionRedone(compaction_id=made_id):
                undone.discard(made_id)
            case _:
                pass
    out = all_taken_out(each for each in made if each.id not in undone)
    return out | records if out else out
