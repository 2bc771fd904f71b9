"""Tool calls that a model wrote as text: its server did not take them for calls, so nobody ran them.

The shapes are those of the chat templates of the models themselves. A shape alone is no call: what is called has to be a tool that the
model was offered, with an input that fits it, at the end of the reply. Who asks for JSON, or about calls, gets what they asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from ullage.context.blocks import Json, ToolSpec

_LONGEST = 20_000
"""Characters at the end of a reply that are looked at."""

_MARKED = (
    re.compile(r"<tool_call>\s*(?P<json>\{.*\})\s*(?:</tool_call>)?\s*\Z", re.DOTALL),  # Qwen 2.5 and 3, Hermes
    re.compile(r"<tool_call>\s*<function=(?P<name>[\w.-]+)>.*\Z", re.DOTALL),  # Qwen3-Coder
    re.compile(r"<tool_call>(?P<name>[\w.-]+)\s*<arg_key>.*\Z", re.DOTALL),  # GLM 4.5
    re.compile(r"<function=(?P<name>[\w.-]+)>.*(?:</function>)?\s*\Z", re.DOTALL),  # Llama 3, Qwen3-Coder
    re.compile(r"<\|python_tag\|>\s*(?P<json>\{.*\})\s*\Z", re.DOTALL),  # Llama 3.1
    re.compile(r"\[TOOL_CALLS\]\s*\[?(?P<json>\{.*\})\]?\s*\Z", re.DOTALL),  # Mistral
    re.compile(r"\[TOOL_CALLS\](?P<name>[\w.-]+)(?:\[ARGS\])?\s*\{.*\}\s*\Z", re.DOTALL),  # Mistral Small 3.2, Devstral
    re.compile(r"<[|｜]tool[▁_]calls?[▁_]begin[|｜]>.*?[|｜]>(?P<name>[\w.-]+)\s.*\Z", re.DOTALL),  # DeepSeek
    re.compile(r"<invoke name=\"(?P<name>[\w.-]+)\">.*\Z", re.DOTALL),  # as Claude writes it, and MiniMax
    re.compile(r"<\|tool_call\|>\s*\[?(?P<json>\{.*\})\]?.*\Z", re.DOTALL),  # Phi-4, Granite
    re.compile(r"to=functions\.(?P<name>[\w.-]+).*\{.*\}\s*\S*\s*\Z", re.DOTALL),  # gpt-oss
)
"""What marks a call and nothing else."""

_PLAIN = (
    re.compile(r"```(?:json|tool_call|tool_code)?[ \t]*\n(?P<json>\s*[\[{].*?[\]}])\s*```\s*\Z", re.DOTALL),
    re.compile(r"\A\s*(?P<json>[\[{].*[\]}])\s*\Z", re.DOTALL),
)
"""JSON alone, or in a fence: small models of any family."""

_ASKED_FOR_TEXT = re.compile(r"\bjson\b|\bschema\b|\bexample\b|\btool[ -]?calls?\b|\bfunction[ -]?calls?\b|```", re.IGNORECASE)

_NAMES, _INPUTS = ("name", "tool", "tool_name", "function"), ("arguments", "parameters", "input", "args", "tool_input")


def written_call(said: str, asked: str, tools: Sequence[ToolSpec]) -> str | None:
    """The tool that the end of a reply calls in text; None where it calls none, or `asked` is about such text."""
    said = said[-_LONGEST:]
    offered = {tool.name: tool for tool in tools}
    for shape in _MARKED:
        found = shape.search(said)
        if found is not None and not _is_in_fence(said, found.start()) and found[0][:12] not in asked:
            name = found.groupdict().get("name") or _called(found["json"], offered)
            if name in offered:
                return name
    if _ASKED_FOR_TEXT.search(asked) is not None or any(name in asked for name in offered):
        return None
    shapes = (shape.search(said) for shape in _PLAIN)
    return next((name for found in shapes if found is not None and (name := _called(found["json"], offered)) is not None), None)


def _is_in_fence(said: str, place: int) -> bool:
    """Whether the place is within a fenced block or inline code: shown, not called."""
    before = said[:place]
    return before.count("```") % 2 == 1 or before.rpartition("\n")[2].count("`") % 2 == 1


def _called(text: str, offered: Mapping[str, ToolSpec]) -> str | None:
    """The first call in the JSON whose input fits the tool."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return next((name for name, given in _calls_in(value) if name in offered and _fits(given, offered[name].input_schema)), None)


def _calls_in(value: object) -> Iterator[tuple[str, Mapping[str, object]]]:
    for each in cast("list[object]", value)[:1] if isinstance(value, list) else [value]:
        if not isinstance(each, dict):
            continue
        call = cast("dict[str, object]", each)
        inner = call.get("function")
        if isinstance(inner, dict):  # as the API of OpenAI has it
            call = cast("dict[str, object]", inner)
        name = next((call[key] for key in _NAMES if isinstance(call.get(key), str)), None)
        given = next((call[key] for key in _INPUTS if key in call), None)
        if isinstance(given, str):
            try:
                given = json.loads(given)
            except (ValueError, RecursionError):
                continue
        if isinstance(name, str) and isinstance(given, dict):
            yield name, cast("dict[str, object]", given)


def _fits(given: Mapping[str, object], schema: Mapping[str, Json]) -> bool:
    """Whether it has all that the tool requires and nothing that it does not know."""
    properties, required = schema.get("properties"), schema.get("required")
    known = set(properties) if isinstance(properties, Mapping) else set[str]()
    wanted = {each for each in required if isinstance(each, str)} if isinstance(required, Sequence) else set[str]()
    return wanted <= set(given) <= known
