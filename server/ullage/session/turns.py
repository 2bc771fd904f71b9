"""The turns of one session, one after the other: from a prompt in the queue to the end of its turn in the log.

What is done within a turn stands in `loop.py` and `turn.py`; which work is being done, and how it is ended, in `work.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from ullage.context.entries import Notice, TurnEnded, UserPrompt
from ullage.session.breath import ROUND
from ullage.session.compacting.fullness import prompt_tokens
from ullage.session.compacting.policy_in_use import PolicyInUse
from ullage.session.compacting.room import Room
from ullage.session.conversation import Conversation
from ullage.session.endings import RESUMED, close_turn, ending_of, stop_reason_of
from ullage.session.identifiers import new_id
from ullage.session.items import EndedTurn, NoticeItem, RetryInfo
from ullage.session.loop import run_turn
from ullage.session.model_in_use import ModelInUse
from ullage.session.prelude_in_use import PreludeInUse
from ullage.session.prompt_queue import PromptQueue
from ullage.session.surroundings import Surroundings
from ullage.session.turn import Turn
from ullage.store.errors import StoreFailed


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
        room: Room,
        ending: Callable[[], Literal["cancelled", "interrupted"]],
        show_running: Callable[[RetryInfo | None], None],
        show_ended: Callable[[EndedTurn], None],
        make_turn: Callable[[], Turn],
    ) -> None:
        """`ending` says what a cancel means, as it comes."""
        self._conversation = conversation
        self._surroundings = surroundings
        self._queue = queue
        self._prelude = prelude
        self._policy = policy
        self._model = model
        self._room = room
        self._ending = ending
        self._show_running = show_running
        self._show_ended = show_ended
        self._make_turn = make_turn
        self.running: Turn | None = None
        """The turn that asks the model now."""

    async def run(self) -> bool:
        """Turns until the queue is empty or one of them does not end well; whether all did."""
        went_well = True
        while went_well and self._queue:
            went_well = await self._one(self._queue.next())
        if self._room.wants_idle_compaction():
            self._room.prepare()
        else:
            self._room.prepare_to_save()
        return went_well

    async def go_on(self) -> bool:
        """The rest of a turn that did not end well, then the queue."""
        return await self._one(None) and await self.run()

    async def _one(self, prompt: UserPrompt | None) -> bool:
        """One turn from its prompt (None: goes on with the last one) to its end in the log; whether it ended well."""
        self._show_running(None)
        self._room.turn_begins()
        ending = await ending_of(self._to_its_end(prompt), self._ending)
        turn, self.running = self.running, None
        try:
            close_turn(self._conversation, ending.entry)
        except StoreFailed as error:
            at = self._conversation.clock()
            self._conversation.timeline.close_calls()
            self._conversation.timeline.put(NoticeItem(new_id("n"), at, "error", str(error), "continue"))
        if turn is not None and ending.entry.outcome == "cancelled":
            turn.drop_what_was_asked()
        elif turn is not None and ending.entry.outcome != "interrupted":
            await turn.compact_if_asked(at_work=False)
        self._room.turn_ended()
        self._show_ended(EndedTurn(self._prompt_id(prompt), stop_reason_of(ending.entry)))
        return ending.went_well

    def _prompt_id(self, prompt: UserPrompt | None) -> str:
        """Of the turn's prompt; where it went on with an earlier turn, of that one's. Prompts that joined it later are not meant."""
        if prompt is not None:
            return prompt.id
        entries = (logged.entry for logged in reversed(self._conversation.entries))
        return next((entry.id for entry in entries if isinstance(entry, UserPrompt) and not entry.steering), "")

    async def _to_its_end(self, prompt: UserPrompt | None) -> TurnEnded:
        self._policy.take_over()
        try:
            await ROUND.has_room()
            await self._prelude.use_as_foreseen(self._surroundings.calibration(self._model.card))
            if prompt is not None:
                await self._model.learn()
                await self._room.before_call(more=prompt_tokens(prompt, self._surroundings.calibration(self._model.card)))
        finally:  # whatever becomes of the turn, the prompt stands in the log
            if prompt is not None:
                self._queue.start(prompt)
        if prompt is None:
            self._conversation.append(Notice("resume", RESUMED))
        self.running = self._make_turn()
        return await run_turn(self.running)
