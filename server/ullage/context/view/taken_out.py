"""What the user took out of the conversation by hand: whole entries, and the texts of files in prompts, notices and compactions.

The compactions that did it say so. What they leave of an entry, and how the other compactions in force read without it, is said here too.
Such texts of compactions are in the log, written before they were needed (`compaction/exclusion.py`); here one is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias, TypeVar

from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone, FileTakenOut, RestoredFile, Reworded
from ullage.context.entries import Attachment, Entry, Logged, Notice, UserPrompt
from ullage.context.view.epoch import EXCLUDED_MESSAGE as EXCLUDED_MESSAGE
from ullage.context.view.epoch import EXCLUDED_RESULT as EXCLUDED_RESULT
from ullage.context.view.epoch import EpochState

FilePart: TypeAlias = tuple[int, str]
"""The text of a file in an entry that stays otherwise: the entry's seq, and the file's path."""
Gone: TypeAlias = int | FilePart
"""Something that is taken out: a whole entry, by its seq, or the text of a file in one."""

TAKEN_OUT = "taken out by the user"
"""The note of a file that would have been read again but for that."""

_Entry = TypeVar("_Entry", bound=Entry)


def taken_out(compaction: Compaction) -> frozenset[int]:
    """The seqs of the entries that this compaction takes out as a whole; empty for most compactions."""
    found = {each.seq for each in compaction.cleared if each.placeholder == EXCLUDED_RESULT}
    return frozenset(found) | messages_taken_out(compaction)


def messages_taken_out(compaction: Compaction) -> frozenset[int]:
    """The seqs of those entries among them that are messages. The others are results whose calls stay."""
    snipped = compaction.snipped
    if snipped is None or snipped.marker != EXCLUDED_MESSAGE:
        return frozenset()
    return frozenset({*range(snipped.first_seq, snipped.last_seq + 1)} - {*snipped.carried})


def all_taken_out(compactions: Iterable[Compaction]) -> frozenset[int]:
    """The seqs of all entries that these compactions take out as a whole."""
    return frozenset[int]().union(*(taken_out(each) for each in compactions))


def out_of_sight(entries: Iterable[Logged]) -> frozenset[int]:
    """The seqs of entries that a search must not find: those taken out, as a whole or in part, and, if anything is taken out, summaries, as
    they may tell of it.

    It looks at nothing but compactions that take something out or have a summary, and at what undoes and redoes them.
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


def _file_parts(files: Iterable[FileTakenOut]) -> frozenset[FilePart]:
    """Each text of a file that these take out, by the entry that it stood in."""
    return frozenset((seq, file.path) for file in files for seq in file.seqs)


def gone_by(compaction: Compaction) -> frozenset[Gone]:
    """Everything that this compaction takes out, whole entries and texts of files."""
    return taken_out(compaction) | _file_parts(compaction.without_files)


def gone_by_all(compactions: Iterable[Compaction]) -> frozenset[Gone]:
    """Everything that these compactions take out."""
    return frozenset[Gone]().union(*(gone_by(each) for each in compactions))


def seq_of(gone: Gone) -> int:
    """The seq of the entry that is taken out, or that the text stood in."""
    return gone if isinstance(gone, int) else gone[0]


def paths_out(compactions: Iterable[Compaction]) -> Mapping[int, frozenset[str]]:
    """The files whose texts these compactions take out of an entry, by the entry's seq."""
    found: dict[int, frozenset[str]] = {}
    for compaction in compactions:
        for seq, path in _file_parts(compaction.without_files):
            found[seq] = found.get(seq, frozenset[str]()) | {path}
    return found


def excluded_file(path: str) -> str:
    """The text that stands in the place of the file's text."""
    return f"[The user took the file {' '.join(path.split())} out of the conversation.]"


def files_shown(entry: Entry) -> Iterator[str]:
    """The paths of the files whose texts stand in a prompt, a notice or a compaction."""
    match entry:
        case UserPrompt():
            yield from (each.name for each in entry.attachments)
        case Notice():
            yield from (each.path for each in entry.touched)
        case Compaction():
            yield from (each.path for each in entry.restored)
        case _:
            return


