"""What the newest compaction says against another: that the user undid it, or that the model has not answered since.

Where they undid it they want all of it kept, and none is made by itself before much more has come. Without that an undo would only put a
compaction off: at the threshold the next prompt, or a pause in typing, made it again.
"""

from __future__ import annotations

from collections.abc import Sequence

from ullage.context.entries import AssistantReply, Compaction, CompactionRedone, CompactionUndone, Entry, Logged
from ullage.context.view.projection import Projection
from ullage.context.view.taken_out import gone_by


class TakenBack:
    """Looks at one log; costs what was logged since it was last asked.

    What the user takes out by hand counts as no compaction, nor what a policy does before every call, nor what is cleared for an undo.
    """

    def __init__(self) -> None:
        self._read = 0
        self._newest = ""
        self._before: Entry | None = None
        self._is_so = False
        self._first_request: int | None = None
        """Tokens of the first after the undo; None where there was none."""
        self._is_unpriced = False
        """There was one, but the server did not say what it took."""

    def is_so(self, entries: Sequence[Logged]) -> bool:
        """Whether the newest compaction is undone."""
        for index in range(self._read, len(entries)):
            self._take(entries[index].entry)
        self._read = len(entries)
        return self._is_so

    def grown(self, entries: Sequence[Logged], used: int) -> int | None:
        """Tokens by which the context, which holds `used`, has grown since the first request after the undo; None where there was none."""
        if not self.is_so(entries):
            return None
        if self._first_request is None and self._is_unpriced:
            self._first_request = used
        return 0 if self._first_request is None else used - self._first_request

    def _take(self, entry: Entry) -> None:
        match entry:
            case Compaction() if self._makes_room(entry):
                self._newest, self._is_so = entry.id, False
            case CompactionUndone(compaction_id=self._newest):
                self._is_so, self._first_request, self._is_unpriced = True, None, False
            case CompactionRedone(compaction_id=self._newest):
                self._is_so = False
            case AssistantReply(usage=usage) if self._is_so and self._first_request is None:
                self._first_request = usage.total_input_tokens if usage is not None else None
                self._is_unpriced = usage is None
            case _:
                pass
        self._before = entry

    def _makes_room(self, made: Compaction) -> bool:
        for_an_undo = isinstance(self._before, CompactionUndone) and made.rung == "moves"
        return made.trigger != "upkeep" and not for_an_undo and not gone_by(made)


def left_by_newest(projection: Projection) -> int:
    """What the newest summary in force left (tokens); 0 where there is none."""
    newest = next((each for each in reversed(projection.active) if each.summarised is not None), None)
    return newest.estimated_after if newest else 0


def replied_since(projection: Projection) -> bool:
    """Whether the model has answered since the last compaction: without that, another one would change nothing.

    One that was undone does not count, nor moves by hand (what the user took out, what was cleared for an undo): they leave something to
    summarise.
    """
    undone: set[str] | None = None
    for logged in reversed(projection.entries):
        entry = logged.entry
        if isinstance(entry, AssistantReply):
            return True
        if isinstance(entry, Compaction) and entry.trigger != "upkeep" and (entry.trigger != "manual" or entry.summarised is not None):
            undone = {each.id for each in projection.undone} if undone is None else undone
            if entry.id not in undone:
                return False
    return False
