"""What a tool is: the seam between the agent loop and the things the agent can do. One file a tool beside this one.

Here is also what every tool needs: its description for the model, from the `.md` file beside its code, and the check of its input against
its JSON schema. Only what our own schemas use is understood: type, properties, required, enum, minimum, minLength and items. A property
that is not in the schema is refused, so that a misspelt one is not silently left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, cast, runtime_checkable

from ullage.context.blocks import Json, Media, ToolSpec
from ullage.context.entries import FileDiff, FileTouch

ToolKind: TypeAlias = Literal["read", "edit", "search", "execute", "think", "other"]
"""As the Agent Client Protocol names kinds of tool calls; the panel picks an icon by it."""

LARGEST_INTEGER = 2**53 - 1
"""As JSON numbers go, and far within what a database holds."""

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


@dataclass(frozen=True, slots=True)
class PermissionNeed:
    """What has to be allowed before a call runs.

    `pattern` is what "allow always" would allow from then on in this workspace, in words for the user (for a command
    its name or its exact text, for an edit the path's folder or name). It is empty where every call has to be asked for anew, so
    that there is nothing to remember. `description` says to the user what is about to happen.
    """

    action: Literal["edit", "command", "host", "outside"]
    pattern: str
    description: str
    parts: tuple[str, ...] = ()
    """What has to be allowed one by one, and is remembered: a call can have several parts (`cd src && pytest`). Empty means `pattern`."""
    harmless: bool = False
    """A command that is known to only read, and only within the workspace: a sandbox needs to give it nothing to write and no network."""
    target: Path | None = None
    """The file that would be written, links resolved. What is allowed is a change of this file, wherever its name leads by then."""
    diff: FileDiff | None = None
    """What would be changed in it, as the user is shown it."""
    files: str = ""
    """A digest of the files that a command names: it is allowed with them as they are."""
    hosts: tuple[str, ...] = ()
    """Hosts that a command may connect to. Each is allowed by itself, for whatever runs."""


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """One task of the agent's list, in the words of the Agent Client Protocol's plan."""

    content: str
    status: Literal["pending", "in_progress", "completed"]


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a call gave: `content` for the model (never empty), and what the program and the user need to know."""

    content: str
    is_error: bool = False
    touched: tuple[FileTouch, ...] = ()
    diff: FileDiff | None = None
    compact_focus: str | None = None
    """Set by the `compact` tool: compact once all results of this turn are in."""
    refusal: str | None = None
    """Set where the user refused the call: what they said, if anything."""
    line: int | None = None
    """Where an edit begins (counted from 1), for the list of recently edited files."""
    media: tuple[Media, ...] = ()
    """Images and documents that the model is shown with it; their bytes are kept by then."""
    complete: bool = True
    """False where `content` holds only parts of what there was, and says so."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call as the tool gets it. `output` takes live output (text) for the user to see while the call runs."""

    id: str
    input: Mapping[str, Json]
    output: Callable[[str], None] = field(default=lambda text: None)
    allowed: PermissionNeed | None = None
    """What was allowed for this call, by the user now or by what they always allow; None where nothing had to be."""


class BadToolInput(Exception):
    """The model's input does not fit the schema; the message tells the model what does."""


class Tool(Protocol):
    """Something the agent can do. An instance belongs to one session and holds what it needs (workspace, store ...)."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and input schema for the model; the description stands in a `.md` file beside the code."""
        ...

    @property
    def kind(self) -> ToolKind:
        """For the panel."""
        ...

    def title(self, input: Mapping[str, Json]) -> str:
        """One short line for the panel: `Read src/tank.py`, `$ npm test`. Must accept incomplete or wrong input."""
        ...

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """What must be allowed first; None where the call is free. Raises `BadToolInput`."""
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

    async def foresee(self, input: Mapping[str, Json], target: Path) -> FileDiff | ToolOutcome:
        """The change of that file as it would be made now; the outcome where the call would be refused anyway."""
        ...


def description(tool: str) -> str:
    """The description of a tool; a tool without one is a fault in the package (`FileNotFoundError`)."""
    return files("ullage.tools").joinpath(f"{tool}.md").read_text(encoding="utf-8").strip()


def check_input(schema: Mapping[str, Json], value: Mapping[str, Json]) -> None:
    """Raises `BadToolInput` naming the first thing that does not fit, in words for the model."""
    _check_object(schema, value, "")


def text(value: Mapping[str, Json], name: str, default: str = "") -> str:
    """A string of a checked input; `default` where it is not there (or, unchecked, is something else)."""
    found = value.get(name)
    return found if isinstance(found, str) else default


def integer(value: Mapping[str, Json], name: str, default: int) -> int:
    """A whole number of a checked input."""
    found = value.get(name)
    return found if isinstance(found, int) else default


def boolean(value: Mapping[str, Json], name: str) -> bool:
    """A yes or no of a checked input; no where it is not there."""
    return value.get(name) is True


def _check(schema: Mapping[str, Json], value: Json, where: str) -> None:
    expected = str(schema.get("type"))
    if not isinstance(value, _TYPES[expected]) or (expected == "integer" and isinstance(value, bool)):
        raise BadToolInput(f"`{where}` must be {_article(expected)}, not {_kind(value)}")
    if isinstance(value, str) and not _is_text(value):
        raise BadToolInput(f"`{where}` has a NUL or half a surrogate pair in it, which no command and no text file can have")
    if isinstance(value, dict):
        _check_object(schema, value, where)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            _check(_inner(schema, "items"), item, f"{where}[{position}]")
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        raise BadToolInput(f"`{where}` must be one of {', '.join(map(str, choices))}, not {value!r}")
    if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        raise BadToolInput(f"`{where}` is too large a number")
    minimum = schema.get("minimum")
    if isinstance(minimum, int) and isinstance(value, int) and value < minimum:
        raise BadToolInput(f"`{where}` must be at least {minimum}, not {value}")
    shortest = schema.get("minLength")
    if isinstance(shortest, int) and isinstance(value, str) and len(value.strip()) < shortest:
        raise BadToolInput(f"`{where}` must not be empty")


def _check_object(schema: Mapping[str, Json], value: Mapping[str, Json], where: str) -> None:
    properties = _inner(schema, "properties")
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if name not in value:
            raise BadToolInput(f"`{_join(where, str(name))}` is missing")
    for name, inner in value.items():
        if name not in properties:
            known = ", ".join(f"`{each}`" for each in properties)
            raise BadToolInput(f"`{_join(where, name)}` is not known here; there is {known or 'no parameter'}")
        _check(_inner(properties, name), inner, _join(where, name))


def _is_text(value: str) -> bool:
    """Whether the system can take it: JSON can write down characters that are none."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in value


def _inner(schema: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    return cast("dict[str, Json]", schema.get(name, {}))


def _join(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _kind(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, float):
        return "a fraction"
    return next(_article(name) for name, types in _TYPES.items() if isinstance(value, types))
