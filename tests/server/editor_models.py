"""An editor's language models for tests, as strict as those of VS Code and Copilot are.

What VS Code's `vscode.lm` and Copilot's provider refuse, this refuses, and says so in `refused`: a role that there is not, a result without
its call, anything but results right behind calls, a part in the wrong message, input that is no object, a tool without a usable name, no
message at all, a prompt over the window.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.server.client import UllageClient
from ullage.lsp import protocol
from ullage.lsp.protocol import editor as wire

WINDOW = 64_000


@dataclass(frozen=True, slots=True)
class Fail:
    """The reply ends with this failure."""

    reason: Any
    said: str


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing more comes."""


Step = wire.ReplyPart | Fail | Hang
Reply = Sequence[Step]


def say(text: str) -> list[Step]:
    return [wire.ChatText(text)]


def call(name: str, given: object, call_id: str = "call_1") -> wire.ChatToolCall:
    return wire.ChatToolCall(call_id, name, given if isinstance(given, str) else json.dumps(given))


@dataclass
class EditorModels:
    """The models of one editor window, which answer by a script. `connect` puts them behind a client."""

    models: list[wire.EditorModel] = field(
        default_factory=lambda: [
            wire.EditorModel("copilot/gpt", "GPT", "copilot", WINDOW, images=True, tools=True),
            wire.EditorModel("acme/small", "Small", "acme", 8_000, tools=None),
        ]
    )
    script: list[Reply] = field(default_factory=list[Reply])
    otherwise: Callable[[wire.ChatParams], Reply] = lambda _: say("All right.")
    chats: list[wire.ChatParams] = field(default_factory=list[wire.ChatParams])
    counted: list[str] = field(default_factory=list[str])
    refused: list[str] = field(default_factory=list[str])
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    tokens: Callable[[str], int] = lambda text: max(1, len(text) // 3)

    def connect(self, client: UllageClient) -> None:
        """That client has these models."""
        self._client = client

        async def chat(ls: UllageClient, params: wire.ChatParams) -> wire.ChatResult:
            return await self._chat(params)

        def listed(ls: UllageClient, _: object) -> wire.EditorModelsResult:
            return wire.EditorModelsResult(self.models)

        def count(ls: UllageClient, params: wire.CountTokensParams) -> wire.CountTokensResult:
            return self._count(params)

        client.feature(protocol.EDITOR_MODELS)(listed)
        client.feature(protocol.COUNT_TOKENS)(count)
        client.feature(protocol.CHAT)(chat)

    def change(self, *models: wire.EditorModel) -> None:
        """It has these from now on, and says that they changed."""
        self.models = list(models)
        self._client.protocol.notify(protocol.EDITOR_MODELS_CHANGED, protocol.Nothing())

    def _count(self, params: wire.CountTokensParams) -> wire.CountTokensResult:
        self.counted += params.texts
        return wire.CountTokensResult([self.tokens(text) for text in params.texts])

    async def _chat(self, params: wire.ChatParams) -> wire.ChatResult:
        self.chats.append(params)
        model = next((each for each in self.models if each.id == params.model), None)
        if model is None:
            return wire.ChatResult(wire.ChatFailure("gone", ""))
        problem = problem_of(params, model)
        if problem is not None:
            self.refused.append(problem)
            return wire.ChatResult(wire.ChatFailure("other", problem))
        try:
            for step in self.script.pop(0) if self.script else self.otherwise(params):
                if isinstance(step, Fail):
                    return wire.ChatResult(wire.ChatFailure(step.reason, step.said))
                if isinstance(step, Hang):
                    await asyncio.Event().wait()
                else:
                    self._client.protocol.notify(protocol.CHAT_PARTS, wire.ChatPartsParams(params.chat_id, [step]))
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return wire.ChatResult()


def problem_of(params: wire.ChatParams, model: wire.EditorModel) -> str | None:
    """What VS Code or Copilot would refuse of a request; None where they take it."""
    if not params.messages:
        return "Invalid request: no messages."
    for tool in params.tools:
        if not re.fullmatch(r"[\w-]+", tool.name) or not isinstance(json.loads(tool.input_schema), dict):
            return f'Invalid tool name "{tool.name}"'
    if len(params.tools) > 128:
        return "Cannot have more than 128 tools per request."
    return _of_messages(params.messages, model) or _of_size(params, model)


def _of_messages(messages: Sequence[wire.ChatMessage], model: wire.EditorModel) -> str | None:
    waiting: set[str] = set()
    for message in messages:
        kinds = {type(part) for part in message.parts}
        if not message.parts:
            return "an empty message"
        results = [part.call_id for part in message.parts if isinstance(part, wire.ChatToolResult)]
        if waiting and (message.role != "user" or kinds != {wire.ChatToolResult}):
            return "Invalid request: Tool call part must be followed by a User message with a LanguageModelToolResultPart."
        if not set(results) <= waiting or len(set(results)) != len(results):
            return "a result without its call"
        waiting -= set(results)
        if message.role == "user" and wire.ChatToolCall in kinds:
            return "a call in a message of the user"
        if message.role == "assistant" and kinds & {wire.ChatToolResult, wire.ChatImage}:
            return "a result or an image in a message of the model"
        if wire.ChatImage in kinds and not model.images:
            return "this model takes no images"
        calls = [part for part in message.parts if isinstance(part, wire.ChatToolCall)]
        if any(not isinstance(json.loads(each.input), dict) for each in calls):
            return "the input of a call is no object"
        waiting |= {each.call_id for each in calls}
        if any(isinstance(part, wire.ChatText) and not part.text for part in message.parts):
            return "an empty text"
    return "a call without its result" if waiting else None


def _of_size(params: wire.ChatParams, model: wire.EditorModel) -> str | None:
    texts = [part.text for message in params.messages for part in message.parts if isinstance(part, wire.ChatText | wire.ChatToolResult)]
    tools = sum(len(tool.name) + len(tool.description) + len(tool.input_schema) for tool in params.tools)
    return "Message exceeds token limit." if (sum(map(len, texts)) + tools) // 3 > model.window else None
