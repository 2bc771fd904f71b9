"""Which model answers, by the user's settings and whether there is a key. And what answers while its address is not confirmed.

`ANTHROPIC_BASE_URL` in the environment may come from a dev container or a script of the repository. Whoever answers there gets the key and
all that is said, so the address is shown and confirmed once. An address in the setting is the user's own.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from ullage.context.blocks import Message, Text
from ullage.context.view.request import Request
from ullage.models.anthropic_model import AnthropicModel
from ullage.models.chat_model import ChatModel
from ullage.models.clouds.bedrock import BedrockWire
from ullage.models.clouds.places import NOTHING_SAID, Clouds
from ullage.models.clouds.vertex import VertexWire
from ullage.models.editor_model import EditorModel, offered_by_editor
from ullage.models.editor_models import NO_EDITOR_MODELS, EditorModels
from ullage.models.errors import EndpointUnreachable
from ullage.models.facts import ModelFacts, with_facts
from ullage.models.known_models import expected_card
from ullage.models.model import Effort, Model, ModelCard, ModelEvent
from ullage.models.model_card import OfferedModel
from ullage.models.practice.practice_model import PracticeModel
from ullage.models.practice.scenario import load_scenarios
from ullage.models.serialise import MediaBytes, none_kept

Provider: TypeAlias = Literal["auto", "anthropic", "openai", "bedrock", "vertex", "editor", "practice"]

BASE_URL = "ANTHROPIC_BASE_URL"
"""The SDK's own variable of the environment for a base URL; the setting goes before it."""
SCENARIOS = "ULLAGE_PRACTICE_SCENARIOS"
"""The variable of the environment that names a folder with more scenario files for the practice model; they go before those that come with
Ullage."""
PACE = "ULLAGE_PRACTICE_PACE"
"""The variable of the environment that says how much the practice model waits: 1 is the usual, 0 not at all."""


def choose_model(
    *,
    provider: Provider,
    name: str,
    base_url: str,
    api_key: str | None,
    effort: Effort | None = None,
    media: MediaBytes = none_kept,
    facts: ModelFacts | None = None,
    clouds: Clouds = NOTHING_SAID,
    environment: Mapping[str, str] = os.environ,
    is_confirmed: Callable[[str], bool] = lambda _: False,
    editor: EditorModels = NO_EDITOR_MODELS,
    fault: str = "",
) -> Model:
    """The model for these settings. `auto` takes Anthropic where a key or a base URL is there, else the practice model. `facts` is what the
    user says of it, `clouds` where it is asked in a cloud, for which `base_url` counts nothing. `editor` has the models of the provider
    `editor`, which get no key and no address.

    A base URL of the environment is used where the user has confirmed it; else the model that is given sends nothing. Nor does it with a
    `fault`, which says in words for the user why it is not known where to ask.

    Raises `BadScenario` or `OSError` if the folder of scenarios that the environment names cannot be used, and
    `ValueError` where its pace is no number.
    """
    api_key = (api_key or "").strip() or None  # copied or read from a file, it may end with a line end
    unconfirmed = unconfirmed_address(provider, base_url, environment, is_confirmed)
    if fault:
        return RefusingModel(name, fault)
    if unconfirmed:
        return RefusingModel(name, _unconfirmed(unconfirmed))
    if provider == "bedrock":
        return with_facts(AnthropicModel(name, wire=BedrockWire(name, clouds, api_key, environment), effort=effort, media=media), facts)
    if provider == "vertex":
        return with_facts(AnthropicModel(name, wire=VertexWire(name, clouds, environment), effort=effort, media=media), facts)
    if provider == "editor":
        return with_facts(EditorModel(name, editor, media=media), facts)
    if provider == "openai":
        return with_facts(ChatModel(name, api_key=api_key, effort=effort, base_url=base_url, media=media), facts)
    base_url = address_in_force(provider, base_url, environment)
    if provider == "anthropic" or (provider == "auto" and (api_key or base_url)):
        return with_facts(AnthropicModel(name, api_key=api_key, effort=effort, base_url=base_url, media=media), facts)
    folder = environment.get(SCENARIOS)
    scenarios = load_scenarios(Path(folder) if folder else None)
    return PracticeModel(scenarios, pace=float(environment.get(PACE, "1")))


def address_in_force(provider: Provider, base_url: str, environment: Mapping[str, str] = os.environ) -> str:
    """The address that is asked: the one that is set, else that of the environment where the provider is Anthropic. Empty: the provider's
    own."""
    inherited = environment.get(BASE_URL, "") if provider in ("auto", "anthropic") else ""
    return base_url.strip() or inherited.strip()


def unconfirmed_address(provider: Provider, base_url: str, environment: Mapping[str, str], is_confirmed: Callable[[str], bool]) -> str:
    """The address of the environment that would be asked, but that the user has not confirmed; empty if there is none."""
    address = environment.get(BASE_URL, "").strip()
    if provider not in ("auto", "anthropic") or base_url.strip() or not address or not _needs_confirming(address) or is_confirmed(address):
        return ""
    return address


