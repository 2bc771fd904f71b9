"""Tool definitions and `tool_choice` (sections 0.6, 2.7)."""

from __future__ import annotations

from typing import Any

from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.json_values import JsonObject, is_array, is_object, objects
from tests.fake_api.refused import invalid
from tests.fake_api.rules.blocks import CACHE_CONTROL
from tests.fake_api.rules.shape import (
    anything,
    array_of,
    boolean,
    check_object,
    dictionary,
    matching,
    nullable,
    one_of,
    string,
    tagged,
)
from tests.fake_api.rules.web_search import VERSIONS, check_search_tool

_MOST_STRICT = 20
_PREDEFINED = (
    "bash_",
    "text_editor_",
    "memory_",
    "tool_search_tool_",
    "code_execution_",
    "web_fetch_",
    "computer_",
    "advisor_",
)
"""How the types of the tools begin that the API itself defines; the fake takes them and does not look inside."""
_CUSTOM = {
    "type": nullable(one_of("custom")),
    "name": matching(r"^[a-zA-Z0-9_-]{1,128}$"),
    "description": string,
    "input_schema": dictionary,
    "cache_control": CACHE_CONTROL,
    "strict": boolean,
    "defer_loading": boolean,
    "eager_input_streaming": nullable(boolean),
    "input_examples": array_of(dictionary),
    "allowed_callers": array_of(string),
}
_CHOICES = {
    "auto": {"disable_parallel_tool_use": boolean},
    "any": {"disable_parallel_tool_use": boolean},
    "tool": {"name": string, "disable_parallel_tool_use": boolean},
    "none": {},
}


def check_tools(body: JsonObject, model: ModelFacts) -> None:
    """Raises `Refused` where the tools or the choice between them are malformed."""
    tools = body.get("tools", [])
    if not is_array(tools):
        raise invalid("tools: Input should be a valid array")
    for index, tool in enumerate(tools):
        _check_tool(f"tools.{index}", tool, model)
    _check_all(objects(tools))
    _check_choice(body, objects(tools), model)


def _check_tool(path: str, tool: Any, model: ModelFacts) -> None:
    kind = tool.get("type") if is_object(tool) else None
    if kind in VERSIONS:
        check_search_tool(path, tool, model)
        return
    if isinstance(kind, str) and kind.startswith(_PREDEFINED):
        return
    path = f"{path}.custom"
    check_object(path, tool, _CUSTOM, ("name", "input_schema"))
    _check_schema(f"{path}.input_schema", tool["input_schema"])
    if tool.get("strict") and tool["input_schema"].get("additionalProperties") is not False:
        raise invalid(f"{path}: For 'object' type, 'additionalProperties' must be explicitly set to false")
    if tool.get("defer_loading") and tool.get("cache_control"):
        raise invalid(
            f"Tool '{tool['name']}' cannot have both defer_loading=true and cache_control set."
            " Tools with defer_loading cannot use prompt caching."
        )


def _check_schema(path: str, schema: JsonObject) -> None:
    if "type" not in schema:
        raise invalid(f"{path}.type: Field required")
    if schema["type"] != "object":
        raise invalid(f"{path}.type: Input should be 'object'")
    if any(name in schema for name in ("oneOf", "allOf", "anyOf")):
        raise invalid(f"{path}: input_schema does not support oneOf, allOf, or anyOf at the top level")
    properties = schema.get("properties")
    required = schema.get("required")
    sound = (properties is None or is_object(properties)) and (
        required is None or (is_array(required) and all(isinstance(name, str) for name in required))
    )
    if not sound:
        raise invalid(f"{path.removesuffix('.input_schema')}.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12")


def _check_all(tools: list[JsonObject]) -> None:
    names = [tool.get("name") for tool in tools]
    if len(set(names)) != len(names):
        raise invalid("tools: Tool names must be unique.")
    strict = sum(tool.get("strict") is True for tool in tools)
    if strict > _MOST_STRICT:
        raise invalid(f"Too many strict tools ({strict}). The maximum number of strict tools supported is {_MOST_STRICT}.")
    if tools and all(tool.get("defer_loading") for tool in tools):
        raise invalid("At least one tool must have defer_loading=false.")


def _check_choice(body: JsonObject, tools: list[JsonObject], model: ModelFacts) -> None:
    choice = body.get("tool_choice")
    if choice is None:
        return
    tagged({name: {**fields, "type": anything} for name, fields in _CHOICES.items()}, {"tool": ("name",)})("tool_choice", choice)
    kind = choice["type"]
    if not tools and kind != "none":
        raise invalid("tool_choice may only be specified while providing tools")
    if kind in ("any", "tool") and not model.forced_tool_choice:
        # Sections 0.6 and 2.7: refused on Opus 5.5, Sonnet 5.5, Fable 5.1 and newer.
        raise invalid('tool_choice: type "tool" and "any" are not supported for this model.')
    if kind == "tool" and choice["name"] not in [tool.get("name") for tool in tools]:
        raise invalid(f"Tool '{choice['name']}' not found in provided tools")
