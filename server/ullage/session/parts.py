"""What a session consists of, put together, and what each part does about what another one did.

`Session` (`session.py`) adds what a front end asks of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from ullage.context.blocks import Json
from ullage.context.compaction_entries import Compaction
from ullage.context.entries import AgentRun, Clipped, EntryPinned, FilePinned, FileTouch, Logged, Notice
from ullage.context.quoting import visible_line
from ullage.context.view.fates import touches_in_view
from ullage.models.model import Model
from ullage.session.attachments import SessionShelf
from ullage.session.changes.going_back import GoingBack
from ullage.session.changes.recording import AgentsRecording, Recording
from ullage.session.changes.reviewing import Reviewing
from ullage.session.compacting.controller import CompactionController, Cooling, WhileEditing
from ullage.session.compacting.means import SessionMeans
from ullage.session.compacting.restoring import Restoring
from ullage.session.conversation import Conversation
from ullage.session.endpoint_counts import EndpointCounts, keep_size, restate_size
from ullage.session.history.context_view import ContextView
from ullage.session.history.history import History
from ullage.session.history.places import fork_origin, pinned_items
from ullage.session.hooks.at_events import HooksAtEvents
from ullage.session.hooks.running import Hooks
from ullage.session.instructions.in_force import RulesInForce
from ullage.session.models_in_use import ModelInUse
from ullage.session.permissions.past import PastCalls
from ullage.session.permissions.permits import SessionPermits
from ullage.session.permissions.proposed_edit import ProposedEdits
from ullage.session.permissions.rules_kept import SessionRules
from ullage.session.policy_in_use import PolicyInUse
from ullage.session.prelude import PreludeInUse
from ullage.session.role import Role, Together
from ullage.session.servers_told import ServersTold
from ullage.session.surroundings import Surroundings
from ullage.session.timeline.display import Display, ShownGauge
from ullage.session.timeline.items import ToolCallItem
from ullage.session.timeline.shown_entries import locating
from ullage.session.timeline.updates import ChangesChanged, ModeChanged, ModeId, ModelChanged, PinsChanged, RunningChanged, Update
from ullage.session.turns.approvals import Approvals
from ullage.session.turns.calls import Calls
from ullage.session.turns.commands import CommandNotices, last_number
from ullage.session.turns.file_notices import FileNotices
from ullage.session.turns.modes import ModeInForce
from ullage.session.turns.questions import Questions
from ullage.session.turns.turns import PromptQueue, Turns
from ullage.session.turns.work import Work
from ullage.session.web_searching import WebSearching
from ullage.store.origins import is_foreign
from ullage.store.plain_files import ProposalFiles
from ullage.store.statements import SessionRecord
from ullage.tools.media import MediaShelf
from ullage.tools.registry import TITLES
from ullage.tools.rules.reading import ReadRulesNow
from ullage.tools.running import RunningCommands
from ullage.tools.tool import Tool, ToolKind
from ullage.tools.web_search import SEARCH
from ullage.workspace.touched import FileReads
from ullage.workspace.web_search import Searcher

MakeTools: TypeAlias = Callable[
    [str, FileReads, Callable[[], Sequence[Logged]], MediaShelf, ReadRulesNow, RunningCommands, Searcher], Mapping[str, Tool]
]
"""Makes the tools of the session with that id; gives them by name."""


class SessionParts:
    """The parts of one session, each of which knows only those that it asks."""

    def __init__(
        self,
        record: SessionRecord,
        entries: Sequence[Logged],
        surroundings: Surroundings,
        make_tools: MakeTools,
        model: Model,
        tell: Callable[[str, int, Update], None],
        role: Role | None = None,
    ) -> None:
        """`role` is given if the session is a sub-agent's."""
        self.id = record.id
        self.role = role
        self._ended_agents: dict[str, tuple[AgentRun, str]] = {}
        self._surroundings = surroundings
        self._display = Display(record.id, record.title, tell)
        self._work = Work(record.id, self._work_done)
        self._arriving = asyncio.Lock()
        self._stops = 0
        """How often the user stopped something."""
        self._reads = FileReads()
        self._shelf = SessionShelf(surroundings.media, lambda: self._model.card, lambda: self._conversation.projection.messages)
        together = None if role is None else role.together
        rules = SessionRules(record.id, surroundings.store) if together is None else together.rules
        self.permits = SessionPermits(surroundings, rules)
        self.running = RunningCommands(
            surroundings.clock, lambda commands: self._display.tell(RunningChanged(commands)), last_number(entries)
        )
        self._model = ModelInUse(model, self._model_changed)
        self._searching = WebSearching(lambda: self._model, self.permits.rules)
        renewed = partial(
            *(make_tools, record.id, self._reads, lambda: self._conversation.entries, self._shelf, self.permits.reading, self.running),
            self._searching,
        )
        self._tools = dict(renewed())
        self._mode = ModeInForce(record.id, entries, surroundings.store)
        self._forked_from = fork_origin(entries)
        self._conversation = Conversation(
            *(record.id, surroundings.store, entries, self._describe, self._display.tell, surroundings.clock),
            *(self._appended, locating(surroundings.folders)),
        )
        timeline = self._conversation.timeline
        self._queue = PromptQueue(self._conversation, surroundings.store)
        self._rules = RulesInForce(surroundings.folders, self.permits.reading, entries)
        self._commands = CommandNotices(self._conversation, surroundings, self.running)
        restoring = Restoring(self._conversation, surroundings, self._reads, self._rules, self.permits.reading, self._commands.resume)
        self._notices = FileNotices(surroundings, self._reads, self._rules, restoring)
        self.hooks = Hooks(self._conversation, surroundings, self.permits.reading, lambda: self._mode.id)
        self._at_events = HooksAtEvents(self.hooks, self._conversation, entries, self._notices.changed, with_user=role is None)
        self._servers = ServersTold(surroundings, lambda: self._model.card.window, entries)
        told = "" if role is None else role.system
        beside = (self.permits.reading, self._servers, told)
        self._prelude = PreludeInUse(self._conversation, surroundings.folders, self._tools, renewed, *beside)
        self._policy = PolicyInUse(surroundings, self._prelude.renew_tools)
        self._endpoint_counts = EndpointCounts(self._conversation, surroundings, self._model, lambda: self.busy, self._size_counted)
        self._means = SessionMeans(
            *(self._conversation, surroundings, self._policy, self._model, restoring),
            *(self._display.as_compacting, self._prelude.renew, lambda: self._gauge.show()),
            *(self.permits.reading, self._at_events),
        )
        self._controller = CompactionController(self._conversation, surroundings, self._policy, self._model, self._means)
        self._gauge = ShownGauge(self._display, self._conversation, surroundings, self._model, self._controller)
        self.history = History(
            *(self._conversation, surroundings, self._means, self._model, self._controller),
            *(lambda: self.busy, self._epoch_changed, self._gauge.foretold),
        )
        self.context = ContextView(
            *(self._conversation, surroundings, self._model, self._controller, self._gauge.now, self._coming, self._have_counted)
        )
        self.reviewing = Reviewing(
            self._conversation, surroundings, entries, lambda changes: self._display.tell(ChangesChanged(changes)), self._notices.changed
        )
        self.going_back = GoingBack(self._conversation, surroundings, self.file_changed)
        self._while_editing = WhileEditing(
            self._controller, lambda: self._work.can_begin, lambda: self._work.begin(well(self._controller.while_idle()))
        )
        self._cooling = Cooling(self._controller, lambda: self._work.can_begin, lambda: self._work.begin(well(self._controller.in_pause())))
        self.past_calls = PastCalls(surroundings.store, lambda: self._tools, self.permits, surroundings.clock)
        proposals = ProposedEdits(ProposalFiles(surroundings.store_folder, record.id), surroundings.editor)
        home = (surroundings.home or surroundings).folders
        self._approvals = Approvals(timeline, self.permits, proposals, home, self._mode.refusal, attended=role is None or role.acts)
        shows_questions = lambda: role is None and surroundings.settings.shows_questions  # noqa: E731
        self._questions = Questions(timeline, shows_questions, lambda: self._queue.has_steering)
        self._recording = Recording(self._conversation, surroundings)
        recording = self._recording if together is None else together.recording
        calls = Calls(
            *(self._conversation, self._tools, self._approvals, self._questions, surroundings, self._policy, recording),
            *(self._at_events, self.running, self._plan_accepted),
        )
        self._turns = Turns(
            *(self._conversation, surroundings, self._queue, self._prelude, self._policy, self._model, self._controller),
            *(calls, self._notices, self._commands, self._rules, self._mode, self._at_events, self._servers),
            lambda: self._work.ending,
            lambda retry: self._display.set_state("running", retry),
            self._display.turn_ended,
            self._ended_agents,
        )
        self._reads.keep_only(touches_in_view(self._conversation.projection))
        restate_size(self._conversation, surroundings, self._model.card)
        self._controller.state()  # every text is weighed now, and all of the log is looked at, and not when a snapshot is asked for
        self._conversation.projection.let_go()

    # What the parts ask of the session

    @property
    def busy(self) -> bool:
        """Whether anything is being done in the session; prompts wait then."""
        return self._work.is_running

    def file_changed(self, name: str) -> None:
        """Tells that a file of the workspace was changed by somebody else than this session's tools."""
        self._notices.changed(name)
        self.reviewing.file_changed(name)

    def set_mode(self, mode: ModeId) -> None:
        """Sets what the agent may do from its next call on. Raises `StoreFailed`."""
        if mode != self._mode.id:
            self._mode.choose(mode)
            self._display.tell(ModeChanged(mode))

    @property
    def mode(self) -> ModeId:
        """What the agent may do now."""
        return self._mode.id

    def together(self, agent_id: str, told: Callable[[Iterable[str]], None]) -> Together:
        """What a sub-agent shares with this session; `told` gets the paths of files that the sub-agent changed."""
        return Together(self.permits.own, AgentsRecording(self._recording, self._conversation, agent_id, told))

    def show_agent(self, call_id: str, run: AgentRun, doing: str, asked: ToolCallItem | None, agent: SessionParts) -> None:
        """Shows in a call's card that a sub-agent is at work for it, and what it does now. What the sub-agent is `asked` about is asked,
        and answered, there."""
        self._approvals.stand_in(call_id, run, visible_line(doing), asked, agent._approvals)

    def agent_ended_early(self, call_id: str, run: AgentRun, told: str) -> None:
        """Notes that a sub-agent was ended before it was done: the result of its call says so, once the turn is closed."""
        self._ended_agents[call_id] = (run, told)

    def _plan_accepted(self, seq: int) -> None:
        """Begins to carry out the plan in that result, and pins it: no compaction takes it out of view."""
        self._conversation.append(EntryPinned(seq, True))
        self.set_mode("act")

    def _describe(self, name: str, input: Mapping[str, Json]) -> tuple[str, ToolKind]:
        tool = self._tools.get(name)
        if tool is None and name not in TITLES:
            return visible_line(name), "other"
        title, kind = TITLES[name] if tool is None else (tool.title, tool.kind)
        return visible_line(title(input)), kind

    def _have_counted(self) -> None:
        """Has counted what is only estimated, since the user looks at the context. Nothing of a foreign session is sent anywhere."""
        if not is_foreign(self.id):
            self._endpoint_counts.ask()

    async def _coming(self) -> tuple[Notice, ...]:
        """What the model will be told with the next prompt, as far as that is known."""
        told = (self._mode.notice(), self._servers.notice())
        return (*await self._notices.coming(), *(each for each in told if each is not None))

    # What one does about another

    def _model_changed(self) -> None:
        if bool(self._searching.provider) != (SEARCH in self._tools):  # another model searches the web, or does not
            self._prelude.settings_changed()
        self._display.tell(ModelChanged(self._model.info))
        self._gauge.show()

    def _work_done(self, goes_on: bool) -> None:
        if goes_on and self._queue.goes_on:
            self._work.begin(self._turns.run())
            return
        self._queue.offer()
        self._display.work_is_done()
        self._size_counted()
        self._controller.keep_learned()
        self._cooling.begin()

    def _size_counted(self) -> None:
        self._gauge.show()
        if not self.busy:  # else a reply may still tell more
            keep_size(self._conversation, self._surroundings, self._model.card)

    def _appended(self, logged: Logged) -> None:
        self._gauge.logged(logged.entry)
        self.context.logged(logged)
        self._mode.see(logged.entry)
        self._at_events.see(logged.entry)
        self._servers.see(logged.entry)
        self._commands.see(logged.entry)
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


async def well(compacting: Coroutine[None, None, object]) -> bool:
    """Waits for a compaction; True, since the queue goes on whatever came of it."""
    await compacting
    return True
