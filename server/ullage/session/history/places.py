"""What a client names: which entry of the log an item of the timeline shows, and the other way round; which file of the workspace is meant.

Ids of items are as `items.py` says.
"""

from __future__ import annotations

from collections.abc import Sequence

from ullage.context.blocks import Text, Thinking
from ullage.context.compaction_entries import Compaction
from ullage.context.entries import AssistantReply, Entry, Logged, ToolReturned, UserPrompt
from ullage.context.view.log_places import entry_at, place_of
from ullage.context.view.projection import Projection
from ullage.session.errors import SessionError
from ullage.session.timeline.items import PinnedItems
from ullage.workspace.folders import Folders, OutsideWorkspace


def entry_of_item(entries: Sequence[Logged], item_id: str) -> Logged | None:
    """The newest entry that the item shows: of a tool call its result; None where there is none."""
    return next((logged for logged in reversed(entries) if _shows(logged.entry, item_id)), None)


def first_of_item(entries: Sequence[Logged], item_id: str) -> int:
    """The seq from which on the log holds the item and all items after it: of a call, the reply that made it. 0 where nothing shows it."""
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
    """The item that a user would call that message: of a reply the first one with words, else the first; None where no item shows it."""
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
    """By an absolute path, or one relative to any workspace folder."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders

    def file_of(self, named: str) -> str:
        """A file that is there, as tools show it. Raises `SessionError`."""
        for root in self._folders.roots:
            found = self.path_of(str(root / named))
            if (self._folders.roots[0] / found).is_file():
                return found
        raise SessionError("invalid", f"There is no file {named} in the workspace")

    def path_of(self, named: str) -> str:
        """The same of one that need not be there. Raises `SessionError`."""
        if not named.strip():
            raise SessionError("invalid", "No file is named")
        try:
            return self._folders.show(self._folders.resolve(named))
        except OutsideWorkspace as error:
            raise SessionError("invalid", str(error)) from error

    def as_shown(self, named: str) -> str:
        """A file of a call as tools show it; as it is named where it could be none of the workspace."""
        try:
            return self.path_of(named)
        except (SessionError, OSError, ValueError):
            return named
