"""Scenarios: what the practice model says and does, step by step, read from JSON files. And where a request stands in one.

A file looks like this; everything but `name`, `matches` and `steps` may be left out:

    {"name": "tour", "matches": ["take the tour"],
     "steps": [{"thinking": "...", "text": "...", "delay_ms": 500,
                "tools": [{"name": "bash", "input": {"command": "ls"}}],
                "again_if": "was not edited", "expects": [{"contains": "tank.py", "otherwise": "This is another workspace."}]}]}

`expects` is checked against the results of the step's own tools before the next step is played; the first one that does not hold
is answered with its `otherwise`, and the scenario ends. `succeeds: true` expects that no call of the step failed. Where a result
contains `again_if`, the step is played once more.

Where a request stands is read from the request alone. Tool use ids say it exactly. Where a compaction took them, the summary does, by the
words that it quotes.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import cast

from ullage.context.blocks import Json, Text, ToolResult, ToolUse
from ullage.context.compaction.restore import resume_text
from ullage.context.entries import AssistantReply
from ullage.context.summary.sentences import told_in
from ullage.context.view.fold import INTERRUPTED
from ullage.context.view.request import Request

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""The form of scenarios' names; they become part of tool use ids."""


class BadScenario(ValueError):
    """A scenario file that cannot be played; the message names the file and what is wrong."""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool call that a step makes."""

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
class ScenarioStep:
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
    steps: tuple[ScenarioStep, ...]

    @property
    def endings(self) -> tuple[str, ...]:
        """The texts that are said where the scenario ends, well or not."""
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


def _step(value: Mapping[str, Json]) -> ScenarioStep:
    return ScenarioStep(
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


# Where a request stands

_ID = re.compile(r"toolu_practice_(?P<play>[a-z0-9-]+)_(?P<step>\d+)_[0-9a-z]+")


@dataclass(frozen=True, slots=True)
class PlayMark:
    """A step (counted from 0) of a scenario or of looking around, by the play's name."""

    play: str
    step: int

    def new_id(self) -> str:
        """An id for a call of this step that no other call has."""
        return f"toolu_practice_{self.play}_{self.step}_{secrets.token_hex(6)}"


def mark_of(tool_use_id: str) -> PlayMark | None:
    """The step that made the id; None for ids of other makers."""
    found = _ID.match(tool_use_id)
    return PlayMark(found["play"], int(found["step"])) if found else None


def _marks_in(text: str) -> list[PlayMark]:
    """The steps whose ids a text mentions, in its order."""
    return [PlayMark(found["play"], int(found["step"])) for found in _ID.finditer(text)]


QUOTED_CHARACTERS = 60
"""How many characters of a step's words are looked for in the summary of a compaction."""

_OF_THE_PROGRAM = re.compile(r"\s*(<|\[|#|Your reply was cut off|Changed since you last saw|Changed once more|Rules of this workspace)")
"""How texts begin that the program and not the user wrote: files, summaries, notices."""
_RESUME = (resume_text("", at_work=True).splitlines()[0], "before this point gave way to the record above")
"""One stands in every text that says how to go on after a compaction; the second in logs of earlier versions."""
_GO_ON = re.compile(r"\W*(please\s+)?(continue|go on|go ahead|carry on|resume|weiter|mach weiter)\W*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Situation:
    """The situation that the practice model has to answer."""

    prompt: str
    """The words with which the user asks for something in the last message; empty if they ask for nothing new."""
    aside: str
    """The words that the user said to the running turn beside the results of its calls."""
    played: PlayMark | None
    """The step that was played last; None if none was, or where all was said."""
    plays: int
    """How often that step was played in a row, as far as the request tells."""
    results: tuple[ToolResult, ...]
    """The results of the calls of that step, where they are in the last message."""

    @property
    def wants_to_go_on(self) -> bool:
        """Whether the user wants to go on with what was begun."""
        return self.played is not None and (not self.prompt or _GO_ON.fullmatch(self.prompt) is not None)

    @property
    def was_interrupted(self) -> bool:
        """Whether a call of the last step did not finish: the turn was cancelled, or the server died."""
        return any(result.is_error and result.content == INTERRUPTED for result in self.results)


def situation_of(request: Request, scenarios: Sequence[Scenario], endings: Sequence[str]) -> Situation:
    """The situation at the end of `request`. A reply that holds one of `endings` left nothing to go on with."""
    last = request.messages[-1]
    results = tuple(block for block in last.blocks if isinstance(block, ToolResult))
    said = _of_the_user(block.text for block in last.blocks if isinstance(block, Text))
    answered = next((mark for result in reversed(results) if (mark := mark_of(result.tool_use_id))), None)
    if answered is None:
        return Situation(said, "", _last_played(request, scenarios, endings), 1, results)
    plays = _plays(request, answered)
    situation = Situation(said, "", answered, plays, results)
    return situation if situation.was_interrupted else Situation("", said, answered, plays, results)


def _plays(request: Request, mark: PlayMark) -> int:
    plays = 0
    for message in reversed(request.messages):
        if message.role == "assistant":
            if not any(isinstance(block, ToolUse) and mark_of(block.id) == mark for block in message.blocks):
                break
            plays += 1
    return plays


def _of_the_user(texts: Iterable[str]) -> str:
    said = [text for text in texts if not _OF_THE_PROGRAM.match(text) and not any(resume in text for resume in _RESUME)]
    return said[-1].strip() if said else ""


def _last_played(request: Request, scenarios: Sequence[Scenario], endings: Sequence[str]) -> PlayMark | None:
    for message in reversed(request.messages):
        for block in reversed(message.blocks):
            if isinstance(block, ToolUse):
                return mark_of(block.id)
            if not isinstance(block, Text):
                continue
            if any(_quotes(block.text, ending) for ending in endings):
                return None
            mark = _summarised_step(block.text, scenarios) if message.role == "user" else None
            if mark is not None:
                return mark
    return None


def _summarised_step(summary: str, scenarios: Sequence[Scenario]) -> PlayMark | None:
    """The last step that the summary of a compaction speaks of: by its words, else by the id of a call."""
    for scenario in scenarios:
        for index in range(len(scenario.steps) - 1, -1, -1):
            if _tells_of(summary, scenario.steps[index]):
                return PlayMark(scenario.name, index)
    return next(reversed(_marks_in(summary)), None)


def _tells_of(summary: str, step: ScenarioStep) -> bool:
    """Whether the summary has the words of the step. Summaries of earlier versions quote the end of them. Those of this one leave out
    sentences that only announce what comes next, and cut the end of what is long."""
    calls = [ToolUse("", call.name, call.input) for call in step.calls]
    told = told_in(0, AssistantReply("", (Text(step.text), *calls), "", "", None))
    return _quotes(summary, step.text) or (told is not None and _plain(told.text)[:QUOTED_CHARACTERS] in _plain(summary))


def _quotes(text: str, words: str) -> bool:
    """Whether the end of the words stands in the text."""
    end = _plain(words)[-QUOTED_CHARACTERS:]
    return bool(end) and end in _plain(text)


def _plain(text: str) -> str:
    """The text on one line and without quote marks, as summaries may show it."""
    return " ".join(text.replace(">", " ").split())
