"""A request as the bytes of a Messages API call.

The bytes are stable: the same values give the same bytes, whatever was sent before, so that the prompt cache (which
hashes a prefix) and the signatures of thinking blocks (which bind what precedes them) hold. Between two requests with
the same messages only the cache marks differ. `reply.py` reads what comes back.

Images and documents go as base64, or as words where their bytes are no longer there. Thinking that followed an image is bound to it. Where
its file is gone, the API refuses that thinking once and drops it from then on (`ThinkingRefused` in `anthropic_model.py`): the session goes
on. How many are shown at once: `context/counting/media.py`.
"""

from __future__ import annotations

import asyncio
import base64
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from ullage.context.blocks import (
    Block,
    CompactionBlock,
    Document,
    Image,
    Json,
    Media,
    Message,
    RedactedThinking,
    SystemPart,
    Text,
    Thinking,
    ToolResult,
    ToolSpec,
    ToolUse,
)
from ullage.context.counting.media import Room, Weight, in_words, shown_in, within
from ullage.context.view.request import Request
from ullage.models.model import Effort

MediaBytes: TypeAlias = Callable[[Media], bytes | None]
"""A function that gives the bytes of an image or a document; None if they are no longer there. May be asked from any thread, and reads the
disk."""


def none_kept(media: Media) -> bytes | None:
    """Never has any bytes: for where nothing is kept."""
    return None


def gone(media: Media) -> str:
    """The text that stands for an image or a document that is no longer in the store."""
    return f"[{in_words(media)}: no longer there, its file was removed]"


def _media_json(media: Media, data: str | None) -> dict[str, Json]:
    """The content block for base64 `data`; a text if there is none."""
    if data is None:
        return {"type": "text", "text": gone(media)}
    if isinstance(media, Image):
        return {"type": "image", "source": {"type": "base64", "media_type": media.media_type, "data": data}}
    return {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}}


class Encoded:
    """The base64 texts of what was asked for so far: a file is read and encoded once. What was gone stays gone, so that the prefix
    stays."""

    def __init__(self, read: MediaBytes) -> None:
        self._read = read
        self._known: dict[Media, str | None] = {}
        self.size = 0
        """How many characters of texts are kept."""

    def of(self, media: Media) -> str | None:
        """The base64 text; None if the bytes are no longer there."""
        if media in self._known:
            return self._known[media]
        data = self._read(media)
        text = None if data is None else base64.b64encode(data).decode("ascii")
        self._known[media] = text
        self.size += len(text or "")
        return text

    def forget(self) -> None:
        """Forgets all texts, but not what is gone."""
        self._known = {media: None for media, text in self._known.items() if text is None}
        self.size = 0


CACHE_MARK: dict[str, Json] = {"type": "ephemeral"}
"""What a marked block carries: cached for five minutes, the API's default."""

Mismatch: TypeAlias = Literal["error", "drop_block"]
"""What the API does with thinking that it takes for another conversation's: refuse the request, or leave the thinking out and say so."""

COMPACTION_BETA = "compact-2026-09-04"
BINDING_BETA = "thinking-binding-controls-2026-08-01"

REMEMBERED_BYTES = 32_000_000
"""How many bytes of serialised text a `Serialiser` keeps before it forgets all but the request at hand: a few sessions' worth."""

ROOM = Room(100)
"""The room that every model has, for callers that do not know the model."""

LARGE_TOKENS = 250_000
"""The tokens of messages new to a `Serialiser` from which on these are large: about a megabyte, which takes some 5 ms."""
LARGE_MESSAGES = 2_000
"""The number of messages from which on a request is large: even if all were seen before, putting so many together takes a millisecond and
more."""


