"""The seam to the language models of the editor: what it offers, what one of them is asked, and what comes back.

VS Code is such an editor: its own models (Copilot) and those that extensions of the user bring. Nothing of the wire is in here: `lsp/`
fills the seam with requests to the client, and whoever has no such client takes `NO_EDITOR_MODELS`. The model behind it: `editor_model.py`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model, as the editor describes it."""

    id: str
    """Who brings it and what they call it, with a slash between them: `copilot/gpt-5.5`. The same in every window and after every start."""
    display_name: str
    vendor: str
    window: int
    """The most tokens that may be sent in one request."""
    images: bool
    """Whether it can be shown images, as far as the editor says."""
    tools: bool | None
    """Whether it can call tools; None if the editor does not say."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text, of the user or of the model."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image that the user shows; `data` is base64."""

    media_type: str
    data: str


@dataclass(frozen=True, slots=True)
class ThinkingPart:
    """Something that the model thought. It never goes back: VS Code has no stable part for that."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A call of a tool; `input` is JSON text, whatever a model made of it."""

    call_id: str
    name: str
    input: str


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    """What a tool gave back, in a message of the user."""

    call_id: str
    text: str


SentPart: TypeAlias = TextPart | ImagePart | ToolCallPart | ToolResultPart
ReplyPart: TypeAlias = TextPart | ThinkingPart | ToolCallPart


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message. There is no system role: what belongs there is the user's first message (VS Code's guide to the API says so)."""

    role: Literal["user", "assistant"]
    parts: tuple[SentPart, ...]


@dataclass(frozen=True, slots=True)
class ChatTool:
    """A tool that the model may call; `input_schema` is JSON text."""

    name: str
    description: str
    input_schema: str


@dataclass(frozen=True, slots=True)
class Chat:
    """One request. How long the reply may be cannot be said: each vendor decides."""

    model: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[ChatTool, ...]


Reason: TypeAlias = Literal["notAllowed", "blocked", "quota", "busy", "gone", "other"]
"""Why no reply came, or no whole one: the user did not allow it; the vendor stops Ullage for a while; the quota is used up; the vendor
limits how often it may be asked; the model is not there any more; anything else."""


class ChatFailed(Exception):
    """No whole reply came. `said` is what the editor or the vendor said of it, and may be anything."""

    def __init__(self, reason: Reason, said: str) -> None:
        super().__init__(reason)
        self.reason: Reason = reason
        self.said = said


class NoEditorModels(Exception):
    """The editor at the other end has no language models for others, or there is no editor."""


class EditorModels(Protocol):
    """The language models that the editor offers."""

    async def listed(self) -> Sequence[ListedModel]:
        """The models that the editor offers now; nobody is asked for consent. Raises `NoEditorModels`."""
        ...

    def chat(self, chat: Chat) -> AsyncGenerator[ReplyPart, None]:
        """Asks one of the models, and gives its reply as it comes. Raises `ChatFailed` and `NoEditorModels`.

        The editor may ask the user first whether Ullage may do so. Closing the generator stops the model.
        """
        ...

    async def count(self, model: str, texts: Sequence[str]) -> Sequence[int | None]:
        """The tokens of each text by that model's tokenizer; None for a text that it could not count. Never raises."""
        ...


class _None:
    """Stands for the editor's models where no editor offers any."""

    async def listed(self) -> Sequence[ListedModel]:
        raise NoEditorModels

    async def chat(self, chat: Chat) -> AsyncGenerator[ReplyPart, None]:
        raise NoEditorModels
        yield  # which makes it a generator

    async def count(self, model: str, texts: Sequence[str]) -> Sequence[int | None]:
        return [None] * len(texts)


NO_EDITOR_MODELS: EditorModels = _None()
"""For front ends whose editor offers no models."""
