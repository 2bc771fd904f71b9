"""Places in a session: which entry an item of the timeline shows, and the other way round; where it can be forked; which file is meant.

Ids of items are as `items.py` says. `store/` knows how a fork is copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ullage.context.blocks import Text, Thinking, ToolUse
from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone
from ullage.context.entries import AssistantReply, Clipped, Entry, Forked, Logged, Notice, Prelude, ToolReturned, TurnEnded, UserPrompt
from ullage.context.view.log_places import entry_at, place_of
from ullage.context.view.projection import Projection
from ullage.session.errors import SessionError
from ullage.session.timeline.updates import ForkOrigin, PinnedItems
from ullage.workspace.folders import Folders, OutsideWorkspace


def entry_of_item(entries: Sequence[Logged], item_id: str) -> Logged | None:
    """The newest entry that the item shows, which is the result of a tool call; None if there is none."""
    return next((logged for logged in reversed(entries) if _shows(logged.entry, item_id)), None)


def first_of_item(entries: Sequence[Logged], item_id: str) -> int:
    """The seq from which on the log holds the item and all items after it: of a call, the reply that made it. 0 if nothing shows it."""
    found = entry_of_item(entries, item_id)
    if found is None or not isinstance(found.entry, ToolReturned):
        return 0 if found is None else found.seq
    before = (entries[index] for index in range(place_of(entries, found.seq), -1, -1))
    return next((logged.seq for logged in before if isinstance(logged.entry, AssistantReply)), 0)


def items_of_entry(entry: Entry) -> tuple[str, ...]:
    """The ids of the items that show the entry. Calls are shown by their results."""
    match entry:
        case UserPrompt() | Compaction():
            return (entry.id,)
        case ToolReturned():
            return (entry.tool_use_id,)
        case AssistantReply():
            return tuple(f"{entry.id}.{index}" for index, block in enumerate(entry.blocks) if isinstance(block, Text | Thinking))
        case _:
            return ()


def item_of_message(entry: Entry) -> str | None:
    """The item that a user would call that message: of a reply the first one with words, else the first; None if no item shows it."""
    if isinstance(entry, AssistantReply):
        said = (index for index, block in enumerate(entry.blocks) if isinstance(block, Text) and block.text.strip())
        index = next(said, None)
        return next(iter(items_of_entry(entry)), None) if index is None else f"{entry.id}.{index}"
    return next(iter(items_of_entry(entry)), None)


def pinned_items(projection: Projection) -> PinnedItems:
    """The items and files that are pinned now, in the order of the log and by name."""
    entries = (entry_at(projection.entries, seq) for seq in sorted(projection.pins.seqs))
    shown = (item_id for entry in entries if entry is not None for item_id in items_of_entry(entry))
    return PinnedItems(tuple(shown), tuple(sorted(projection.pins.paths)))


def _shows(entry: Entry, item_id: str) -> bool:
    if isinstance(entry, AssistantReply) and not item_id.startswith(f"{entry.id}."):
        return False
    return item_id in items_of_entry(entry)


class NamedFiles:
    """Finds files by an absolute path, or by one relative to any workspace folder."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders

    def file_of(self, named: str) -> str:
        """The path, as tools show it, of a file that is there. Raises `SessionError`."""
        for root in self._folders.roots:
            found = self.path_of(str(root / named))
            if (self._folders.roots[0] / found).is_file():
                return found
        raise SessionError("invalid", f"There is no file {named} in the workspace")

    def path_of(self, named: str) -> str:
        """The path, as tools show it, of a file that need not be there. Raises `SessionError`."""
        if not named.strip():
            raise SessionError("invalid", "No file is named")
        try:
            return self._folders.show(self._folders.resolve(named))
        except OutsideWorkspace as error:
            raise SessionError("invalid", str(error)) from error

    def as_shown(self, named: str) -> str:
        """The path of a file that a call named, as tools show it; as it was named if it can be none of the workspace."""
        try:
            return self.path_of(named)
        except (SessionError, OSError, ValueError):
            return named


# Forks

LEFT_AT_WORK = "This turn was not finished where the session was forked. What was done by then is kept."

_READ_BY_THE_MODEL = (Prelude, UserPrompt, AssistantReply, ToolReturned, Notice, Compaction, CompactionUndone, CompactionRedone)


@dataclass(frozen=True, slots=True)
class ForkPlace:
    """Where a fork ends: it has the entries up to and with seq `through`. `prompt` is the one that it was forked before, to be said in
    another way; None if it was forked behind something."""

    through: int
    prompt: UserPrompt | None


def fork_origin(entries: Sequence[Logged]) -> ForkOrigin | None:
    """The session that the log was forked from last; None if it is no fork."""
    forked = (logged.entry for logged in reversed(entries) if isinstance(logged.entry, Forked))
    return next((ForkOrigin(entry.session_id, entry.title) for entry in forked), None)


def end_of_fork(entries: Sequence[Logged]) -> TurnEnded:
    """How the turn ends in a fork that was taken from its midst: well where the model had called nothing, else to be gone on with."""
    said = next((logged.entry for logged in reversed(entries) if isinstance(logged.entry, _READ_BY_THE_MODEL)), None)
    if isinstance(said, AssistantReply) and not any(isinstance(block, ToolUse) for block in said.blocks):
        return TurnEnded("end_turn")
    return TurnEnded("interrupted", LEFT_AT_WORK, "continue")


def fork_place(entries: Sequence[Logged], item_id: str) -> ForkPlace | None:
    """Where a fork from that item ends: before a prompt, else with the item; None if nothing in the log shows it.

    A reply is taken with all results of its calls, and with the end of its turn where that comes next: there the next request stood, or
    would have stood.
    """
    shown = entry_of_item(entries, item_id)
    if shown is None:
        return None
    if isinstance(shown.entry, UserPrompt):
        return ForkPlace(shown.seq - 1, shown.entry)
    first = first_of_item(entries, item_id) or shown.seq
    return ForkPlace(_last_with(entries, place_of(entries, first)), None)


def _last_with(entries: Sequence[Logged], at: int) -> int:
    """The seq of the last entry that belongs to the one at index `at`."""
    entry = entries[at].entry
    calls = {block.id for block in entry.blocks if isinstance(block, ToolUse)} if isinstance(entry, AssistantReply) else set[str]()
    last = entries[at].seq
    results: set[int] = set()
    for index in range(at + 1, len(entries)):
        logged = entries[index]
        match logged.entry:
            case ToolReturned(tool_use_id=id) if id in calls:
                calls.discard(id)
                results.add(logged.seq)
                last = logged.seq
            case Clipped(seq=seq) if seq in results:
                last = logged.seq
            case TurnEnded():
                return logged.seq
            case other if isinstance(other, _READ_BY_THE_MODEL):
                break
            case _:
                pass
    return last