class Serialiser:
    """Turns requests into bytes and remembers the bytes of messages it has seen, so that a call costs what is new.

    `media` gives the bytes of images and documents.
    Messages are recognised by identity; a message that was made anew is serialised anew, to the same bytes. Several threads may use it at
    once: what two of them make at the same time is made twice, to the same bytes.
    """

    def __init__(self, media: MediaBytes = none_kept) -> None:
        self._encoded = Encoded(media)
        self._messages: dict[int, _Made] = {}
        self._remembered = 0
        self._at_hand = 0
        self._prelude: tuple[Sequence[SystemPart], Sequence[ToolSpec], bytes] | None = None

    def body(
        self,
        request: Request,
        *,
        opening: Mapping[str, Json],
        max_tokens: int,
        adaptive_thinking: bool,
        effort: Effort | None = None,
        mismatch: Mismatch | None = None,
        room: Room = ROOM,
    ) -> bytes:
        """The JSON body of a streamed call, in UTF-8; `opening` are its first members, as the wire has them (`wire.py`).

        Adaptive thinking is asked for with summaries, since newer models leave its text out by default. `mismatch` is said where
        it is not None; the API's own default is "error". Where `effort` is None it is left to the model. `room` is what the model takes
        of images and documents.
        """
        head: dict[str, Json] = {**opening, "max_tokens": max_tokens}
        if adaptive_thinking:
            head["thinking"] = _thinking(mismatch)
        if effort is not None:
            head["output_config"] = {"effort": effort}
        return self._whole(head, request, room, _compaction(request.summarise))

    def counted_body(
        self, request: Request, *, opening: Mapping[str, Json], adaptive_thinking: bool, mismatch: Mismatch | None = None, room: Room = ROOM
    ) -> bytes:
        """The JSON body of the question how many tokens that request has; headers as for the request itself."""
        head: dict[str, Json] = dict(opening)
        if adaptive_thinking:
            head["thinking"] = _thinking(mismatch)
        return self._whole(head, request, room, b"")

    def _whole(self, head: Mapping[str, Json], request: Request, room: Room, compaction: bytes) -> bytes:
        return b"".join(
            (
                dump(head)[:-1],
                self._prelude_bytes(request),
                b',"messages":[',
                b",".join(self._message_bytes(request, room)),
                b"]",
                compaction,
                b"}",
            )
        )

    async def body_off_the_loop(
        self,
        request: Request,
        *,
        opening: Mapping[str, Json],
        max_tokens: int,
        adaptive_thinking: bool,
        effort: Effort | None = None,
        mismatch: Mismatch | None = None,
        room: Room = ROOM,
    ) -> bytes:
        """The body that `body` makes, made in another thread where the request is large or files are to be read for it.

        A caller that is cancelled meanwhile gets nothing, but what was made is kept.
        """

        def make() -> bytes:
            return self.body(
                request,
                opening=opening,
                max_tokens=max_tokens,
                adaptive_thinking=adaptive_thinking,
                effort=effort,
                mismatch=mismatch,
                room=room,
            )

        return await self._made_off_the_loop(request, make)

    async def counted_body_off_the_loop(
        self, request: Request, *, opening: Mapping[str, Json], adaptive_thinking: bool, mismatch: Mismatch | None = None, room: Room = ROOM
    ) -> bytes:
        """The body that `counted_body` makes, made in another thread where the one of `body` would be."""

        def make() -> bytes:
            return self.counted_body(request, opening=opening, adaptive_thinking=adaptive_thinking, mismatch=mismatch, room=room)

        return await self._made_off_the_loop(request, make)

    async def _made_off_the_loop(self, request: Request, make: Callable[[], bytes]) -> bytes:
        return await asyncio.to_thread(make) if self._is_large(request) else make()

    def _is_large(self, request: Request) -> bool:
        """Whether the request is large, by the estimates of its messages. One without an estimate counts as nothing. Images are always
        large."""
        if len(request.messages) > LARGE_MESSAGES:
            return True
        new = request.messages if self._forgets else [message for message in request.messages if id(message) not in self._messages]
        marked = (request.messages[mark.message] for mark in request.breakpoints)
        if any(shown_in(message) for message in (*new, *marked)):
            return True
        return sum(message.tokens or 0 for message in new) > LARGE_TOKENS

    @property
    def _forgets(self) -> bool:
        """Whether the remembered messages are forgotten with the next request."""
        return not self._messages or self._kept > REMEMBERED_BYTES + self._at_hand

    @property
    def _kept(self) -> int:
        return self._remembered + self._encoded.size

    def _prelude_bytes(self, request: Request) -> bytes:
        known = self._prelude
        if known is None or known[0] is not request.system or known[1] is not request.tools:
            known = (request.system, request.tools, _prelude(request.system, request.tools))
            self._prelude = known
        return known[2]

    def _message_bytes(self, request: Request, room: Room) -> list[bytes]:
        marks: dict[int, set[int]] = {}
        for breakpoint in request.breakpoints:
            marks.setdefault(breakpoint.message, set()).add(breakpoint.block)
        anew = self._forgets
        if anew:
            self._messages.clear()
            self._remembered = 0
            self._encoded.forget()
        weight = Weight()
        made: list[_Made] = []
        for message in request.messages:
            each, weight = self._remembered_message(message, weight, room)
            made.append(each)
        if anew:  # a request that takes more than that alone is not to be made anew each time
            self._at_hand = self._kept
        parts = [each.body for each in made]
        for index, blocks in marks.items():
            parts[index] = self._made(made[index].sent, frozenset(blocks))
        return parts

    def _remembered_message(self, message: Message, weight: Weight, room: Room) -> tuple[_Made, Weight]:
        """The message with its bytes. `weight` is that of the images and documents before it, and with it."""
        known = self._messages.get(id(message))
        if known is not None and known.message is not message:
            known = None
        if known is not None and not known.shows:
            return known, weight
        sent, weight = within(message, weight, room)
        if known is None or known.sent != sent:
            # The message is kept with its bytes: as long as it lives, no other can have its id.
            known = _Made(message, sent, self._made(sent), bool(shown_in(message)))
            self._messages[id(message)] = known
            self._remembered += len(known.body)
        return known, weight

    def _made(self, message: Message, marked: frozenset[int] = frozenset()) -> bytes:
        return message_bytes(message, marked, self._encoded) if shown_in(message) else message_bytes(message, marked)


