"""What becomes of a session's history, as a user looks at it and acts on it: preview, pins, exclusion, epochs.

The decisions are in `context/` (pure) and in `CompactionController`; here they are asked for and become values for a front end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import cache

from ullage.context.compaction.decide import Fullness
from ullage.context.compaction.draft import NothingToCompact, WantedCompaction
from ullage.context.compaction.exclusion import exclude, exclude_file
from ullage.context.compaction.making import forecast
from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone, MessageCounts, Rung
from ullage.context.entries import AssistantReply, EntryPinned, FilePinned, FileTouch, Logged, ToolReturned, UserPrompt
from ullage.context.moves.plan import Plan
from ullage.context.view.projection import EpochKey
from ullage.context.view.quotations import files_out
from ullage.context.view.taken_out import all_taken_out
from ullage.session.compacting.controller import CompactionController
from ullage.session.compacting.means import SessionMeans
from ullage.session.compacting.telling import NOTHING_TO_COMPACT
from ullage.session.conversation import Conversation
from ullage.session.errors import SessionError, refusing
from ullage.session.history.changes import Changes
from ullage.session.history.epochs import EpochInfo, FatePage, Group, epochs, fate_page
from ullage.session.history.export import ExportFormat, exported
from ullage.session.history.places import NamedFiles, entry_of_item, first_of_item
from ullage.session.history.preview import ItemFate, Preview, cost_of, fates_of, lines_of
from ullage.session.models_in_use import ModelInUse
from ullage.session.surroundings import Surroundings
from ullage.session.timeline.items import RestoredFileItem, new_id

EXCLUDED_BEFORE = "You excluded this, so the model does not see it. Undo that in the timeline, then pin it."


class History:
    """The history of one session. `changed` is called after the epoch has changed, with what is in view of files then; `foretold` when it
    is known how many tokens a compaction would leave, with the epoch and what there was."""

    def __init__(
        self,
        conversation: Conversation,
        surroundings: Surroundings,
        means: SessionMeans,
        model: ModelInUse,
        controller: CompactionController,
        busy: Callable[[], bool],
        changed: Callable[[Sequence[FileTouch]], None],
        foretold: Callable[[EpochKey, Fullness, int], None],
    ) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._means = means
        self._model = model
        self._controller = controller
        self._busy = busy
        self._foretold = foretold
        self._changes = Changes(conversation, surroundings, model, controller, changed)
        self._files = NamedFiles(surroundings.folders)
        self._is_closed = False

    async def preview(self, focus: str = "") -> Preview:
        """What a compaction by hand would do now. Nothing is changed, and no model is called."""
        card, full = self._model.card, self._controller.fullness()
        policy, key = self._surroundings.policy.name, self._conversation.projection.key
        wanted = WantedCompaction(new_id("c"), "manual", focus)
        try:
            foretold = await forecast(self._controller.making, self._means, wanted)
        except NothingToCompact:
            used = full.counted.used
            self._foretold(key, full, used)
            return Preview(policy, "moves", used, used, full.threshold, "", MessageCounts(0, 0, 0), (), (), None, NOTHING_TO_COMPACT)
        entry = foretold.entry
        self._foretold(key, full, entry.estimated_after)
        before = self._conversation.projection.copy()
        after = before.with_appended(Logged(before.entries[-1].seq + 1, self._conversation.clock(), entry))
        calibration = self._surroundings.calibration(card)
        rung: Rung = "digest" if foretold.is_written else foretold.rung
        return Preview(
            policy=policy,
            rung=foretold.rung,
            tokens_before=entry.tokens_before,
            tokens_after=entry.estimated_after,
            threshold=full.threshold,
            summary=entry.summarised.text if entry.summarised else entry.snipped.marker if entry.snipped else "",
            counts=entry.message_counts,
            lines=await asyncio.to_thread(lines_of, before, after, calibration, self._conversation.timeline),
            restored=tuple(RestoredFileItem(file.path, file.note, file.is_read) for file in entry.restored),
            cost=await asyncio.to_thread(cost_of, before, entry, rung, card, self._conversation.clock(), full.counted.categories),
        )

    async def export(self, title: str, wanted: ExportFormat) -> str:
        """The whole session as one text, in that format."""
        return await asyncio.to_thread(exported, title, self._conversation.entries, wanted)

    async def epochs(self, since: str | None = None) -> tuple[tuple[EpochInfo, ...], tuple[ItemFate, ...]]:
        """The epochs of the session, and the items that the model does not see as they were: that one and those after it (None: all).

        Raises `SessionError`.
        """
        if since is not None and self._conversation.timeline.get(since) is None:
            raise SessionError("no_such_item", f"There is no item {since} in this session")
        first = 0 if since is None else first_of_item(self._near(since), since)
        projection, timeline = self._conversation.projection.copy(), self._conversation.timeline
        fetched_again = dict(timeline.all_fetched_again)
        return await asyncio.to_thread(lambda: (epochs(projection, fetched_again), fates_of(projection, timeline, first)))

    async def epoch_fates(self, number: int, group: Group, offset: int, limit: int) -> FatePage:
        """What became of the messages of one epoch, as of that epoch: those of one group, `limit` at most, from the `offset`th on. Raises
        `SessionError`."""
        projection, timeline = self._conversation.projection.copy(), self._conversation.timeline
        page = await asyncio.to_thread(fate_page, projection, timeline, number, group, offset, limit)
        if page is None:
            raise SessionError("invalid", f"There is no epoch {number} in this session")
        return page

    # Pins

    def pin_item(self, item_id: str, *, pinned: bool) -> None:
        """Pins what the item shows, so that no compaction touches it from now on, or unpins it if not `pinned`. Raises `SessionError`."""
        place = self._place(item_id)
        if not isinstance(place.entry, UserPrompt | AssistantReply | ToolReturned):
            raise SessionError("no_such_item", "Only prompts, replies and results of tools can be pinned")
        seq = place.seq
        if pinned and seq in all_taken_out(self._conversation.projection.active):
            raise SessionError("invalid", EXCLUDED_BEFORE)
        if (seq in self._conversation.projection.pins.seqs) != pinned:
            self._conversation.append(EntryPinned(seq, pinned))

    def pin_file(self, path: str, *, pinned: bool) -> None:
        """Pins a file in the workspace, whichever way it is named, or unpins it if not `pinned`. Raises `SessionError`."""
        projection = self._conversation.projection
        known = projection.pins.paths
        path = path if path in known else self._files.file_of(path)
        if (path in known) != pinned or (pinned and path in files_out(projection)):
            self._conversation.append(FilePinned(path, pinned))

    # What changes the epoch, while nothing runs

    async def undo(self, compaction_id: str | None = None, *, fit: bool = False) -> str:
        """Undoes a compaction (None: the newest in force), so that it counts as never made from the next request on. Gives its id. Raises
        `SessionError`.

        `fit`: where the conversation would then be larger than the window, old tool results are cleared so that it is not, and where that
        is not enough messages are cut from its middle.
        """
        with refusing():
            async with self._changes.one_at_a_time():
                undone = self._pick(self._conversation.projection.active, compaction_id, "undo")
                change = await self._changes.foresee(CompactionUndone(undone.id))
                self._pick(self._conversation.projection.active, undone.id, "undo")  # a turn may have begun meanwhile
                self._changes.make(change, fit=fit)
                return undone.id

    async def redo(self, compaction_id: str | None = None, *, fit: bool = False) -> str:
        """Takes the undo of a compaction back (None: of the newest that was undone). Gives its id. Raises `SessionError`.

        Where it would hide what was pinned meanwhile it is made anew without doing that, and has another id. `fit` is as in `undo`.
        """
        with refusing():
            async with self._changes.one_at_a_time():
                redone = self._pick(self._conversation.projection.undone, compaction_id, "redo")
                await self._changes.foresee(CompactionRedone(redone.id))
                return self._changes.redo(self._pick(self._conversation.projection.undone, redone.id, "redo"), fit=fit)

    async def exclude(self, item_id: str) -> str:
        """Takes what the item shows out of the model's view; gives the id of the compaction that does it. Raises `SessionError`."""
        return await self._take_out(lambda: self._without(item_id))

    async def clear(self, item_id: str) -> str:
        """Puts a placeholder in the place of the result that the item shows; it says how to get the result back. Gives the id of the
        compaction that does it. Raises `SessionError`."""
        async with self._changes.one_at_a_time():
            self._wait_for_idle("clear a result")
            seq = self._place(item_id).seq
            entry = await self._changes.foresee(await self._changes.clearing(seq))
            self._wait_for_idle("clear a result")  # a turn may have begun meanwhile
            return self._changes.take_out(entry)

    async def exclude_file(self, path: str) -> str:
        """Takes the text of a file in the workspace, whichever way it is named, out of the model's view. What the model wrote itself stays.
        Gives the id of the compaction that does it. Raises `SessionError`."""
        return await self._take_out(lambda: self._without_file(path))

    async def _take_out(self, planned: Callable[[], Awaitable[Plan]]) -> str:
        async with self._changes.one_at_a_time():
            self._wait_for_idle("exclude something")
            entry = await self._changes.foresee(await self._changes.entry_of(await planned()))
            self._wait_for_idle("exclude something")  # a turn may have begun meanwhile
            return self._changes.take_out(entry)

    async def _without(self, item_id: str) -> Plan:
        projection, seq = self._conversation.projection, self._place(item_id).seq
        planned = await asyncio.to_thread(exclude, projection.copy(), seq, self._changes.count)
        if planned is None:
            raise SessionError("no_such_item", "This is excluded already, or the model does not see it anyway")
        return planned

    async def _without_file(self, named: str) -> Plan:
        try:
            path = self._files.file_of(named)
        except SessionError:  # the conversation may have the text of a file that is gone
            path = self._files.path_of(named)
        projection, shown = self._conversation.projection, cache(self._files.as_shown)
        planned = await asyncio.to_thread(exclude_file, projection.copy(), path, self._changes.count, shown)
        if planned is None:
            raise SessionError("no_such_item", f"The conversation has no text of {path} that could be excluded")
        return planned

    def _pick(self, among: Sequence[Compaction], compaction_id: str | None, verb: str) -> Compaction:
        self._wait_for_idle(f"{verb} a compaction")
        # What a policy does before every call has no card: it is meant only where it is named.
        wanted = [each for each in among if each.id == compaction_id or (compaction_id is None and each.trigger != "upkeep")]
        if not wanted:
            raise SessionError("nothing_to_undo", f"There is no compaction to {verb}")
        return wanted[-1]

    async def close(self) -> None:
        """Ends all changes; what is being worked out has ended when this returns."""
        self._is_closed = True
        async with self._changes.one_at_a_time():
            pass

    def _wait_for_idle(self, what: str) -> None:
        if self._is_closed:
            raise SessionError("unknown_session", f"The session was closed: it is too late to {what}")
        if self._busy():
            raise SessionError("session_busy", f"Wait until the session is idle to {what}")

    def _place(self, item_id: str) -> Logged:
        found = entry_of_item(self._near(item_id), item_id)
        if found is None:
            raise SessionError("no_such_item", "This is not finished yet. Wait until it is, then try again")
        return found

    def _near(self, item_id: str) -> Sequence[Logged]:
        """The part of the log in which the item must be: to look through all of a long one takes a second."""
        start, stop = self._conversation.timeline.stretch_of(item_id)
        return self._conversation.entries[start:stop]
