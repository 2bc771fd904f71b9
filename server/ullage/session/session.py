"""One session: its queue of prompts, and one thing at a time that is done for it (a turn, or a compaction).

What a turn consists of stands in `turns/`; when and how it is compacted in `compacting/`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from ullage.context.blocks import Json
from ullage.context.compaction.decide import Postponed
from ullage.context.compaction.draft import Wanted
from ullage.context.compaction_entries import Compaction
from ullage.context.entries import Clipped, EntryPinned, FilePinned, FileTouch, Logged, UserPrompt
from ullage.context.quoting import visible_line
from ullage.context.view.fates import touches_in_view
from ullage.models.model import Model
from ullage.session.attachments import Ref, SessionShelf, attach, ref_of
from ullage.session.changes.going_back import GoingBack
from ullage.session.changes.recording import Recording
from ullage.session.changes.reviewing import Reviewing
from ullage.session.changes.shown import Decided
from ullage.session.commit_message import Changed, NoMessage, write_commit_message
from ullage.session.compacting.controller import CompactionController
from ullage.session.compacting.means import SessionMeans
from ullage.session.compacting.pauses import Cooling, WhileEditing
from ullage.session.compacting.policy_in_use import PolicyInUse
from ullage.session.compacting.restoring import Restoring
from ullage.session.conversation import Conversation
from ullage.session.endpoint_counts import EndpointCounts, keep_size, restate_size
from ullage.session.errors import SessionError
from ullage.session.history.history import History
from ullage.session.history.places import fork_origin, pinned_items
from ullage.session.locations import locating
from ullage.session.long_work import ROUND
from ullage.session.models_in_use import ModelInUse
from ullage.session.permissions.past import PastCalls
from ullage.session.permissions.permits import SessionPermits
from ullage.session.permissions.proposed_edit import ProposedEdits
from ullage.session.permissions.rules_kept import SessionRules
from ullage.session.prelude import PreludeInUse, RulesInForce
from ullage.session.surroundings import Surroundings
from ullage.session.timeline.display import SNAPSHOT_ITEMS, Display, ShownGauge
from ullage.session.timeline.items import (
    ChangesChanged,
    Item,
    ModeChanged,
    ModeId,
    ModelChanged,
    PinsChanged,
    SessionState,
    Snapshot,
    Update,
    new_id,
)
from ullage.session.timeline.shown_entries import title_of
from ullage.session.turns.approvals import Approvals
from ullage.session.turns.calls import Calls
from ullage.session.turns.modes import ModeInForce
from ullage.session.turns.turn import FileNotices
from ullage.session.turns.turns import SURELY_FITS, PromptQueue, Turns, Work, close_what_is_open, is_unfinished, refuse_too_long
from ullage.store.errors import StoreFailed
from ullage.store.plain_files import ProposalFiles
from ullage.store.statements import SessionRecord
from ullage.tools.media import Shelf
from ullage.tools.rules.covering import Rule
from ullage.tools.tool import Tool, ToolKind
from ullage.workspace.touched import FileReads

logger = logging.getLogger(__name__)

_T = TypeVar("_T")


class Session:
    """A conversation that is open. Everything runs on one event loop; no method blocks it for long.

    Making one folds its log, which takes long where that is long: it may be done in another thread, tells nobody, and `mend` comes next.
    """

    def __init__(
        self,
        record: SessionRecord,
        entries: Sequence[Logged],
        surroundings: Surroundings,
        make_tools: Callable[[str, FileReads, Callable[[], Sequence[Logged]], Shelf], Mapping[str, Tool]],
        model: Model,
        tell: Callable[[str, int, Update], None],
    ) -> None:
        self.id = record.id
        self._surroundings = surroundings
        self._display = Display(record.id, record.title, tell)
        self._work = Work(record.id, self._work_done)
        self._arriving = asyncio.Lock()
        self._stops = 0
        """How often the user stopped something."""
        self._reads = FileReads()
        self._shelf = SessionShelf(surroundings.media, lambda: self._model.card, lambda: self._conversation.projection.messages)
        renewed = partial(make_tools, record.id, self._reads, lambda: self._conversation.entries, self._shelf)
        self._tools = dict(renewed())
        self._model = ModelInUse(model, self._model_changed)
        self._mode = ModeInForce(record.id, entries, surroundings.store)
        self._forked_from = fork_origin(entries)
        self._conversation = Conversation(
            *(record.id, surroundings.store, entries, self._describe, self._display.tell, surroundings.clock),
            *(self._appended, locating(surroundings.folders)),
        )
        timeline = self._conversation.timeline
        self._queue = PromptQueue(self._conversation, surroundings.store)
        self._rules = RulesInForce(surroundings.folders)
        restoring = Restoring(self._conversation, surroundings, self._reads, self._rules)
        self._notices = FileNotices(surroundings, self._reads, self._rules, restoring)
        self._prelude = PreludeInUse(self._conversation, surroundings.folders, self._tools, renewed)
        self._policy = PolicyInUse(surroundings, self._prelude.renew_tools)
        self._endpoint_counts = EndpointCounts(self._conversation, surroundings, self._model, lambda: self.busy, self._size_counted)
        self._means = SessionMeans(
            *(self._conversation, surroundings, self._policy, self._model, restoring),
            *(self._display.as_compacting, self._prelude.renew, lambda: self._gauge.show()),
        )
        self._controller = CompactionController(self._conversation, surroundings, self._policy, self._model, self._means)
        self._gauge = ShownGauge(self._display, self._conversation, surroundings, self._model, self._controller)
        self.history = History(
            *(self._conversation, surroundings, self._means, self._model, self._controller),
            *(lambda: self.busy, self._epoch_changed, self._gauge.foretold),
        )
        self.reviewing = Reviewing(
            self._conversation, surroundings, entries, lambda changes: self._display.tell(ChangesChanged(changes)), self._notices.changed
        )
        self.going_back = GoingBack(self._conversation, surroundings, self.file_changed)
        self._while_editing = WhileEditing(
            self._controller, lambda: not self.busy, lambda: self._work.begin(_well(self._controller.while_idle()))
        )
        self._cooling = Cooling(self._controller, lambda: not self.busy, lambda: self._work.begin(_well(self._controller.in_pause())))
        self.permits = SessionPermits(surroundings, SessionRules(record.id, surroundings.store))
        self.past_calls = PastCalls(surroundings.store, lambda: self._tools, self.permits, surroundings.clock)
        proposals = ProposedEdits(ProposalFiles(surroundings.store_folder, record.id), surroundings.editor)
        self._approvals = Approvals(timeline, self.permits, proposals, (surroundings.home or surroundings).folders, self._mode.refusal)
        self._recording = Recording(self._conversation, surroundings)
        calls = Calls(
            *(self._conversation, self._tools, self._approvals, surroundings, self._policy, self._recording),
            self._plan_accepted,
        )
        self._turns = Turns(
            *(self._conversation, surroundings, self._queue, self._prelude, self._policy, self._model, self._controller),
            *(calls, self._notices, self._rules, self._mode),
            lambda: self._work.ending,
            lambda retry: self._display.set_state("running", retry),
            self._display.turn_ended,
        )
        self._reads.keep_only(touches_in_view(self._conversation.projection))
        restate_size(self._conversation, surroundings, self._model.card)
        self._controller.state()  # every text is weighed now, and all of the log is looked at, and not when a snapshot is asked for
        self._conversation.projection.let_go()

    # What was there before

    async def record_cut_off(self) -> None:
        """Logs what calls changed that a crash cut off. Comes before `mend`, which gives them a result."""
        await self._recording.record_cut_off()

    def mend(self) -> None:
        """Closes what a crash left open, and shows what is in the queue."""
        if not self._conversation.entries:
            self._prelude.use()  # so that the gauge counts it before any prompt
        close_what_is_open(self._conversation, self._surroundings.store_folder)
        self._queue.show()
        self._means.reading.look()
        self.reviewing.follow()

    async def learn_model(self) -> None:
        """Asks the endpoint what it knows of the model; until then the table's figures are used."""
        await self._model.learn()

    def _model_changed(self) -> None:
        self._display.tell(ModelChanged(self._model.info))
        self._gauge.show()

    # What the user sees

    def snapshot(self, limit: int = SNAPSHOT_ITEMS) -> Snapshot:
        """All that a panel needs; later updates have a higher `seq`."""
        pins = pinned_items(self._conversation.projection)
        shown = self._display.snapshot(self._conversation.timeline, self._gauge.now(), self._model.info, pins, limit)
        folder = self._surroundings.store_folder
        kept = None if folder is None else str(folder)
        return replace(
            shown,
            mode=self._mode.id,
            forked_from=self._forked_from,
            store_folder=kept,
            changes=self.reviewing.shown,
            worktree=self._surroundings.worktree,
        )

    def items_before(self, item_id: str, limit: int) -> tuple[tuple[Item, ...], int]:
        """Older items, and how many precede them. Raises `SessionError`."""
        try:
            return self._conversation.timeline.before(item_id, limit)
        except KeyError:
            raise SessionError("no_such_item", f"There is no item {item_id} in this session") from None

    @property
    def entries(self) -> Sequence[Logged]:
        """Its log, which grows; most of a long one is read where it is asked for."""
        return self._conversation.entries

    @property
    def in_memory(self) -> Iterable[Logged]:
        """The entries that can be had without the store."""
        return self._conversation.projection.in_memory

    @property
    def title(self) -> str:
        """What the list of sessions calls it; empty until the first prompt."""
        return self._display.title

    @property
    def state(self) -> SessionState:
        """What it is doing."""
        return self._display.state

    @property
    def busy(self) -> bool:
        """Whether anything is being done for it; prompts wait then."""
        return self._work.is_running

    def _describe(self, name: str, input: Mapping[str, Json]) -> tuple[str, ToolKind]:
        tool = self._tools.get(name)
        return visible_line(tool.title(input) if tool else name), tool.kind if tool else "other"

    # What the user does

    async def prompt(self, text: str, refs: Sequence[Ref] = (), *, steer: bool = False) -> str:
        """Queues a prompt (or lets it join the running turn at its next boundary); gives its id. It is durable then."""
        if not text.strip() and not refs:
            raise SessionError("invalid", "The prompt is empty")
        stops = self._stops
        await ROUND.has_room()
        if len(text) > SURELY_FITS:
            await self._model.learn()
            refuse_too_long(text, self._controller.fits_alone())
        async with self._arriving:  # reading attachments takes a moment, and the next prompt must not overtake this one
            around = self._surroundings
            attachments = [await attach(ref, around.folders, around.files, around.editor, self._shelf, around.fetch_page) for ref in refs]
            prompt = UserPrompt(new_id("p"), text, tuple(attachments), steering=steer and self._turns.running is not None)
            self._queue.add(prompt)
        if not self.title:
            self._take_title(text)
        if not self.busy:
            self._work.begin(self._turns.run())
            if self._stops != stops:  # the stop came behind this prompt: it waits, as it would if it had been queued by then
                self._work.cancel()
        return prompt.id

    def _take_title(self, prompt: str) -> None:
        try:
            self.rename(title_of(prompt))
        except StoreFailed as error:  # the prompt is kept, and a refusal would have it sent again
            logger.warning("session %s has no title: %s", self.id, error)

    def answer_command(self, text: str) -> str:
        """Shows what a command that was typed did; gives the id of that notice. It is not kept, and the model never sees it."""
        return self._display.command_answered(self._conversation.timeline, self._surroundings.clock(), text)

    async def commit_message(self, changed: Changed) -> str:
        """The message of a commit, by the model in use; counted in what the session costs. Raises `SessionError`."""
        around = self._surroundings
        try:
            written = await write_commit_message(changed, self._model.model, self._model.card, around.folders, around.files)
        except NoMessage as error:
            self._gauge.spent_aside(error.cost)
            raise
        self._gauge.spent_aside(written.cost)
        return written.text

    def unqueue(self, prompt_id: str) -> tuple[Ref, ...]:
        """Takes a waiting prompt back, and gives what was attached to it, to be attached again. Raises `SessionError`."""
        found = (ref_of(attachment, self._surroundings.folders) for attachment in self._queue.remove(prompt_id))
        return tuple(ref for ref in found if ref is not None)

    def cancel(self) -> None:
        """Ends what is being done, and what was asked for by then and has not begun; what was done by then stays."""
        self._stops += 1
        self._work.cancel()

    def resume(self) -> None:
        """Goes on with a turn that ended before its time, and with the queue. Raises `SessionError`."""
        if self.busy:
            raise SessionError("session_busy", "The session is already working")
        if is_unfinished(self._conversation.entries):
            self._work.begin(self._turns.go_on())
        elif self._queue:
            self._work.begin(self._turns.run())
        else:
            raise SessionError("invalid", "There is nothing to continue")

    def compact(self, focus: str = "") -> str:
        """Compacts at once, or at the next boundary of the running turn; gives the compaction's id. Raises `SessionError`."""
        if self._turns.running is not None:
            return self._turns.running.ask_to_compact(focus)
        if self.busy:
            raise SessionError("session_busy", "A compaction is already running")
        if not self._conversation.projection.messages:
            raise SessionError("nothing_to_compact", "There is nothing to compact yet: the conversation is empty")
        wanted = Wanted(new_id("c"), "manual", focus)
        self._work.begin(_well(self._controller.by_request(wanted, at_work=False)))
        return wanted.id

    async def restore(self, checkpoint_id: str, overwrite: Collection[str] = ()) -> list[Decided]:
        """Gives the files what they held at a checkpoint; nothing else is done meanwhile. Raises `SessionError`, `StoreFailed`."""
        if self.busy:
            raise SessionError("session_busy", "The session is working. Stop it first, then go back")
        told: asyncio.Future[list[Decided]] = asyncio.get_running_loop().create_future()
        self._work.begin(_telling(told, self.going_back.restore(checkpoint_id, overwrite)))
        return await told

    def postpone_compaction(self, until: Postponed) -> None:
        """Makes no compaction to save for so long; `none` takes that back. At the threshold it compacts all the same."""
        self._controller.postpone(until)
        self._gauge.show()

    def answer_permission(
        self, tool_call_id: str, option_id: str, reason: str = "", *, permission_id: str | None = None, rules: Sequence[Rule] = ()
    ) -> None:
        """The user's answer to that question about a call; without an id, to the one that is asked now. Raises `SessionError`."""
        self._approvals.answer(tool_call_id, permission_id, option_id, reason, rules)

    def rename(self, title: str) -> None:
        """Gives the session another title."""
        self._surroundings.store.rename(self.id, title)
        self._display.set_title(title)

    def take_title(self, title: str) -> None:
        """The title that the log has: another window may have given it."""
        if title != self._display.title:
            self._display.set_title(title)

    def set_mode(self, mode: ModeId) -> None:
        """What the agent may do from its next call on. Raises `StoreFailed`."""
        if mode != self._mode.id:
            self._mode.choose(mode)
            self._display.tell(ModeChanged(mode))

    def _plan_accepted(self, seq: int) -> None:
        """The plan in that result is carried out now, and no compaction takes it out of view."""
        self._conversation.append(EntryPinned(seq, True))
        self.set_mode("act")

    def use_model(self, model: Model) -> None:
        """Another model answers from the next call on."""
        self._model.use(model)

    # What happens around it

    def settings_changed(self) -> None:
        """The user changed settings that the tools, the policy or the gauge depend on."""
        self._prelude.settings_changed()
        self._controller.settings_changed()
        self._gauge.show()

    def tokens_counted(self) -> None:
        """More is known of how many tokens the texts take."""
        self._gauge.show()

    def file_changed(self, name: str) -> None:
        """A file of the workspace was changed by somebody else than this session's tools."""
        self._notices.changed(name)
        self.reviewing.file_changed(name)

    def near_the_threshold(self) -> bool:
        """Whether the next turn, as turns usually grow here, would cross the threshold."""
        return self._controller.wants_idle_compaction()

    def user_edits(self) -> None:
        """The user is editing: where the next turn would cross the threshold, the compaction is made as soon as they pause."""
        self._while_editing.user_edits()

    async def close(self) -> None:
        """Ends what is being done as interrupted, and lets go of the session."""
        await self._work.close()
        await self._endpoint_counts.close()
        self._while_editing.give_up()
        self._cooling.give_up()
        await self._controller.close()
        self._means.reading.give_up()
        await self.history.close()
        await self.reviewing.close()
        await self._recording.close()
        self._surroundings.store.release(self.id)

    # One thing at a time

    def _work_done(self, went_well: bool) -> None:
        if went_well and self._queue.goes_on:
            self._work.begin(self._turns.run())
            return
        self._queue.offer()
        self._display.set_state("idle")
        self._size_counted()
        self._controller.keep_learned()
        self._cooling.begin()

    def _size_counted(self) -> None:
        self._gauge.show()
        if not self.busy:  # else a reply may still tell more
            keep_size(self._conversation, self._surroundings, self._model.card)

    def _appended(self, logged: Logged) -> None:
        self._gauge.logged(logged.entry)
        self._mode.see(logged.entry)
        if isinstance(logged.entry, Compaction) and logged.entry.trigger != "upkeep":
            self._controller.making.ahead.give_up()
        if isinstance(logged.entry, EntryPinned | FilePinned):
            self._display.tell(PinsChanged(pinned_items(self._conversation.projection)))
        if isinstance(logged.entry, Clipped):  # what was read whole is no longer seen whole
            self._reads.keep_only(touches_in_view(self._conversation.projection))
        self.reviewing.logged(logged)
        self._means.reading.look()
        self._means.show_fetched_again()
        self._endpoint_counts.look()
        self._gauge.show()

    def _epoch_changed(self, in_view: Sequence[FileTouch]) -> None:
        self._controller.making.ahead.give_up()
        self._reads.keep_only(in_view)


async def _well(compacting: Coroutine[None, None, object]) -> bool:
    """Whatever comes of a compaction, the queue goes on after it."""
    await compacting
    return True


async def _telling(told: asyncio.Future[_T], work: Coroutine[None, None, _T]) -> bool:
    """Whoever asked for it gets what comes of it, once the task has ended. The queue goes on after it."""

    def tell(task: asyncio.Task[_T]) -> None:
        error = task.exception()
        if told.done():
            return
        if error is not None:
            told.set_exception(error)
        else:
            told.set_result(task.result())

    task = asyncio.ensure_future(work)
    await asyncio.wait({task})
    asyncio.get_running_loop().call_soon(tell, task)
    return True
