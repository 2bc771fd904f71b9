"""Claude in Amazon Bedrock: InvokeModel of the Bedrock runtime, through the SDK's client for it.

Of Bedrock's ways this is the one that has every Claude model and takes both kinds of credentials. A key of Bedrock's own
(`AWS_BEARER_TOKEN_BEDROCK`) needs no further package. All else (keys, profiles, single sign-on, roles) botocore finds and signs with: the
extra `ullage[bedrock]`.

The model stands in the page and not in the body, and so do the betas the other way round. A stream is binary (`frames.py`). The version in
the body is the one that all models there take: the SDK would send Anthropic's newest, which older ones refuse. Source: Anthropic's page
"Claude on Amazon Bedrock", the API references of Amazon Bedrock for InvokeModelWithResponseStream, CountTokens and ListInferenceProfiles.
"""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from ullage.context.blocks import Json
from ullage.models.clouds.frames import bedrock_events
from ullage.models.clouds.names import bedrock_card, bedrock_id, foundation_model
from ullage.models.clouds.places import Clouds, aws_region, checked_region
from ullage.models.counting import NOT_OFFERED, CountPage
from ullage.models.endpoint_checks import mapping, mappings, word
from ullage.models.errors import BEDROCK, Endpoint, ListRefused, NotSetUp
from ullage.models.failures import understand
from ullage.models.model import ModelCard
from ullage.models.model_card import LIST_TIMEOUT, MOST_MODELS, NO_SUCH_PAGE, CardAnswer, OfferedModel
from ullage.models.transport import Transport
from ullage.models.wire import HEADERS

if TYPE_CHECKING:
    from ullage.models.wire import Client, Connect

VERSION = "bedrock-2023-05-31"
TITLE = "Amazon Bedrock"

NO_PACKAGE = (
    "Amazon Bedrock needs the package boto3, which is not installed beside Ullage. Install it with `pip install ullage[bedrock]` "
    "(in VS Code *Ullage: Connect a model…* does that), or set a key of Bedrock as AWS_BEARER_TOKEN_BEDROCK in the environment, "
    "which works without it."
)
NO_REGION = (
    'Amazon Bedrock is asked in a region, and none is set. Enter one in the setting "Ullage › Bedrock: Region", such as us-east-1, or set '
    "AWS_REGION in the environment."
)


