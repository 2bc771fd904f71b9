"""`ullage inspect`: the epochs of a session of this workspace in a terminal, and what became of each of its messages.

Reads the log alone and changes nothing, so it may be used while an editor has the session open.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

from ullage.context.blocks import Json, Text, ToolUse
from ullage.context.compaction.forgotten import all_fetched_again
from ullage.context.compaction_entries import Checked, MessageCounts
from ullage.context.entries import AssistantReply, Entry, Logged, Notice, ToolReturned, UserPrompt
from ullage.context.summary.nearby import lines_of
from ullage.context.view.fates import Fate, fates, is_message
from ullage.context.view.pins import pins
from ullage.context.view.projection import Projection
from ullage.session.history.epochs import EpochInfo, epochs
from ullage.session.history.places import items_of_entry
from ullage.store import folder as ullage_folder
from ullage.store.errors import StoreFailed
from ullage.store.folder import folder_of, store_location
from ullage.store.log_store import LogStore, NoLog, open_to_read
from ullage.store.statements import SessionRecord

Format: TypeAlias = Literal["table", "json"]

LAST = "last"
"""The word that names the session that was used last."""
_WIDTH = 100
"""How many characters of a message are shown."""


class NotFound(Exception):
    """A session or the sessions of a workspace are not there. `str()` says what is not there, and what is."""


def run(session: str, workspace: Path, format: Format, *, messages: bool, location: str = "") -> int:
    """Prints the session; gives the exit code: 0, or 1 if it is not there or cannot be read (stderr says why).

    `session` is an id, the beginning of one, or `last`; without `messages` the epochs alone are printed. `location` is the folder with what
    is kept of all workspaces; empty for the system's own place.
    """
    try:
        store = _opened(workspace, location)
        try:
            record = _record(store.sessions(), session)
            entries = store.load(record.id)
            damaged = len(store.damaged(record.id))
        finally:
            store.close()
    except (NotFound, NoLog, StoreFailed) as error:
        sys.stderr.write(f"ullage inspect: {error}\n")
        return 1
    projection = Projection(entries)
    if format == "json":
        _write(json.dumps(_as_json(record, projection, damaged), indent=2) + "\n")
    else:
        _write("\n".join(_as_text(record, projection, damaged, messages=messages)) + "\n")
    return 0


def _opened(workspace: Path, location: str) -> LogStore:
    path = ullage_folder.database(folder_of(workspace, store_location(location)))
    if not path.is_file():
        raise NotFound(
            f"{workspace} has no sessions of Ullage ({path} does not exist). Name the workspace with --folder, "
            'and with --store the folder that the setting "Ullage › Store: Location" names, if any'
        )
    return open_to_read(path)


def _record(records: Sequence[SessionRecord], wanted: str) -> SessionRecord:
    if not records:
        raise NotFound("There are no sessions in this workspace")
    found = list(records[:1]) if wanted == LAST else [each for each in records if each.id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    shown = "\n".join(f"  {each.id}  {_time(each.updated_at)}  {each.title}" for each in (found or records))
    why = f"{len(found)} sessions begin with {wanted!r}" if found else f"There is no session {wanted!r} here. There are"
    raise NotFound(f"{why}:\n{shown}")


def _as_text(record: SessionRecord, projection: Projection, damaged: int, *, messages: bool) -> Iterator[str]:
    yield f"Session {record.id}: {record.title or '(without a title)'}"
    yield f"{len(projection.entries):,} entries from {_time(record.created_at)} to {_time(record.updated_at)} (UTC)"
    if damaged:
        yield f"{damaged:,} entries are damaged and could not be read; they are still in the file"
    for epoch in _epochs(projection):
        yield ""
        yield from _epoch_lines(epoch)
    pinned = pins(projection.entries)
    if pinned:
        yield ""
        yield "Pinned: " + ", ".join([*sorted(pinned.paths), *(f"#{seq}" for seq in sorted(pinned.seqs))])
    if messages:
        yield ""
        yield "Messages, each with its entry in the log and what became of it (bare calls and notices are not counted as messages):"
        become = fates(projection)
        by_seq = {logged.seq: logged for logged in projection.entries}
        yield from (f"  #{seq:<5} {_said_by(by_seq[seq].entry):9} {_fate(fate):24} {_words(by_seq[seq])}" for seq, fate in become.items())


def _epochs(projection: Projection) -> tuple[EpochInfo, ...]:
    return epochs(projection, all_fetched_again(projection.entries, projection.active_by_seq))


def _epoch_lines(epoch: EpochInfo) -> Iterator[str]:
    state = ", in force" if epoch.current else ", undone" if epoch.undone else ""
    yield f"Epoch {epoch.number}, from {_time(epoch.at)}{state}: {_counted(epoch.requests, 'request')}{_dollars(', ', epoch.cost)}"
    made = epoch.compaction
    if made is None:
        return
    yield f"  compaction {made.id}: {made.trigger}, by {made.rung}, policy {made.policy}"
    freed = made.tokens_before - made.estimated_after
    yield f"  {made.tokens_before:,} -> {made.estimated_after:,} tokens, {freed:,} freed{_dollars(', the summary cost ', made.cost)}"
    yield "  " + (", ".join(_taken_from_view(made.message_counts)) or "every message stayed in view")
    if made.focus:
        yield f"  in favour of: {' '.join(made.focus.split())}"
    yield from (f"  excluded: {file.path}" for file in made.without_files)
    yield from (f"  {'read again' if file.is_read else 'not read again'}: {file.path} ({file.note})" for file in made.restored)
    yield from (f"  told of by name: {line}" for line in lines_of(made.nearby))
    yield from (f"  tried before: {reason}" for reason in made.skipped)
    if made.checked is not None:
        yield f"  {_checked(made.checked)}"
    again = epoch.fetched_again
    if again is not None:
        files = f": {', '.join(again.files)}" if again.files else ""
        yield f"  read again after it, though it was known: {again.tokens:,} tokens{_dollars(', ', again.cost)}{files}"


def _checked(checked: Checked) -> str:
    """How a compaction was checked, in the words of the panel's card."""
    which = "since it was planned" if checked.ahead else "that it keeps"
    kinds = ((checked.paths, "path"), (checked.names, "name"), (checked.hashes, "hash"))
    held = (f"{each.in_view} of {_counted(each.used, word)}" for each, word in kinds if each.used)
    told = ", ".join(held)
    added = f", {checked.added} of them added" if checked.added else ""
    what = f"{told} in view{added}" if told else "nothing that stood before was used in them"
    return f"checked against the {_counted(checked.messages, 'message')} {which}: {what}"


