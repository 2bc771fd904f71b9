"""The texts of compactions that were made before the user took something out, as they read without it.

What the program wrote it writes anew, without these entries; from what a model wrote, and from the texts of other policies, whatever
repeats their words goes. What a model tells in words of its own, or the API in a signed block, no program can find or change
(`tells_in_own_words`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ullage.context.engines.engine import Covered, Engine
from ullage.context.entries import Compaction, FileTakenOut, Logged, Reworded, Summarised
from ullage.context.moves.plan import Plan
from ullage.context.summary.api_summary import ELSEWHERE, completing
from ullage.context.summary.handoff import LOGGED, TITLE, WRITTEN
from ullage.context.view.log_places import entry_at, place_of
from ullage.context.view.projection import Projection
from ullage.context.view.quotations import Quotations, log_without_excluded, what_is_gone
from ullage.context.view.taken_out import FilePart, Gone, seq_of


def rewordings(after: Projection, engine: Engine, room: int) -> Iterator[Reworded]:
    """What has to be logged before the change that `after` has already: the texts in view that tell of what is taken out then.

    `engine` is Ullage's own, `room` how many tokens there are for its record.
    """
    for seq, without in after.to_reword.items():
        made = entry_at(after.entries, seq)
        if isinstance(made, Compaction):
            yield _reworded(made, without, after, engine, room)


def tells_in_own_words(after: Projection, gone: Iterable[Gone]) -> bool:
    """Whether a summary in view may still tell of what is gone, since a model wrote it when it saw that."""
    first = min(map(seq_of, gone))
    shown = {source for message in after.messages for source in message.sources}
    made = (each for seq, each in after.active_by_seq.items() if seq in shown and first <= each.through)
    return any(_has_part_of_a_model(each) for each in made)


def _has_part_of_a_model(made: Compaction) -> bool:
    if made.summarised is not None and made.summarised.block is not None:
        return True
    text = made.summarised.text if made.summarised is not None else ""
    return f"\n{WRITTEN}, as of entry #" in text if text.startswith(TITLE) else made.rung == "model"


def _reworded(made: Compaction, without: frozenset[Gone], after: Projection, engine: Engine, room: int) -> Reworded:
    quotations = Quotations(what_is_gone(without, after.entries))
    seqs = sorted(each for each in without if isinstance(each, int))
    files = _by_path(each for each in without if not isinstance(each, int))
    told = made.summarised
    record = told.text if told is not None else ""
    if told is not None and record.startswith(TITLE) and f"\n{LOGGED}\n" in record:
        entries = log_without_excluded(after, after.entries[: place_of(after.entries, made.through + 1)], seqs)
        record = _written_anew(made, told, entries, engine, room)
        before, begun, rest = record.partition(f"\n{WRITTEN}")
        part, ended, rest = rest.partition(f"\n{LOGGED}\n")
        record = f"{before}{begun}{quotations.taken_from(part)}{ended}{rest}"
    else:
        record = quotations.taken_from(record)
    marker = quotations.taken_from(made.snipped.marker) if made.snipped is not None else ""
    return Reworded(made.id, tuple(seqs), record, marker, quotations.taken_from(made.resume), files)


def _by_path(parts: Iterable[FilePart]) -> tuple[FileTakenOut, ...]:
    found: dict[str, list[int]] = {}
    for seq, path in sorted(parts):
        found.setdefault(path, []).append(seq)
    return tuple(FileTakenOut(path, tuple(seqs)) for path, seqs in sorted(found.items()))


def _written_anew(made: Compaction, told: Summarised, entries: Sequence[Logged], engine: Engine, room: int) -> str:
    """The record of a compaction that is Ullage's own, of `entries` alone."""
    plan = Plan(made.through, made.cleared, None, told.last_seq, told.messages, 0, carried=told.carried)
    cut = place_of(entries, told.last_seq + 1)
    covered, tail = entries[:cut], entries[cut:]
    by_model = ELSEWHERE if told.block is not None else _part_of_a_model(told.text) if made.rung == "model" else None
    text = engine.handoff(Covered(covered, plan, by_model, made.focus, room, tail=tail)).text
    return completing(text) if told.block is not None else text


def _part_of_a_model(record: str) -> str:
    _, _, rest = record.partition(f"\n{WRITTEN}, as of entry #")
    return rest.partition("\n")[2].partition(f"\n{LOGGED}\n")[0].strip()
