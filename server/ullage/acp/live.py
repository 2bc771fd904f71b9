"""A session that a client has open: the prompts that it waits for, and the questions that it is asked."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from time import time
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from acp import RequestError, schema

from ullage.acp.choices import commands
from ullage.acp.outbox import ClientOutbox
from ullage.acp.questions import form_of, given_in, message_of
from ullage.acp.shown import ShownSession, call_fields, says_what_the_client_knows
from ullage.acp.terminals import Shows, Terminals
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.timeline.items import Item, NoticeItem, ToolCallItem, new_id
from ullage.session.timeline.updates import EndedTurn, GaugeChanged, ItemUpdated, Snapshot, StateChanged, Update

if TYPE_CHECKING:
    from acp.interfaces import Client

logger = logging.getLogger(__name__)

Stop: TypeAlias = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]

MOST_ITEMS = 1_000
"""How many items of a conversation are read at once."""

NO_ANSWER = "reject_once"
"""The option that counts as the answer if the client gives none that was offered."""


class Live:
    """One session as one client has it open."""

    def __init__(
        self,
        session: Session,
        shown: ShownSession,
        client: Client,
        outbox: ClientOutbox,
        keep: Callable[[Coroutine[Any, Any, None]], object],
        terminals: Terminals | None = None,
    ) -> None:
        """`keep` runs work in the background. `terminals` are those of the client, where it has some."""
        self.session = session
        self.shown = shown
        self._client = client
        self._outbox = outbox
        self._keep = keep
        self._terminals = terminals
        self._shows = Shows(session.id, shown.folder, self._in_terminal, session.cancel)
        self._loop = asyncio.get_running_loop()
        self._prompts: dict[str, asyncio.Future[EndedTurn]] = {}
        self._idle: list[asyncio.Future[None]] = []
        self._asked: set[str] = set()
        """The ids of the questions that the client was asked."""
        self._is_quiet = False
        """After a turn that was cancelled nothing is told until the next prompt: the protocol wants its answer to be the last word."""
        self._error: NoticeItem | None = None
        """The notice of what went wrong in the turn that runs; None if nothing did."""
        self._unsaid: NoticeItem | None = None
        """A notice that is to be told with the next turn."""
        self._commands: schema.AvailableCommandsUpdate | None = None

    def tell(self, update: Any) -> None:
        """Puts an update into the outbox, which sends all to the client in order."""
        self._outbox.put(self.session.id, update)

    def items_up_to(self, shown: Snapshot) -> list[Item]:
        """The items of a snapshot, and all before them."""
        items, earlier = list(shown.items), shown.earlier
        while earlier and items:
            found, earlier = self.session.items_before(items[0].id, MOST_ITEMS)
            items = [*found, *items]
        return items

    def keep_for_turn(self, told: str) -> None:
        """Keeps a text that the user should know as the first words of the next turn, unless it is told before. An empty text keeps
        nothing."""
        self._unsaid = NoticeItem(new_id("n"), time(), "info", told) if told else None

    def say_kept(self) -> None:
        """Tells what was kept for the next turn, if anything was."""
        if self._unsaid is not None:
            self.tell(self.shown.notice(self._unsaid))
            self._unsaid = None

    async def tell_commands(self) -> None:
        """Tells the commands that there are now, if these are not what the client was told last: MCP servers bring some."""
        update = await commands(self.session)
        if update != self._commands:
            self._commands = update
            self.tell(update)

    def begin_anew(self, shown: ShownSession) -> None:
        """Forgets what the client was told, because it opens the session once more and knows nothing of it."""
        self.shown, self._commands = shown, None

    def take(self, update: Update) -> None:
        """Takes an update of the session, tells the client of it, and asks it the questions in it."""
        if not (self._is_quiet and isinstance(update, GaugeChanged)):
            for each in self.shown.take(update, self._loop.time()):
                self.tell(each)
        if self._terminals is not None:
            self._terminals.take(self._shows, update)
        match update:
            case ItemUpdated(ToolCallItem() as call) if call.permission and call.permission_id not in self._asked:
                self._asked.add(call.permission_id)
                self._outbox.then(lambda: self._keep(self._ask(call)))
            case ItemUpdated(ToolCallItem() as call) if call.questions and call.question_id not in self._asked:
                self._asked.add(call.question_id)
                self._outbox.then(lambda: self._keep(self._ask_for_agent(call)))
            case ItemUpdated(NoticeItem() as notice):
                self._notice(notice)
            case StateChanged(state, ended=ended):
                if ended is not None:
                    self._ended(ended)
                if state == "idle":
                    self._went_idle()
            case _:
                pass

    def _in_terminal(self, call: ToolCallItem, terminal: str | None) -> None:
        self.tell(self.shown.in_terminal(call, terminal))

    def _notice(self, notice: NoticeItem) -> None:
        if says_what_the_client_knows(notice):
            return
        if notice.level == "error" and self._prompts:
            self._error = notice  # the answer to the prompt says it
        else:
            self.tell(self.shown.notice(notice))

    # Prompts

    async def turn(self, prompt_id: str) -> Stop:
        """Waits for the end of the turn of a prompt that was just queued. Raises `RequestError` if it ended with an error."""
        self._is_quiet = False
        self.say_kept()
        ended: asyncio.Future[EndedTurn] = self._loop.create_future()
        self._prompts[prompt_id] = ended
        try:
            stop = (await ended).stop_reason
        finally:
            self._prompts.pop(prompt_id, None)
        error, self._error = self._error, None
        if stop == "error":
            told = "The turn ended with an error" if error is None else " ".join(error.text.split())
            if error is not None and error.action == "set_key":
                raise RequestError(RequestError.auth_required().code, told)
            raise RequestError(RequestError.internal_error().code, told, {"reason": "turn_failed"})
        if error is not None:
            self.tell(self.shown.notice(error))
        self._is_quiet = stop == "cancelled"
        await self._outbox.flush()
        return stop

    def _ended(self, ended: EndedTurn) -> None:
        waiting = self._prompts.get(ended.prompt_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(ended)

    def _went_idle(self) -> None:
        """Ends the waiting for prompts that are still in the queue. They would wait for a user who goes on, and a client of this protocol
        has no way to do that."""
        for prompt_id, waiting in self._prompts.items():
            if not waiting.done():
                try:
                    self.session.unqueue(prompt_id)
                except SessionError as error:
                    logger.info("a prompt was not in the queue any more: %s", error)
                waiting.set_result(EndedTurn(prompt_id, "cancelled"))
        self._wake()

    def close(self) -> None:
        """Ends all waiting, because the session is closed: nothing more comes of it."""
        for prompt_id, waiting in self._prompts.items():
            if not waiting.done():
                waiting.set_result(EndedTurn(prompt_id, "cancelled"))
        self._wake()

    def _wake(self) -> None:
        for each in self._idle:
            if not each.done():
                each.set_result(None)
        self._idle.clear()

    async def until_idle(self) -> None:
        """Waits until nothing is being done for the session."""
        while self.session.busy:
            idle: asyncio.Future[None] = self._loop.create_future()
            self._idle.append(idle)
            await idle

    # Questions

    async def _ask(self, call: ToolCallItem) -> None:
        options = [schema.PermissionOption(option_id=each.option_id, name=each.name, kind=each.kind) for each in call.permission]
        shown = schema.ToolCallUpdate(tool_call_id=call.id, **call_fields(call, self.shown.folder))
        option = NO_ANSWER
        try:
            answer = await self._client.request_permission(session_id=self.session.id, tool_call=shown, options=options)
            if isinstance(answer.outcome, schema.AllowedOutcome):
                option = answer.outcome.option_id
        except (RequestError, ConnectionError, ValueError) as error:
            logger.warning("a question was not answered, which counts as a no: %s", error)
        if option not in [each.option_id for each in call.permission]:
            logger.warning("the client chose %r, which was not offered; that counts as a no", option)
            option = NO_ANSWER
        try:
            self.session.answer_permission(call.id, option, permission_id=call.permission_id)
        except SessionError as error:
            logger.info("an answer came too late: %s", error)

    async def _ask_for_agent(self, call: ToolCallItem) -> None:
        """Shows the agent's questions as a form. If the client cannot, nobody was told them: then the agent asks in words."""
        try:
            answer = await self._client.create_elicitation(message_of(call), form_of(call, self.session.id))
            given = given_in(call, answer.content) if isinstance(answer, schema.AcceptElicitationResponse) else None
            self.session.answer_question(call.id, call.question_id, given)
        except SessionError as error:
            logger.info("an answer could not be used: %s", error)
            self.session.question_not_shown(call.id, call.question_id)
        except (RequestError, ConnectionError, ValueError) as error:
            logger.warning("the client did not show a question: %s", error)
            self.session.question_not_shown(call.id, call.question_id)
