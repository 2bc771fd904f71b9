"""Asks an endpoint what it knows of a model, and which models it offers.

The Models API is asked, and what local servers (Ollama, LM Studio, llama.cpp, vLLM, LiteLLM) offer in its place. Asking for one model never
fails: where the endpoint does not tell, `known_models.py` does. The list of models has the same address and outer shape everywhere.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from ullage.models.endpoint_checks import LEAST_OUTPUT, integer, mapping, mappings, plausible_window, word
from ullage.models.errors import Endpoint, ListRefused
from ullage.models.failures import understand
from ullage.models.known_models import card_from_table, expected_card, local_card
from ullage.models.model import EFFORTS, Effort, ModelCard, Prices
from ullage.models.serialise import COMPACTION_BETA

if TYPE_CHECKING:
    from ullage.models.wire import Client, Connect

logger = logging.getLogger(__name__)

NOT_READY = 503
"""The status with which llama.cpp answers everything while it loads its model."""

TIMEOUT = 4.0
"""How many seconds the whole question may take: the user waits for it before the first call."""

WINDOW_KEYS = (
    *("max_input_tokens", "max_model_len", "loaded_context_length", "max_context_length"),
    *("context_length", "context_window"),
)
"""The names that servers give the window in the description of a model: the Models API and LiteLLM, vLLM, LM Studio (what is loaded goes
first) and Mistral; OpenRouter and Together, Groq."""

NO_SUCH_PAGE = (404, 405, 501)
"""The statuses with which a server answers that has no list of models."""

LIST_TIMEOUT = 10.0
"""How many seconds the list may take: the user waits for it."""

MOST_MODELS = 500
"""How many models of a list are shown; a gateway may offer thousands, and nobody picks from so many."""


@dataclass(frozen=True, slots=True)
class CardAnswer:
    """A model's card, as far as it could be asked for. Not `settled`: something asked could not answer, so it pays to ask again."""

    card: ModelCard
    settled: bool


async def ask_anthropic(connect: Connect, name: str) -> CardAnswer:
    """The card of a model of Anthropic's own endpoint: by the Models API, else by the table, else assumed."""
    fallback = expected_card(name, anthropic=True)
    info = await _get(connect, f"/v1/models/{quote(name, safe='')}")
    return CardAnswer(_card_from_models_api(fallback, info or {}) or fallback, info is not None)


async def ask_other_server(connect: Connect, name: str) -> CardAnswer:
    """The card of a model behind any other base URL.

    Asked at once: the Models API (proxies pass it on), the model list (vLLM's `max_model_len`, llama.cpp's `meta`) and `/props`
    (llama.cpp's `n_ctx`). Where none of them tells, what LM Studio and Ollama have beside those.
    """
    answers = await asyncio.gather(
        _get(connect, f"/v1/models/{quote(name, safe='')}"),
        _get(connect, "/v1/models"),
        _get(connect, "/props"),
    )
    info, listed, props = (answer or {} for answer in answers)
    card = _card_of_other_server(name, info, listed, props)
    if card is None and None not in answers:
        more = await asyncio.gather(_get(connect, "/api/v0/models"), _get(connect, "/api/ps"))
        answers += more
        window = listed_window(more[0] or {}, name) or loaded_by_ollama(more[1] or {}, name)
        card = local_card(name, window) if window else None
    return CardAnswer(card or card_from_table(name) or local_card(name, None), None not in answers)


def _card_of_other_server(
    name: str, info: Mapping[str, object], listed: Mapping[str, object], props: Mapping[str, object]
) -> ModelCard | None:
    """The card by what was told at the addresses that most servers have; None if none of them told a window."""
    card = _card_from_models_api(expected_card(name, anthropic=False), info)
    if card is not None:
        return card
    window = loaded_window(props)
    if window:
        # llama.cpp answers with the model that it has loaded, whatever name it is asked for.
        return replace(local_card(name, window), display_name=loaded_model(props) or name)
    window = window_told(info) or listed_window(listed, name)
    return local_card(name, window) if window else None


def loaded_window(props: Mapping[str, object]) -> int | None:
    """The window (tokens) that llama.cpp was started with, from its `/props`; None if that is no answer of it."""
    return _window(mapping(props.get("default_generation_settings")).get("n_ctx"))


def window_told(described: Mapping[str, object]) -> int | None:
    """The window (tokens) in one server's description of one model; None if it tells none.

    llama.cpp tells it as `meta.n_ctx`; what the model was trained with is the last resort.
    """
    meta = mapping(described.get("meta"))
    values = (*(described.get(key) for key in WINDOW_KEYS), meta.get("n_ctx"), meta.get("n_ctx_train"))
    return next((window for each in values if (window := _window(each))), None)


def _card_from_models_api(card: ModelCard, info: Mapping[str, object]) -> ModelCard | None:
    """`card` with what the Models API says in place of it; None if that is no answer of the Models API."""
    window = _window(info.get("max_input_tokens"))
    if window is None:
        return None
    max_output = _output(info.get("max_tokens")) or _output(info.get("max_output_tokens"))  # the latter: LiteLLM
    capabilities = mapping(info.get("capabilities"))
    thinking = mapping(capabilities.get("thinking"))
    compaction = mapping(mapping(capabilities.get("compaction")).get("summarize"))
    adaptive = mapping(mapping(thinking.get("types")).get("adaptive")).get("supported")
    return replace(
        card,
        display_name=word(info, "display_name") or card.display_name,
        window=window,
        max_output=min(max_output or card.max_output, window),
        source="Models API",
        adaptive_thinking=adaptive if isinstance(adaptive, bool) else card.adaptive_thinking,
        efforts=_efforts(capabilities, card.efforts),
        compacts=compaction.get("supported") is True,
        takes_images=_supported(capabilities.get("image_input")),
        takes_pdfs=_supported(capabilities.get("pdf_input")),
        searches_web=_supported(mapping(capabilities.get("server_tools")).get("web_search")) is True,
    )


