"""The turns of one session, one after the other: from a prompt that waits in the queue to the end of its turn in the log.

A prompt is durable from the moment it is sent, until its turn begins (`PromptQueue`). One that would not fit into the model's window even
alone would be in the way for good, so it is refused before it waits.

They run as the one thing that is done for a session (`work.py`). A turn that does not end by itself gets its ending here: what is logged,
what the user is told, what the model is told. `turn.py` has what is done within a turn.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ullage.context.counting.accounting import prompt_tokens
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import (
    Attachment,
    Notice,
    TurnEnded,
    UserPrompt,
)
from ullage.models.errors import AuthenticationFailed, CloudRefused, EndpointUnreachable, ModelError, UnknownModel
from ullage.session.compacting.controller import CompactionController, ContextFull
from ullage.session.conversation import Conversation
from ullage.session.errors import SessionError, in_ullage_itself
from ullage.session.hooks.at_events import HooksAtEvents
from ullage.session.instructions.in_force import RulesInForce
from ullage.session.long_work import ROUND
from ullage.session.models_in_use import ModelInUse
from ullage.session.policy_in_use import PolicyInUse
from ullage.session.prelude import PreludeInUse
from ullage.session.servers_told import ServersTold
from ullage.session.surroundings import Surroundings
from ullage.session.timeline.items import NoticeItem, UserItem, new_id
from ullage.session.timeline.shown_entries import of_prompt
from ullage.session.timeline.updates import EndedTurn, RetryInfo, StopReason
from ullage.session.turns.calls import Calls
from ullage.session.turns.closing import INTERRUPTED, EndedAgents, close_turn
from ullage.session.turns.commands import CommandNotices
from ullage.session.turns.file_notices import FileNotices
from ullage.session.turns.modes import ModeInForce
from ullage.session.turns.turn import Turn, run_turn
from ullage.store.errors import StoreFailed
from ullage.store.log_store import LogStore

logger = logging.getLogger(__name__)

WAITING = "nwaiting"
"""The id of the notice that prompts wait while nothing is being done."""

MOST_CHARACTERS = 4_000_000
"""Most characters of a prompt, whatever the window: as many tokens as no model takes."""

SURELY_FITS = 20_000
"""Characters of a prompt for which nobody has to know the window."""

TOO_LONG = (
    "The prompt has {:,} characters; about {:,} of this text fit. Save the rest as a file in the workspace and name its path in the "
    "prompt: the agent then reads the parts that it needs."
)


class PromptQueue:
    """The prompts of one session that wait: first come, first served, except for those that join a running turn."""

    def __init__(self, conversation: Conversation, store: LogStore) -> None:
        self._conversation = conversation
        self._store = store
        self._waiting = _in_order(store.prompts.of(conversation.session_id))
        self._next: str | None = None
        self._held_back = False

    def __bool__(self) -> bool:
        return bool(self._waiting)

    @property
    def goes_on(self) -> bool:
        """Whether a prompt waits that is sent without the user saying so."""
        return bool(self._waiting) and not self._held_back

    def show(self) -> None:
        """Shows the prompts that were waiting when the server ended."""
        for prompt in self._waiting:
            self._show(prompt)
        self.offer()

    def offer(self) -> None:
        """Holds back what still waits, since nothing is being done any more: it is sent when the user says so."""
        self._held_back = bool(self._waiting)
        if self._waiting:
            at = self._conversation.clock()
            self._conversation.timeline.put(NoticeItem(WAITING, at, "info", "Prompts are waiting. Press Continue to go on.", "continue"))

    def add(self, prompt: UserPrompt) -> None:
        """Puts a prompt at the end of the queue. Raises `StoreFailed`."""
        self._store.prompts.add(self._conversation.session_id, prompt)
        self._waiting = _in_order([*self._waiting, prompt])
        self._held_back = False
        self._show(prompt)

    def remove(self, prompt_id: str) -> Sequence[Attachment]:
        """Takes a waiting prompt back, and gives what was attached to it. Raises `SessionError`."""
        if prompt_id == self._next:
            raise SessionError("no_such_item", "This prompt is being answered already. You can stop it")
        if not self._store.prompts.take_back(prompt_id):
            raise SessionError("no_such_item", "This prompt is no longer waiting")
        attached = next((prompt.attachments for prompt in self._waiting if prompt.id == prompt_id), ())
        self._waiting = [prompt for prompt in self._waiting if prompt.id != prompt_id]
        self._conversation.timeline.remove(prompt_id)
        if not self._waiting:
            self._conversation.timeline.remove(WAITING)
        return attached

    def next(self) -> UserPrompt:
        """The first prompt, whose turn begins: it can no longer be taken back, and stands here until `start`. Raises `IndexError`."""
        self._conversation.timeline.remove(WAITING)
        self._held_back = False
        self._next = self._waiting[0].id
        return self._waiting[0]

    def start(self, prompt: UserPrompt) -> None:
        """Moves a prompt from the queue to the log, all at once. Raises `StoreFailed`."""
        self._next = None
        logged = self._store.prompts.start(self._conversation.session_id, prompt.id, self._conversation.clock())
        self._waiting = [each for each in self._waiting if each.id != prompt.id]
        if logged.entry == prompt:
            logged = replace(logged, entry=prompt)  # so that its text is in memory only once
        self._conversation.show(logged)

    @property
    def has_steering(self) -> bool:
        """Whether a prompt waits for the next boundary of the running turn."""
        return any(prompt.steering for prompt in self._waiting)

    def start_steering(self) -> bool:
        """Lets the prompts that were meant for the running turn join it; gives whether there were any."""
        joining = [prompt for prompt in self._waiting if prompt.steering]
        for prompt in joining:
            self.start(prompt)
        return bool(joining)

    def _show(self, prompt: UserPrompt) -> None:
        names = tuple(attachment.title for attachment in prompt.attachments)
        at = self._conversation.clock()
        self._conversation.timeline.put(UserItem(prompt.id, at, prompt.text, names, True, of_prompt(prompt), prompt.steering))


def _in_order(prompts: Sequence[UserPrompt]) -> list[UserPrompt]:
    """The prompts in the order in which they are sent: those that were meant for the running turn first, which may have been stopped
    meanwhile."""
    return sorted(prompts, key=lambda prompt: not prompt.steering)


def refuse_too_long(text: str, fits: int) -> None:
    """Raises `SessionError` if the prompt has more than `fits` tokens."""
    if len(text) > MOST_CHARACTERS or estimate_text(text) > fits:
        characters = min(MOST_CHARACTERS, int(len(text) * fits / max(1, estimate_text(text))))
        raise SessionError("invalid", TOO_LONG.format(len(text), max(0, characters)))


RESUMED = "The turn was interrupted before it was finished. Go on where it was cut, without repeating what is done."


class Turns:
    """Runs turns until the queue is empty. One thing at a time is done for a session: whoever calls sees to that."""

    def __init__(
        self,
        conversation: Conversation,
        surroundings: Surroundings,
        queue: PromptQueue,
        prelude: PreludeInUse,
        policy: PolicyInUse,
        model: ModelInUse,
        controller: CompactionController,
        calls: Calls,
        notices: FileNotices,
        commands: CommandNotices,
        rules: RulesInForce,
        mode: ModeInForce,
        hooks: HooksAtEvents,
        servers: ServersTold,
        ending: Callable[[], Literal["cancelled", "interrupted"]],
        show_running: Callable[[RetryInfo | None], None],
        show_ended: Callable[[EndedTurn], None],
        agents: EndedAgents,
    ) -> None:
        """`ending` says what a cancel means, when it comes. `agents` has what became of sub-agents that ended with the turn."""
        self._agents = agents
        self._conversation = conversation
        self._surroundings = surroundings
        self._queue = queue
        self._prelude = prelude
        self._policy = policy
        self._model = model
        self._controller = controller
        self._ending = ending
        self._hooks = hooks
        self._show_running = show_running
        self._show_ended = show_ended
        self._make_turn = lambda: Turn(
            *(conversation, surroundings, model, controller, calls, notices, commands, rules, mode, hooks, servers, queue.start_steering),
            show_running,
        )
        self.running: Turn | None = None
        """The turn that asks the model now; None if none does."""

    async def run(self) -> bool:
        """Runs turns until the queue is empty or one of them does not end well; gives whether all did."""
        went_well = True
        while went_well and self._queue:
            went_well = await self._one(self._queue.next())
        self._controller.prepare_after_turn()
        return went_well

    async def go_on(self) -> bool:
        """Runs the rest of a turn that did not end well, then the queue; gives whether all ended well."""
        return await self._one(None) and await self.run()

    async def _one(self, prompt: UserPrompt | None) -> bool:
        """Runs one turn from its prompt (None: goes on with the last one) to its end in the log; gives whether it ended well."""
        self._show_running(None)
        self._controller.turn_begins()
        ending = await ending_of(self._to_its_end(prompt), self._ending)
        turn, self.running = self.running, None
        try:
            close_turn(self._conversation, ending.entry, self._agents)
        except StoreFailed as error:
            at = self._conversation.clock()
            self._conversation.timeline.close_calls()
            self._conversation.timeline.put(NoticeItem(new_id("n"), at, "error", str(error), "continue"))
        if turn is not None and ending.entry.outcome == "cancelled":
            turn.drop_what_was_asked()
        elif turn is not None and ending.entry.outcome != "interrupted":
            await turn.compact_if_asked(at_work=False)
        self._controller.turn_ended()
        self._show_ended(EndedTurn(self._prompt_id(prompt), stop_reason_of(ending.entry)))
        return ending.went_well

    def _prompt_id(self, prompt: UserPrompt | None) -> str:
        """The id of the turn's prompt; if it went on with an earlier turn, that of the earlier turn's. Prompts that joined it later are not
        meant."""
        if prompt is not None:
            return prompt.id
        entries = (logged.entry for logged in reversed(self._conversation.entries))
        return next((entry.id for entry in entries if isinstance(entry, UserPrompt) and not entry.steering), "")

    async def _to_its_end(self, prompt: UserPrompt | None) -> TurnEnded:
        self._policy.take_over()
        try:
            await ROUND.has_room()
            if prompt is not None:
                await self._model.learn()  # before the prelude: which tools there are can depend on the model
            await self._prelude.use_as_foreseen(self._surroundings.calibration(self._model.card))
            if prompt is not None:
                await self._controller.before_call(more=prompt_tokens(prompt, self._surroundings.calibration(self._model.card)))
        finally:  # whatever becomes of the turn, the prompt stands in the log
            if prompt is not None:
                self._queue.start(prompt)
        if prompt is None:
            self._conversation.append(Notice("resume", RESUMED))
        await self._hooks.turn_begins()
        self.running = self._make_turn()
        return await run_turn(self.running)


@dataclass(frozen=True, slots=True)
class Ending:
    """The entry that closes the turn, and whether the queue goes on after it."""

    entry: TurnEnded
    went_well: bool


async def ending_of(turn: Coroutine[None, None, TurnEnded], reason: Callable[[], Literal["cancelled", "interrupted"]]) -> Ending:
    """Runs a turn and gives its ending, whatever happens in it. A cancel is taken here: the task goes on after it.

    `reason` says what a cancel meant: the user stopped the turn, or the server is closing.
    """
    try:
        ended = await turn
    except asyncio.CancelledError:
        return Ending(_cancelled(reason()), went_well=False)
    except (ContextFull, StoreFailed) as error:
        return Ending(TurnEnded("error", str(error), "continue"), went_well=False)
    except CloudRefused as error:
        return Ending(TurnEnded("error", str(error), "continue"), went_well=False)
    except AuthenticationFailed as error:
        return Ending(TurnEnded("error", str(error), "set_key"), went_well=False)
    except UnknownModel as error:
        return Ending(TurnEnded("error", str(error), "choose_model"), went_well=False)
    except EndpointUnreachable as error:
        return Ending(TurnEnded("error", str(error), "settings"), went_well=False)
    except ModelError as error:
        return Ending(TurnEnded("error", str(error), "continue"), went_well=False)
    except Exception as error:
        logger.exception("a turn failed")
        message = f"{in_ullage_itself(error)} Press Continue to try again."
        return Ending(TurnEnded("error", message, "continue"), went_well=False)
    return Ending(ended, went_well=ended.outcome == "end_turn")


def _cancelled(reason: Literal["cancelled", "interrupted"]) -> TurnEnded:
    if reason == "interrupted":
        return TurnEnded("interrupted", INTERRUPTED, "continue")
    return TurnEnded("cancelled", "Stopped.", "continue")


def stop_reason_of(end: TurnEnded) -> StopReason:
    """Why the turn ended, for a client. That the server ended is a cancel to it."""
    return "cancelled" if end.outcome == "interrupted" else end.outcome
