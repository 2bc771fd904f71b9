"""What an MCP server offers: tools, prompts and resources, as values, checked where they come in.

All of it is the server's word. Names are short and plain, or the thing is left out; texts are cut; characters that nobody sees are written
out where they are shown (`context/quoting.py`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ullage.context.blocks import Json

if TYPE_CHECKING:  # takes long to import
    import mcp_types

MOST_TOOLS, MOST_PROMPTS, MOST_RESOURCES = 300, 100, 500
"""How many of each are taken of one server. The others are left out, and the log says so."""

DESCRIPTION_CHARACTERS = 4_000
"""The most characters of a tool's description; a longer one is cut."""

LINE_CHARACTERS = 300
"""The most characters of a line in a list."""

SCHEMA_CHARACTERS = 40_000
"""A tool with a longer schema is left out: it would take a tenth of a window by itself."""

MOST_STEPS = 5_000
"""How many keywords of a schema are held against the arguments of one call: that takes less than half a second."""

MOST_ERRORS = 100
"""How many errors are found at most; the most telling one of them is told."""

_Keyword: TypeAlias = Callable[..., Iterable[Any] | None]

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}")
"""A name as the protocol advises, or with a slash, which some servers have."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """One tool of a server."""

    name: str
    description: str
    schema: Mapping[str, Json] = field(compare=False)
    schema_text: str
    """The schema as JSON text."""
    read_only: bool = False
    """Whether the server says that the tool changes nothing. Nothing is allowed because of that."""

    @property
    def digest(self) -> str:
        """A digest that changes with what the server says of the tool: name, description and schema, the order of keys aside."""
        said = json.dumps([self.name, self.description, self.schema], sort_keys=True)
        return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class PromptArgument:
    """One argument that a prompt takes."""

    name: str
    description: str
    required: bool


@dataclass(frozen=True, slots=True)
class OfferedPrompt:
    """A prompt of a server that the user can call."""

    name: str
    description: str
    arguments: tuple[PromptArgument, ...] = ()


@dataclass(frozen=True, slots=True)
class OfferedResource:
    """A text or a file of a server that the user can attach."""

    uri: str
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class ServerOffers:
    """All that a server offers."""

    tools: tuple[OfferedTool, ...] = ()
    prompts: tuple[OfferedPrompt, ...] = ()
    resources: tuple[OfferedResource, ...] = ()
    left_out: tuple[str, ...] = ()
    """The things that could not be taken, each in words for the log."""


def tools_of(listed: Sequence[mcp_types.Tool]) -> tuple[tuple[OfferedTool, ...], list[str]]:
    """The tools that can be used, and for each other one why it cannot. If two have the same name the first counts."""
    found: dict[str, OfferedTool] = {}
    left_out: list[str] = []
    for tool in listed[:MOST_TOOLS]:
        schema = json.dumps(tool.input_schema, ensure_ascii=False, separators=(",", ":"))
        if _NAME.fullmatch(tool.name) is None:
            left_out.append(f"a tool is left out, since its name is none: {tool.name[:100]!r}")
        elif tool.name in found:
            left_out.append(f"the tool {tool.name} is listed twice; the first one counts")
        elif len(schema) > SCHEMA_CHARACTERS:
            left_out.append(f"the tool {tool.name} is left out: its schema has {len(schema):,} characters")
        else:
            says = tool.annotations is not None and tool.annotations.read_only_hint is True
            found[tool.name] = OfferedTool(tool.name, _cut(tool.description or ""), tool.input_schema, schema, says)
    return tuple(found.values()), [*left_out, *_beyond("tools", len(listed), MOST_TOOLS)]


def prompts_of(listed: Sequence[mcp_types.Prompt]) -> tuple[tuple[OfferedPrompt, ...], list[str]]:
    """The prompts that can be used, and for each other one why it cannot. If two have the same name the first counts."""
    found: dict[str, OfferedPrompt] = {}
    left_out: list[str] = []
    for prompt in listed[:MOST_PROMPTS]:
        if _NAME.fullmatch(prompt.name) is None or prompt.name in found:
            left_out.append(f"a prompt is left out, since its name is none or there twice: {prompt.name[:100]!r}")
            continue
        arguments = [
            PromptArgument(each.name[:60], line_of(each.description or ""), each.required is True) for each in prompt.arguments or ()
        ]
        found[prompt.name] = OfferedPrompt(prompt.name, line_of(prompt.description or prompt.title or ""), tuple(arguments[:20]))
    return tuple(found.values()), [*left_out, *_beyond("prompts", len(listed), MOST_PROMPTS)]


def resources_of(listed: Sequence[mcp_types.Resource]) -> tuple[tuple[OfferedResource, ...], list[str]]:
    """The resources that can be used, and for each other one why it cannot. If two have the same address the first counts, and nothing is
    said."""
    found: dict[str, OfferedResource] = {}
    left_out: list[str] = []
    for resource in listed[:MOST_RESOURCES]:
        uri = str(resource.uri)
        if not uri.isprintable() or len(uri) > 2_000:
            left_out.append(f"a resource is left out, since its address is none: {uri[:100]!r}")
            continue
        found.setdefault(
            uri,
            OfferedResource(uri, line_of(resource.title or resource.name), line_of(resource.description or "")),
        )
    return tuple(found.values()), [*left_out, *_beyond("resources", len(listed), MOST_RESOURCES)]


def line_of(text: str) -> str:
    """A text in one line for menus and lists, without characters that cannot be seen, cut to `LINE_CHARACTERS`."""
    return " ".join("".join(filter(str.isprintable, word)) for word in text[: 4 * LINE_CHARACTERS].split())[:LINE_CHARACTERS]


def first_sentence(text: str, most: int) -> str:
    """The beginning of a description, as it stands in the index: its first sentence, or what fits."""
    line = line_of(text)
    sentence = re.split(r"(?<=[.!?])\s", line, maxsplit=1)[0].rstrip(".")
    if len(sentence) <= most:
        return sentence
    return f"{sentence[: most - 1].rsplit(' ', 1)[0].rstrip(' ,;:')}…"


def problem_of(schema: Mapping[str, Json], arguments: Mapping[str, Json]) -> str:
    """Why the arguments do not fit the schema of a tool, in words for the model; empty if they do. For another thread.

    The schema is another's: it is interpreted and not compiled into code, it loads nothing from elsewhere, its regular expressions are not
    matched, and what takes more than `MOST_STEPS` is left to the server.
    """
    from jsonschema import Draft202012Validator, exceptions, validators
    from referencing import Registry

    chosen = cast("type[Draft202012Validator]", cast("Any", validators).validator_for(schema, Draft202012Validator))
    limited = cast("type[Draft202012Validator]", cast("Any", validators).extend(chosen, _limited(chosen.VALIDATORS)))
    try:
        validator = cast("Any", limited(cast("dict[str, object]", schema), registry=Registry()))
        error = cast("Any", exceptions).best_match(islice(validator.iter_errors(arguments), MOST_ERRORS))
    except Exception:  # noqa: BLE001 - whatever a schema does wrong, the call is the server's to judge
        return ""
    if error is None:
        return ""
    where = "".join(f".{step}" if isinstance(step, str) else f"[{step}]" for step in error.absolute_path)
    return f"`arguments{where}`: {str(error.message)[:500]}"


_NOT_JUDGED = frozenset(("pattern", "patternProperties", "unevaluatedProperties", "unevaluatedItems", "uniqueItems", "format"))
"""Keywords of schemas that match regular expressions, or look at everything again and again."""


def _limited(keywords: Mapping[str, _Keyword]) -> Mapping[str, _Keyword]:
    """Keywords that judge as these do, and count together how often they are asked. They raise `RecursionError` beyond `MOST_STEPS`."""
    count = iter(range(MOST_STEPS))

    def counted(judge: _Keyword) -> _Keyword:
        def judged(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
            if next(count, None) is None:
                raise RecursionError
            if not (judge is keywords.get("additionalProperties") and "patternProperties" in schema):
                yield from judge(validator, value, instance, schema) or ()

        return judged

    return {name: _anything if name in _NOT_JUDGED else counted(judge) for name, judge in keywords.items()}


def _anything(*_: object) -> Iterable[Any]:
    """Stands for a keyword that is not judged: finds nothing wrong."""
    return ()


def _cut(text: str) -> str:
    return text if len(text) <= DESCRIPTION_CHARACTERS else f"{text[:DESCRIPTION_CHARACTERS]}…"


def _beyond(what: str, count: int, most: int) -> Iterable[str]:
    return [f"only the first {most} are used: {what}"] if count > most else []
