"""The `thinking` parameter by model, and what goes with it (sections 0.6, 2.2, 2.6).

Signatures of replayed thinking are judged in `tests.fake_api.thinking`.
"""

from __future__ import annotations

from collections.abc import Collection

from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.conversation import THINKING_TYPES
from tests.fake_api.json_values import JsonObject, blocks_of, is_object, objects
from tests.fake_api.refused import invalid
from tests.fake_api.rules.blocks import BUDGET_TOKENS
from tests.fake_api.rules.shape import nullable, object_of, one_of, tagged

BINDING_BETA = "thinking-binding-controls-2026-08-01"
_HIGH_AND_BELOW = ("low", "medium", "high")
_DISPLAY = nullable(one_of("summarized", "omitted"))
_BINDING = nullable(object_of({"prefix_mismatch_behavior": nullable(one_of("error", "drop_block"))}))
_TYPES = tagged(
    {
        "adaptive": {"display": _DISPLAY, "block_binding": _BINDING},
        "enabled": {
            "display": _DISPLAY,
            "block_binding": _BINDING,
            "budget_tokens": BUDGET_TOKENS,
        },
        "disabled": {"block_binding": _BINDING},
        # Section 2.6: takes no other field.
        "between_tools": {},
    },
    {"enabled": ("budget_tokens",)},
)


def check_thinking_settings(body: JsonObject, model: ModelFacts, betas: Collection[str]) -> None:
    """Raises `Refused` where the model does not take this `thinking`."""
    thinking = body.get("thinking")
    if thinking is None:
        return
    _TYPES("thinking", thinking)
    kind = str(thinking["type"])
    if "block_binding" in thinking and BINDING_BETA not in betas:
        raise invalid(f"thinking.{kind}.block_binding: Extra inputs are not permitted")
    if kind not in model.thinking_types:
        raise invalid(_unsupported(kind, model))
    if kind == "enabled" and body["max_tokens"] <= thinking["budget_tokens"]:
        raise invalid(
            "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at"
            " https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size"
        )
    if kind in ("disabled", "between_tools") and _effort(body) not in _HIGH_AND_BELOW:
        # Sections 2.2 (Opus 5: can disable up to high) and 2.6 (`between_tools`).
        raise invalid(f'output_config.effort: "{_effort(body)}" is not supported with thinking.type "{kind}"')


def check_thinking_first(body: JsonObject) -> None:
    """Raises `Refused` where a running tool loop goes on with `enabled` thinking but its reply came back without its own.

    Section 2.6: within a tool loop every thinking block goes back; adaptive thinking does not ask for one.
    """
    thinking = body.get("thinking")
    messages = objects(body["messages"])
    if not is_object(thinking) or thinking.get("type") != "enabled" or len(messages) < 2:
        return
    last, before = messages[-1], messages[-2]
    kinds = [block.get("type") for block in blocks_of(last["content"])]
    if "tool_result" not in kinds or before["role"] != "assistant":
        return
    first = blocks_of(before["content"])[0].get("type")
    if first not in THINKING_TYPES:
        raise invalid(
            f"messages.{len(messages) - 2}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{first}`."
            " When `thinking` is enabled, a final `assistant` message must start with a thinking block"
            " (preceeding the lastmost set of `tool_use` and `tool_result` blocks)."
            " We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`."
        )


def _effort(body: JsonObject) -> str:
    config = body.get("output_config")
    effort = config.get("effort") if is_object(config) else None
    return str(effort) if effort is not None else "high"


def _unsupported(kind: str, model: ModelFacts) -> str:
    if kind == "disabled" and "between_tools" in model.thinking_types:
        return (
            '"thinking.type.disabled" is not supported for this model.'
            ' To turn thinking off on this model, send "thinking": {"type": "between_tools"}.'
        )
    if kind == "enabled":
        return (
            '"thinking.type.enabled" is not supported for this model.'
            ' Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
        )
    if kind == "adaptive":
        return "adaptive thinking is not supported on this model"
    return f'"thinking.type.{kind}" is not supported for this model.'
