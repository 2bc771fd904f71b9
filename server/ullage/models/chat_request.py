"""A request as the bytes of a Chat Completions call.

The bytes are stable: the same values give the same bytes, so a server that keeps prefixes finds them again. There are no cache marks on
this wire: `Request.breakpoints` are not sent.

The wire knows less than the Messages API. A result of a tool is text alone, so an image in it is shown by the user's message behind it.
A PDF is described in words. Thinking goes back only where this wire brought it, under the name by which it came. Where it came with
signatures (`reasoning_details`), these go back instead, as they came.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence

from ullage.context.blocks import (
    SEALED_REASONING,
    Block,
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
from ullage.models.chat_dialect import REASONING, Dialect
from ullage.models.model import Effort
from ullage.models.serialise import LARGE_MESSAGES, LARGE_TOKENS, REMEMBERED_BYTES, Encoded, MediaBytes, dump, gone, none_kept

SHOWN_BY = "[What the tool {id} shows:]"
"""Stands before images of a result, in the user's message that shows them."""


class ChatSerialiser:
    """Turns requests into bytes, and remembers those of messages without images, so that a call costs what is new.

    `media` gives the bytes of images. Messages are recognised by identity. Several threads may use it at once: what two of them make at the
    same time is made twice, to the same bytes.
    """

    def __init__(self, media: MediaBytes = none_kept) -> None:
        self._encoded = Encoded(media)
        self._known: dict[tuple[int, bool], tuple[Message, bytes]] = {}
        """Messages and their bytes, by the message's id and whether what was thought is in them."""
        self._remembered = 0

    def body(self, request: Request, *, model: str, max_tokens: int, effort: Effort | None, dialect: Dialect, room: Room) -> bytes:
        """The JSON body of a streamed call, in UTF-8."""
        most = max_tokens if dialect.most_output is None else min(max_tokens, dialect.most_output)
        head: dict[str, Json] = {"model": model, "stream": True, dialect.limit: most}
        if dialect.usage:
            head["stream_options"] = {"include_usage": True}
        if effort is not None and dialect.effort:
            head["reasoning_effort"] = effort
        if request.tools:
            head["tools"] = [_tool(tool) for tool in request.tools]
        system = [dump(each) for each in _system(request.system)]
        messages = b",".join((*system, *self._messages(request.messages, dialect, room)))
        return dump(head)[:-1] + b',"messages":[' + messages + b"]}"

    async def body_off_the_loop(
        self, request: Request, *, model: str, max_tokens: int, effort: Effort | None, dialect: Dialect, room: Room
    ) -> bytes:
        """The JSON body that `body` makes, made in another thread where the request is large or files are to be read for it."""

        def make() -> bytes:
            return self.body(request, model=model, max_tokens=max_tokens, effort=effort, dialect=dialect, room=room)

        return await asyncio.to_thread(make) if self._is_large(request, dialect) else make()

    def _is_large(self, request: Request, dialect: Dialect) -> bool:
        if len(request.messages) > LARGE_MESSAGES or any(shown_in(message) for message in request.messages):
            return True
        new = (message for message in request.messages if (id(message), dialect.reasoning) not in self._known)
        return sum(message.tokens or 0 for message in new) > LARGE_TOKENS

    def _messages(self, messages: Sequence[Message], dialect: Dialect, room: Room) -> Iterator[bytes]:
        if self._remembered > REMEMBERED_BYTES:
            self._known.clear()
            self._remembered = 0
        if self._encoded.size > REMEMBERED_BYTES:
            self._encoded.forget()
        weight = Weight()
        for message in messages:
            key = (id(message), dialect.reasoning)
            known = self._known.get(key)
            if known is not None and known[0] is message:
                made = known[1]
            elif shown_in(message):
                sent, weight = within(message, weight, room)
                made = b",".join(dump(each) for each in chat_messages(sent, self._encoded, reasoning=dialect.reasoning))
            else:
                made = b",".join(dump(each) for each in chat_messages(message, self._encoded, reasoning=dialect.reasoning))
                self._known[key] = (message, made)  # as long as it is kept, no other can have its id
                self._remembered += len(made)
            if made:
                yield made


def chat_messages(message: Message, encoded: Encoded | None = None, *, reasoning: bool = True) -> Iterator[dict[str, Json]]:
    """One message of the conversation as the messages of this wire: results first, each in its own, then what the user says and shows."""
    if message.role == "assistant":
        said = _assistant(message.blocks, reasoning=reasoning)
        if said is not None:
            yield said
        return
    encoded = encoded or Encoded(none_kept)
    parts: list[dict[str, Json]] = []
    for block in message.blocks:
        if isinstance(block, ToolResult):
            yield {"role": "tool", "tool_call_id": block.tool_use_id, "content": block.content}
            if block.media:
                parts += [_text(SHOWN_BY.format(id=block.tool_use_id)), *(_shown(each, encoded) for each in block.media)]
    parts += [_part(block, encoded) for block in message.blocks if isinstance(block, Text | Image | Document)]
    if parts:
        yield {"role": "user", "content": _content(parts)}


def _system(system: Sequence[SystemPart]) -> Iterator[dict[str, Json]]:
    """The system prompt as one message: chat templates that know only one would refuse several."""
    if system:
        yield {"role": "system", "content": "\n\n".join(part.text for part in system)}


def _tool(tool: ToolSpec) -> dict[str, Json]:
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.input_schema)},
    }


def _assistant(blocks: Sequence[Block], *, reasoning: bool) -> dict[str, Json] | None:
    """The message of the assistant; None if nothing of it can be sent."""
    said = "\n\n".join(block.text for block in blocks if isinstance(block, Text))
    calls: list[Json] = [_call(block) for block in blocks if isinstance(block, ToolUse)]
    if not said and not calls:
        return None
    message: dict[str, Json] = {"role": "assistant", "content": said or None}
    sealed = next((block.data for block in blocks if isinstance(block, RedactedThinking) and block.data.startswith(SEALED_REASONING)), None)
    if sealed is not None and reasoning:
        message["reasoning_details"] = json.loads(sealed.removeprefix(SEALED_REASONING))
    for name in REASONING if reasoning and sealed is None else ():
        thought = "\n\n".join(block.thinking for block in blocks if isinstance(block, Thinking) and block.signature == name)
        if thought:
            message[name] = thought
    if calls:
        message["tool_calls"] = calls
    return message


def _call(call: ToolUse) -> dict[str, Json]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": dump(call.input).decode()}}


def _part(block: Text | Media, encoded: Encoded) -> dict[str, Json]:
    return _text(block.text) if isinstance(block, Text) else _shown(block, encoded)


def _text(text: str) -> dict[str, Json]:
    return {"type": "text", "text": text}


def _shown(media: Media, encoded: Encoded) -> dict[str, Json]:
    if isinstance(media, Document):
        return _text(f"[{in_words(media)}: this model's server takes no PDFs]")
    data = encoded.of(media)
    if data is None:
        return _text(gone(media))
    return {"type": "image_url", "image_url": {"url": f"data:{media.media_type};base64,{data}"}}


def _content(parts: Sequence[Mapping[str, Json]]) -> Json:
    """The parts as the content of a message: plain text where there is nothing else, since some servers take no list."""
    texts = [part["text"] for part in parts if part["type"] == "text"]
    if len(texts) == len(parts):
        return "\n\n".join(str(text) for text in texts)
    return [dict(part) for part in parts]
