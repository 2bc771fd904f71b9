"""Tool calls that a model wrote as text: its server did not take them for calls, so nobody ran them.

The shapes are those of the chat templates of the models themselves. A shape alone is no call: what is called has to be a tool that the
model was offered, with an input that fits it, at the end of the reply. Who asks for JSON, or about calls, gets what they asked for.

A reply may be made to be slow to read. So marks are found by plain search, only a few places of each are looked at, and from such a place
each character is passed a fixed number of times: JSON is read by its decoder, and no pattern can go back over what it took.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from ullage.context.blocks import Json, ToolSpec

_LONGEST = 20_000
"""How many characters at the end of a reply are looked at."""

MOST_PLACES = 16
"""How many places of each mark are looked at, the last of the reply: a call stands at its end."""

_ASKED_FOR_TEXT = re.compile(r"\bjson\b|\bschema\b|\bexample\b|\btool[ -]?calls?\b|\bfunction[ -]?calls?\b|```", re.IGNORECASE)

_NAMES, _INPUTS = ("name", "tool", "tool_name", "function"), ("arguments", "parameters", "input", "args", "tool_input")

_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class _JsonAfter:
    """A mark with the call as JSON behind it. `may_end` takes what stands behind the JSON, without space around it."""

    mark: re.Pattern[str]
    may_end: Callable[[str], bool]

    def called(self, said: str, place: int, offered: Mapping[str, ToolSpec]) -> str | None:
        """The name of the tool that is called behind a mark that ends at `place`; None if none is."""
        begin = _LIST_BEGINS.match(said, place)
        try:
            value, end = _DECODER.raw_decode(said, begin.end() if begin is not None else place)
        except (ValueError, RecursionError):
            return None
        return _first_call(value, offered) if self.may_end(said[end:].strip()) else None


@dataclass(frozen=True, slots=True)
class _NameAfter:
    """A mark with the name of the tool behind it, as `name` has it. `may_end` takes what stands behind that."""

    mark: re.Pattern[str]
    name: re.Pattern[str]
    may_end: Callable[[str], bool] = lambda rest: True

    def called(self, said: str, place: int, offered: Mapping[str, ToolSpec]) -> str | None:
        """The name of the tool that is called behind a mark that ends at `place`; None if none is."""
        found = self.name.match(said, place)
        return found["name"] if found is not None and found["name"] in offered and self.may_end(said[found.end() :].strip()) else None


def _ends_in_braces(rest: str) -> bool:
    return rest.startswith("{") and rest.endswith("}")


def _ends_after_braces(rest: str) -> bool:
    """Whether the text has braces, and at most a word behind them."""
    last = rest.rfind("}")
    return 0 <= rest.find("{") < last and len(rest[last + 1 :].split()) <= 1


_LIST_BEGINS = re.compile(r"\s*+\[?+\s*+")
_NAME = re.compile(r"(?P<name>[\w.-]++)")
_NAME_IN_TAG = re.compile(r"(?P<name>[\w.-]++)>")
_TOOL_CALL = re.compile("<tool_call>")
_TOOL_CALLS = re.compile(r"\[TOOL_CALLS\]")

_MARKED: Sequence[_JsonAfter | _NameAfter] = (
    _JsonAfter(_TOOL_CALL, lambda rest: rest in ("", "</tool_call>")),  # Qwen 2.5 and 3, Hermes
    _NameAfter(_TOOL_CALL, re.compile(r"\s*+<function=(?P<name>[\w.-]++)>")),  # Qwen3-Coder
    _NameAfter(_TOOL_CALL, re.compile(r"(?P<name>[\w.-]++)\s*+<arg_key>")),  # GLM 4.5
    _NameAfter(re.compile("<function="), _NAME_IN_TAG),  # Llama 3, Qwen3-Coder
    _JsonAfter(re.compile(r"<\|python_tag\|>"), lambda rest: not rest),  # Llama 3.1
    _JsonAfter(_TOOL_CALLS, lambda rest: rest in ("", "]") or rest.startswith(",")),  # Mistral
    _NameAfter(_TOOL_CALLS, re.compile(r"(?P<name>[\w.-]++)(?:\[ARGS\])?"), _ends_in_braces),  # Mistral Small 3.2, Devstral
    _NameAfter(  # DeepSeek
        re.compile(r"<[|｜]tool[▁_]calls?[▁_]begin[|｜]>"),
        re.compile(r"[^|｜]*+(?:[|｜](?!>[\w.-]++\s)[^|｜]*+)*[|｜]>(?P<name>[\w.-]++)\s"),
    ),
    _NameAfter(re.compile('<invoke name="'), re.compile(r'(?P<name>[\w.-]++)">')),  # as Claude writes it, and MiniMax
    _JsonAfter(re.compile(r"<\|tool_call\|>"), lambda rest: True),  # Phi-4, Granite
    _NameAfter(re.compile(r"to=functions\."), _NAME, _ends_after_braces),  # gpt-oss
)
"""Marks that stand before a call and before nothing else."""

_FENCE = re.compile(r"```(?:json|tool_call|tool_code)?[ \t]*+\n")
"""The beginning of a fence with JSON: small models of any family write calls in one, or as JSON alone."""


def written_call(said: str, asked: str, tools: Sequence[ToolSpec]) -> str | None:
    """The tool that the end of a reply calls in text; None if it calls none, or `asked` is about such text."""
    said = said[-_LONGEST:]
    offered = {tool.name: tool for tool in tools}
    for shape in _MARKED:
        for start, end in _places(shape.mark, said):
            name = shape.called(said, end, offered)
            if name is not None and not _is_in_fence(said, start) and said[start : start + 12] not in asked:
                return name
    if _ASKED_FOR_TEXT.search(asked) is not None or any(name in asked for name in offered):
        return None
    return next((name for text in _plain(said) if (name := _called(text, offered)) is not None), None)


def _places(mark: re.Pattern[str], said: str) -> Sequence[tuple[int, int]]:
    """The beginnings and ends of the mark, of the last `MOST_PLACES` times that it stands there."""
    return deque((found.span() for found in mark.finditer(said)), maxlen=MOST_PLACES)


def _plain(said: str) -> Iterator[str]:
    """The texts that may be the JSON of a call that nothing marks: what is in the fence at the end, and all of it."""
    said = said.strip()
    if said.endswith("```"):
        for _, end in _places(_FENCE, said):
            yield said[end:-3]
    yield said


def _is_in_fence(said: str, place: int) -> bool:
    """Whether the place is within a fenced block or inline code: shown, not called."""
    before = said[:place]
    return before.count("```") % 2 == 1 or before.rpartition("\n")[2].count("`") % 2 == 1


def _called(text: str, offered: Mapping[str, ToolSpec]) -> str | None:
    """The name of the first tool called in the JSON whose input fits it; None if there is none."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return _first_call(value, offered)


def _first_call(value: object, offered: Mapping[str, ToolSpec]) -> str | None:
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
    """Whether the input has all that the tool requires and nothing that it does not know."""
    properties, required = schema.get("properties"), schema.get("required")
    known = set(properties) if isinstance(properties, Mapping) else set[str]()
    wanted = {each for each in required if isinstance(each, str)} if isinstance(required, Sequence) else set[str]()
    return wanted <= set(given) <= known
