"""A model behind the Messages API, through the `anthropic` SDK: Anthropic's own endpoint, any compatible server, or Claude in a cloud.

The SDK is imported when it is first needed, in a thread: it costs half a second, and the start of the server must not wait for that. Its
wire says how the endpoint is reached (`wire.py`, `clouds/`). `serialise.py` writes what is sent. `event_stream.py` bounds and reads what
comes back, `reply.py` puts it together and checks it, and `endpoint_checks.py` compares its numbers with the request. `retry.py` decides
how long it is waited for and when a call is made again, `failures.py` what a failure means, and `learned.py` what the window is after that.
"""

from __future__ import annotations

import asyncio
import gc
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from ullage.context.counting.media import NO_ROOM, Room, shown_in
from ullage.context.view.request import Request, without_block, without_plain_thinking
from ullage.models.counting import Counting
from ullage.models.endpoint_checks import BodyNotJson, RequestSize, parse, size_of
from ullage.models.errors import AuthenticationFailed, BlockRefused, MediaRefused, Nonsense, ThinkingRefused
from ullage.models.failures import ErrorInReply, not_this_api
from ullage.models.learned import LearnedLimits
from ullage.models.model import Effort, ModelCard, ModelEvent, Reply
from ullage.models.model_card import CardAnswer, OfferedModel
from ullage.models.reply import ReplyBuilder
from ullage.models.retry import DELAYS, Delays, NothingCame, Patience, patience_with, with_retries
from ullage.models.serialise import MediaBytes, Mismatch, Serialiser, betas, none_kept
from ullage.models.transport import InUse, make_transport
from ullage.models.web_search import OUTPUT_TOKENS, RESULT_TOKENS, SearchReply, WebSearchReply, search_by
from ullage.models.wire import MessagesWire, Wire
from ullage.workspace.web_search import WebSearch, WebSearchResult

if TYPE_CHECKING:
    import httpx2

    from ullage.models.wire import Client


