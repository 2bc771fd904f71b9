"""What a user sees of a compaction before it stands: that it is being made, and why one did not come about.

Its card is in the timeline from the moment it begins. One that is made gets the card of its entry. One that is not made leaves no trace,
or a card that says why, which the log has as well (`CompactionFailed`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager

from ullage.context.compaction.decide import Fullness
from ullage.context.compaction.draft import NothingToCompact, NotWanted, PolicyFailed, WantedCompaction
from ullage.context.compaction_entries import ASKED_FOR, Compaction, CompactionFailed
from ullage.session.conversation import Conversation
from ullage.session.errors import in_ullage_itself
from ullage.session.timeline.items import CompactionItem, CompactionStatus
from ullage.session.timeline.shown_entries import compaction_item
from ullage.store.errors import StoreFailed

logger = logging.getLogger(__name__)

NOTHING_TO_COMPACT = "There is nothing to compact: a summary would not be shorter than the conversation"


class TellingUser:
    """Tells the user of one session how its compactions go."""

    def __init__(
        self, conversation: Conversation, fullness: Callable[[], Fullness], compacting: Callable[[], AbstractContextManager[None]]
    ) -> None:
        """`compacting` is entered while one is being made: the session is then at work on that."""
        self._conversation = conversation
        self._fullness = fullness
        self._compacting = compacting

    @contextmanager
    def being_made(self, wanted: WantedCompaction) -> Generator[None]:
        """Has the card of a compaction say that it is being made. The card is removed if that ends with an error."""
        self._show(wanted, "in_progress")
        with self._compacting():
            try:
                yield
            except BaseException:
                self._conversation.timeline.remove(wanted.id)
                raise

    def made(self, entry: Compaction) -> None:
        """Shows the card of a compaction that was made, if showing the entry failed on the way: nothing is in progress any more. Upkeep has
        only a line that counts."""
        shown = self._conversation.timeline.get(entry.id)
        if entry.trigger != "upkeep" and (not isinstance(shown, CompactionItem) or shown.status == "in_progress"):
            self._conversation.timeline.put(compaction_item(entry, self._conversation.clock()))

    def not_made(self, wanted: WantedCompaction, error: BaseException) -> None:
        """Tells that a compaction did not come about. The timeline says why, if somebody asked for it or something failed."""
        match error:
            case NothingToCompact():
                if wanted.trigger in ASKED_FOR:
                    self._failed(wanted, NOTHING_TO_COMPACT, cancelled=True)
            case NotWanted():
                self._failed(wanted, str(error), cancelled=True)
            case StoreFailed() | PolicyFailed():
                self._failed(wanted, str(error))
            case Exception():
                logger.error("a compaction failed", exc_info=error)
                self._failed(wanted, f"{in_ullage_itself(error)} Nothing was changed.")
            case _:
                self._failed(wanted, "", cancelled=True)

    def not_begun(self, wanted: WantedCompaction, why: str) -> None:
        """Tells why a compaction that was asked for was not even begun."""
        self._failed(wanted, why, cancelled=True)

    def not_proved(self, error: Exception) -> None:
        """Tells the server's log alone that a compaction could not be checked: it is made all the same."""
        logger.error("a compaction could not be checked", exc_info=error)

    def was_told(self, wanted: WantedCompaction) -> bool:
        """Whether the newest entry of the log says that this compaction failed."""
        last = self._conversation.entries[-1].entry
        return isinstance(last, CompactionFailed) and last.id == wanted.id

    def _show(self, wanted: WantedCompaction, status: CompactionStatus, error: str = "") -> None:
        before = self._fullness().counted.used
        at = self._conversation.clock()
        self._conversation.timeline.put(
            CompactionItem(wanted.id, at, status, wanted.trigger, None, before, None, "", (), 0, 0, 0, wanted.focus, (), None, error)
        )

    def _failed(self, wanted: WantedCompaction, reason: str, *, cancelled: bool = False) -> None:
        before = self._fullness().counted.used
        try:
            self._conversation.append(CompactionFailed(wanted.id, wanted.trigger, reason, cancelled, before, wanted.focus))
        except StoreFailed:  # the log cannot be written either: it is shown all the same
            self._show(wanted, "cancelled" if cancelled else "failed", reason)
