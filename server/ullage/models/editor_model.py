"""A language model of the editor (VS Code's `vscode.lm`): a Copilot subscription, or what another extension of the user brings.

The editor asks the vendor and gives parts of the reply back. It reports no usage and no prices, and takes no cache marks, no effort and no
limit of the reply. So the gauge is an estimate, corrected by the vendor's own tokenizer once the model has answered
(`ModelCard.editor_counts`).

Vendors call again by themselves what failed by chance, and stop extensions that ask too often. So what they refuse is not sent again here.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace

from ullage.context.view.request import Request, without_block
from ullage.models.chat_reply import ChatReplyBuilder
from ullage.models.editor_models import Chat, ChatFailed, EditorModels, ListedModel, NoEditorModels, ReplyPart, TextPart, ThinkingPart
from ullage.models.editor_request import EditorRequests
from ullage.models.endpoint_checks import plausible_window
from ullage.models.errors import (
    Endpoint,
    EndpointUnreachable,
    ModelError,
    Nonsense,
    NonsenseSent,
    NothingMore,
    Overloaded,
    RequestRefused,
    StreamBroken,
    UnknownModel,
    quoted,
)
from ullage.models.failures import is_too_long_by, prompt_too_long
from ullage.models.known_models import local_card
from ullage.models.model import ModelCard, ModelEvent
from ullage.models.model_card import OfferedModel
from ullage.models.retry import DELAYS, Delays, Failure, NothingCame, Patience, patience_with, spoken, with_retries
from ullage.models.serialise import MediaBytes, none_kept

ATTEMPTS = 3
"""How often a call is tried that fails without a reason, before anything of the reply came."""

_TOO_LONG = ("exceeds token limit", "prompt token count", "max_prompt_tokens", "context window")
"""What Copilot says of a prompt that is too long, its extension and its service, and what the samples of providers say; no error code
exists for it."""

_OUR_FAULT = re.compile(r"\b4\d\d\b|model_not_supported|invalid_request", re.IGNORECASE)
"""What a vendor says where the same request would be refused again."""

SOURCE = "editor"
"""`ModelCard.source` of a model that the editor has described."""


class EditorModel:
    """One of the editor's models by its id (`ListedModel.id`). Several sessions may share it."""

    def __init__(
        self,
        name: str,
        editor: EditorModels,
        *,
        media: MediaBytes = none_kept,
        patience: Patience | None = None,
        delays: Delays = DELAYS,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        dice: Callable[[], float] = random.random,
    ) -> None:
        self._name = name
        self._editor = editor
        self._requests = EditorRequests(media)
        self._patience = patience or patience_with(own_server=True)
        self._delays = delays
        self._sleep = sleep
        self._dice = dice
        self._card = replace(local_card(name, None), editor_counts=False)
        self._answers = False
        """Whether the model has answered: then the user lets it read what is said here."""

    def expected(self) -> ModelCard:
        """The card by what the editor said of the model last, else by what is assumed."""
        return replace(self._card, editor_counts=self._answers)

    async def card(self) -> ModelCard:
        """The card by what the editor says of the model now. Of a model that is not offered at the moment, what was known before."""
        try:
            listed = await self._listed()
        except NoEditorModels:
            listed = None
        if listed is not None:
            self._card = card_of(listed)
        return self.expected()

    async def _listed(self) -> ListedModel | None:
        return next((each for each in await self._editor.listed() if each.id == self._name), None)

    async def stream(self, request: Request, max_output_tokens: int) -> AsyncGenerator[ModelEvent, None]:
        """Asks for one reply; see `Model.stream`."""
        request = replace(without_block(request), summarise=None)
        try:
            listed = await self._listed()
            if listed is None:
                raise await self._not_offered()
        except NoEditorModels:
            raise no_editor_models() from None
        if request.tools and listed.tools is False:
            raise RequestRefused(
                f"The model `{self._name}` cannot call tools, so it cannot work as an agent. Choose another with `/model`."
            )
        room = (await self.card()).media_room
        chat = await self._requests.chat_off_the_loop(request, model=self._name, room=room)
        answering = with_retries(
            lambda: self._call(chat, max_output_tokens),
            self._understand,
            delays=self._delays,
            sleep=self._sleep,
            dice=self._dice,
        )
        async with aclosing(answering) as told:
            async for event in told:
                yield event

    async def _call(self, chat: Chat, max_output_tokens: int) -> AsyncGenerator[ModelEvent, None]:
        """Makes one attempt at a reply."""
        builder = ChatReplyBuilder(self._name, max_output_tokens)
        calls = 0
        async with aclosing(self._editor.chat(chat)) as parts, aclosing(self._in_time(parts)) as coming:
            async for part in coming:
                for event in builder.accept(_chunk(part, calls)):
                    yield event
                calls += not isinstance(part, TextPart | ThinkingPart)
        for event in builder.accept({"choices": [{"finish_reason": "stop"}]}):
            yield event
        self._answers = True
        yield builder.reply()

    async def _in_time(self, parts: AsyncGenerator[ReplyPart, None]) -> AsyncGenerator[ReplyPart, None]:
        """The parts of a reply. Raises `NothingMore` if the first does not come in time, `NothingCame` where another does not."""
        try:
            async with self._patience.for_an_answer():
                first = await anext(parts, None)
        except TimeoutError:
            raise NothingMore(
                f"The editor's model `{self._name}` has not answered for {spoken(self._patience.answer)}. The editor may be asking whether"
                " Ullage may use it: allow it there. Press Continue to try again."
            ) from None
        if first is not None:
            yield first
            async for part in self._patience.between(parts):
                yield part

    async def count(self, request: Request) -> int | None:
        """Always None: the editor counts texts, and no requests."""
        return None

    async def aclose(self) -> None:
        """Does nothing: the connection is the editor's."""

    async def _not_offered(self) -> ModelError:
        if not await self._editor.listed():
            return none_listed()
        return UnknownModel(
            f'The editor does not offer the model `{self._name}`. Choose another with `/model`, or in the setting "Ullage › Model: Name".'
        )

    def _understand(self, problem: Exception) -> Failure:
        if isinstance(problem, ModelError):
            return Failure(problem)
        if isinstance(problem, NoEditorModels):
            return Failure(no_editor_models())
        if isinstance(problem, Nonsense):
            return Failure(
                NonsenseSent(
                    f"The editor's model `{self._name}` sent nonsense: {problem}. Press Continue to try again, or choose another with"
                    " `/model`."
                )
            )
        if isinstance(problem, NothingCame):
            return Failure(NothingMore(f"The editor's model `{self._name}` {problem}. It was stopped. Press Continue to try again."))
        if isinstance(problem, ChatFailed):
            return self._failed(problem)
        raise problem

    def _failed(self, problem: ChatFailed) -> Failure:
        said = quoted(problem.said, Endpoint(self._name, "")).rstrip(".") or "no reason given"
        match problem.reason:
            case "notAllowed":
                return Failure(
                    RequestRefused(
                        f"The editor does not let Ullage use the model `{self._name}` ({said}). Press Continue to be asked again, and allow"
                        " it; or choose another with `/model`."
                    )
                )
            case "blocked":
                return Failure(
                    RequestRefused(
                        f"The vendor of `{self._name}` has stopped Ullage from using it for a while ({said}). Wait some minutes, then press"
                        " Continue; or choose another model with `/model`."
                    )
                )
            case "quota":
                return Failure(
                    RequestRefused(
                        f"The quota for `{self._name}` is used up ({said}). Press Continue when there is some again, or choose another"
                        " model with `/model`."
                    )
                )
            case "busy":
                return Failure(
                    Overloaded(
                        f"The vendor of `{self._name}` limits how often it may be asked ({said}). Wait a moment, then press Continue."
                    )
                )
            case "gone":
                return Failure(
                    UnknownModel(
                        f"The editor no longer offers the model `{self._name}` ({said}). Choose another with `/model`, or press Continue"
                        " when it is there again."
                    )
                )
            case "other":
                return self._failed_otherwise(said)

    def _failed_otherwise(self, said: str) -> Failure:
        if is_too_long_by(said) or any(words in said.lower() for words in _TOO_LONG):
            return Failure(prompt_too_long(said))
        if _OUR_FAULT.search(said):
            return Failure(
                RequestRefused(
                    f"The editor's model `{self._name}` refused the request ({said}). Press Continue to try again, or choose another with"
                    " `/model`."
                )
            )
        reason = f"The editor's model `{self._name}` did not answer to the end ({said})"
        return Failure(StreamBroken(f"{reason}. Press Continue to try again."), ATTEMPTS, reason=reason)


