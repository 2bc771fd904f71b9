"""Scenarios: what the practice model says and does, step by step, read from JSON files.

A file looks like this; everything but `name`, `matches` and `steps` may be left out:

    {"name": "tour", "matches": ["take the tour"],
     "steps": [{"thinking": "...", "text": "...", "delay_ms": 500,
                "tools": [{"name": "bash", "input": {"command": "ls"}}],
                "again_if": "was not edited", "expects": [{"contains": "tank.py", "otherwise": "This is another workspace."}]}]}

`expects` is checked against the results of the step's own tools before the next step is played; the first one that does not hold
is answered with its `otherwise`, and the scenario ends. `succeeds: true` expects that no call of the step failed. Where a result
contains `again_if`, the step is played once more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import cast

from ullage.context.blocks import Json

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""Names of scenarios; they become part of tool use ids."""


class BadScenario(ValueError):
    """A scenario file that cannot be played; the message names the file and what is wrong."""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool call of a step."""

    name: str
    input: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Expectation:
    """What must be true of a step's results for the scenario to go on."""

    contains: str
    succeeds: bool
    otherwise: str

    def holds(self, results: str, any_failed: bool) -> bool:
        """Whether the results, all of a step together, are as expected."""
        return self.contains in results and not (self.succeeds and any_failed)


@dataclass(frozen=True, slots=True)
class Step:
    """One reply. `delay` (seconds) is waited before it begins."""

    thinking: str = ""
    text: str = ""
    calls: tuple[PlannedCall, ...] = ()
    expects: tuple[Expectation, ...] = ()
    again_if: str = ""
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Scenario:
    """Steps in order; the last one has no calls, so that the turn ends. `matches` are phrases of a prompt that starts it."""

    name: str
    matches: tuple[str, ...]
    steps: tuple[Step, ...]

    @property
    def endings(self) -> tuple[str, ...]:
        """What is said where the scenario ends, well or not."""
        return (self.steps[-1].text, *(each.otherwise for step in self.steps for each in step.expects))

    def is_asked_for(self, prompt: str) -> bool:
        """Whether one of the phrases is in the prompt."""
        said = " ".join(prompt.lower().split())
        return any(phrase in said for phrase in self.matches)


def load_scenarios(folder: Path | None = None) -> tuple[Scenario, ...]:
    """The scenarios of `folder`, by name, then those that come with Ullage. Raises `BadScenario`, and `OSError` for the folder."""
    own = _load(files("ullage.models.practice").joinpath("scenarios"))
    return (*_load(folder), *own) if folder is not None else own


def parse_scenario(source: str, where: str) -> Scenario:
    """A scenario from the text of a file; `where` names it in errors. Raises `BadScenario`."""
    try:
        value = _object(json.loads(source))
        name = _text(value, "name")
        if not NAME.fullmatch(name):
            raise BadScenario(f"the name `{name}` is not made of lower-case letters, digits and single hyphens")
        matches = tuple(str(phrase).lower() for phrase in _list(value, "matches"))
        steps = tuple(_step(_object(step)) for step in _list(value, "steps"))
        if not steps or steps[-1].calls:
            raise BadScenario("the last step must be there and must not call tools")
    except ValueError as error:
        raise BadScenario(f"{where} is no scenario: {error}") from error
    return Scenario(name, matches, steps)


def _load(folder: Traversable | Path) -> tuple[Scenario, ...]:
    found = sorted((file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda file: file.name)
    return tuple(parse_scenario(file.read_text("utf-8"), file.name) for file in found)


def _step(value: Mapping[str, Json]) -> Step:
    return Step(
        thinking=_text(value, "thinking"),
        text=_text(value, "text"),
        calls=tuple(_call(_object(call)) for call in _list(value, "tools")),
        expects=tuple(_expectation(_object(each)) for each in _list(value, "expects")),
        again_if=_text(value, "again_if"),
        delay=_number(value, "delay_ms") / 1000,
    )


def _call(value: Mapping[str, Json]) -> PlannedCall:
    return PlannedCall(_text(value, "name"), _object(value.get("input", {})))


def _expectation(value: Mapping[str, Json]) -> Expectation:
    return Expectation(_text(value, "contains"), value.get("succeeds") is True, _text(value, "otherwise"))


def _object(value: Json) -> Mapping[str, Json]:
    if not isinstance(value, dict):
        raise BadScenario(f"expected an object, not {value!r}")
    return cast(Mapping[str, Json], value)


def _list(value: Mapping[str, Json], name: str) -> list[Json]:
    found = value.get(name, [])
    if not isinstance(found, list):
        raise BadScenario(f"`{name}` is no list")
    return found


def _text(value: Mapping[str, Json], name: str) -> str:
    found = value.get(name, "")
    if not isinstance(found, str):
        raise BadScenario(f"`{name}` is no text")
    return found


def _number(value: Mapping[str, Json], name: str) -> float:
    found = value.get(name, 0)
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise BadScenario(f"`{name}` is no number")
    return found
