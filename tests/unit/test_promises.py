"""The promises on the model's wire, over random histories, with the strict fake's validator as the judge."""

from __future__ import annotations

import json
from typing import Any, cast

from hypothesis import given

from tests.fake_api import validate_request
from tests.unit.context.strategies import histories
from ullage.context.blocks import SystemPart, ToolSpec
from ullage.context.entries import Logged, Prelude, UserPrompt
from ullage.context.view.projection import Projection, project
from ullage.context.view.request import Request, build_request
from ullage.models.serialise import Serialiser, betas

MODEL = "claude-opus-5-5"
PRELUDE = Prelude((SystemPart("system", "You are an agent."),), (ToolSpec("bash", "Runs it.", {"type": "object", "properties": {}}),))


def on_the_wire(request: Request, serialiser: Serialiser | None = None) -> dict[str, Any]:
    body = (serialiser or Serialiser()).body(request, opening={"model": MODEL, "stream": True}, max_tokens=8_000, adaptive_thinking=True)
    return cast("dict[str, Any]", json.loads(body))


def without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_marks(each) for key, each in cast("dict[str, Any]", value).items() if key != "cache_control"}
    if isinstance(value, list):
        return [without_marks(each) for each in cast("list[Any]", value)]
    return value


def asking(log: list[Logged]) -> list[Logged]:
    """The history with a prelude before it and a prompt after it, so that there is something to ask."""
    moved = [Logged(1, 0.0, PRELUDE), *(Logged(each.seq + 1, each.at, each.entry) for each in log)]
    return [*moved, Logged(moved[-1].seq + 1, 0.0, UserPrompt("last", "Go on, please."))]


@given(histories())
def test_whatever_happened_the_next_request_is_one_that_the_api_takes(log: list[Logged]) -> None:
    request = build_request(project(asking(log)))
    validate_request(on_the_wire(request), betas=betas(request))


@given(histories())
def test_every_request_is_the_beginning_of_the_next_one_of_its_epoch(log: list[Logged]) -> None:
    serialiser = Serialiser()
    projection = Projection()
    before: tuple[object, dict[str, Any]] | None = None
    for logged in asking(log):
        projection.append(logged)
        messages = projection.complete_messages
        if projection.prelude is None or not messages or messages[-1].role != "user" or projection.pending_tool_uses:
            continue
        body = without_marks(on_the_wire(build_request(projection), serialiser))
        if before is not None and before[0] == projection.key:
            assert begins_with(body["messages"], before[1]["messages"])
            assert (body["system"], body.get("tools")) == (before[1]["system"], before[1].get("tools"))
        before = (projection.key, body)


def begins_with(longer: list[dict[str, Any]], shorter: list[dict[str, Any]]) -> bool:
    """Whether all blocks of `shorter` come first in `longer`; its last message may have got more blocks."""
    *whole, last = shorter
    if longer[: len(whole)] != whole:
        return False
    at_its_place = longer[len(whole)]
    return at_its_place["role"] == last["role"] and at_its_place["content"][: len(last["content"])] == last["content"]
