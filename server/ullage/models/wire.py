"""How to reach an endpoint that answers as the Messages API does. The API's own wire is here, those of the clouds are in `clouds/`.

`anthropic_model.py` asks, waits, calls again and learns from refusals in the same way whatever the wire is. What differs from wire to wire
is the client of the SDK with its credentials, the pages, how a body begins, where betas are named, and how a stream is cut into events.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ullage.context.blocks import Json
from ullage.models.counting import MESSAGES_COUNT, CountPage
from ullage.models.errors import Endpoint
from ullage.models.event_stream import PLAIN, events
from ullage.models.known_models import expected_card
from ullage.models.model import ModelCard
from ullage.models.model_card import CardAnswer, OfferedModel, ask_anthropic, ask_offered, ask_other_server
from ullage.models.transport import Transport

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.lib.bedrock import AsyncAnthropicBedrock
    from anthropic.lib.vertex import AsyncAnthropicVertex

    Client: TypeAlias = AsyncAnthropic | AsyncAnthropicBedrock | AsyncAnthropicVertex
    Connect: TypeAlias = Callable[[], Awaitable[Client]]

NO_KEY = "none"
"""Sent to servers of the user's own where no key is set: the SDK insists on one, they ignore it."""

HEADERS: Mapping[str, str] = {"accept-encoding": PLAIN}
"""The headers of every request."""


class Wire(Protocol):
    """The way to reach one model at one endpoint."""

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint, for the words about a failure."""
        ...

    @property
    def counting(self) -> CountPage:
        """The page where tokens of input are counted."""
        ...

    def make_client(self, transport: Transport) -> Client:
        """Makes the SDK's client. Called in a thread: it may read files and import. Raises a `ModelError` where something is missing for
        it."""
        ...

    def page(self, client: Client) -> str:
        """The page where a streamed reply is asked for."""
        ...

    def opening(self, betas: Sequence[str]) -> Mapping[str, Json]:
        """The first members of the body of a streamed call."""
        ...

    def headers(self, betas: Sequence[str]) -> Mapping[str, str]:
        """The headers of a call beside those of every request."""
        ...

    def counted_opening(self, betas: Sequence[str]) -> Mapping[str, Json]:
        """The first members of the body of the question how many tokens a request has."""
        ...

    def events(self, pieces: AsyncIterable[bytes]) -> AsyncGenerator[Mapping[str, Json], None]:
        """The events of a streamed reply. Raises `Nonsense`."""
        ...

    @property
    def stream_kind(self) -> str:
        """The content type of a streamed reply."""
        ...

    def expected(self) -> ModelCard:
        """The card of the model without asking anybody."""
        ...

    async def ask(self, connect: Connect) -> CardAnswer:
        """The card of the model by what the endpoint says. Never raises."""
        ...

    async def offered(self, connect: Connect) -> tuple[OfferedModel, ...]:
        """The models that the endpoint lists. Raises `ModelError`; `ListRefused` where it has no list."""
        ...


class MessagesWire:
    """The wire to Anthropic's own endpoint, or to a compatible server at `base_url`; a trailing `/v1` is left out of it, since the SDK adds
    it."""

    stream_kind = "text/event-stream"
    counting = MESSAGES_COUNT

    def __init__(self, name: str, base_url: str, api_key: str | None) -> None:
        self.endpoint = Endpoint(name, _without_version(base_url), api_key)

    def make_client(self, transport: Transport) -> Client:
        """Makes the SDK's client with the key; without one the SDK looks for other credentials of Anthropic's."""
        from anthropic import AsyncAnthropic

        base_url, api_key = self.endpoint.base_url, self.endpoint.api_key
        return AsyncAnthropic(
            api_key=api_key or (NO_KEY if base_url else None),
            base_url=base_url or None,
            max_retries=0,
            timeout=transport.timeout,
            default_headers=HEADERS,
            http_client=transport.http,
        )

    def page(self, client: Client) -> str:
        """The page where a reply is asked for, which all models share."""
        return self.endpoint.api.page

    def opening(self, betas: Sequence[str]) -> Mapping[str, Json]:
        """The first members of the body: the model, and that the reply is streamed."""
        return {"model": self.endpoint.model, "stream": True}

    def headers(self, betas: Sequence[str]) -> Mapping[str, str]:
        """The headers of a call, with the betas that are needed."""
        return with_betas(betas)

    def counted_opening(self, betas: Sequence[str]) -> Mapping[str, Json]:
        """The first member of the body for counting: the model."""
        return {"model": self.endpoint.model}

    def events(self, pieces: AsyncIterable[bytes]) -> AsyncGenerator[Mapping[str, Json], None]:
        """The events of a streamed reply, read as server-sent events. Raises `Nonsense`."""
        return events(pieces)

    def expected(self) -> ModelCard:
        """The card by the table, else by what is assumed of Anthropic's or of another endpoint."""
        return expected_card(self.endpoint.model, anthropic=not self.endpoint.base_url)

    async def ask(self, connect: Connect) -> CardAnswer:
        """The card by the Models API, or by what servers have in its place."""
        ask = ask_other_server if self.endpoint.base_url else ask_anthropic
        return await ask(connect, self.endpoint.model)

    async def offered(self, connect: Connect) -> tuple[OfferedModel, ...]:
        """The models in the endpoint's list. Raises `ModelError`; `ListRefused` where it has no list."""
        return await ask_offered(connect, self.endpoint)


def with_betas(betas: Sequence[str]) -> dict[str, str]:
    """The headers of a call whose betas are named in one."""
    headers = {"content-type": "application/json"}
    if betas:
        headers["anthropic-beta"] = ",".join(betas)
    return headers


def _without_version(base_url: str) -> str:
    return base_url.strip().rstrip("/").removesuffix("/v1/messages").removesuffix("/v1")