def card_of(listed: ListedModel) -> ModelCard:
    """The card of a model that the editor has described. Prices are nobody's to know: a subscription pays, or another key."""
    window = plausible_window(listed.window)
    return replace(
        local_card(listed.id, window),
        display_name=listed.display_name,
        source=SOURCE if window else "assumed",
        takes_images=listed.images,
        takes_pdfs=False,
        caches=False,
        editor_counts=False,
    )


async def offered_by_editor(editor: EditorModels) -> tuple[OfferedModel, ...]:
    """The models of the editor that can work as an agent, as far as it says. Raises `ModelError`, in words for the user."""
    try:
        listed = await editor.listed()
    except NoEditorModels:
        raise no_editor_models() from None
    offered = tuple(
        OfferedModel(each.id, each.display_name, plausible_window(each.window), None) for each in listed if each.tools is not False
    )
    if not offered:
        raise none_listed()
    return offered


def no_editor_models() -> EndpointUnreachable:
    """The error where the editor has no such thing as language models."""
    return EndpointUnreachable(
        'The setting "Ullage › Model: Provider" is "editor", but this editor has no language models for Ullage. Choose another provider'
        " there."
    )


def none_listed() -> EndpointUnreachable:
    """The error where the editor has no language model at the moment."""
    return EndpointUnreachable(
        "The editor offers no language model that can call tools. Sign in to GitHub Copilot, or install an extension that brings models."
        " Then press Continue, or connect another model."
    )


def _chunk(part: ReplyPart, call: int) -> Mapping[str, object]:
    """The part in the words of Chat Completions, whose reader checks and joins what comes. `call` counts the calls before it."""
    if isinstance(part, TextPart):
        delta: Mapping[str, object] = {"content": part.text}
    elif isinstance(part, ThinkingPart):
        delta = {"content": [{"type": "thinking", "thinking": part.text}]}
    else:
        function = {"name": part.name, "arguments": part.input}
        delta = {"tool_calls": [{"index": call, "id": part.call_id, "function": function}]}
    return {"choices": [{"delta": delta}]}
