"""A model behind the Messages API, through the `anthropic` SDK: Anthropic's own endpoint or any compatible server.

The SDK is imported when it is first needed, in a thread: it costs half a second, which starting up must not.
What is sent is written in `serialise.py`, what comes back is put together in `reply.py`; when a call is made again is
decided in `retry.py`, what its failure means in `failures.py`.
"""

from __future__ import annotations

import asyncio
import gc
import json
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from ullage.context.counting.media_room import NO_ROOM, shown_in
from ullage.context.view.plain import without_block
from ullage.context.view.request import Request
from ullage.models.errors import BlockRefused, MediaRefused, PromptTooLong, ThinkingRefused
from ullage.models.failures import Endpoint, not_the_messages_api, understand
from ullage.models.limits import expected_card
from ullage.models.model import ModelCard, ModelEvent
from ullage.models.model_card import Asked, ask_anthropic, ask_other_server
from ullage.models.reply import ReplyBuilder
from ullage.models.retry import DELAYS, Delays, Failure, with_retries
from ullage.models.serialise import Mismatch, Serialiser, betas
from ullage.models.shown_media import MediaBytes, none_kept

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic

READ_TIMEOUT = 600.0
"""Seconds without any byte: a local server may take minutes over a long prompt before it says anything."""
CONNECT_TIMEOUT = 10.0

NO_KEY = "none"
"""Sent to servers of the user's own where no key is set: the SDK insists on one, they ignore it."""


