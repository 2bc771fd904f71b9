"""What becomes of a session's history, as a user looks at it and acts on it: preview, pins, exclusion, epochs.

The decisions are in `context/` (pure) and in the `Compactor`; here they are asked for and become values for a front end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeAlias, TypeVar

from ullage.context.counting.tokens import estimate_message
from ullage.context.engines.rewording import rewordings, tells_in_own_words
from ullage.context.engines.ullage import handoff_room
from ullage.context.entries import (
    AssistantReply,
    Compaction,
    CompactionRedone,
    CompactionUndone,
    EntryPinned,
    FilePinned,
    FileTouch,
    Logged,
    MessageCounts,
    Reworded,
    ToolReturned,
    UserPrompt,
)
from ullage.context.moves.again import again
from ullage.context.moves.exclude import exclude, exclude_file
from ullage.context.moves.excluded import files_out
from ullage.context.moves.fit import fitting
from ullage.context.moves.plan import Plan
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import UllageNumbers
from ullage.context.record.digest import brief
from ullage.context.view.fates import counts
from ullage.context.view.message import Message
from ullage.context.view.projection import EpochKey, Projection
from ullage.context.view.seen import touches_in_view
from ullage.context.view.taken_out import all_taken_out, gone_by, taken_out
from ullage.models.model import ModelCard
from ullage.session.compacting.compaction import Compactor
from ullage.session.compacting.draft import NothingToCompact, Wanted
from ullage.session.compacting.fullness import Fullness
from ullage.session.compacting.room import NOTHING_TO_COMPACT, Room
from ullage.session.conversation import Conversation, in_any_case
from ullage.session.errors import Reason, SessionError
from ullage.session.history.epoch_fates import FatePage, Group, fate_page
from ullage.session.history.epochs import EpochInfo, epochs
from ullage.session.history.places import entry_of_item, first_of_item
from ullage.session.history.preview import BY_THE_USER, ItemFate, Preview, cost_of, fates_of, lines_of
from ullage.session.identifiers import new_id
from ullage.session.items import RestoredFileItem
from ullage.session.model_in_use import ModelInUse
from ullage.session.surroundings import Surroundings
from ullage.workspace.folders import OutsideWorkspace

Change: TypeAlias = Compaction | CompactionUndone | CompactionRedone
"""What puts another epoch in force."""

IN_OWN_WORDS = (
    "A summary that a model wrote may still mention it in its own words, which a program cannot find. To remove these as well, undo that "
    "compaction and compact again."
)

FIT_SHARE = 0.95
"""Of the window, that an undo is made to fit: the next prompt needs room, too, and calls are held at 98 %."""
ULLAGE_NUMBERS = UllageNumbers()

EXCLUDED_BEFORE = "You excluded this, so the model does not see it. Undo that in the timeline, then pin it."
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
    """What would make it fit the window; None where it fits, or nothing would."""


class History:
    """The history of one session. `changed` is called after the epoch has changed, with what is in view of files then; `foretold` when it
    is known how many tokens a compaction would leave, with the epoch and what there was."""

    def __init__(
        self,
        conversation: Conversation,
        surroundings: Surroundings,
        compactor: Compactor,
        model: ModelInUse,
        room: Room,
        busy: Callable[[], bool],
        changed: Callable[[Sequence[FileTouch]], None],
        foretold: Callable[[EpochKey, Fullness, int], None],
    ) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._compactor = compactor
        self._model = model
        self._room = room
        self._busy = busy
        self._changed = changed
        self._foretold = foretold
        self._one_changes = asyncio.Lock()
        self._is_closed = False
        self._seen: tuple[EpochKey, int, Sequence[FileTouch]] = (), 0, ()
        """What is in view of files once a change is made: under that key, with so many entries in the log."""
        self._foreseen: _Foreseen | None = None

    async def preview(self, focus: str = "") -> Preview:
        """What a compaction by hand would do now. Changes nothing and calls no model."""
        card, full = self._model.card, self._room.fullness()
        policy, key = self._surroundings.policy.name, self._conversation.projection.key
        wanted = Wanted(new_id("c"), "manual", focus)
        prepared, in_work = self._room.prepared(wanted), self._room.in_work(wanted)
        try:
            forecast = await self._compactor.forecast(wanted, card, full.line, prepared, in_work)
        except NothingToCompact:
            used = full.counted.used
            self._foretold(key, full, used)
            return Preview(policy, "moves", used, used, full.line, "", MessageCounts(0, 0, 0), (), (), None, NOTHING_TO_COMPACT)
        entry = forecast.entry
        self._foretold(key, full, entry.estimated_after)
        before = self._conversation.projection.copy()
        after = before.with_appended(Logged(before.entries[-1].seq + 1, self._conversation.clock(), entry))
        calibration = self._surroundings.calibration(card)
        return Preview(
            policy=policy,
            rung=forecast.rung,
            tokens_before=entry.tokens_before,
            tokens_after=entry.estimated_after,
            line=full.line,
            summary=entry.summarised.text if entry.summarised else entry.snipped.marker if entry.snipped else "",
            counts=entry.message_counts,
            lines=await asyncio.to_thread(lines_of, before, after, calibration, self._conversation.timeline),
            restored=tuple(RestoredFileItem(file.path, file.note, file.is_read) for file in entry.restored),
            cost=cost_of(before, entry, "digest" if prepared else forecast.rung, card, self._conversation.clock(), full.counted.categories),
        )

    async def epochs(self, since: str | None = None) -> tuple[tuple[EpochInfo, ...], tuple[ItemFate, ...]]:
        """The epochs of the session, and the items that the model does not see as they were: that one and those after it (None: all).

        Raises `SessionError`.
        """
        if since is not None and self._conversation.timeline.get(since) is None:
            raise SessionError("no_such_item", f"There is no item {since} in this session")
        first = 0 if since is None else first_of_item(self._conversation.entries, since)
        projection, timeline = self._conversation.projection.copy(), self._conversation.timeline
        return await asyncio.to_thread(lambda: (epochs(projection), fates_of(projection, timeline, first)))

    async def epoch_fates(self, number: int, group: Group, offset: int, limit: int) -> FatePage:
        """What became of the messages of one epoch, as of that epoch: a part of one group. Raises `SessionError`."""
        projection, timeline = self._conversation.projection.copy(), self._conversation.timeline
        page = await asyncio.to_thread(fate_page, projection, timeline, number, group, offset, limit)
        if page is None:
            raise SessionError("invalid", f"There is no epoch {number} in this session")
        return page

    # Pins

    def pin_item(self, item_id: str, *, pinned: bool) -> None:
        """From now on no compaction touches what the item shows, or, not `pinned`, may again. Raises `SessionError`."""
        place = self._place(item_id)
        if not isinstance(place.entry, UserPrompt | AssistantReply | ToolReturned):
            raise SessionError("no_such_item", "Only prompts, replies and results of tools can be pinned")
        seq = place.seq
        if pinned and seq in all_taken_out(self._conversation.projection.active):
            raise SessionError("invalid", EXCLUDED_BEFORE)
        if (seq in self._conversation.projection.pins.seqs) != pinned:
            self._conversation.append(EntryPinned(seq, pinned))

    def pin_file(self, path: str, *, pinned: bool) -> None:
        """The same of a file in the workspace, whichever way it is named. Raises `SessionError`."""
        projection = self._conversation.projection
        known = projection.pins.paths
        path = path if path in known else self._file_of(path)
        if (path in known) != pinned or (pinned and path in files_out(projection)):
            self._conversation.append(FilePinned(path, pinned))

    def _file_of(self, named: str) -> str:
        """A file that is there, by an absolute path or one relative to any workspace folder. Raises `SessionError`."""
        folders = self._surroundings.folders
        for root in folders.roots:
            found = self._path_of(str(root / named))
            if (folders.roots[0] / found).is_file():
                return found
        raise SessionError("invalid", f"There is no file {named} in the workspace")

    def _path_of(self, named: str) -> str:
        if not named.strip():
            raise SessionError("invalid", "No file is named")
        try:
            return self._surroundings.folders.show(self._surroundings.folders.resolve(named))
        except OutsideWorkspace as error:
            raise SessionError("invalid", str(error)) from error

    def _as_shown(self, named: str) -> str:
        """A file of a call as tools show it; as it is named where it could be none of the workspace."""
        try:
            return self._path_of(named)
        except (SessionError, OSError, ValueError):
            return named

    # What changes the epoch, while nothing runs. All of a long conversation may have to be folded and counted anew for it: that is done
    # ahead in another thread, and what follows at one go finds it done.

    async def undo(self, compaction_id: str | None = None, *, fit: bool = False) -> str:
        """From the next request on the compaction (None: the newest in force) counts as never made; gives its id. Raises `SessionError`.

        `fit`: where the conversation would then be larger than the window, old tool results are cleared so that it is not, and where that
        is not enough messages are cut from its middle.
        """
        async with self._changing():
            undone = self._pick(self._conversation.projection.active, compaction_id, "undo")
            change = await self._foresee(CompactionUndone(undone.id))
            self._pick(self._conversation.projection.active, undone.id, "undo")  # a turn may have begun meanwhile
            self._change(change, fit=fit)
            return undone.id

    async def redo(self, compaction_id: str | None = None, *, fit: bool = False) -> str:
        """Takes an undo back (None: that of the newest). Gives its id. Raises `SessionError`.

        Where it would hide what was pinned meanwhile it is made anew without doing that, and has another id.
        """
        async with self._changing():
            redone = self._pick(self._conversation.projection.undone, compaction_id, "redo")
            await self._foresee(CompactionRedone(redone.id))
            return self._redo(self._pick(self._conversation.projection.undone, redone.id, "redo"), fit=fit)

    def _redo(self, redone: Compaction, *, fit: bool) -> str:
        back = CompactionRedone(redone.id)
        self._reword(back)
        reads = next(each for each in self._with(back).active if each.id == redone.id)
        made = again(reads, self._conversation.projection, self._count)
        if made is reads:
            self._change(back, fit=fit)
            self._unpin(redone)
            return redone.id
        if made is None:
            raise SessionError("invalid", PINNED_MEANWHILE)
        tokens = self._tokens(self._conversation.projection)
        made = replace(made, id=new_id("c"), tokens_before=tokens, usage=None, cost=None, skipped=())
        made = replace(made, estimated_after=self._tokens(self._with(made)), counts=counts(self._conversation.projection, made))
        self._change(made, fit=fit)
        return made.id

    async def exclude(self, item_id: str) -> str:
        """The model no longer sees what the item shows; gives the id of the compaction that says so. Raises `SessionError`."""
        return await self._take_out(lambda: self._without(item_id))

    async def exclude_file(self, path: str) -> str:
        """The same of the text of a file in the workspace, whichever way it is named; what the model wrote itself stays. Raises
        `SessionError`."""
        return await self._take_out(lambda: self._without_file(path))

    async def _take_out(self, planned: Callable[[], Awaitable[Plan]]) -> str:
        async with self._changing():
            self._wait_for_idle("exclude something")
            entry = await self._foresee(await self._entry_of(await planned()))
            self._wait_for_idle("exclude something")  # a turn may have begun meanwhile
            return self._make(entry)

    async def _without(self, item_id: str) -> Plan:
        projection, seq = self._conversation.projection, self._place(item_id).seq
        planned = await asyncio.to_thread(exclude, projection.copy(), seq, self._count)
        if planned is None:
            raise SessionError("no_such_item", "This is excluded already, or the model does not see it anyway")
        return planned

    async def _without_file(self, named: str) -> Plan:
        try:
            path = self._file_of(named)
        except SessionError:  # the conversation may have the text of one that is gone
            path = self._path_of(named)
        projection, shown = self._conversation.projection, cache(self._as_shown)
        planned = await asyncio.to_thread(exclude_file, projection.copy(), path, self._count, shown)
        if planned is None:
            raise SessionError("no_such_item", f"The conversation has no text of {path} that could be excluded")
        return planned

    async def _entry_of(self, planned: Plan) -> Compaction:
        projection = self._conversation.projection
        entry = _by_hand(planned.through, self._tokens(projection))
        entry = replace(entry, cleared=planned.cleared, snipped=planned.snipped, without_files=planned.without_files)
        return replace(entry, counts=await asyncio.to_thread(counts, projection.copy(), entry))

    async def _foresee(self, entry: _Change) -> _Change:
        await self._reword_ahead(entry)
        card = self._model.card
        calibration = self._surroundings.calibration(card)
        view = await self._conversation.foresee(entry, calibration)
        tokens = self._conversation.counted_of(view, calibration).used
        self._seen = view.key, len(view.entries), await asyncio.to_thread(touches_in_view, view)
        fitted = await self._foresee_fit(view, tokens, card.hold_window)
        self._foreseen = _Foreseen(entry, card, view, tokens, fitted)
        return entry

    async def _foresee_fit(self, view: Projection, tokens: int, window: int) -> Compaction | None:
        if tokens <= window:
            return None

        def work() -> tuple[Compaction | None, Projection]:
            fitted = self._fitted(view, tokens, window)
            return fitted, view if fitted is None else view.with_appended(Logged(view.entries[-1].seq + 1, 0.0, fitted))

        fitted, after = await asyncio.to_thread(work)
        if fitted is not None:
            self._conversation.projection.learn(after)
        return fitted

    @asynccontextmanager
    async def _changing(self) -> AsyncGenerator[None]:
        """One change after the other; what was foreseen of it holds all of a view, and is let go of."""
        async with self._one_changes:
            try:
                yield
            finally:
                self._foreseen = None

    def _as_foreseen(self, entry: Change) -> _Foreseen | None:
        """What was found out of that change; None where it was made of another log, or another model is asked now."""
        known = self._foreseen
        if known is None or known.entry != entry or known.card is not self._model.card:
            return None
        return known if len(known.view.entries) == len(self._conversation.entries) + 1 else None

    def _has_changed(self) -> None:
        """Says what is in view of files now, as foreseen or, where something else came about, as it is."""
        projection, (key, entries, touches) = self._conversation.projection, self._seen
        with in_any_case("what the agent has seen of files is as before"):
            self._changed(touches if (key, entries) == (projection.key, len(projection.entries)) else touches_in_view(projection))

    def _pick(self, among: Sequence[Compaction], compaction_id: str | None, verb: str) -> Compaction:
        self._wait_for_idle(f"{verb} a compaction")
        # What a policy does before every call has no card: it is meant only where it is named.
        wanted = [each for each in among if each.id == compaction_id or (compaction_id is None and each.trigger != "upkeep")]
        if not wanted:
            raise SessionError("nothing_to_undo", f"There is no compaction to {verb}")
        return wanted[-1]

    async def close(self) -> None:
        """Nothing is changed any more; what is being worked out has ended when it returns."""
        self._is_closed = True
        async with self._one_changes:
            pass

    def _wait_for_idle(self, what: str) -> None:
        if self._is_closed:
            raise SessionError("unknown_session", f"The session was closed: it is too late to {what}")
        if self._busy():
            raise SessionError("session_busy", f"Wait until the session is idle to {what}")

    def _change(self, entry: Change, *, fit: bool) -> None:
        """Raises `SessionError` where the conversation would be larger than the window; see `undo` for `fit`."""
        window, known = self._model.card.hold_window, self._as_foreseen(entry)
        tokens = self._room.tokens_with(entry) if known is None else known.tokens
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

    def _fitted(self, view: Projection, tokens: int, window: int) -> Compaction | None:
        """The compaction that makes `view`, which holds so many tokens, fit the window with some room to go on; None where none does."""
        planned = fitting(view, tokens - int(window * FIT_SHARE), ULLAGE_NUMBERS, self._count, brief)
        if planned is None:
            return None
        after = tokens - self._count(view.messages) + planned.estimated_after
        entry = replace(_by_hand(planned.through, tokens), cleared=planned.cleared, snipped=planned.snipped, policy=ULLAGE.name)
        return replace(entry, estimated_after=after, counts=counts(view, entry))

    def _make(self, entry: Compaction) -> str:
        self._reword(entry)
        after = self._with(entry)
        skipped = (IN_OWN_WORDS,) if tells_in_own_words(after, gone_by(entry)) else ()
        self._conversation.append(replace(entry, estimated_after=self._tokens(after), skipped=skipped))
        self._has_changed()
        self._unpin(entry)
        return entry.id

    def _unpin(self, made: Compaction) -> None:
        """The later word counts: what the user takes out with it is pinned no longer."""
        pinned = self._conversation.projection.pins
        for seq in sorted(pinned.seqs & taken_out(made)):
            self._conversation.append_or_owe(EntryPinned(seq, False))
        for path in sorted(pinned.paths.intersection(file.path for file in made.without_files)):
            self._conversation.append_or_owe(FilePinned(path, False))

    def _log(self, entry: Change) -> None:
        self._reword(entry)
        self._conversation.append(entry)

    async def _reword_ahead(self, entry: Change) -> None:
        """Does in another thread what `_reword` would find to do: writing a record anew takes a while in a long session."""
        projection = self._conversation.projection
        made = (entry, *projection.active, *projection.undone)
        if not any(gone_by(each) for each in made if isinstance(each, Compaction)):
            return
        view, last, room = projection.copy(), projection.entries[-1].seq, handoff_room(self._room.fullness().line)

        def write() -> Sequence[Reworded]:
            view.append(Logged(last + 1, 0.0, entry))
            return tuple(rewordings(view, ULLAGE.engine, room))

        for reworded in await asyncio.to_thread(write):
            self._conversation.append(reworded)

    def _reword(self, entry: Change) -> None:
        """Logs, before `entry`, how the records in view read without what is taken out once it is in force."""
        room = handoff_room(self._room.fullness().line)
        for reworded in rewordings(self._with(entry), ULLAGE.engine, room):
            self._conversation.append(reworded)

    def _with(self, entry: Change) -> Projection:
        """The view after that change; to be read alone."""
        known = self._as_foreseen(entry)
        return (
            known.view
            if known is not None
            else self._conversation.projection.with_appended(Logged(self._conversation.entries[-1].seq + 1, 0.0, entry))
        )

    def _place(self, item_id: str) -> Logged:
        found = entry_of_item(self._conversation.entries, item_id)
        if found is None:
            raise SessionError("no_such_item", "This is not finished yet. Wait until it is, then try again")
        return found

    def _tokens(self, view: Projection) -> int:
        if view is self._conversation.projection:
            return self._conversation.counted(self._surroundings.calibration(self._model.card)).used
        before = self._conversation.projection
        return self._tokens(before) - self._count(before.messages) + self._count(view.messages)

    def _count(self, messages: Sequence[Message]) -> int:
        calibration = self._surroundings.calibration(self._model.card)
        return calibration.apply(sum(estimate_message(message) for message in messages))


def _reason(fitted: Compaction | None) -> Reason:
    """Of a refusal, by what would make it fit."""
    if fitted is None:
        return "invalid"
    return "fits_only_cut" if fitted.snipped is not None else "does_not_fit"


def _way_out(fitted: Compaction | None) -> str:
    """What would make it fit, as a sentence."""
    if fitted is None:
        return "It would not fit even with old tool results cleared and its middle cut out."
    ways = ["old tool results cleared"] if fitted.cleared else []
    if cut := fitted.message_counts.snipped:
        ways.append(f"{cut:,} {'message' if cut == 1 else 'messages'} cut from its middle")
    return f"With {' and '.join(ways)} it would fit."


def _by_hand(through: int, tokens_before: int) -> Compaction:
    return Compaction(
        id=new_id("c"),
        trigger="manual",
        rung="moves",
        through=through,
        cleared=(),
        snipped=None,
        summarised=None,
        restored=(),
        resume="",
        focus="",
        policy=BY_THE_USER,
        tokens_before=tokens_before,
        estimated_after=0,
    )
