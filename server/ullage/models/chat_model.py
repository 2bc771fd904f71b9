"""A model behind Chat Completions, the wire of OpenAI: OpenRouter, vLLM, Ollama, LM Studio, Azure and any other server that speaks it.

No SDK: the request is made in `chat_request.py`, so that it stays the same byte for byte, and goes out by `httpx2`, which is imported with
the first call. What comes back is bounded in `event_stream.py` and put together in `chat_reply.py`. What is known of the model is asked in
`chat_card.py`, what its server takes is learned in `chat_dialect.py`. Waiting, calling again and failures are as for the Messages API.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ullage.context.counting.media import shown_in
from ullage.context.view.request import Request, without_block
from ullage.models.chat_card import ask_chat_server, expected_chat_card, offered_by
from ullage.models.chat_dialect import Dialect, taught
from ullage.models.chat_reply import ChatReplyBuilder
from ullage.models.chat_request import ChatSerialiser
from ullage.models.endpoint_checks import BodyNotJson, RequestSize, mapping, mappings, parse, size_of, string
from ullage.models.errors import (
    CHAT_COMPLETIONS,
    AuthenticationFailed,
    Endpoint,
    EndpointRefused,
    ErrorResponse,
    ListRefused,
    Nonsense,
    RequestRefused,
    Unanswered,
    UnknownModel,
)
from ullage.models.event_stream import DONE, PLAIN, events
from ullage.models.failures import ErrorInReply, not_this_api, understand
from ullage.models.learned import LearnedLimits
from ullage.models.model import Effort, ModelCard, ModelEvent, Reply
from ullage.models.model_card import LIST_TIMEOUT, NO_SUCH_PAGE, NOT_READY, TIMEOUT, CardAnswer, OfferedModel
from ullage.models.retry import DELAYS, Delays, NothingCame, Patience, patience_with, with_retries
from ullage.models.serialise import MediaBytes, none_kept
from ullage.models.transport import InUse, make_transport

if TYPE_CHECKING:
    import httpx2

logger = logging.getLogger(__name__)

OPENAI = "https://api.openai.com/v1"
"""The address where models are asked where none is set."""

MOST_LESSONS = 8
"""How many refusals of one request something is learned from: each part that can be left out, once."""


class ChatModel:
    """One model by name at one endpoint. Several sessions may share it.

    `base_url` is empty for OpenAI's own endpoint, and else read as `address_of` says.
    The other arguments are those of `AnthropicModel`.
    """

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None,
        effort: Effort | None = None,
        base_url: str = "",
        media: MediaBytes = none_kept,
        delays: Delays = DELAYS,
        patience: Patience | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        dice: Callable[[], float] = random.random,
    ) -> None:
        self._name = name
        self._endpoint = Endpoint(name, address_of(base_url), api_key, CHAT_COMPLETIONS)
        self._effort: Effort | None = effort
        self._delays = delays
        self._patience = patience or patience_with(own_server=True)
        self._sleep = sleep
        self._dice = dice
        self._serialiser = ChatSerialiser(media)
        self._dialect = Dialect()
        self._learned = LearnedLimits(self._endpoint)
        self._caches = False
        self._asked: CardAnswer | None = None
        self._connecting: asyncio.Task[httpx2.AsyncClient] | None = None
        self._in_use = InUse(self._disconnect)

    def expected(self) -> ModelCard:
        """The card by the table, or what is assumed of the model."""
        return self._with_effort(expected_chat_card(self._name))

    async def card(self) -> ModelCard:
        """The card by the server, else by the table; a window that a refusal named since then counts more.

        A server that was not there, or had not loaded the model, is asked again at the next call.
        """
        asked = self._asked
        if asked is None or not asked.settled:
            async with self._in_use.waiting():
                self._asked = asked = await ask_chat_server(self._get, self._endpoint.base_url, self._name)
        return replace(self._learned.applied(self._with_effort(asked.card)), caches=self._caches)

    def _with_effort(self, card: ModelCard) -> ModelCard:
        return replace(card, effort=self._effort) if self._effort in card.efforts else card

    async def stream(self, request: Request, max_output_tokens: int) -> AsyncGenerator[ModelEvent, None]:
        """Asks for one reply; see `Model.stream`."""
        request = replace(without_block(request), summarise=None)
        shows = any(shown_in(message) for message in request.messages)
        async with self._in_use.waiting():
            card = await self.card()
            for lesson in range(MOST_LESSONS + 1):
                try:
                    async with aclosing(await self._ask_for_reply(request, card, max_output_tokens)) as told:
                        async for event in told:
                            yield event
                    return
                except (RequestRefused, UnknownModel) as refusal:
                    learned = taught(self._dialect, str(refusal), shows=shows)
                    if learned is None or lesson == MOST_LESSONS:
                        raise
                    logger.info("%s does not take all of the request, it goes out again: %s", self._endpoint.name, learned)
                    self._dialect = learned

    async def _ask_for_reply(self, request: Request, card: ModelCard, max_output_tokens: int) -> AsyncGenerator[ModelEvent, None]:
        room = card.media_room
        body = await self._serialiser.body_off_the_loop(
            request,
            model=self._name,
            max_tokens=max_output_tokens,
            effort=card.effort,
            dialect=self._dialect,
            room=room if self._dialect.images else replace(room, images=False),
        )
        size = size_of(request, body, max_output_tokens)
        return with_retries(
            lambda: self._call(body, size),
            lambda problem: self._learned.understand(problem, size),
            delays=self._delays,
            sleep=self._sleep,
            dice=self._dice,
        )

    async def count(self, request: Request) -> int | None:
        """Always None: this wire has no question for it."""
        return None

    async def offered(self) -> tuple[OfferedModel, ...]:
        """The models that the server lists. Raises `ModelError`; `ListRefused` where it lists none."""
        try:
            async with asyncio.timeout(LIST_TIMEOUT):
                listed = mapping(await self._answer_to(f"{self._endpoint.base_url}/models"))
                props = await self._get(f"{self._endpoint.base_url.removesuffix('/v1')}/props") if _may_be_local(self._endpoint) else None
        except Exception as problem:
            if isinstance(problem, EndpointRefused) and problem.answered.response.status_code in NO_SUCH_PAGE:
                status = problem.answered.response.status_code
                raise ListRefused(f"{self._endpoint.name} does not list its models (HTTP {status}).") from problem
            raise understand(problem, self._endpoint).error from problem
        models = offered_by(listed, mapping(props))
        if not models:
            raise ListRefused(f"{self._endpoint.name} answers, but lists no model for conversations.")
        return tuple(models)

    async def aclose(self) -> None:
        """Frees connections; see `Model.aclose`."""
        await self._in_use.leave()

    async def _disconnect(self) -> None:
        connecting, self._connecting = self._connecting, None
        if connecting is not None:
            with suppress(Exception):
                await (await connecting).aclose()

    async def _call(self, body: bytes, size: RequestSize) -> AsyncGenerator[ModelEvent, None]:
        """Makes one attempt at a reply. Ends the HTTP stream however it is left."""
        response = await self._sent("POST", f"{self._endpoint.base_url}/chat/completions", body)
        try:
            kind = response.headers.get("content-type", "text/event-stream").lower()
            if response.status_code >= 300:
                raise await self._refusal(response)
            if response.status_code != 200 or not kind.startswith(("application/json", "text/event-stream")):
                raise not_this_api(response, self._endpoint)
            builder = ChatReplyBuilder(self._name, size.max_tokens)
            if kind.startswith("application/json"):
                for event in builder.accept(await self._whole_reply(response)):
                    yield event
            else:
                async with aclosing(self._streamed(response, builder)) as told:
                    async for event in told:
                        yield event
            yield self._noted(self._learned.checked(builder.reply(), size, builder.characters))
        finally:
            await response.aclose()

    def _noted(self, reply: Reply) -> Reply:
        """The reply, unchanged. Once one was read from a cache, the economy counts on it."""
        self._caches = self._caches or (reply.usage is not None and reply.usage.cache_read_tokens > 0)
        return reply

    async def _streamed(self, response: httpx2.Response, builder: ChatReplyBuilder) -> AsyncGenerator[ModelEvent, None]:
        """What the user is told while the reply comes in, up to its end or to where it breaks off after it was whole."""
        from httpx2 import HTTPError

        patience = self._patience
        try:
            async with (
                aclosing(patience.between(response.aiter_bytes())) as pieces,
                aclosing(events(pieces)) as found,
                aclosing(patience.over(found)) as sent,
            ):
                async for data in sent:
                    if data.get("type") == DONE:
                        return
                    if data.get("error"):
                        raise ErrorInReply(data)
                    for event in builder.accept(data):
                        yield event
                    if builder.is_whole and builder.is_counted:
                        return
        except (HTTPError, NothingCame, Nonsense):
            if not builder.is_whole:
                raise

    async def _whole_reply(self, response: httpx2.Response) -> Mapping[str, object]:
        """The reply of a server that does not stream. Raises `EndpointUnreachable` if it is none."""
        try:
            async with self._patience.for_an_answer():
                body = mapping(parse(await response.aread()))
        except BodyNotJson:
            body = mapping(None)
        if body.get("error"):
            raise ErrorInReply(body)
        if "choices" not in body:
            raise not_this_api(response, self._endpoint)
        return body

    async def _get(self, address: str) -> Mapping[str, object] | None:
        """The JSON object at an address, as `Get` of `chat_card.py` gives it: never raises."""
        try:
            async with asyncio.timeout(TIMEOUT):
                return mapping(await self._answer_to(address))
        except EndpointRefused as refused:
            return None if refused.answered.response.status_code == NOT_READY else {}
        except Exception as problem:  # noqa: BLE001 - whatever it is: a call of the model meets it again and reports it
            logger.info("no answer from %s: %s", urlsplit(address).path, type(problem).__name__)
            return None if isinstance(problem, TimeoutError | Unanswered) else {}

    async def _answer_to(self, address: str) -> object:
        """The JSON at an address. Raises `EndpointRefused` or `Unanswered`; `EndpointUnreachable` where it is no JSON."""
        response = await self._sent("GET", address, None)
        try:
            if response.status_code != 200:
                raise await self._refusal(response)
            try:
                return parse(await response.aread())
            except BodyNotJson:
                raise not_this_api(response, self._endpoint) from None
        finally:
            await response.aclose()

    async def _sent(self, method: str, address: str, body: bytes | None) -> httpx2.Response:
        """The answer as soon as its headers are there. Raises `Unanswered`."""
        from httpx2 import HTTPError, InvalidURL

        client = await self._client()
        headers = {"accept-encoding": PLAIN, "content-type": "application/json", **_credentials(self._endpoint.api_key)}
        try:
            async with self._patience.for_an_answer():
                request = client.build_request(method, address, content=body, headers=headers)
                return await client.send(request, stream=True)
        except (HTTPError, InvalidURL, Nonsense) as problem:
            raise Unanswered from problem

    async def _refusal(self, response: httpx2.Response) -> EndpointRefused:
        try:
            async with self._patience.for_an_answer():
                text = await response.aread()
        except Exception:  # noqa: BLE001 - the status is what counts
            text = b""
        try:
            body: object = parse(text)
        except BodyNotJson:
            body = text.decode("utf-8", errors="replace")
        first = (mappings(body) or [mapping(body)])[0]  # Gemini: a list of one
        error = mapping(first.get("error"))
        return EndpointRefused(
            ErrorResponse(response, first or body, string(error, "message"), string(error, "type"), string(error, "code"))
        )

    async def _client(self) -> httpx2.AsyncClient:
        if self._connecting is None:
            self._connecting = asyncio.create_task(asyncio.to_thread(self._make_client))
        return await asyncio.shield(self._connecting)

    def _make_client(self) -> httpx2.AsyncClient:
        from httpx2 import AsyncClient

        return make_transport(AsyncClient, self._patience).http


def address_of(base_url: str) -> str:
    """The address before `/chat/completions`: with `/v1` where the user left the path out, as servers of one's own have it."""
    address = base_url.strip().rstrip("/").removesuffix("/chat/completions").rstrip("/")
    if not address:
        return OPENAI
    try:
        return f"{address}/v1" if urlsplit(address).path == "" else address
    except ValueError:
        return address


def _may_be_local(endpoint: Endpoint) -> bool:
    return not endpoint.api_key


def _credentials(api_key: str | None) -> dict[str, str]:
    """The header with the key; empty without a key. Raises `AuthenticationFailed` if the key cannot be sent."""
    if not api_key:
        return {}
    if not (api_key.isascii() and api_key.isprintable()):
        raise AuthenticationFailed('The API key has a character that cannot be sent. Set it anew with the command "Ullage: Set API key…".')
    return {"authorization": f"Bearer {api_key}"}