class AnthropicModel:
    """One model by name at one endpoint. Several sessions may share it.

    `base_url` is empty for Anthropic's own endpoint; a trailing `/v1` is left out of it, since the SDK adds it.
    `mismatch` is what the API is to do where replayed thinking does not fit what stands before it, which must not happen: it is said
    where a compaction block stands there, and from the first refusal on. From the first refusal of an image or a document on, none are
    sent: they stay in the conversation, so every later call would be refused too.
    `media` gives the bytes of the images and documents that are shown.
    `sleep` (seconds) and `dice` (0 to 1) are the clock and the chance of the retries.
    """

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None,
        base_url: str = "",
        mismatch: Mismatch = "drop_block",
        media: MediaBytes = none_kept,
        delays: Delays = DELAYS,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        dice: Callable[[], float] = random.random,
    ) -> None:
        self._name = name
        self._endpoint = Endpoint(name, _without_version(base_url), api_key)
        self._mismatch: Mismatch = mismatch
        self._refused_blocks: set[str] = set()
        self._refused_thinking = False
        self._refused_media = False
        self._delays = delays
        self._sleep = sleep
        self._dice = dice
        self._serialiser = Serialiser(media)
        self._connecting: asyncio.Task[AsyncAnthropic] | None = None
        self._asking: asyncio.Task[Asked] | None = None
        self._learned_window: int | None = None

    async def prewarm(self) -> None:
        """Imports the SDK and makes its client, in a thread. Raises nothing: the first call reports what is wrong."""
        with suppress(Exception):
            await self._client()

    def expected(self) -> ModelCard:
        """What the table says of the model, or what is assumed of it."""
        return expected_card(self._name, anthropic=not self._endpoint.base_url)

    async def card(self) -> ModelCard:
        """What the endpoint, else the table, says of the model; a window that a refusal named since then counts more.

        An endpoint that was not there is asked again at the next call.
        """
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask())
        asking = self._asking
        asked = await asyncio.shield(asking)
        if not asked.settled and self._asking is asking:
            self._asking = None
        card = asked.card
        if self._learned_window is None or self._learned_window >= card.window:
            return card
        return replace(card, window=self._learned_window, source="server")

    async def stream(self, request: Request, max_output_tokens: int) -> AsyncGenerator[ModelEvent, None]:
        """Asks for one reply; see `Model.stream`."""
        card = await self.card()
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
            except ThinkingRefused:
                if self._refused_thinking or self._mismatch == "error":
                    raise
                self._refused_thinking = True

    async def _ask_for_reply(self, request: Request, card: ModelCard, max_output_tokens: int) -> AsyncGenerator[ModelEvent, None]:
        mismatch = self._mismatch if request.block is not None or self._refused_thinking else None
        body = await self._serialiser.body_off_the_loop(
            request,
            model=self._name,
            max_tokens=max_output_tokens,
            adaptive_thinking=card.adaptive_thinking,
            mismatch=mismatch,
            room=NO_ROOM if self._refused_media else card.media_room,
        )
        headers = {"content-type": "application/json"}
        if needed := betas(request, mismatch):
            headers["anthropic-beta"] = ",".join(needed)
        return with_retries(lambda: self._call(body, headers), self._understand, delays=self._delays, sleep=self._sleep, dice=self._dice)

    async def aclose(self) -> None:
        """Frees connections and whatever is still being made."""
        if self._asking is not None:
            self._asking.cancel()
        if self._connecting is not None:
            with suppress(Exception):
                await (await self._connecting).close()

    async def _call(self, body: bytes, headers: Mapping[str, str]) -> AsyncGenerator[ModelEvent, None]:
        """One attempt. Ends the HTTP stream however it is left."""
        from anthropic import AsyncStream

        client = await self._client()
        # Not `messages.create`: it walks through all messages again, which is 4 ms for a thousand of them.
        stream = await client.post(
            "/v1/messages",
            content=body,
            cast_to=object,
            options={"headers": dict(headers)},
            stream=True,
            stream_cls=AsyncStream[object],
        )
        async with stream:
            builder = ReplyBuilder(self._name)
            kind = stream.response.headers.get("content-type", "text/event-stream")
            if kind.startswith("application/json"):
                for event in builder.accept_whole(await self._whole_message(stream.response)):
                    yield event
                yield builder.reply()
                return
            if not kind.startswith("text/event-stream"):
                raise not_the_messages_api(stream.response, self._endpoint)
            async for data in stream:
                if isinstance(data, dict):
                    for event in builder.accept(cast(Mapping[str, object], data)):
                        yield event
            yield builder.reply()

    async def _whole_message(self, response: httpx2.Response) -> Mapping[str, object]:
        """The message of a server that does not stream. Raises `EndpointUnreachable` where it is none."""
        try:
            body: object = json.loads(await response.aread())
        except ValueError:
            body = None
        if isinstance(body, dict) and cast(Mapping[str, object], body).get("type") == "message":
            return cast(Mapping[str, object], body)
        raise not_the_messages_api(response, self._endpoint)

    def _understand(self, problem: Exception) -> Failure:
        failure = understand(problem, self._endpoint)
        if isinstance(failure.error, PromptTooLong) and failure.error.window:
            self._learned_window = failure.error.window
        return failure

    async def _ask(self) -> Asked:
        ask = ask_other_server if self._endpoint.base_url else ask_anthropic
        return await ask(self._client, self._name)

    async def _client(self) -> AsyncAnthropic:
        if self._connecting is None:
            self._connecting = asyncio.create_task(asyncio.to_thread(self._make_client))
        return await asyncio.shield(self._connecting)

    def _make_client(self) -> AsyncAnthropic:
        from anthropic import AsyncAnthropic
        from httpx2 import Timeout

        gc.freeze()  # the SDK's many objects live for ever: with them a full pass of the collector stops everything for 60 ms
        base_url, api_key = self._endpoint.base_url, self._endpoint.api_key
        return AsyncAnthropic(
            api_key=api_key or (NO_KEY if base_url else None),
            base_url=base_url or None,
            max_retries=0,
            timeout=Timeout(READ_TIMEOUT, connect=CONNECT_TIMEOUT),
        )


def _without_version(base_url: str) -> str:
    return base_url.strip().rstrip("/").removesuffix("/v1/messages").removesuffix("/v1")
