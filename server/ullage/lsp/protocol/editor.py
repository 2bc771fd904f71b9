"""The wire types of what the editor has: language models, problems, unsaved files. See PROTOCOL.md, "The editor's language models"."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import attrs

from ullage.lsp.protocol.items import Id


@attrs.frozen
class EditorModel:
    """A language model of the editor; `id` is the vendor and its own name for the model, `window` tokens of input."""

    id: str
    name: str
    vendor: str
    window: int
    images: bool | None = None
    tools: bool | None = None


@attrs.frozen
class EditorModelsResult:
    """Result of `ullage/editor/models`."""

    models: list[EditorModel]


@attrs.frozen
class ChatText:
    """A text, of the user or of the model."""

    text: str


@attrs.frozen
class ChatImage:
    """An image that the user shows; `data` is base64."""

    media_type: str
    data: str


@attrs.frozen
class ChatThinking:
    """A text that the model thought."""

    text: str


@attrs.frozen
class ChatToolCall:
    """A call of a tool; `input` is JSON text."""

    call_id: str
    name: str
    input: str


@attrs.frozen
class ChatToolResult:
    """The result of a tool call."""

    call_id: str
    text: str


SentPart: TypeAlias = ChatText | ChatImage | ChatToolCall | ChatToolResult
SENT_KINDS: dict[type[Any], str] = {ChatText: "text", ChatImage: "image", ChatToolCall: "toolCall", ChatToolResult: "toolResult"}

ReplyPart: TypeAlias = ChatText | ChatThinking | ChatToolCall
REPLY_KINDS: dict[type[Any], str] = {ChatText: "text", ChatThinking: "thinking", ChatToolCall: "toolCall"}


@attrs.frozen
class ChatMessage:
    """One message of the conversation that the model is sent."""

    role: Literal["user", "assistant"]
    parts: list[SentPart]


@attrs.frozen
class ChatTool:
    """A tool that may be called; `input_schema` is JSON text."""

    name: str
    description: str
    input_schema: str


@attrs.frozen
class ChatParams:
    """Params of `ullage/editor/chat`."""

    chat_id: Id
    model: str
    messages: list[ChatMessage]
    tools: list[ChatTool]


@attrs.frozen
class ChatFailure:
    """Why no whole reply came; `said` are the words of the editor or the vendor."""

    reason: Literal["notAllowed", "blocked", "quota", "busy", "gone", "other"]
    said: str


@attrs.frozen
class ChatResult:
    """Result of `ullage/editor/chat`: the reply is over. Without a failure it is whole."""

    failure: ChatFailure | None = None


@attrs.frozen
class ChatPartsParams:
    """Params of `ullage/editor/chatParts`: the next parts of a reply."""

    chat_id: Id
    parts: list[ReplyPart]


@attrs.frozen
class CountTokensParams:
    """Params of `ullage/editor/countTokens`."""

    model: str
    texts: list[str]


@attrs.frozen
class CountTokensResult:
    """Result of `ullage/editor/countTokens`: tokens of each text, 0 for one that could not be counted."""

    counts: list[int]


@attrs.frozen
class DiagnosticsParams:
    """Params of `ullage/editor/diagnostics`; without a URI all files are meant."""

    uri: str | None = None


@attrs.frozen
class DirtyParams:
    """Params of `ullage/editor/dirty`: whether that version of an open document has changes that are not saved."""

    uri: str
    version: int
    is_dirty: bool


@attrs.frozen
class Problem:
    """One problem as the editor's language servers report it. `line` counts from 1."""

    uri: str
    line: int
    severity: Literal["error", "warning", "information", "hint"]
    source: str
    message: str


@attrs.frozen
class DiagnosticsResult:
    """Result of `ullage/editor/diagnostics`."""

    problems: list[Problem]
