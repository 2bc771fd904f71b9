"""What puts another epoch in force: a compaction undone, redone or made by the user's hand.

A long conversation may have to be folded and counted anew for that. This is done ahead in another thread (`foresee`), so that the change
itself finds it done.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from ullage.context.blocks import Message
from ullage.context.compaction.draft import counting
from ullage.context.compaction.exclusion import as_planned, rewordings, weighed
from ullage.context.compaction.undoing import again, as_new, by_hand, made_to_fit, tokens_of
from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone, Reworded
from ullage.context.engines.engine import summary_room
from ullage.context.entries import EntryPinned, FilePinned, FileTouch, Logged
from ullage.context.moves.cheap import clear_one
from ullage.context.moves.plan import Plan
from ullage.context.policies.ullage import ULLAGE
from ullage.context.view.fates import counts, touches_in_view
from ullage.context.view.projection import EpochKey, Projection
from ullage.context.view.taken_out import gone_by, taken_out
from ullage.models.model import ModelCard
from ullage.session.compacting.controller import CompactionController
from ullage.session.conversation import Conversation, in_any_case
from ullage.session.errors import Reason, SessionError
from ullage.session.models_in_use import ModelInUse
from ullage.session.surroundings import Surroundings
from ullage.session.timeline.items import new_id

Change: TypeAlias = Compaction | CompactionUndone | CompactionRedone
"""What puts another epoch in force."""

NOT_TO_CLEAR = "There is no result here that could be cleared: the model does not see it, or it is short already"
PINNED = "This is pinned: no compaction touches it. Unpin it first"
PINNED_MEANWHILE = "This compaction would hide what was pinned since it was undone. Unpin that, or compact again, which keeps it in view."

_Change = TypeVar("_Change", bound=Change)


@dataclass(frozen=True, slots=True)
class _Foreseen:
    """What a change would make of the conversation, found out before it is made."""

    entry: Change
    card: ModelCard
    view: Projection
    tokens: int
    fitted: Compaction | None
    """The compaction that would make it fit the window; None if it fits, or nothing would."""


class Changes:
    """The changes of one session. `changed` is called after the epoch has changed, with what is in view of files then."""

    def __init__(
        self,
        conversation: Conversation,
        surroundings: Surroundings,
        model: ModelInUse,
        controller: CompactionController,
        changed: Callable[[Sequence[FileTouch]], None],
    ) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._model = model
        self._controller = controller
        self._changed = changed
        self._one_changes = asyncio.Lock()
        self._seen: dict[tuple[EpochKey, int], Sequence[FileTouch]] = {}
        """What is in view of files once a change is made, by the key of the view and the number of entries in the log then."""
        self._foreseen: _Foreseen | None = None

    @asynccontextmanager
    async def one_at_a_time(self) -> AsyncGenerator[None]:
        """Lets one change after the other be made. What was foreseen holds a whole view, so it is let go of afterwards."""
        async with self._one_changes:
            try:
                yield
            finally:
                self._foreseen = None

    async def entry_of(self, planned: Plan) -> Compaction:
        """The compaction by the user's hand that does what was planned."""
        projection = self._conversation.projection
        entry = as_planned(new_id("c"), planned, self._tokens(projection))
        return replace(entry, counts=await asyncio.to_thread(counts, projection.copy(), entry))

    async def clearing(self, seq: int) -> Compaction:
        """The compaction that clears that result and nothing else. Raises `SessionError`."""
        projection = self._conversation.projection
        cleared = await asyncio.to_thread(clear_one, projection.copy(), seq)
        if cleared is None:
            raise SessionError("no_such_item", NOT_TO_CLEAR)
        if seq in projection.pinned_entries:
            raise SessionError("invalid", PINNED)
        entry = by_hand(new_id("c"), projection.entries[-1].seq, self._tokens(projection), ULLAGE.name)
        entry = replace(entry, cleared=(cleared,))
        return replace(entry, counts=await asyncio.to_thread(counts, projection.copy(), entry))

    async def foresee(self, entry: _Change) -> _Change:
        """Finds out in another thread what the change would make of the conversation; gives the change back."""
        await self._reword_ahead(entry)
        card = self._model.card
        calibration = self._surroundings.calibration(card)
        view = await self._conversation.foresee(entry, calibration)
        tokens = self._conversation.counted_of(view, calibration).used
        self._seen = {(view.key, len(view.entries)): await asyncio.to_thread(touches_in_view, view)}
        fitted = await self._foresee_fit(view, tokens, card.hold_window)
        self._foreseen = _Foreseen(entry, card, view, tokens, fitted)
        return entry

    async def _foresee_fit(self, view: Projection, tokens: int, window: int) -> Compaction | None:
        if tokens <= window:
            return None

        fitted = await asyncio.to_thread(self._fitted, view, tokens, window)
        if fitted is not None:
            after = await self._conversation.foresee(fitted, self._surroundings.calibration(self._model.card), view)
            self._seen[after.key, len(after.entries)] = await asyncio.to_thread(touches_in_view, after)
        return fitted

    def _as_foreseen(self, entry: Change) -> _Foreseen | None:
        """What was found out of that change; None if nothing was, if it was made of another log, or if another model is asked now."""
        known = self._foreseen
        if known is None or known.entry != entry or known.card is not self._model.card:
            return None
        return known if len(known.view.entries) == len(self._conversation.entries) + 1 else None

    def _has_changed(self) -> None:
        """Says what is in view of files now: as foreseen, or as it is if something else came about."""
        projection = self._conversation.projection
        touches = self._seen.get((projection.key, len(projection.entries)))
        with in_any_case("what the agent has seen of files is as before"):
            self._changed(touches_in_view(projection) if touches is None else touches)

    def make(self, entry: Change, *, fit: bool) -> None:
        """Logs the change. Raises `SessionError` if the conversation would be larger than the window; see `History.undo` for `fit`."""
        window, known = self._model.card.hold_window, self._as_foreseen(entry)
        tokens = self._controller.tokens_with(entry) if known is None else known.tokens
        fitted: Compaction | None = None
        if tokens > window:
            fitted = self._fitted(self._with(entry), tokens, window) if known is None else known.fitted
            if fitted is None or not fit:
                raise SessionError(
                    _reason(fitted),
                    f"The conversation would then hold about {tokens:,} tokens, more than the model's {window:,}. {_way_out(fitted)}",
                )
        self._log(entry)
        if fitted is not None:
            self._conversation.append_or_owe(fitted)  # the undo is in force by now: where the disk is full this follows with the next entry
        self._has_changed()

    def redo(self, redone: Compaction, *, fit: bool) -> str:
        """Takes an undo back; gives the id of what is in force then. Raises `SessionError`; see `History.redo`."""
        back = CompactionRedone(redone.id)
        self._reword(back)
        reads = self._with(back).in_force(redone.id)
        made = again(reads, self._conversation.projection, self.count)
        if made is reads:
            self.make(back, fit=fit)
            self._unpin(redone)
            return redone.id
        if made is None:
            raise SessionError("invalid", PINNED_MEANWHILE)
        projection = self._conversation.projection
        made = as_new(made, new_id("c"), self._tokens(projection), projection)
        made = replace(made, estimated_after=self._tokens(self._with(made)))
        self.make(made, fit=fit)
        return made.id

    def take_out(self, entry: Compaction) -> str:
        """Logs what the user takes out of view; gives its id."""
        self._reword(entry)
        after = self._with(entry)
        self._conversation.append(weighed(entry, after, self._tokens(after)))
        self._has_changed()
        self._unpin(entry)
        return entry.id

    def _unpin(self, made: Compaction) -> None:
        """Unpins what the user takes out with that compaction: the later word counts."""
        pinned = self._conversation.projection.pins
        for seq in sorted(pinned.seqs & taken_out(made)):
            self._conversation.append_or_owe(EntryPinned(seq, False))
        for path in sorted(pinned.paths.intersection(file.path for file in made.without_files)):
            self._conversation.append_or_owe(FilePinned(path, False))

    def _fitted(self, view: Projection, tokens: int, window: int) -> Compaction | None:
        return made_to_fit(new_id("c"), view, tokens, window, self.count)

    def _log(self, entry: Change) -> None:
        self._reword(entry)
        self._conversation.append(entry)

    async def _reword_ahead(self, entry: Change) -> None:
        """Does in another thread what `_reword` would have to do: writing a summary anew takes a while in a long session."""
        projection = self._conversation.projection
        made = (entry, *projection.active, *projection.undone)
        if not any(gone_by(each) for each in made if isinstance(each, Compaction)):
            return
        view, last, room = projection.copy(), projection.entries[-1].seq, summary_room(self._controller.fullness().threshold)

        def write() -> Sequence[Reworded]:
            view.append(Logged(last + 1, 0.0, entry))
            return tuple(rewordings(view, ULLAGE.engine, room))

        for reworded in await asyncio.to_thread(write):
            self._conversation.append(reworded)

    def _reword(self, entry: Change) -> None:
        """Logs, before `entry`, how the summaries in view read without what it takes out."""
        room = summary_room(self._controller.fullness().threshold)
        for reworded in rewordings(self._with(entry), ULLAGE.engine, room):
            self._conversation.append(reworded)

    def _with(self, entry: Change) -> Projection:
        """The view after that change, which is only to be read."""
        known = self._as_foreseen(entry)
        return (
            known.view
            if known is not None
            else self._conversation.projection.with_appended(Logged(self._conversation.entries[-1].seq + 1, 0.0, entry))
        )

    def _tokens(self, view: Projection) -> int:
        calibration = self._surroundings.calibration(self._model.card)
        return tokens_of(view, self._conversation.projection, self._conversation.counted(calibration).used, self.count)

    def count(self, messages: Sequence[Message]) -> int:
        """The estimated tokens of these messages, by what was learned of the model in use."""
        return counting(self._surroundings.calibration(self._model.card))(messages)


def _reason(fitted: Compaction | None) -> Reason:
    """The reason of a refusal, by the compaction that would make the conversation fit."""
    if fitted is None:
        return "invalid"
    return "fits_only_cut" if fitted.snipped is not None else "does_not_fit"


def _way_out(fitted: Compaction | None) -> str:
    """What would make the conversation fit, as a sentence."""
    if fitted is None:
        return "It would not fit even with old tool results cleared and its middle cut out."
    ways = ["old tool results cleared"] if fitted.cleared else []
    if cut := fitted.message_counts.snipped:
        ways.append("1 message cut from its middle" if cut == 1 else f"{cut:,} messages cut from its middle")
    return f"With {' and '.join(ways)} it would fit."