class BedrockWire:
    """The wire to one model in Bedrock. `key` is one of Bedrock's own; None if requests are signed. A profile in the settings goes before
    the key."""

    stream_kind = "application/vnd.amazon.eventstream"

    def __init__(self, name: str, clouds: Clouds, key: str | None, environment: Mapping[str, str] = os.environ) -> None:
        self._name = name
        self._clouds = clouds
        self._key = None if clouds.bedrock_profile.strip() else key
        self._region, self._why_not = _or_why_not(lambda: aws_region(clouds, environment))
        address = clouds.bedrock_base_url.strip().rstrip("/")
        self._address = address
        self.endpoint = Endpoint(name, address, self._key, BEDROCK, _title(self._region, address))
        counted = f"/model/{quote(foundation_model(name), safe=':')}/count-tokens"
        # Refused are models that cannot be counted for, and accounts that may not ask.
        self.counting = CountPage(counted, "inputTokens", _as_invocation, (400, 403, *NOT_OFFERED))

    def make_client(self, transport: Transport) -> Client:
        """Makes the SDK's client. Raises `NotSetUp` if region, profile or package are missing."""
        from anthropic._streaming import SSEDecoder
        from anthropic.lib.bedrock import AsyncAnthropicBedrock

        class Undecoded(AsyncAnthropicBedrock):
            """Makes no decoder of botocore's, which need not be there: the stream is read in `frames.py`."""

            def _make_sse_decoder(self) -> Any:
                return SSEDecoder()

        if self._why_not is not None:
            raise self._why_not
        # The SDK keeps credentials for good; who has signed in since has others in the same files.
        cast("Any", import_module("anthropic.lib.aws._auth"))._get_session.cache_clear()  # noqa: SLF001 - there is no other way to it
        if self._key is None and (find_spec("boto3") is None or find_spec("botocore") is None):
            raise NotSetUp(NO_PACKAGE)
        profile = self._clouds.bedrock_profile.strip() or None
        region = self._region or (_region_of_profile(profile) if self._key is None else "")
        if not region:
            raise NotSetUp(NO_REGION)
        self._region = checked_region(region)
        try:
            client = Undecoded(
                api_key=self._key,
                aws_profile=profile,
                aws_region=self._region,
                base_url=self._address or f"https://bedrock-runtime.{self._region}.amazonaws.com",
                max_retries=0,
                timeout=transport.timeout,
                default_headers=HEADERS,
                http_client=transport.http,
            )
        except ValueError as error:  # a profile beside a key of the environment
            raise NotSetUp(f"Amazon Bedrock cannot be asked: {error}") from None
        return client

    def page(self, client: Client) -> str:
        """The page where the model streams a reply."""
        return f"/model/{quote(bedrock_id(self._name), safe=':')}/invoke-with-response-stream"

    def opening(self, betas: Sequence[str]) -> Mapping[str, Json]:
        """The beginning of the body: the version, and the betas, which stand in the body here."""
        named: dict[str, Json] = {"anthropic_beta": [*betas]} if betas else {}
        return {"anthropic_version": VERSION, **named}

    def headers(self, betas: Sequence[str]) -> Mapping[str, str]:
        """The headers of a request; the type of what comes back is named, too."""
        return {"content-type": "application/json", "accept": "*/*"}

    def counted_opening(self, betas: Sequence[str]) -> Mapping[str, Json]:
        """The beginning of the body for counting: that of an invocation, which must have a limit."""
        return {**self.opening(betas), "max_tokens": 1}

    def events(self, pieces: AsyncIterable[bytes]) -> AsyncGenerator[Mapping[str, Json], None]:
        """The events of a streamed reply, read out of Amazon's frames. Raises `Nonsense`."""
        return bedrock_events(pieces)

    def expected(self) -> ModelCard:
        """The card by the model's id, without asking anybody."""
        return bedrock_card(self._name, self._region)

    async def ask(self, connect: Connect) -> CardAnswer:
        """The card of `expected`: Bedrock has no page that tells windows."""
        return CardAnswer(self.expected(), settled=True)

    async def offered(self, connect: Connect) -> tuple[OfferedModel, ...]:
        """The models that can be chosen: the profiles of inference across regions that have Claude. Who may invoke need not be allowed to
        list. Raises `ModelError`."""
        from anthropic import APIStatusError

        try:
            async with asyncio.timeout(LIST_TIMEOUT):
                client = await connect()
                page = "/inference-profiles?maxResults=1000&type=SYSTEM_DEFINED"
                # The list is another host's, unless one address stands for both.
                address = "" if self._address else f"https://bedrock.{self._region}.amazonaws.com"
                listed = await client.get(address + page, cast_to=object, options={"headers": dict(self.headers(()))})
        except Exception as problem:
            if isinstance(problem, APIStatusError) and (problem.status_code in NO_SUCH_PAGE or may_not_list(problem)):
                raise ListRefused(f"{self.endpoint.name} does not list its models to you (HTTP {problem.status_code}).") from problem
            raise understand(problem, self.endpoint).error from problem
        found = [
            self._offered(described)
            for described in mappings(mapping(listed).get("inferenceProfileSummaries"))
            if "anthropic.claude" in word(described, "inferenceProfileId") and described.get("status") == "ACTIVE"
        ]
        if not found:
            raise ListRefused(f"{self.endpoint.name} answers, but lists no model of Claude's.")
        return tuple(found[:MOST_MODELS])

    def _offered(self, described: Mapping[str, object]) -> OfferedModel:
        name = word(described, "inferenceProfileId")
        card = bedrock_card(name, self._region)
        window = card.window if card.source == "table" else None
        return OfferedModel(name, word(described, "inferenceProfileName") or name, window, card.prices)


def may_not_list(problem: Exception) -> bool:
    """Whether the error says that the account is known but not allowed to list."""
    return getattr(problem, "status_code", None) == 403 and "not authorized" in str(problem)


def _title(region: str, address: str) -> str:
    return f"{TITLE} ({address or region})" if address or region else TITLE


def _or_why_not(ask: Callable[[], str]) -> tuple[str, NotSetUp | None]:
    """What `ask` gives, or an empty text and why not: what is wrong is said by the first call, not where a model is only made."""
    try:
        return ask(), None
    except NotSetUp as error:
        return "", error


def _region_of_profile(profile: str | None) -> str:
    """The region in the files of AWS; empty if they say nothing. Raises `NotSetUp` if the profile cannot be used."""
    boto3 = cast("Any", import_module("boto3"))
    try:
        return str(boto3.Session(profile_name=profile).region_name or "")
    except Exception as error:
        raise NotSetUp(
            f'The profile of AWS cannot be used: {error}. Check the setting "Ullage › Bedrock: Profile" and AWS_PROFILE.'
        ) from error


def _as_invocation(body: bytes) -> bytes:
    """The body that CountTokens is asked with: that of an invocation, in base64."""
    return b'{"input":{"invokeModel":{"body":"' + base64.b64encode(body) + b'"}}}'