def without_texts(entry: _Entry, paths: Collection[str]) -> _Entry:
    """The entry with a line in the place of each of these files' texts that says so; the same object if it has none of them."""
    if not paths or not any(path in paths for path in files_shown(entry)):
        return entry
    match entry:
        case UserPrompt(attachments=attachments):
            left = tuple(Attachment(each.name, excluded_file(each.name)) if each.name in paths else each for each in attachments)
            return replace(entry, attachments=left)
        case Notice(touched=touched):
            gone = dict.fromkeys(excluded_file(each.path) for each in touched if each.path in paths)
            return replace(entry, text="\n".join(gone), touched=())
        case Compaction(restored=restored):
            return replace(entry, restored=tuple(_left_out(each) if each.path in paths else each for each in restored))
        case _:
            return entry


def texts_alone(entry: _Entry, paths: Collection[str]) -> _Entry:
    """The entry with only the texts of these files in it."""
    match entry:
        case UserPrompt(attachments=attachments):
            return replace(entry, text="", attachments=tuple(each for each in attachments if each.name in paths))
        case Compaction(restored=restored):
            return replace(entry, restored=tuple(each for each in restored if each.path in paths))
        case _:
            return entry


def _left_out(file: RestoredFile) -> RestoredFile:
    return RestoredFile(file.path, excluded_file(file.path), TAKEN_OUT, "", whole=False)


def spoken_of(epoch: EpochState) -> Mapping[int, frozenset[Gone]]:
    """What was taken out since a compaction was made, by the seq of each compaction in force whose texts may tell of it."""
    out = {seq: gone for seq, each in epoch.active.items() if (gone := gone_by(each))}
    found: dict[int, frozenset[Gone]] = {}
    for seq, each in epoch.active.items() if out else ():
        if not _has_words(each):
            continue
        then = epoch.made_under[seq]
        since = [gone for taking, gone in out.items() if taking != seq and not then.has(taking)]
        if told := frozenset(at for gone in since for at in gone if seq_of(at) <= each.through):
            found[seq] = told
    return found


def told_of(epoch: EpochState) -> frozenset[int]:
    """The seqs of those compactions in force whose texts may tell of what was taken out. If anything was, also of those whose summary the
    API wrote."""
    told = spoken_of(epoch)
    if not told and not any(gone_by(each) for each in epoch.active.values()):
        return frozenset()
    by_the_api = (seq for seq, each in epoch.active.items() if each.summarised is not None and each.summarised.block is not None)
    return frozenset((*told, *by_the_api))


def _has_words(made: Compaction) -> bool:
    """Whether the compaction has any text. What policies do before every call mostly has none, and there may be thousands of these."""
    return made.summarised is not None or made.snipped is not None or bool(made.resume)


def as_they_read(epoch: EpochState, whole: Callable[[int, Compaction], Compaction]) -> Mapping[int, Compaction]:
    """The compactions in force by their seq, in log order, with the texts that leave out what was taken out.

    An epoch has no texts: `whole` gives a compaction with its own, where they are wanted.
    """
    told, active = spoken_of(epoch), {seq: whole(seq, each) for seq, each in epoch.active.items()}
    if told:
        active = {seq: _reads(each, epoch.reworded.get(each.id, ()), told.get(seq)) for seq, each in active.items()}
    if parts := paths_out(active.values()):
        active = {seq: without_texts(each, parts.get(seq, ())) for seq, each in active.items()}
    return active


def is_written(epoch: EpochState, compaction_id: str, without: frozenset[Gone]) -> bool:
    """Whether the log has the compaction's texts as they read without just this."""
    return any(_without(each) == without for each in epoch.written.get(compaction_id, ()))


def _without(told: Reworded) -> frozenset[Gone]:
    return frozenset(told.without) | _file_parts(told.without_files)


def _reads(compaction: Compaction, versions: tuple[Reworded, ...], without: frozenset[Gone] | None) -> Compaction:
    fitting = [each for each in versions if without is not None and without <= _without(each)]
    if not fitting:
        return compaction
    told = min(reversed(fitting), key=lambda each: len(_without(each)))
    return replace(
        compaction,
        summarised=replace(compaction.summarised, text=told.record) if compaction.summarised else None,
        snipped=replace(compaction.snipped, marker=told.marker) if compaction.snipped else None,
        resume=told.resume,
        nearby=told.nearby,
    )