async def offered_models(
    *,
    provider: Provider,
    base_url: str,
    api_key: str | None,
    address: str | None = None,
    clouds: Clouds = NOTHING_SAID,
    environment: Mapping[str, str] = os.environ,
    is_confirmed: Callable[[str], bool] = lambda _: False,
    editor: EditorModels = NO_EDITOR_MODELS,
    fault: str = "",
) -> tuple[OfferedModel, ...]:
    """The models that can be chosen with these settings, or at `address`, which is asked without the key.

    Raises `ModelError`, in words for the user; `ListRefused` where the server has no list.
    """
    if provider == "editor":
        return await offered_by_editor(editor)
    model: Model = (
        choose_model(
            provider=provider,
            name="",
            base_url=base_url,
            api_key=api_key,
            clouds=clouds,
            environment=environment,
            is_confirmed=is_confirmed,
            fault=fault,
        )
        if address is None
        else _at(address, "", provider)
    )
    try:
        if isinstance(model, AnthropicModel | ChatModel):
            return await model.offered()
        if isinstance(model, RefusingModel):
            raise model.refusal
        card = model.expected()
        return (OfferedModel(card.name, card.display_name, card.window, card.prices),)
    finally:
        await model.aclose()


async def try_model(
    name: str,
    *,
    provider: Provider,
    base_url: str,
    api_key: str | None,
    address: str | None = None,
    clouds: Clouds = NOTHING_SAID,
    environment: Mapping[str, str] = os.environ,
    is_confirmed: Callable[[str], bool] = lambda _: False,
    editor: EditorModels = NO_EDITOR_MODELS,
    fault: str = "",
) -> None:
    """Sends that model one short message, with these settings or to `address`, which does not get the key.

    Raises `ModelError`, in words for the user, if no whole answer comes.
    """
    model: Model = (
        choose_model(
            provider=provider,
            name=name,
            base_url=base_url,
            api_key=api_key,
            clouds=clouds,
            environment=environment,
            is_confirmed=is_confirmed,
            editor=editor,
            fault=fault,
        )
        if address is None
        else _at(address, name, provider)
    )
    hello = Request((), (), (Message("user", (Text("Hello"),), (0,)),), ())
    try:
        async with asyncio.timeout(TRIAL_TIMEOUT):
            async for _ in model.stream(hello, TRIAL_OUTPUT):
                pass
    except TimeoutError as error:
        raise EndpointUnreachable(f"The model `{name}` did not answer within {TRIAL_TIMEOUT:.0f} seconds.") from error
    finally:
        await model.aclose()


def _at(address: str, name: str, provider: Provider) -> AnthropicModel | ChatModel:
    """The model at an address that is tried, without a key."""
    if provider == "openai":
        return ChatModel(name, api_key=None, base_url=address)
    return AnthropicModel(name, api_key=None, base_url=address)


TRIAL_OUTPUT = 64
"""The most tokens of the answer to a trial. Nobody reads it."""
TRIAL_TIMEOUT = 120.0
"""How many seconds a trial may take: a local server may load the model first."""

OWN_HOST = "api.anthropic.com"
"""The host to which keys of Anthropic belong anyway."""


def _needs_confirming(base_url: str) -> bool:
    """Whether an address of the environment is another one than Anthropic's own."""
    try:
        parts = urlsplit(base_url)
        return parts.scheme != "https" or parts.hostname != OWN_HOST or parts.port not in (None, 443) or "@" in parts.netloc
    except ValueError:
        return True


def shown_address(base_url: str) -> str:
    """The address as it may stand in a message: nothing in it makes a link of another text, hides or turns characters around."""
    return re.sub(r"[^A-Za-z0-9.:/_~%?&=+@-]", lambda found: f"%{ord(found[0]):02X}", base_url)[:300]


def _unconfirmed(base_url: str) -> str:
    return (
        f"ANTHROPIC_BASE_URL in the environment names {shown_address(base_url)}, which you have not confirmed. Nothing was sent: "
        "your key and your words would go there. Confirm it in the notification that the editor shows (restart the server to see it "
        'again), or enter the address in the setting "Ullage › Model: Base Url".'
    )


class RefusingModel:
    """A model that refuses every call, since it is not known where the user wants to ask."""

    def __init__(self, name: str, why: str) -> None:
        self._name = name
        self._why = why

    def expected(self) -> ModelCard:
        """The card that is assumed of a model at an unknown server."""
        return expected_card(self._name, anthropic=False)

    async def card(self) -> ModelCard:
        """The card of `expected`: nobody is asked."""
        return self.expected()

    async def stream(self, request: Request, max_output_tokens: int) -> AsyncGenerator[ModelEvent, None]:
        """Always raises `EndpointUnreachable`, which says what to do."""
        raise self.refusal
        yield  # which makes it a generator

    async def count(self, request: Request) -> int | None:
        """Always None: nobody is asked."""
        return None

    @property
    def refusal(self) -> EndpointUnreachable:
        """The error that the model raises instead of asking."""
        return EndpointUnreachable(self._why)

    async def aclose(self) -> None:
        """Does nothing: there is nothing to free."""
