"""The content blocks a message is made of, as the Messages API names them, and the message itself.

Pure values. `models/` knows how they look on the model's wire, `store/` how they are kept on disk.

The id and the name of a call must be such that it can go back to the API. The API takes only what matches its own patterns
(`tests/fake_api/rules/blocks.py` has them, by its error reports). A model behind another server, or a log of an earlier version, may have
others; a request that holds one is refused, and so is every later one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast

Json: TypeAlias = str | int | float | bool | list["Json"] | dict[str, "Json"] | None
"""A JSON value. Key order is kept: it is part of what the prompt cache hashes."""

Role: TypeAlias = Literal["user", "assistant"]

ImageType: TypeAlias = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
"""The types of images that the API takes."""
IMAGE_TYPES: tuple[ImageType, ...] = ("image/png", "image/jpeg", "image/gif", "image/webp")

_SHA256 = re.compile(r"[0-9a-f]{64}")

MOST_TOKENS = 20_000_000
"""Tokens of one call. The largest window that any model was announced with is 10 million."""

_NOT_IN_AN_ID = re.compile(r"[^a-zA-Z0-9_-]")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")

LONGEST_ID = 128
"""Characters of an id. The API names no limit; its own ids have 30, and each is sent twice in every later request."""

NO_ID = "call"
"""The id of a call that came without one."""
NOT_A_NAME = "invalid_tool_name"
"""The name for a call whose own name no tool can have. No tool has this one."""
CALLED_AS = "called_as"
"""The key in the input of such a call under which the name stands that the model called."""


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text, said by either side. Never empty in a request (the API refuses it)."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A model's thinking with the signature that binds it to everything before it; goes back whole or not at all."""

    thinking: str
    signature: str


PLAIN_THINKING = frozenset({"reasoning_content", "reasoning"})
"""Stands for the signature where a server of Chat Completions sent thinking as plain text: the name by which it came, and goes back. It is
nothing to the Messages API."""

SEALED_REASONING = "reasoning_details:"
"""How `RedactedThinking.data` begins where it is the list of that name, which OpenRouter and LiteLLM send: thinking of whatever vendor with
its signatures, as JSON. It goes back to that wire as it came, and never to the Messages API."""


@dataclass(frozen=True, slots=True)
class RedactedThinking:
    """Thinking that only the API can read; goes back whole or not at all."""

    data: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A model's call of a tool. `input` keeps the key order in which the model wrote it."""

    id: str
    name: str
    input: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Image:
    """An image that the model is shown: which one it is. Its bytes are not in here; the store keeps them by their hash.

    `width` and `height` are in pixels, `size` in bytes. Raises `ValueError` for values that no image can have.
    """

    sha256: str
    media_type: ImageType
    width: int
    height: int
    size: int

    def __post_init__(self) -> None:
        _check(self.sha256, self.width, self.height, self.size)
        if self.media_type not in IMAGE_TYPES:
            raise ValueError(f"the API takes no {self.media_type!r}")


@dataclass(frozen=True, slots=True)
class Document:
    """A PDF that the model is shown: which one it is, without its bytes. `size` is in bytes. Raises `ValueError` for values that no PDF can
    have."""

    sha256: str
    pages: int
    size: int

    def __post_init__(self) -> None:
        _check(self.sha256, self.pages, self.size)


Media: TypeAlias = Image | Document


def _check(sha256: str, *counts: int) -> None:
    if not _SHA256.fullmatch(sha256):  # the hash becomes the name of a file
        raise ValueError(f"{sha256!r} is no SHA-256 in hex")
    if min(counts) < 1:
        raise ValueError(f"something without size: {counts}")


def base64_size(media: Media) -> int:
    """Bytes that the image or document takes in a request, in base64."""
    return (media.size + 2) // 3 * 4


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back for the `ToolUse` with the same id. Where it is an error the API takes no `media` in it."""

    tool_use_id: str
    content: str
    is_error: bool = False
    media: tuple[Media, ...] = ()

    def __post_init__(self) -> None:
        if self.is_error and self.media:
            raise ValueError("an error shows no images")


@dataclass(frozen=True, slots=True)
class CompactionBlock:
    """The API's own summary of the messages that it takes the place of (anthropic-api.md 2.4). Signed: goes back as it came, first of all.

    `json` is the whole block as JSON text, `model` the one that wrote it, as the API named it: with a compaction by the same model
    thinking of the turns that were kept stays valid.
    """

    json: str
    model: str

    @property
    def content(self) -> str:
        """The summary, for reading and counting."""
        value: object = json.loads(self.json)
        content = cast("dict[str, object]", value).get("content") if isinstance(value, dict) else None
        return content if isinstance(content, str) else ""


AssistantBlock: TypeAlias = Text | Thinking | RedactedThinking | ToolUse
UserBlock: TypeAlias = Text | Media
"""The blocks that a prompt is made of."""
Block: TypeAlias = AssistantBlock | ToolResult | Media | CompactionBlock


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it. `input_schema` is a JSON schema object."""

    name: str
    description: str
    input_schema: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class SystemPart:
    """One part of the system prompt; `category` says under which name the gauge counts it."""

    category: Literal["system", "rules"]
    text: str
    name: str = field(default="", compare=False, repr=False)
    """The file that the text is from; empty if it is from none. The model does not read it, so it makes no difference to the prelude."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call by price class, as the API reports them.

    Total input is the sum of the three input classes (the API's `input_tokens` leaves out what was cached).
    """

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int = 0
    cache_write_5m_tokens: int = 0
    cache_write_1h_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        """The usage of both calls together."""
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_5m_tokens + other.cache_write_5m_tokens,
            self.cache_write_1h_tokens + other.cache_write_1h_tokens,
        )

    @property
    def total_input_tokens(self) -> int:
        """All tokens that were sent, cached or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_5m_tokens + self.cache_write_1h_tokens

    @property
    def context_tokens(self) -> int:
        """Tokens that the context holds after this call: all that was sent and all that came back."""
        return self.total_input_tokens + self.output_tokens

    @property
    def can_be(self) -> bool:
        """Whether any call can have used these tokens: none is below zero, and all together are no more than `MOST_TOKENS`."""
        least = min(self.input_tokens, self.output_tokens, self.cache_read_tokens, self.cache_write_5m_tokens, self.cache_write_1h_tokens)
        return least >= 0 and self.context_tokens <= MOST_TOKENS


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a request. `sources[i]` is the seq of the log entry that `blocks[i]` comes from."""

    role: Role
    blocks: tuple[Block, ...]
    sources: tuple[int, ...]
    tokens: int | None = field(default=None, init=False, repr=False, compare=False)
    """Tokens of the message by the estimate; None until it was weighed (`counting/tokens.py`). They never change, and every plan asks for
    them."""


def valid_id(text: str) -> str:
    """An id that the API takes, made of any text. Equal texts give equal ids; different texts may, too."""
    return _NOT_IN_AN_ID.sub("_", text[:LONGEST_ID]) or NO_ID


def is_valid_name(text: str) -> bool:
    """Whether the API takes this text as the name of a tool."""
    return _NAME.fullmatch(text) is not None


def valid_name(text: str) -> str:
    """The name if the API takes it, else `NOT_A_NAME`: another spelling could be the name of a tool that nobody called."""
    return text if is_valid_name(text) else NOT_A_NAME
