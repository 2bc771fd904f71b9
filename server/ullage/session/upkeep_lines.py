"""What a policy takes away before calls, as a user sees it: one quiet line that counts, for each stretch without another compaction.

A card for each would flood the timeline: some policies do it before every call. How the line stands in the timeline is `timeline.py`'s.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ullage.context.entries import Compaction
from ullage.session.items import NoticeItem


@dataclass(slots=True)
class _Line:
    id: str
    at: float
    policy: str
    made: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """Results cleared and messages snipped, by the id of the compaction."""
    undone: set[str] = field(default_factory=set[str])

    def item(self) -> NoticeItem:
        counted = [counts for id, counts in self.made.items() if id not in self.undone]
        cleared, snipped = sum(each for each, _ in counted), sum(each for _, each in counted)
        parts = [
            _counted(cleared, "tool result set aside", "tool results set aside"),
            _counted(snipped, "message cut from the middle", "messages cut from the middle"),
        ]
        told = " and ".join(part for part in parts if part) or "what it set aside is back"
        return NoticeItem(self.id, self.at, "info", f"Before calls, by the policy {self.policy}: {told}")


class UpkeepLines:
    """The lines of one session."""

    def __init__(self) -> None:
        self._current: _Line | None = None
        self._line_of: dict[str, _Line] = {}

    def made(self, entry: Compaction, at: float) -> NoticeItem:
        """The line with one more compaction in it."""
        if self._current is None or self._current.policy != entry.policy:
            self._current = _Line(f"{entry.id}.line", at, entry.policy)
        self._current.made[entry.id] = (entry.message_counts.cleared, entry.message_counts.snipped)
        self._line_of[entry.id] = self._current
        return self._current.item()

    def end(self) -> None:
        """Another compaction stands in between: what comes now gets a line of its own."""
        self._current = None

    def changed(self, compaction_id: str, *, undone: bool) -> NoticeItem | None:
        """The line after an undo or a redo; None where that compaction stands in none."""
        line = self._line_of.get(compaction_id)
        if line is None:
            return None
        if undone:
            line.undone.add(compaction_id)
        else:
            line.undone.discard(compaction_id)
        return line.item()


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}" if count else ""
