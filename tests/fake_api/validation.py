"""Whether the Messages API (version 2026-10-21) would take a request: a pure function of the body.

What needs memory is elsewhere: signatures of replayed thinking in `thinking.py`, the window in `counting.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tests.fake_api.catalogue import MODELS, ModelFacts
from tests.fake_api.json_values import JsonObject, objects
from tests.fake_api.refused import Refused, invalid
from tests.fake_api.rules.cache_marks import check_cache_marks
from tests.fake_api.rules.compaction import check_compaction_alone, check_compacts
from tests.fake_api.rules.images import check_images
from tests.fake_api.rules.messages import check_end, check_messages
from tests.fake_api.rules.pairing import check_pairing
from tests.fake_api.rules.parameters import (
    check_max_tokens,
    check_parameters,
    find_model,
    unsimulated,
)
from tests.fake_api.rules.thinking_settings import (
    check_thinking_first,
    check_thinking_settings,
)
from tests.fake_api.rules.tools import check_tools
from tests.fake_api.rules.web_search import VERSIONS, check_search_pairing

__all__ = ["Refused", "validate_count_request", "validate_request"]


def validate_request(
    body: JsonObject,
    *,
    betas: Collection[str] = (),
    models: Mapping[str, ModelFacts] = MODELS,
) -> None:
    """Raises `Refused` with status, type and words of the real API for the first rule that `body` breaks.

    `betas` are the values of the `anthropic-beta` header.
    """
    check_compaction_alone(body, betas)
    _check_beyond(body, betas)
    check_parameters(body)
    model = find_model(body, models)
    check_max_tokens(body, model)
    check_thinking_settings(body, model, betas)
    _check_content(body, model, betas)


def validate_count_request(
    body: JsonObject,
    *,
    betas: Collection[str] = (),
    models: Mapping[str, ModelFacts] = MODELS,
) -> None:
    """The same for a request to count tokens, which needs no `max_tokens` and ignores `compaction`."""
    body = {name: value for name, value in body.items() if name != "compaction"}
    _check_beyond(body, betas)
    facts = models.get(str(body.get("model")))
    limit = facts.max_output if facts is not None else 1
    with_limit = {"max_tokens": limit, **body}
    check_parameters(with_limit)
    model = find_model(body, models)
    check_thinking_settings(with_limit, model, betas)
    if any(str(tool.get("type")) in VERSIONS for tool in objects(body.get("tools"))):
        raise invalid("tools: server tools are not supported by the token counting endpoint")  # section 2.7
    _check_content(body, model, betas)


def _check_content(body: JsonObject, model: ModelFacts, betas: Collection[str]) -> None:
    check_tools(body, model)
    check_messages(body, model, betas)
    check_compacts(body, model)
    check_images(body, model)
    check_pairing(body)
    check_search_pairing(body)
    check_thinking_first(body)
    check_cache_marks(body)
    check_end(body, model)


def _check_beyond(body: JsonObject, betas: Collection[str]) -> None:
    beyond = unsimulated(body, betas)
    if beyond is not None:
        raise invalid(f"{beyond}: this fake of the API does not simulate it")
