"""The top-level parameters (section 1.3): which there are, and their values."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.json_values import JsonObject, is_object
from tests.fake_api.refused import Refused, invalid
from tests.fake_api.rules.blocks import CACHE_CONTROL
from tests.fake_api.rules.shape import (
    Check,
    anything,
    array_of,
    boolean,
    check_object,
    dictionary,
    integer_from,
    nullable,
    object_of,
    one_of,
    string,
)

_SAMPLING = ("temperature", "top_p", "top_k")
_JUDGED_ELSEWHERE = ("messages", "system", "tools", "tool_choice", "thinking")
_FIELDS: Mapping[str, Check] = {
    **dict.fromkeys(_JUDGED_ELSEWHERE, anything),
    "model": string,
    "max_tokens": integer_from(0),
    "cache_control": CACHE_CONTROL,
    "compaction": anything,
    "container": anything,
    "diagnostics": nullable(object_of({"previous_message_id": nullable(string)})),
    "inference_geo": nullable(string),
    "metadata": object_of({"user_id": nullable(string)}),
    "output_config": object_of(
        {
            "effort": nullable(one_of("low", "medium", "high", "xhigh", "max")),
            "format": nullable(dictionary),
        }
    ),
    "service_tier": one_of("auto", "standard_only"),
    "speed": nullable(one_of("standard", "fast")),
    "stop_sequences": array_of(string),
    "stream": boolean,
    "user_profile_id": string,
    "workspace_id": string,
}


def check_parameters(body: JsonObject) -> None:
    """Raises `Refused` for missing, unknown or malformed parameters."""
    for name in _SAMPLING:
        # Sections 0.6 and 1.1: refused on version 2026-10-21, whatever the model.
        if name in body:
            raise invalid(f"`{name}` is deprecated for this model.")
    check_object("", body, _FIELDS, ("model", "max_tokens", "messages"))
    for index, stop in enumerate(body.get("stop_sequences", [])):
        if not stop.strip():
            raise invalid(f"stop_sequences.{index}: each stop sequence must contain non-whitespace")


def find_model(body: JsonObject, models: Mapping[str, ModelFacts]) -> ModelFacts:
    """The model that is asked for; raises `Refused` (404) where there is none of that name."""
    name = body["model"]
    if name not in models:
        raise Refused(404, "not_found_error", f"model: {name}")
    return models[name]


def check_max_tokens(body: JsonObject, model: ModelFacts) -> None:
    """Raises `Refused` for more output than the model gives, or a pre-warming request that asks for more than that."""
    asked = body["max_tokens"]
    if asked > model.max_output:
        raise invalid(f"max_tokens: {asked} > {model.max_output}, which is the maximum allowed number of output tokens for {model.id}")
    if asked == 0:
        _check_prewarming(body)


def _check_prewarming(body: JsonObject) -> None:
    # Section 2.1: what `max_tokens: 0` cannot be combined with.
    thinking = body.get("thinking")
    config = body.get("output_config")
    choice = body.get("tool_choice")
    conflicts: Mapping[str, bool] = {
        "stream": body.get("stream") is True,
        "thinking.type.enabled": is_object(thinking) and thinking.get("type") == "enabled",
        "output_config.format": is_object(config) and config.get("format") is not None,
        "tool_choice": is_object(choice) and choice.get("type") in ("any", "tool"),
    }
    for name, conflict in conflicts.items():
        if conflict:
            raise invalid(f"max_tokens: 0 is not supported with {name}")


def unsimulated(body: JsonObject, betas: Collection[str]) -> str | None:
    """The first parameter that the API knows behind a beta header and the fake does not play, where that header is there."""
    for name, beta in _BEHIND_BETA.items():
        if name in body and any(value.startswith(beta) for value in betas):
            return name
    return None


_BEHIND_BETA = {
    "context_management": "context-management-",
    "mcp_servers": "mcp-client-",
    "fallbacks": "fallbacks-",
}