@dataclass(frozen=True, slots=True)
class _Made:
    """A message as it is sent: without the images that there is no room for."""

    message: Message
    sent: Message
    body: bytes
    shows: bool
    """Whether it shows any images or documents, sent or not."""


def message_bytes(message: Message, marked: frozenset[int] = frozenset(), encoded: Encoded | None = None) -> bytes:
    """One message as JSON; the blocks with the indexes `marked` carry a cache mark."""
    encoded = encoded or Encoded(none_kept)
    content: list[Json] = []
    for index, block in enumerate(message.blocks):
        value = block_json(block, encoded)
        if index in marked and _can_carry_a_mark(block):
            value["cache_control"] = CACHE_MARK
        content.append(value)
    return dump({"role": message.role, "content": content})


def block_json(block: Block, encoded: Encoded | None = None) -> dict[str, Json]:
    """One content block as the Messages API names its parts; `encoded` has the bytes of what it shows."""
    encoded = encoded or Encoded(none_kept)
    match block:
        case Text(text):
            return {"type": "text", "text": text}
        case Thinking(thinking, signature):
            return {"type": "thinking", "thinking": thinking, "signature": signature}
        case RedactedThinking(data):
            return {"type": "redacted_thinking", "data": data}
        case ToolUse(id, name, input):
            return {"type": "tool_use", "id": id, "name": name, "input": dict(input)}
        case Image() | Document():
            return _media_json(block, encoded.of(block))
        case ToolResult(tool_use_id, content, is_error, media):
            shown: list[Json] = [_media_json(each, encoded.of(each)) for each in media]
            result: dict[str, Json] = {
                "type": "tool_result",
                "tool_use_id": tool_use_id,
                "content": [{"type": "text", "text": content}, *shown] if shown else content,
            }
            if is_error:
                result["is_error"] = True
            return result
        case CompactionBlock(json=text):
            return cast("dict[str, Json]", json.loads(text))


def betas(request: Request, mismatch: Mismatch | None = None) -> tuple[str, ...]:
    """The values of the `anthropic-beta` header without which the API does not take the request."""
    compaction = request.block is not None or request.summarise is not None
    return (COMPACTION_BETA,) * compaction + (BINDING_BETA,) * (mismatch is not None)


def _thinking(mismatch: Mismatch | None) -> dict[str, Json]:
    thinking: dict[str, Json] = {"type": "adaptive", "display": "summarized"}
    if mismatch is not None:
        thinking["block_binding"] = {"prefix_mismatch_behavior": mismatch}
    return thinking


def _compaction(instructions: str | None) -> bytes:
    """The member `compaction` with a comma before it; left out where a reply is wanted."""
    if instructions is None:
        return b""
    asked: dict[str, Json] = {"type": "summarize"}
    if instructions.strip():
        asked["instructions"] = instructions
    return b',"compaction":' + dump(asked)


def _prelude(system: Sequence[SystemPart], tools: Sequence[ToolSpec]) -> bytes:
    """The members `system` and `tools`, each with a comma before it; left out where there are none."""
    parts = b""
    if system:
        blocks: list[dict[str, Json]] = [{"type": "text", "text": part.text} for part in system]
        blocks[-1]["cache_control"] = CACHE_MARK
        parts += b',"system":' + dump(blocks)
    if tools:
        parts += b',"tools":' + dump([_tool(tool) for tool in tools])
    return parts


def _tool(tool: ToolSpec) -> dict[str, Json]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": dict(tool.input_schema),
    }


def _can_carry_a_mark(block: Block) -> bool:
    return not isinstance(block, Thinking | RedactedThinking)


def dump(value: Mapping[str, Json] | Sequence[Mapping[str, Json]]) -> bytes:
    """The value as JSON without spaces, in UTF-8."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:  # an older log may have a number that JSON cannot hold
        text = json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"))
    # Half of a surrogate pair, as a tool may find in a broken file, has no UTF-8; it becomes a question mark.
    return text.encode("utf-8", errors="replace")


def _finite(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in cast(Mapping[str, object], value).items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in cast(Sequence[object], value)]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