def _taken_from_view(counts: MessageCounts) -> Iterator[str]:
    """What a compaction took from view, in the words of the panel's card."""
    if counts.summarised:
        yield f"{_counted(counts.summarised, 'message')} summarised"
    if counts.cleared:
        yield f"{_counted(counts.cleared, 'tool result')} set aside"
    if counts.snipped:
        yield f"{_counted(counts.snipped, 'message')} cut from the middle"


def _as_json(record: SessionRecord, projection: Projection, damaged: int) -> Json:
    pinned = pins(projection.entries)
    return {
        "session": record.id,
        "title": record.title,
        "entries": len(projection.entries),
        "damaged": damaged,
        "epochs": [_epoch_json(epoch) for epoch in _epochs(projection)],
        "pinned": {"entries": [*sorted(pinned.seqs)], "files": [*sorted(pinned.paths)]},
        "messages": [
            {
                "entry": seq,
                "items": [*items_of_entry(projection.entries[_index(projection, seq)].entry)],
                "fate": fate.kind,
                "compaction": fate.compaction_id,
            }
            for seq, fate in fates(projection).items()
        ],
    }


def _epoch_json(epoch: EpochInfo) -> Json:
    made = epoch.compaction
    return {
        "number": epoch.number,
        "at": epoch.at,
        "current": epoch.current,
        "undone": epoch.undone,
        "requests": epoch.requests,
        "dollars": epoch.cost,
        "compaction": None
        if made is None
        else {
            "id": made.id,
            "trigger": made.trigger,
            "rung": made.rung,
            "policy": made.policy,
            "focus": made.focus,
            "tokens_before": made.tokens_before,
            "tokens_after": made.estimated_after,
            "dollars": made.cost,
            "messages_summarised": made.message_counts.summarised,
            "messages_snipped": made.message_counts.snipped,
            "results_cleared": made.message_counts.cleared,
            "files_restored": [{"path": file.path, "note": file.note} for file in made.restored if file.is_read],
            "files_not_restored": [{"path": file.path, "note": file.note} for file in made.restored if not file.is_read],
            "files_nearby": made.nearby,
            "files_excluded": [file.path for file in made.without_files],
            "tried_before": [*made.skipped],
            "checked": None if made.checked is None else _checked_json(made.checked),
            "fetched_again": None
            if epoch.fetched_again is None
            else {
                "files": [*epoch.fetched_again.files],
                "characters": epoch.fetched_again.characters,
                "tokens": epoch.fetched_again.tokens,
                "dollars": epoch.fetched_again.cost,
            },
        },
    }


def _checked_json(checked: Checked) -> Json:
    kinds = {"paths": checked.paths, "names": checked.names, "hashes": checked.hashes, "characters": checked.characters}
    held: dict[str, Json] = {kind: {"in_view": each.in_view, "used": each.used} for kind, each in kinds.items()}
    return {"messages": checked.messages, "ahead": checked.ahead, **held, "added": checked.added}


def _index(projection: Projection, seq: int) -> int:
    """The index of the entry with that seq. Seqs count from 1 without gaps, except for damaged entries, which are missing."""
    return next(index for index in range(min(seq, len(projection.entries)) - 1, -1, -1) if projection.entries[index].seq == seq)


def _said_by(entry: Entry) -> str:
    match entry:
        case UserPrompt():
            return "user"
        case AssistantReply():
            return "assistant" if is_message(entry) else "call"
        case ToolReturned():
            return "result"
        case _:
            return "notice"


def _fate(fate: Fate) -> str:
    return fate.kind if fate.compaction_id is None else f"{fate.kind} by {fate.compaction_id}"


def _words(logged: Logged) -> str:
    match logged.entry:
        case UserPrompt(text=text) | Notice(text=text):
            said = text
        case AssistantReply(blocks=blocks):
            said = " ".join(
                block.text if isinstance(block, Text) else f"[calls {block.name}]" for block in blocks if isinstance(block, Text | ToolUse)
            )
        case ToolReturned(tool=tool, content=content):
            said = f"{tool}: {content}"
        case _:
            said = ""
    line = " ".join(said[: 4 * _WIDTH].split())
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 3]}..."


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _dollars(before: str, dollars: float | None) -> str:
    return "" if dollars is None else f"{before}${dollars:,.4f}"


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _write(text: str) -> None:
    """Writes a text to stdout, without characters that a terminal would take for a command, and with `?` for those that its encoding does
    not have."""
    encoding = sys.stdout.encoding or "utf-8"
    shown = "".join(each if each.isprintable() or each == "\n" else " " for each in text)
    sys.stdout.write(shown.encode(encoding, "replace").decode(encoding))
