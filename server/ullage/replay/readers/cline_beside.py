"""What lies beside the messages of a task of Cline: tokens, times, models, what was cut away, and summaries.

Where each format was taken from stands in `cline.py`. `ui_messages.json` has what the user was shown, each with the place of the message
that was the last one then. A file that is not there, or says nothing, is passed over: the messages stand for themselves.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ullage.context.blocks import Json, Usage
from ullage.replay.readers.conversation import usage_of
from ullage.replay.readers.files import json_objects
from ullage.replay.readers.flaws import Tally
from ullage.replay.readers.values import JsonObject, NotJson, as_count, as_list, as_object, as_seconds, as_text, parse

_MESSAGES = ".messages.json"


@dataclass(frozen=True, slots=True)
class Summary:
    """What took the place of messages."""

    text: str
    tokens_before: int | None
    at: float


@dataclass(slots=True)
class Beside:
    """What the other files say. Places are those of messages, from 0."""

    folder: str = ""
    usages: dict[int, Usage] = field(default_factory=dict[int, Usage])
    """Of the calls, by the place of the reply."""
    times: dict[int, float] = field(default_factory=dict[int, float])
    cuts: dict[int, float] = field(default_factory=dict[int, float])
    """When messages were cut away from the context, by the place of the last message then."""
    summaries: dict[int, Summary] = field(default_factory=dict[int, Summary])
    """By how many messages came before."""
    cut_up_to: int = -1
    """The place of the last message that was cut away."""
    models: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    """From when on which model was used."""
    models_of: dict[int, str] = field(default_factory=dict[int, str])

    def model(self, place: int, at: float) -> str:
        """The model of the reply at that place; empty where nothing says it."""
        if place in self.models_of or not self.models:
            return self.models_of.get(place, "")
        index = bisect_right([since for since, _ in self.models], at) - 1
        return self.models[max(index, 0)][1]


def beside(path: Path, tally: Tally) -> Beside:
    """What lies beside that file of messages."""
    found = Beside()
    stem = path.name.partition(_MESSAGES)[0]
    if _MESSAGES not in path.name:
        for value in _objects(path.with_name("ui_messages.json"), tally):
            _shown(value, found)
        for value in _objects(path.with_name("task_metadata.json"), tally):
            _metadata(value, found)
        return found
    for value in _objects(path.with_name(f"{stem}.json"), tally):
        found.folder = as_text(value.get("cwd")) or as_text(value.get("workspace_root"))
    _compaction(list(_first_two(path.with_name(f"{stem}.compaction.json"), tally)), found)
    return found


def _objects(path: Path, tally: Tally) -> Iterator[JsonObject]:
    own = Tally()
    try:
        if path.is_file():
            yield from json_objects(path, own)
    except OSError as error:
        tally.note(f"{path.name} cannot be read: {error.strerror or error}")
    for note in own.notes:
        tally.note(f"{path.name}: {note}")


def _shown(value: JsonObject, found: Beside) -> None:
    """A message to the user. One that says that a call begins comes before the call's own message of the user is there."""
    place, at = _place(value.get("conversationHistoryIndex")), as_seconds(value.get("ts"))
    if place is None:
        return
    if value.get("say") == "api_req_started":
        usage = _usage(as_text(value.get("text")))
        if usage is not None:
            found.usages[place + 2] = usage
        model = as_text(as_object(value.get("modelInfo")).get("modelId"))
        if model:
            found.models_of[place + 2] = model
        found.times[place + 1] = found.times[place + 2] = at
    cut = as_list(value.get("conversationHistoryDeletedRange"))
    end = _place(cut[1]) if len(cut) == 2 else None
    if end is not None and end > found.cut_up_to:
        found.cuts[max(place, 0)] = at
        found.cut_up_to = end


def _place(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and -1 <= value < 10**9 else None


def _usage(text: str) -> Usage | None:
    """`tokensIn` leaves out what was cached."""
    try:
        told = as_object(parse(text))
    except NotJson:
        return None
    return usage_of(told, "tokensIn", "tokensOut", "cacheReads", "cacheWrites")


def _metadata(value: JsonObject, found: Beside) -> None:
    for each in map(as_object, as_list(value.get("model_usage"))):
        found.models.append((as_seconds(each.get("ts")), as_text(each.get("model_id"))))
    found.models.sort()


def _compaction(told: list[JsonObject], found: Beside) -> None:
    """Of a session the newest one is kept: the messages that stand for those before."""
    if len(told) < 2:
        return
    about, first = told
    place, says = as_count(about.get("source_message_count")), as_object(first.get("metadata"))
    if place and says.get("kind") == "compaction_summary":
        at = as_seconds(says.get("generatedAt")) or as_seconds(about.get("updated_at"))
        found.summaries[place] = Summary(as_text(says.get("summary")), as_count(says.get("tokensBefore")), at)


def _first_two(path: Path, tally: Tally) -> Iterator[JsonObject]:
    """What is said of the messages, and the first of them."""
    for number, value in enumerate(_objects(path, tally)):
        yield value
        if number == 1:
            return