class AnthropicModel:
    """One model by name at one endpoint. Several sessions may share it.

    `base_url` is empty for Anthropic's own endpoint. `wire` is another way to reach the model; key and address are its own then.
    `mismatch` is what the API is to do where replayed thinking does not fit what stands before it, which must not happen: it is said
    where a compaction block stands there, and from the first refusal on. From the first refusal of an image or a document on, none are
    sent: they stay in the conversation, so every later call would be refused too.
    `effort` is asked for where the model takes it; None leaves it to the model.
    `media` gives the bytes of the images and documents that are shown.
    `patience` is how long a reply is waited for. `sleep` (seconds) and `dice` (0 to 1) are the clock and the chance of the retries.
    """

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None = None,
        effort: Effort | None = None,
        base_url: str = "",
        wire: Wire | None = None,
        mismatch: Mismatch = "drop_block",
        media: MediaBytes = none_kept,
        delays: Delays = DELAYS,
        patience: Patience | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        dice: Callable[[], float] = random.random,
    ) -> None:
        self._name = name
        self._wire: Wire = wire or MessagesWire(name, base_url, api_key)
        self._endpoint = self._wire.endpoint
        self._effort: Effort | None = effort
        self._mismatch: Mismatch = mismatch
        self._refused_blocks: set[str] = set()
        self._refused_thinking = False
        self._refused_media = False
        self._delays = delays
        self._patience = patience or patience_with(own_server=bool(self._endpoint.base_url))
        self._sleep = sleep
        self._dice = dice
        self._serialiser = Serialiser(media)
        self._connecting: asyncio.Task[Client] | None = None
        self._asking: asyncio.Task[CardAnswer] | None = None
        self._counting = Counting(self._endpoint.name, lambda: self._wire.counting)
        self._refused: list[asyncio.Task[Client]] = []
        """Clients whose credentials were not accepted. Calls may still run over them."""
        self._in_use = InUse(self._disconnect)
        self._learned = LearnedLimits(self._endpoint)

    def expected(self) -> ModelCard:
        """The card by the table, or what is assumed of the model."""
        return self._asked(self._wire.expected())

    async def card(self) -> ModelCard:
        """The card by the endpoint, else by the table; a window that a refusal named since then counts more.

        An endpoint that was not there is asked again at the next call.
        """
        async with self._in_use.waiting():
            if self._asking is None:
                self._asking = asyncio.create_task(self._ask())
            asking = self._asking
            asked = await asyncio.shield(asking)
            if not asked.settled and self._asking is asking:
                self._asking = None
        return self._learned.applied(self._asked(asked.card))

    def _asked(self, card: ModelCard) -> ModelCard:
        """The card with the effort that is asked for: the wanted one, where the model takes it."""
        return replace(card, effort=self._effort) if self._effort in card.efforts else card

    async def stream(self, request: Request, max_output_tokens: int) -> AsyncGenerator[ModelEvent, None]:
        """Asks for one reply; see `Model.stream`."""
        async with self._in_use.waiting(), aclosing(self._stream(request, max_output_tokens)) as events:
            async for event in events:
                yield event

    async def _stream(self, request: Request, max_output_tokens: int) -> AsyncGenerator[ModelEvent, None]:
        card = await self.card()
        request = without_plain_thinking(request)
        if request.block is not None and (not card.compacts or request.block.json in self._refused_blocks):
            request = without_block(request)
        while True:
            try:
                async with aclosing(await self._ask_for_reply(request, card, max_output_tokens)) as events:
                    async for event in events:
                        yield event
                return
            except BlockRefused:
                if request.block is None:
                    raise
                self._refused_blocks.add(request.block.json)
                request = without_block(request)
            except MediaRefused:
                if self._refused_media or not any(shown_in(message) for message in request.messages):
                    raise
                self._refused_media = True
            except AuthenticationFailed:
                self._look_for_credentials_again()
                raise
            except ThinkingRefused:
                if self._refused_thinking or self._mismatch == "error":
                    raise
                self._refused_thinking = True

    async def _ask_for_reply(self, request: Request, card: ModelCard, max_output_tokens: int) -> AsyncGenerator[ModelEvent, None]:
        mismatch = self._mismatch_of(request)
        named = betas(request, mismatch)
        body = await self._serialiser.body_off_the_loop(
            request,
            opening=self._wire.opening(named),
            max_tokens=max_output_tokens,
            adaptive_thinking=card.adaptive_thinking,
            effort=card.effort,
            mismatch=mismatch,
            room=self._room_of(card),
        )
        headers = self._wire.headers(named)
        size = size_of(request, body, max_output_tokens)
        return with_retries(
            lambda: self._call(body, headers, size, ReplyBuilder(self._name, size.max_tokens)),
            lambda problem: self._learned.understand(problem, size),
            delays=self._delays,
            sleep=self._sleep,
            dice=self._dice,
        )

    def _mismatch_of(self, request: Request) -> Mismatch | None:
        return self._mismatch if request.block is not None or self._refused_thinking else None

    def _room_of(self, card: ModelCard) -> Room:
        return NO_ROOM if self._refused_media else card.media_room

    async def count(self, request: Request) -> int | None:
        """Counts the tokens of a request; see `Model.count`. The request is the very one that would be sent, so that thinking, images and
        what they cost are as there."""
        if not self._counting.may_ask():
            return None
        async with self._in_use.waiting():
            card = await self.card()
            request = without_plain_thinking(request)
            if request.block is not None and (not card.compacts or request.block.json in self._refused_blocks):
                request = without_block(request)
            mismatch = self._mismatch_of(request)
            named = betas(request, mismatch)
            body = await self._serialiser.counted_body_off_the_loop(
                request,
                opening=self._wire.counted_opening(named),
                adaptive_thinking=card.adaptive_thinking,
                mismatch=mismatch,
                room=self._room_of(card),
            )
            return await self._counting.ask(self._client, body, self._wire.headers(named), size_of(request, body, 0))

    async def search(self, wanted: WebSearch) -> WebSearchResult:
        """Searches the web by the API's own tool; see `SearchesWeb.search`. The conversation is not sent."""
        async with self._in_use.waiting():
            return await search_by(self._ask_to_search, wanted, self._wire.opening(()), await self.card())

    async def _ask_to_search(self, body: bytes) -> WebSearchReply:
        headers, size = self._wire.headers(()), RequestSize(len(body), lambda: RESULT_TOKENS, OUTPUT_TOKENS)
        builder = SearchReply(self._name)

        def call() -> AsyncGenerator[ModelEvent, None]:
            nonlocal builder
            builder = SearchReply(self._name)
            return self._call(body, headers, size, builder)

        calls = with_retries(
            call,
            lambda problem: self._learned.understand(problem, size),
            delays=self._delays,
            sleep=self._sleep,
            dice=self._dice,
        )
        async with aclosing(calls) as events:
            [reply] = [event async for event in events if isinstance(event, Reply)]
        return WebSearchReply(builder.blocks, reply.stop_reason, reply.usage, builder.searches)

    async def offered(self) -> tuple[OfferedModel, ...]:
        """The models that the endpoint lists. Raises `ModelError`."""
        return await self._wire.offered(self._client)

    async def aclose(self) -> None:
        """Frees connections and whatever is still being made; see `Model.aclose`."""
        await self._in_use.leave()

    async def _disconnect(self) -> None:
        asking, self._asking = self._asking, None
        connecting, self._connecting = self._connecting, None
        if asking is not None and not asking.done():
            asking.cancel()
            # Its connection is freed before the client is: what is only being made the client does not know of.
            await asyncio.gather(asking, return_exceptions=True)
        clients, self._refused = [*self._refused, *([connecting] if connecting else [])], []
        for client in clients:
            with suppress(Exception):
                await (await client).close()

    def _look_for_credentials_again(self) -> None:
        """Lets the next call be made by a new client: the user may have signed in by then."""
        connecting, self._connecting = self._connecting, None
        if connecting is not None:
            self._refused.append(connecting)

    async def _call(
        self, body: bytes, headers: Mapping[str, str], size: RequestSize, builder: ReplyBuilder
    ) -> AsyncGenerator[ModelEvent, None]:
        """Makes one attempt at a reply. Ends the HTTP stream however it is left."""
        from anthropic import AsyncStream

        client = await self._client()
        async with self._patience.for_an_answer():
            # Not `messages.create`: it walks through all messages again, which is 4 ms for a thousand of them.
            stream = await client.post(
                self._wire.page(client),
                content=body,
                cast_to=object,
                options={"headers": dict(headers)},
                stream=True,
                stream_cls=AsyncStream[object],
            )
        async with stream:
            response = stream.response
            streamed = self._wire.stream_kind
            kind = response.headers.get("content-type", streamed).lower()
            if response.status_code != 200 or not kind.startswith(("application/json", streamed)):
                raise not_this_api(response, self._endpoint)
            if kind.startswith("application/json"):
                for event in builder.accept_whole(await self._whole_message(response)):
                    yield event
            else:
                async with aclosing(self._streamed(response, builder)) as told:
                    async for event in told:
                        yield event
            yield self._learned.checked(builder.reply(), size, builder.characters)

    async def _streamed(self, response: httpx2.Response, builder: ReplyBuilder) -> AsyncGenerator[ModelEvent, None]:
        """What the user is told while the reply comes in, up to its end or to where it breaks off after it was whole."""
        from httpx2 import HTTPError

        patience = self._patience
        try:
            async with (
                aclosing(patience.between(response.aiter_bytes())) as pieces,
                aclosing(self._wire.events(pieces)) as found,
                aclosing(patience.over(found)) as sent,
            ):
                async for data in sent:
                    if data.get("type") == "error":
                        raise ErrorInReply(data)
                    for event in builder.accept(data):
                        yield event
                    if data.get("type") == "message_stop" and builder.is_whole:
                        return
        except (HTTPError, NothingCame, Nonsense):
            if not builder.is_whole:
                raise

    async def _whole_message(self, response: httpx2.Response) -> Mapping[str, object]:
        """The message of a server that does not stream. Raises `EndpointUnreachable` if it is none."""
        try:
            async with self._patience.for_an_answer():
                body = parse(await response.aread())
        except BodyNotJson:
            body = None
        if isinstance(body, dict) and body.get("type") == "message":
            return body
        if isinstance(body, dict) and "error" in body:
            raise ErrorInReply(body)
        raise not_this_api(response, self._endpoint)

    async def _ask(self) -> CardAnswer:
        return await self._wire.ask(self._client)

    async def _client(self) -> Client:
        connecting = self._connecting
        # What was missing may be there by now: the user has signed in to the cloud.
        if connecting is None or (connecting.done() and (connecting.cancelled() or connecting.exception() is not None)):
            connecting = self._connecting = asyncio.create_task(asyncio.to_thread(self._make_client))
        return await asyncio.shield(connecting)

    def _make_client(self) -> Client:
        from anthropic import DefaultAsyncHttpxClient

        _spare_the_sdk()
        return self._wire.make_client(make_transport(DefaultAsyncHttpxClient, self._patience))


@cache
def _spare_the_sdk() -> None:
    """Spares the SDK's many objects from the collector. They live for ever: with them a full pass stops everything for 60 ms. What is
    garbage by then is spared, too, so once is enough."""
    gc.freeze()
