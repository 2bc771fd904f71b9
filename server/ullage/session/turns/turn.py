"""One turn: the agent loop (ask the model, run the tools, append, repeat) and its steps. Each step leaves the log valid.

Errors and cancelling are the business of who runs the turn (`turns.py`). What the model is told of changed files: `file_notices.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace

from ullage.context.blocks import Text, ToolUse
from ullage.context.compaction.decide import WINDOW_EXCEEDED
from ullage.context.compaction.draft import WantedCompaction
from ullage.context.counting.accounting import learned
from ullage.context.entries import AssistantReply, Notice, TurnEnded, UserPrompt
from ullage.models.errors import ModelError, PromptTooLong, StreamBroken
from ullage.models.model import ModelCard, ModelEvent, Reply
from ullage.models.written_calls import written_call
from ullage.session.compacting.controller import CompactionController, ContextFull
from ullage.session.conversation import Conversation
from ullage.session.endpoint_counts import take_size
from ullage.session.hooks.at_events import HooksAtEvents
from ullage.session.instructions.in_force import RulesInForce
from ullage.session.long_work import ROUND, Breath
from ullage.session.models_in_use import ModelInUse
from ullage.session.servers_told import ServersTold
from ullage.session.surroundings import Surroundings
from ullage.session.timeline.items import NoticeItem, new_id
from ullage.session.timeline.updates import RetryInfo
from ullage.session.turns.calls import Calls
from ullage.session.turns.commands import CommandNotices
from ullage.session.turns.file_notices import FileNotices
from ullage.session.turns.incoming import InARow, Incoming, KeptMeanwhile, cut_to_most_calls
from ullage.session.turns.modes import ModeInForce
from ullage.store.plain_files import UnfinishedReply, unfinished_file


async def run_turn(turn: Turn) -> TurnEnded:
    """Runs one turn to its end and says how it ended. Raises what the model, the tools' store or a compaction raise.

    Every step leaves the log valid, so that the task can be cancelled anywhere.
    """
    in_a_row = InARow()
    while True:
        await turn.make_room()
        reply = await turn.ask()
        calls = [block for block in reply.blocks if isinstance(block, ToolUse)]
        if calls:
            await turn.run_tools(calls)
        stopped = turn.stopped_by_hook()
        if stopped is not None:
            return stopped
        again = in_a_row.after(reply, calls)
        if isinstance(again, TurnEnded):
            return again
        steered = turn.take_steering()
        filled = reply.stop_reason == WINDOW_EXCEEDED
        goes_on = steered or bool(calls) or again is not None or filled
        await turn.compact_if_asked(at_work=goes_on)
        if filled:
            await turn.make_room_after_overflow()
        elif not goes_on and not await turn.go_on_for_hooks(end_of(reply), reply):
            return turn.stopped_by_hook() or turn.with_written_call_told(end_of(reply), reply)
        if again is not None and (calls or not steered):
            turn.tell(again)


def end_of(reply: AssistantReply) -> TurnEnded:
    """How a turn ends with its last reply."""
    if reply.stop_reason == "max_tokens":
        return TurnEnded("max_tokens", "The reply reached the model's output limit. Press Continue to let it go on.", "continue")
    if reply.stop_reason == "refusal":
        return TurnEnded("refusal", "The model declined to answer this. Rephrase the prompt, or choose another model.")
    return TurnEnded("end_turn")


OUTPUT_TOKENS = 32_000
"""Most that is asked for in one reply; the threshold keeps 20,000 free, and the API cuts a reply that fills the window."""

MOST_CUT_OFF = 5
"""Most replies in a row, without a call of a tool, that may fill the window: each costs a whole window of output, and a model that goes
round in circles never ends."""

DOUBTS = "ndoubts"
"""The id of the notice that the endpoint says what cannot be."""

STOPPED_BEFORE = "The turn was stopped before the compaction was made. Compact again if you still want it"
CALLS_LEFT_OUT = (
    "Your last reply asked for {} calls at once. The first {} were run, the others were left out. Ask for those again, a few at a time."
)
CALL_AS_TEXT = (
    "The model wrote a call of the tool {} as text, so nothing was run. Its server did not take it for a call. With llama.cpp start the "
    "server with --jinja; with vLLM with --enable-auto-tool-choice and the --tool-call-parser of the model. Elsewhere choose a model that "
    "the server lists as able to use tools."
)
CUT_OFF = "Your reply was cut off. Go on where it ended, without repeating it."


class Turn:
    """One turn of a session."""

    def __init__(
        self,
        conversation: Conversation,
        surroundings: Surroundings,
        model: ModelInUse,
        controller: CompactionController,
        calls: Calls,
        notices: FileNotices,
        commands: CommandNotices,
        rules: RulesInForce,
        mode: ModeInForce,
        hooks: HooksAtEvents,
        servers: ServersTold,
        take_steering: Callable[[], bool],
        retrying: Callable[[RetryInfo | None], None],
    ) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._model = model
        self._controller = controller
        self._calls = calls
        self._notices = notices
        self._commands = commands
        self._rules = rules
        self._mode = mode
        self._hooks = hooks
        self._servers = servers
        self._take_steering = take_steering
        self._retrying = retrying
        self._asked: WantedCompaction | None = None
        self._cut_off = 0
        self._calls_left_out = 0

    async def make_room(self) -> None:
        """Tells the model, before it is called, which files changed, what ended in the background and which mode is in force, and compacts
        at the threshold. Raises `ContextFull`."""
        await ROUND.has_room()
        for notice in await self._notices.take():
            self._conversation.append(notice)
        for notice in await self._commands.take():
            self._conversation.append(notice)
        await self._controller.before_call()
        for notice in await self._commands.take():  # a compaction may have taken out of view what runs
            self._conversation.append(notice)
        mode = self._mode.notice()  # a compaction may have taken away what the model was told of it
        if mode is not None:
            self._conversation.append(mode)
        servers = self._servers.notice()
        if servers is not None:
            self._conversation.append(servers)

    async def ask(self) -> AssistantReply:
        """Calls the model, and gives its reply, which is logged. If the prompt is too long, it compacts and asks once more. Raises
        `ContextFull`."""
        try:
            return await self._ask_once()
        except PromptTooLong as error:
            if not await self._controller.after_overflow():
                raise ContextFull(f"{error} Compacting did not help. Begin a new session, or undo the last prompt.") from error
            return await self._ask_once()

    async def _ask_once(self) -> AssistantReply:
        await self._conversation.settle()
        model, card = self._model.model, self._model.card  # another one may be chosen while it answers
        request = self._conversation.request()
        reply_id = new_id("r")
        with self._kept_meanwhile(reply_id, card) as kept:
            incoming = Incoming(reply_id, self._conversation.timeline, self._conversation.clock, self._retrying, kept.add)
            try:
                reply = await self._streamed(model.stream(request, min(OUTPUT_TOKENS, card.max_output)), incoming, card)
            except PromptTooLong as refusal:
                take_size(refusal, self._conversation, self._surroundings, card)
                raise
            cost = card.cost(reply.usage)
            blocks, self._calls_left_out = cut_to_most_calls(reply.blocks)
            entry = AssistantReply(
                *(reply_id, blocks, reply.model, reply.stop_reason, reply.usage, cost, reply.dropped_thinking),
                began=incoming.began(blocks),
                effort=card.effort or "default",
            )
            self._conversation.append(entry)
        self._learn(card)
        self._tell_doubts(reply)
        if card.stated_window is not None or card.editor_counts is False:
            await self._model.learn()  # the call may have shown that the window is larger than a refusal said, or that texts may be counted
        return entry

    async def _streamed(self, events: AsyncIterator[ModelEvent], incoming: Incoming, card: ModelCard) -> Reply:
        """The whole reply, shown as it comes. What there is of one that was cut off is logged."""
        reply: Reply | None = None
        try:
            with Breath() as breath:  # a reply may come all at once
                async for event in events:
                    await breath.take()
                    if isinstance(event, Reply):
                        reply = incoming.whole(event)
                    else:
                        incoming.take(event)
            if reply is None:
                raise StreamBroken("The model's reply ended before it was whole")
            await ROUND.has_room()
        except BaseException as error:
            self._keep_partial(incoming, card, error)
            raise
        finally:
            self._retrying(None)
        return reply

    def _kept_meanwhile(self, reply_id: str, card: ModelCard) -> KeptMeanwhile:
        file = unfinished_file(self._surroundings.store_folder, self._conversation.session_id)
        reply = UnfinishedReply(reply_id, card.name, self._conversation.entries[-1].seq)
        return KeptMeanwhile(file, reply, asyncio.get_running_loop().call_later)

    def _keep_partial(self, incoming: Incoming, card: ModelCard, error: BaseException) -> None:
        """Logs what was said before a cancel or a broken stream."""
        blocks = incoming.partial()
        if blocks:
            reason = "error" if isinstance(error, ModelError) else "cancelled"
            began, effort = incoming.began(blocks), card.effort or "default"
            entry = AssistantReply(incoming.reply_id, blocks, card.name, reason, None, began=began, effort=effort)
            self._conversation.append(entry)

    def _tell_doubts(self, reply: Reply) -> None:
        """Tells the user what the endpoint said that cannot be: once a session, since it may say so with each reply."""
        timeline = self._conversation.timeline
        if reply.doubts and timeline.get(DOUBTS) is None:
            timeline.put(NoticeItem(DOUBTS, self._conversation.clock(), "warning", " ".join(reply.doubts)))

    def _learn(self, card: ModelCard) -> None:
        """Learns from the newest response how far the estimates are off."""
        calibration, projection = self._surroundings.calibration(card), self._conversation.projection
        counted = self._conversation.counted(calibration)
        self._surroundings.calibrations[card.name] = learned(counted, projection, calibration, self._surroundings.fixed_of(card))

    async def run_tools(self, calls: Sequence[ToolUse]) -> None:
        """Runs the calls of the last reply; each gets a result. Rules of folders met for the first time follow them."""
        self._cut_off = 0
        await self._conversation.settle()  # what a call does must not be unknown to whoever goes on elsewhere
        outcomes = await self._calls.run(calls)
        rules = self._rules.met(touch for outcome in outcomes for touch in outcome.touched)
        if rules:
            self._conversation.append(Notice("rules", rules))
        for notice in self._hooks.take_told():
            self._conversation.append(notice)
        if self._calls_left_out:
            self._conversation.append(Notice("resume", CALLS_LEFT_OUT.format(len(calls) + self._calls_left_out, len(calls))))
        for outcome in outcomes:
            if outcome.compact_focus is not None and self._asked is None:
                self._asked = WantedCompaction(new_id("c"), "tool", outcome.compact_focus)

    def stopped_by_hook(self) -> TurnEnded | None:
        """The end of the turn, where a hook wants that; None if none does."""
        why = self._hooks.take_end()
        return TurnEnded("cancelled", why, "continue") if why else None

    async def go_on_for_hooks(self, end: TurnEnded, reply: AssistantReply) -> bool:
        """Asks hooks, when the turn would end, whether it goes on; gives whether one wants that. The model is told why."""
        if end.outcome != "end_turn":
            return False
        told = await self._hooks.go_on("".join(block.text for block in reply.blocks if isinstance(block, Text)))
        for notice in (*self._hooks.take_told(), *((told,) if told is not None else ())):
            self._conversation.append(notice)
        return told is not None

    def ask_to_compact(self, focus: str) -> str:
        """Has a compaction made at the next boundary, as the user wants it while the turn runs. Gives its id.

        Whoever asks again before that gets the same one, with the focus that was named last.
        """
        if self._asked is None or self._asked.trigger != "manual":
            self._asked = WantedCompaction(new_id("c"), "manual", focus)
        elif focus:
            self._asked = replace(self._asked, focus=focus)
        return self._asked.id

    def tell(self, notice: Notice) -> None:
        """Tells the model something before it is asked again."""
        self._conversation.append(notice)

    def take_steering(self) -> bool:
        """Lets prompts that were given to the running turn join it; gives whether there were any."""
        return self._take_steering()

    async def compact_if_asked(self, *, at_work: bool) -> None:
        """Makes the compaction that the user or the model asked for; where there is nothing to compact the turn goes on."""
        asked, self._asked = self._asked, None
        if asked is not None:
            await self._controller.making.attempt(asked, at_work=at_work)

    def with_written_call_told(self, end: TurnEnded, reply: AssistantReply) -> TurnEnded:
        """The end of the turn; where its last reply wrote a tool call as text, with a word to the user about it."""
        said = "".join(block.text for block in reply.blocks if isinstance(block, Text))
        asked = next((each.entry.text for each in reversed(self._conversation.entries) if isinstance(each.entry, UserPrompt)), "")
        prelude = self._conversation.projection.prelude
        tool = None if end.message or prelude is None else written_call(said, asked, prelude.tools)
        return end if tool is None else replace(end, message=CALL_AS_TEXT.format(tool), action="settings")

    def drop_what_was_asked(self) -> None:
        """Drops the compaction that the user wanted at the next boundary, since they stopped the turn; the timeline says so."""
        asked, self._asked = self._asked, None
        if asked is not None and asked.trigger == "manual":
            self._controller.tell_not_made(asked, STOPPED_BEFORE)

    async def make_room_after_overflow(self) -> None:
        """Compacts after a reply that filled the window, and lets the model go on. Raises `ContextFull`."""
        self._cut_off += 1
        if self._cut_off > MOST_CUT_OFF:
            raise ContextFull(f"{self._cut_off} replies in a row filled the model's window. Ask for less at once, or for a file.")
        if not await self._controller.after_overflow():
            raise ContextFull("The context is full and compacting did not help. Begin a new session")
        last = self._conversation.projection.messages[-1]
        if last.role == "assistant":
            self._conversation.append(Notice("resume", CUT_OFF))
