"""One session: its queue of prompts, and one thing at a time that is done for it (a turn, or a compaction).

`parts.py` has what it is made of, `turns/` what a turn consists of, and `compacting/` when and how it is compacted.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from ullage.context.compaction.decide import Postponed
from ullage.context.compaction.draft import WantedCompaction
from ullage.context.entries import CameOver, Logged, ToolReturned, UserPrompt
from ullage.models.model import Model
from ullage.session.attachments import Ref, attach, ref_of
from ullage.session.changes.shown import DecidedFile
from ullage.session.commit_message import Changed, NoMessage, write_commit_message
from ullage.session.errors import SessionError
from ullage.session.history.places import pinned_items
from ullage.session.hooks.at_events import is_hooks
from ullage.session.instructions.agent_files import AgentFile, agent_files
from ullage.session.instructions.in_force import ListedRules
from ullage.session.instructions.listing import InstructionFile, listed_instructions
from ullage.session.instructions.prompt_files import PromptFile, called, is_called, prompt_files
from ullage.session.long_work import ROUND
from ullage.session.parts import SessionParts, well
from ullage.session.server_offers import called_prompt, hint_of, offered_prompts
from ullage.session.timeline.display import SNAPSHOT_ITEMS
from ullage.session.timeline.items import Item, new_id
from ullage.session.timeline.shown_entries import title_of
from ullage.session.timeline.updates import SessionState, Snapshot
from ullage.session.turns.closing import close_what_is_open, is_unfinished
from ullage.session.turns.questions import Given
from ullage.session.turns.turns import SURELY_FITS, refuse_too_long
from ullage.store.errors import StoreFailed
from ullage.tools.rules.covering import PermissionRule
from ullage.tools.running import TooMany
from ullage.tools.sandbox.network.local_ports import NoPort
from ullage.tools.started_command import StartedCommand

logger = logging.getLogger(__name__)


class Session(SessionParts):
    """A conversation that is open. Everything runs on one event loop; no method blocks it for long.

    Making one folds its log, which takes long where that is long: it may be done in another thread, tells nobody, and `mend` comes next.
    """

    # What was there before

    async def record_cut_off(self) -> None:
        """Logs what calls changed that a crash cut off. To be called before `mend`, which gives them a result."""
        await self._recording.record_cut_off()

    def mend(self) -> None:
        """Closes what a crash left open, and shows what is in the queue."""
        entries = self._conversation.entries
        came_over = bool(entries) and isinstance(entries[0].entry, CameOver) and self._conversation.projection.prelude is None
        if not entries or came_over:
            self._prelude.use()  # so that the gauge counts it before any prompt
        close_what_is_open(self._conversation, self._surroundings.store_folder, self._ended_agents)
        self._commands.mend()
        self._queue.show()
        self._means.reading.look()
        self.context.look_ahead()
        self.reviewing.follow()

    @property
    def pending_calls(self) -> Sequence[str]:
        """The ids of calls that have no result yet."""
        return [call.id for call in self._conversation.projection.pending_tool_uses]

    def begin_as_fork(self, told: str) -> None:
        """Gives each call of its parent's last reply that result, in a session that began as a fork in the middle of it."""
        pending = self._conversation.projection.pending_tool_uses
        self._conversation.append_all([ToolReturned(call.id, call.name, told, is_error=False, characters=len(told)) for call in pending])

    async def learn_model(self) -> None:
        """Asks the endpoint what it knows of the model; until then the table's figures are used."""
        await self._model.learn()

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
            agent_of=None if self.role is None else self.role.parent,
            running=self.running.shown(),
        )

    def items_before(self, item_id: str, limit: int) -> tuple[tuple[Item, ...], int]:
        """Older items, and how many precede them. Raises `SessionError`."""
        try:
            return self._conversation.timeline.before(item_id, limit)
        except KeyError:
            raise SessionError("no_such_item", f"There is no item {item_id} in this session") from None

    def rules(self) -> Sequence[ListedRules]:
        """The rules files that are known, and whether each is in force."""
        return self._rules.listed()

    async def instructions(self) -> Sequence[InstructionFile]:
        """The rules, commands and skills as a list for the user: what each takes, and whether it is in force."""
        return listed_instructions(self.rules(), await self.prompt_files())

    async def look_at_hooks(self) -> None:
        """Reads the project's hooks. A notice says so if they wait for the user's decision."""
        await self.hooks.renew()

    async def prompt_files(self) -> Sequence[PromptFile]:
        """The commands and skills of the project, as they are now."""
        return await asyncio.to_thread(prompt_files, self._surroundings.folders, self.permits.reading())

    def agent_files(self) -> Sequence[AgentFile]:
        """The sub-agents that the project defines, as they are now. For another thread."""
        return agent_files(self._surroundings.folders, self.permits.reading())

    def server_prompts(self) -> Sequence[tuple[str, str, str, str]]:
        """The prompts of MCP servers: the name, the description, what can follow the name, and the server of each."""
        found = offered_prompts(self._surroundings.servers)
        return [(name, prompt.description, hint_of(prompt), server) for name, prompt, server in found]

    @property
    def entries(self) -> Sequence[Logged]:
        """The log of the session, which grows; most of a long one is read where it is asked for."""
        return self._conversation.entries

    @property
    def in_memory(self) -> Iterable[Logged]:
        """The entries that can be had without the store."""
        return self._conversation.projection.in_memory

    def now(self) -> float:
        """The time now, by the clock by which entries are logged (Unix seconds)."""
        return self._surroundings.clock()

    @property
    def fixed_tokens(self) -> int:
        """How many tokens system prompt, rules and tools take of the context."""
        return self._controller.fullness().counted.fixed

    @property
    def title(self) -> str:
        """The title of the session in the list; empty until the first prompt."""
        return self._display.title

    @property
    def state(self) -> SessionState:
        """What the session is doing now."""
        return self._display.state

    # What the user does

    async def prompt(self, text: str, refs: Sequence[Ref] = (), *, steer: bool = False) -> str:
        """Queues a prompt (or lets it join the running turn at its next boundary); gives its id. It is durable then. Raises `SessionError`,
        `StoreFailed`."""
        if not text.strip() and not refs:
            raise SessionError("invalid", "The prompt is empty")
        stops = self._stops
        await ROUND.has_room()
        if len(text) > SURELY_FITS:
            await self._model.learn()
            refuse_too_long(text, self._controller.fits_alone())
        async with self._arriving:  # reading attachments takes a moment, and the next prompt must not overtake this one
            around = self._surroundings
            rules = self.permits.reading()
            beside = (rules, around.files, around.editor, self._shelf, around.fetch_page, around.servers)
            attachments = [await attach(ref, *beside) for ref in refs]
            if text.lstrip().startswith("/") and (command := called(text, await self.prompt_files())) is not None:
                attachments.append(command)
            elif text.lstrip().startswith("/") and (asked := await called_prompt(text, around.servers, self._shelf)) is not None:
                attachments.append(asked)
            attachments += await self._at_events.prompted(text)
            self._work.refuse_if_over()  # it may have been closed while attachments were read
            prompt = UserPrompt(new_id("p"), text, tuple(attachments), steering=steer and self._turns.running is not None)
            self._queue.add(prompt)
        if prompt.steering:
            self._questions.prompted()
            self.running.interrupt()
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
        """Shows what a command that was typed did; gives the id of the notice that says it. It is not kept, and the model never sees it."""
        return self._display.command_answered(self._conversation.timeline, self._surroundings.clock(), text)

    async def commit_message(self, changed: Changed) -> str:
        """Has the model in use write the message of a commit; what it costs counts for the session. Raises `SessionError`."""
        around = self._surroundings
        try:
            written = await write_commit_message(changed, self._model.model, self._model.card, self.permits.reading(), around.files)
        except NoMessage as error:
            self._gauge.spent_aside(error.cost)
            raise
        self._gauge.spent_aside(written.cost)
        return written.text

    def unqueue(self, prompt_id: str) -> tuple[Ref, ...]:
        """Takes a waiting prompt back, and gives what was attached to it, to be attached again. Raises `SessionError`."""
        attached = (attachment for attachment in self._queue.remove(prompt_id) if not (is_called(attachment) or is_hooks(attachment)))
        found = (ref_of(attachment, self._surroundings.folders) for attachment in attached)
        return tuple(ref for ref in found if ref is not None)

    def cancel(self) -> None:
        """Ends what is being done, and what was asked for by then and has not begun; what was done by then stays."""
        self._stops += 1
        self._work.cancel()

    def resume(self) -> None:
        """Goes on with a turn that ended before its time, and with the queue. Raises `SessionError`."""
        self._work.refuse_if_over()
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
        self._work.refuse_if_over()
        if self.busy:
            raise SessionError("session_busy", "A compaction is already running")
        if not self._conversation.projection.messages:
            raise SessionError("nothing_to_compact", "There is nothing to compact yet: the conversation is empty")
        wanted = WantedCompaction(new_id("c"), "manual", focus)
        self._work.begin(well(self._controller.making.attempt(wanted, at_work=False)))
        return wanted.id

    def make_room(self) -> None:
        """Compacts at once if it would be done before the next call: for a session that begins with all that was said elsewhere."""
        if self._work.can_begin and self._controller.is_due():
            self._work.begin(well(self._controller.while_idle()))

    async def restore(self, checkpoint_id: str, overwrite: Collection[str] = ()) -> list[DecidedFile]:
        """Gives the files what they held at a checkpoint; nothing else is done meanwhile. Raises `SessionError`, `StoreFailed`."""
        self._work.refuse_if_over()
        if self.busy:
            raise SessionError("session_busy", "The session is working. Stop it first, then go back")
        return await self._work.do(self.going_back.restore(checkpoint_id, overwrite))

    def postpone_compaction(self, until: Postponed) -> None:
        """Makes no compaction that is only to save, for that long; `none` takes that back. At the threshold it compacts all the same."""
        self._controller.postpone(until)
        self._gauge.show()

    def answer_permission(
        self, tool_call_id: str, option_id: str, reason: str = "", *, permission_id: str | None = None, rules: Sequence[PermissionRule] = ()
    ) -> None:
        """Takes the user's answer to that question about a call; without an id, to the one that is asked now. Raises `SessionError`."""
        self._approvals.answer(tool_call_id, permission_id, option_id, reason, rules)

    def answer_question(self, tool_call_id: str, question_id: str, given: Sequence[Given] | None) -> None:
        """Takes the user's answers to the questions of a call, in their order; None skips them. Raises `SessionError`."""
        self._questions.answer(tool_call_id, question_id, given)

    def question_not_shown(self, tool_call_id: str, question_id: str) -> None:
        """Tells that the front end cannot show these questions after all: the agent asks in words."""
        self._questions.not_shown(tool_call_id, question_id)

    def leave_running(self, tool_call_id: str) -> None:
        """Leaves the command of that call running in the background; the turn goes on without its end. Raises `SessionError`."""
        try:
            is_left = self.running.let_go_on(tool_call_id)
        except TooMany as error:
            raise SessionError("invalid", str(error)) from error
        if not is_left:
            raise SessionError("no_such_command", "No command of that call is waited for any more")

    def running_command(self, command_id: str) -> StartedCommand:
        """A command that was left running, ended or not. Raises `SessionError`."""
        command = self.running.get(command_id)
        if command is None:
            raise SessionError("no_such_command", f"There is no command {command_id} in this session any more")
        return command

    def stop_command(self, command_id: str) -> None:
        """Ends a command with all that it started; the next request tells the model. Raises `SessionError`."""
        self.running.end(self.running_command(command_id))

    async def open_port(self, command_id: str, port: int) -> int:
        """Lets the user's browser reach a port on which that command listens in its sandbox, until it ends; gives the port of `localhost`
        that leads there. Raises `SessionError`."""
        place = self.running_command(command_id).place
        if place is None:
            raise SessionError("invalid", f"{command_id} does not run in a sandbox: what it serves can be reached as it is")
        try:
            return await place.open_here(port)
        except NoPort as error:
            raise SessionError("invalid", str(error)) from error

    def rename(self, title: str) -> None:
        """Gives the session another title. Raises `StoreFailed`."""
        self._surroundings.store.rename(self.id, title)
        self._display.set_title(title)

    def take_title(self, title: str) -> None:
        """Shows the title that the log has: another window may have given it."""
        if title != self._display.title:
            self._display.set_title(title)

    def use_model(self, model: Model) -> None:
        """Has another model answer from the next call on."""
        self._model.use(model)

    @property
    def web(self) -> bool | None:
        """Whether the agent may ask for pages of the web in this workspace; None if the workspace is not trusted."""
        return self._surroundings.remembered.web_is_on() if self._surroundings.settings.trusted else None

    @property
    def searches_web(self) -> str:
        """Who searches the web for the agent, in words that follow "by"; empty if the model in use cannot have it searched."""
        return self._searching.provider

    def turn_web(self, *, on: bool) -> None:
        """Lets the agent ask for pages of the web or not, in all sessions of the workspace. A conversation that has begun is told with its
        next prompt. Raises `StoreFailed`."""
        self._surroundings.remembered.turn_web(on=on)
        (self._surroundings.home or self._surroundings).web_turned()

    # What happens around it

    def settings_changed(self) -> None:
        """Tells that the user changed settings on which the tools, the policy or the gauge depend."""
        self._prelude.settings_changed()
        self._controller.settings_changed()
        self._gauge.show()

    def tokens_counted(self) -> None:
        """Tells that more is known of how many tokens the texts take."""
        self._gauge.show()

    def user_edits(self) -> None:
        """Tells that the user is editing: where the next turn would cross the threshold, the compaction is made as soon as they pause."""
        self._while_editing.user_edits()

    async def close(self) -> None:
        """Ends what is being done as interrupted. A prompt that still arrives is refused. Whoever opened the session releases it then."""
        await self._work.close()
        await self.running.close()
        with suppress(StoreFailed):
            await self._commands.closed()
        await self._endpoint_counts.close()
        await self.context.close()
        self._while_editing.give_up()
        self._cooling.give_up()
        await self._controller.close()
        self._means.reading.give_up()
        await self.history.close()
        await self.reviewing.close()
        await self._recording.close()
