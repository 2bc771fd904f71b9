"""Calls of the Anthropic model to a server that answers as a test says."""

from __future__ import annotations

import json

import pytest

from tests.unit.models.scripted_server import Answer, ScriptedServer, ended, error, sse, started, text
from ullage.context.blocks import Message, SystemPart, Text, ToolSpec
from ullage.context.view.request import Breakpoint, Request
from ullage.models.anthropic_model import AnthropicModel
from ullage.models.errors import (
    ModelError,
)
from ullage.models.model import ModelEvent

KEY = "sk-ant-test-0123456789"
HELLO = sse(started(input_tokens=10), *text(0, "Hel", "lo"), *ended())


def request(*texts: str) -> Request:
    """One with a system prompt, a tool and these messages of the user."""
    messages = [Message("user", (Text(each),), (1,)) for each in texts or ("hello",)]
    tools = (ToolSpec("bash", "Runs a command", {"type": "object", "properties": {}}),)
    return Request((SystemPart("system", "You are Ullage."),), tools, messages, (Breakpoint(len(messages) - 1, 0),))


class Naps:
    """A clock that does not wait: it only keeps what it was asked for."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


def model_at(url: str, *, key: str | None = KEY, naps: Naps | None = None, name: str = "claude-test") -> AnthropicModel:
    """A model at an address of a test."""
    return AnthropicModel(name, api_key=key, base_url=url, sleep=naps or Naps(), dice=lambda: 0.0)


async def events_of(*answers: Answer, naps: Naps | None = None) -> list[ModelEvent]:
    """All that comes of a call that is answered so, one answer an attempt."""
    async with ScriptedServer(*answers) as server:
        model = model_at(server.url, naps=naps)
        events = [event async for event in model.stream(request(), 1000)]
        await model.aclose()
        return events


async def failure_of(answer: Answer, *, key: str | None = KEY) -> ModelError:
    """How a call fails that is answered so."""
    async with ScriptedServer(answer) as server:
        model = model_at(server.url, key=key)
        with pytest.raises(ModelError) as caught:
            async for _ in model.stream(request(), 1000):
                pass
        await model.aclose()
        return caught.value


def refusal(status: str, kind: str, message: str) -> Answer:
    """An answer of an error in the API's form."""
    return Answer(json.dumps(error(kind, message)), status, "application/json")