def _efforts(capabilities: Mapping[str, object], known: tuple[Effort, ...]) -> tuple[Effort, ...]:
    """The efforts that are said to be taken; those that are `known` where nothing is said of effort."""
    told = mapping(capabilities.get("effort"))
    if _supported(told) is None:
        return known
    if not _supported(told):
        return ()
    return tuple(effort for effort in EFFORTS if _supported(told.get(effort)))


def _supported(capability: object) -> bool | None:
    """Whether the model is said to have a capability; None if nothing is said."""
    supported = mapping(capability).get("supported")
    return supported if isinstance(supported, bool) else None


def loaded_model(props: Mapping[str, object]) -> str:
    """The file name or alias of the model that llama.cpp has loaded; empty if it does not say."""
    for name in (word(props, "model_alias"), word(props, "model_path")):
        if name:
            return re.split(r"[/\\]", name)[-1]
    return ""


def listed_window(listed: Mapping[str, object], name: str) -> int | None:
    """The window (tokens) of a model in a server's list of models; None if it is not told. llama.cpp lists the model that it has loaded,
    which answers whatever name is asked for."""
    models = mappings(listed.get("data"))
    alone = len(models) == 1 and "meta" in models[0]
    return next((window_told(model) for model in models if alone or model.get("id") == name), None)


def loaded_by_ollama(running: Mapping[str, object], name: str) -> int | None:
    """The window with which Ollama has loaded the model; None if it has not."""
    names = (name, f"{name}:latest")
    return next((_window(model.get("context_length")) for model in mappings(running.get("models")) if model.get("name") in names), None)


async def _get(connect: Connect, path: str) -> Mapping[str, object] | None:
    """The JSON object at `path`, empty if there is none; None if the server cannot be asked yet: it is not
    reached, or says that it is not ready."""
    try:
        client = await connect()
        async with asyncio.timeout(TIMEOUT):
            return mapping(await _with_header(client, path) or await client.get(path, cast_to=object))
    except Exception as problem:  # noqa: BLE001 - whatever it is: a call of the model meets it again and reports it
        logger.info("no answer from %s: %s", path, type(problem).__name__)
        return None if _may_answer_later(problem) else {}


async def _with_header(client: Client, path: str) -> object:
    """The answer of the page to those who send the beta header: it tells who writes compaction blocks. None if the header itself is
    refused."""
    from anthropic import BadRequestError

    try:
        return await client.get(path, cast_to=object, options={"headers": {"anthropic-beta": COMPACTION_BETA}})
    except BadRequestError:
        return None


def _may_answer_later(problem: Exception) -> bool:
    from anthropic import APIConnectionError, APIStatusError

    if isinstance(problem, APIStatusError):
        return problem.status_code == NOT_READY
    return isinstance(problem, APIConnectionError | TimeoutError)


def _window(value: object) -> int | None:
    return plausible_window(integer(value))


def _output(value: object) -> int | None:
    tokens = integer(value)
    return tokens if tokens is not None and tokens >= LEAST_OUTPUT else None


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """One model that an endpoint offers. `window` is in tokens; None if nobody tells. `prices` is None if they are not known."""

    name: str
    display_name: str
    window: int | None
    prices: Prices | None


async def ask_offered(connect: Connect, endpoint: Endpoint) -> tuple[OfferedModel, ...]:
    """The models that the endpoint lists, in its own order. Raises `ModelError`, in words for the user; `ListRefused` where it has no
    list."""
    from anthropic import APIStatusError

    try:
        async with asyncio.timeout(LIST_TIMEOUT):
            client = await connect()
            listed = await client.get("/v1/models?limit=1000", cast_to=object)
            props = await _props(client, endpoint)
    except Exception as problem:
        if isinstance(problem, APIStatusError) and problem.status_code in NO_SUCH_PAGE:
            raise ListRefused(f"{endpoint.name} does not list its models (HTTP {problem.status_code}).") from problem
        raise understand(problem, endpoint).error from problem
    loaded = loaded_window(props)
    models = [_offered(described, loaded) for described in mappings(mapping(listed).get("data")) if word(described, "id")]
    return tuple(models[:MOST_MODELS])


def _offered(described: Mapping[str, object], loaded: int | None) -> OfferedModel:
    """A model of a list, with what the table adds. `loaded` is the window that llama.cpp was started with."""
    name = word(described, "id")
    known = card_from_table(name)
    window = loaded or window_told(described)
    return OfferedModel(
        name=name,
        display_name=word(described, "display_name") or (known.display_name if known else name),
        window=window or (known.window if known else None),
        prices=known.prices if known and not loaded else None,
    )


async def _props(client: Client, endpoint: Endpoint) -> Mapping[str, object]:
    """What llama.cpp tells of itself; empty at any other server."""
    if not endpoint.base_url:
        return {}
    try:
        return mapping(await client.get("/props", cast_to=object))
    except Exception:  # noqa: BLE001 - the list is what was asked for
        return {}
