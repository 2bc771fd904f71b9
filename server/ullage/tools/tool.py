"""What a tool is: the seam between the agent loop and the things the agent can do. One file a tool beside this one.

Here is also what every tool needs: its description for the model, from the `.md` file beside its code, and the check of its input against
its JSON schema. `fastjsonschema` checks it (docs/decisions/0020). Here it is told to be stricter than the schema says, and what it refuses
is put into words that a model can act on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, cast, runtime_checkable

import fastjsonschema

from ullage.context.blocks import Json, Media, ToolSpec
from ullage.context.entries import AgentRun, Answer, FileDiff, FileTouch
from ullage.tools.command_lines.judge import LinePart

ToolKind: TypeAlias = Literal["read", "edit", "search", "execute", "think", "fetch", "other"]
"""The kinds of tool calls, as the Agent Client Protocol names them; the panel picks an icon by it."""

AskedAction: TypeAlias = Literal["edit", "command", "host", "outside", "plan", "mcp", "agent", "search"]
"""The kinds of actions that have to be allowed."""

NeedAction: TypeAlias = AskedAction | Literal["read"]
"""Those kinds, and `read`, which is free but may be refused."""

LARGEST_INTEGER = 2**53 - 1
"""The largest whole number that JSON carries exactly; far within what a database holds."""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """The effect that an edit would have: the whole texts, with line ends as `CurrentText` has them, and the lines that differ."""

    before: str | None
    """The text before the edit; None if there is no file."""
    after: str
    diff: FileDiff


@dataclass(frozen=True, slots=True)
class PermissionNeed:
    """What has to be allowed before a call runs.

    `pattern` is what "allow always" would allow from then on in this workspace, in words for the user (for a command
    its name or its exact text, for an edit the path's folder or name). It is empty if every call has to be asked for anew, so
    that there is nothing to remember. `description` says to the user what is about to happen.
    """

    action: NeedAction
    pattern: str
    description: str
    parts: tuple[str, ...] = ()
    """The patterns that have to be allowed one by one, and are remembered: a call can have several parts (`cd src && pytest`). If there is
    none, `pattern` is the only one."""
    harmless: bool = False
    """Whether it is a command that is known to only read, and only within the workspace: a sandbox needs to give it nothing to write and no
    network."""
    target: Path | None = None
    """The file that would be written, links resolved. What is allowed is a change of this file, wherever its name leads by then."""
    diff: FileDiff | None = None
    """The change that would be made in it, as the user is shown it."""
    files: str = ""
    """A digest of the files that a command names, of that which defines a sub-agent, or of what a server says of its tool: it is allowed
    with them as they are."""
    of_server: str = ""
    """A digest of the configuration of the tool's server: a rule for several of its tools holds by it."""
    hosts: tuple[str, ...] = ()
    """The hosts that a command may connect to. Each is allowed by itself, for whatever runs."""
    subject: str = ""
    """The subject of the call, as rules are compared with it: the path of an edit, or of the file that defines a sub-agent, as it is shown;
    for a tool of a server, both names."""
    line: str = ""
    """The line of a command; for a tool of a server, its arguments as JSON."""
    told: str = ""
    """The server's own description of its tool, on one line."""
    names: tuple[str, ...] = field(default=(), compare=False)
    """The files that the words of a command could name, as rules are compared with them; folders end in `/`."""
    judged: tuple[LinePart, ...] = ()
    """The plain commands of the line; empty if it is not followed."""
    unfollowed: str = ""
    """Why no rule with a pattern can cover it: in words that follow "because"."""
    folder: str = ""
    """The folder in which it happens, in words for the user."""
    steers: bool = False
    """Whether it is a command that asks to change files which run programs or steer tools: it is asked about each time."""
    sandboxed: bool = False
    """Whether it would run in a sandbox, as far as that is known."""
    goes_on: bool = False
    """Whether it is a command that is left running when its call is done."""
    confined: bool = False
    """Whether it was not asked about because of the sandbox alone, so that it runs nowhere else."""
    foreseen: Foreseen | None = field(default=None, compare=False)
    """The whole of that change. An edit is made anew for the text there is, so another change elsewhere in the file does not matter."""
    text: str | None = None
    """The proposed text of the file as the user changed it before they accepted it; None if they left it as it was."""


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """One task of the agent's list, in the words of the Agent Client Protocol's plan."""

    content: str
    status: Literal["pending", "in_progress", "completed"]


@dataclass(frozen=True, slots=True)
class Option:
    """One answer that is offered: a label of a few words, and what it means."""

    label: str
    description: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question of the agent to the user. Each text is the model's, with what cannot be seen as escapes."""

    header: str
    """The subject of the question, in a word or two."""
    question: str
    options: tuple[Option, ...]
    """The answers that are offered, each label once."""
    multi_select: bool = False
    """Whether several may be chosen."""


Unanswered: TypeAlias = Literal["skipped", "prompted", "not_shown"]
"""Why a question has no answer: the user skipped it, or wrote a prompt instead; or nobody is there who could show it."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The outcome of a call: `content` for the model (never empty), and what the program and the user need to know."""

    content: str
    is_error: bool = False
    touched: tuple[FileTouch, ...] = ()
    diff: FileDiff | None = None
    compact_focus: str | None = None
    """What a compaction should favour that the `compact` tool asks for, once all results of this turn are in; None if none is asked for."""
    refusal: str | None = None
    """What the user said when they refused the call, empty if nothing; None if they did not refuse it."""
    line: int | None = None
    """The line in which an edit begins (counted from 1), for the list of recently edited files."""
    media: tuple[Media, ...] = ()
    """Images and documents that the model is shown with it; their bytes are kept by then."""
    accepts_plan: bool = False
    """Whether the user accepted a plan, which stands in `content`."""
    answers: tuple[Answer, ...] = ()
    """The user's answers, which stand in `content`, too."""
    goes_on: str = ""
    """The id of a command that goes on although the call is done (`running.py`)."""
    complete: bool = True
    """Whether `content` holds all that there was; if not, it says so."""
    agent: AgentRun | None = None
    """The sub-agent that was at work."""
    notes: tuple[str, ...] = ()
    """Notes on what the sandbox kept a command from, or took back of what it made. They stand in `content`, too."""
    cost: float | None = None
    """Dollars that the call itself cost, beside the conversation; None if it cost nothing, or nobody knows."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call as the tool gets it. `output` takes live output (text) for the user to see while the call runs."""

    id: str
    input: Mapping[str, Json]
    output: Callable[[str], None] = field(default=lambda text: None)
    allowed: PermissionNeed | None = None
    """The need that was allowed for this call, by the user now or by what they always allow; None if nothing had to be allowed."""
    answers: tuple[Answer, ...] | Unanswered = "not_shown"
    """For a tool that `AsksUser`: one answer to each question, in their order; or why there is none."""


class BadToolInput(Exception):
    """The model's input does not fit the schema; the message tells the model what does."""


class Tool(Protocol):
    """Something the agent can do. An instance belongs to one session and holds what it needs (workspace, store ...)."""

    @property
    def spec(self) -> ToolSpec:
        """The name, description and input schema for the model; the description stands in a `.md` file beside the code."""
        ...

    @property
    def kind(self) -> ToolKind:
        """The kind of call that the panel shows."""
        ...

    def title(self, input: Mapping[str, Json]) -> str:
        """One short line for the panel: `Read src/tank.py`, `$ npm test`. Must accept incomplete or wrong input."""
        ...

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """What must be allowed first; None if the call is free. Raises `BadToolInput`."""
        ...

    async def run(self, call: ToolCall) -> ToolOutcome:
        """Does it. What the model can mend comes back as an outcome with `is_error`; raises `BadToolInput` likewise.

        Nothing is done but what was allowed, whatever has changed since.
        Cancelling the task ends what was begun (process groups too) and leaves files whole.
        """
        ...


@runtime_checkable
class ShowsBefore(Protocol):
    """A tool that can say what a call would change before it is allowed."""

    async def foresee(self, input: Mapping[str, Json], target: Path) -> Foreseen | ToolOutcome:
        """The change of that file as it would be made now; an outcome if the call would be refused anyway."""
        ...


@runtime_checkable
class LaysOpen(Protocol):
    """A tool that lays a document before the user while they are asked."""

    async def lay_open(self, call_id: str, input: Mapping[str, Json]) -> Path | None:
        """Writes the document of a call; gives its path, None if there is none. Raises `StoreFailed`."""
        ...


@runtime_checkable
class AsksUser(Protocol):
    """A tool that asks the user something before it runs. An answer allows nothing."""

    def questions(self, input: Mapping[str, Json]) -> tuple[Question, ...]:
        """The questions of a call. Raises `BadToolInput`."""
        ...


def description(tool: str) -> str:
    """The description of a tool for the model. A tool without one is a fault in the package (`FileNotFoundError`)."""
    return files("ullage.tools").joinpath(f"{tool}.md").read_text(encoding="utf-8").strip()


def check_input(schema: Mapping[str, Json], value: Mapping[str, Json]) -> None:
    """Raises `BadToolInput` naming the first thing that does not fit, in words for the model."""
    try:
        _check_of(json.dumps(schema))(dict(value))
    except fastjsonschema.JsonSchemaValueException as refusal:
        raise BadToolInput(_in_words(refusal)) from None


def text(value: Mapping[str, Json], name: str, default: str = "") -> str:
    """A string of a checked input; `default` if it is not there (or, unchecked, is something else)."""
    found = value.get(name)
    return found if isinstance(found, str) else default


def integer(value: Mapping[str, Json], name: str, default: int) -> int:
    """A whole number of a checked input; `default` if it is not there."""
    found = value.get(name)
    return int(found) if isinstance(found, int | float) else default


def boolean(value: Mapping[str, Json], name: str) -> bool:
    """A yes or no of a checked input; False if it is not there."""
    return value.get(name) is True


@lru_cache(maxsize=100)
def _check_of(schema: str) -> Callable[[Json], object]:
    """The check of a schema, given as JSON: compiled once, which takes a millisecond."""
    compiled: Callable[[Json], object] = fastjsonschema.compile(_strict(json.loads(schema)), formats={_TEXT: _is_text}, use_default=False)
    return compiled


def _strict(schema: dict[str, Any]) -> dict[str, Any]:
    """A stricter schema: by it a misspelt property is refused and not left out, a blank text counts as empty, and every number and text is
    one that files, commands and databases can have."""
    match schema.get("type"):
        case "object":
            properties = {name: _strict(inner) for name, inner in schema.get("properties", {}).items()}
            return {"additionalProperties": False, **schema, "properties": properties}
        case "array":
            return {**schema, "items": _strict(schema.get("items", {}))}
        case "integer":
            return {"minimum": -LARGEST_INTEGER, "maximum": LARGEST_INTEGER, **schema}
        case "string":
            return {**schema, "format": _TEXT, **({"pattern": r"\S"} if "minLength" in schema else {})}
        case _:
            return schema


def _in_words(refusal: fastjsonschema.JsonSchemaValueException) -> str:
    where = str(refusal.name).removeprefix("data").removeprefix(".")
    value, rule, wanted = cast("Json", refusal.value), str(refusal.rule), refusal.rule_definition
    match rule:
        case "required":
            missing = next(name for name in wanted if name not in cast("dict[str, Json]", value))
            return f"`{_join(where, missing)}` is missing"
        case "additionalProperties":
            properties = cast("dict[str, Any]", refusal.definition)["properties"]
            unknown = next(name for name in cast("dict[str, Json]", value) if name not in properties)
            known = ", ".join(f"`{each}`" for each in properties)
            return f"`{_join(where, unknown)}` is not known here; there is {known or 'no parameter'}"
        case "type":
            return f"`{where}` must be {_article(str(wanted))}, not {_kind(value)}"
        case "enum":
            return f"`{where}` must be one of {', '.join(map(str, wanted))}, not {value!r}"
        case "minimum" | "maximum" if isinstance(value, int | float) and abs(value) > LARGEST_INTEGER:
            return f"`{where}` is too large a number"
        case "minimum":
            return f"`{where}` must be at least {wanted}, not {value}"
        case "minLength" | "pattern":
            return f"`{where}` must not be empty"
        case "format":
            return f"`{where}` has a NUL or half a surrogate pair in it, which no command and no text file can have"
        case _:
            return f"`{where}`{str(refusal.message).removeprefix(str(refusal.name))}"


_TEXT = "text"
"""The name under which `_is_text` is known to the check."""


def _is_text(value: str) -> bool:
    """Whether the system can take a text: JSON can write down characters that do not exist."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in value


def _join(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float():
            return "a fraction"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"
