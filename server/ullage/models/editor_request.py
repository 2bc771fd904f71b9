"""A request as messages of the editor's language models.

They know less than the Messages API, and less than Chat Completions: there is no system role, and nothing is said of caches. Copilot takes
results of tools only in messages that hold nothing else, right behind the message with the calls. So what the user says beside them follows
in a message of its own, with the images of these results.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from ullage.context.blocks import Block, Document, Image, Media, Message, Text, ToolResult, ToolUse
from ullage.context.counting.media import Room, Weight, in_words, shown_in, within
from ullage.context.view.request import Request
from ullage.models.chat_request import SHOWN_BY
from ullage.models.editor_models import Chat, ChatMessage, ChatTool, ImagePart, SentPart, TextPart, ToolCallPart, ToolResultPart
from ullage.models.serialise import LARGE_TOKENS, REMEMBERED_BYTES, Encoded, MediaBytes, dump, gone, none_kept


class EditorRequests:
    """Makes requests for one model. `media` gives the bytes of images, which are read and encoded once."""

    def __init__(self, media: MediaBytes = none_kept) -> None:
        self._encoded = Encoded(media)

    def chat(self, request: Request, *, model: str, room: Room) -> Chat:
        """The request, with as many images as there is room for."""
        if self._encoded.size > REMEMBERED_BYTES:
            self._encoded.forget()
        tools = tuple(ChatTool(tool.name, tool.description, dump(dict(tool.input_schema)).decode()) for tool in request.tools)
        return Chat(model, (*_system(request), *self._messages(request.messages, room)), tools)

    async def chat_off_the_loop(self, request: Request, *, model: str, room: Room) -> Chat:
        """The request that `chat` makes, made in another thread where it is large or files are to be read for it."""
        large = sum(message.tokens or 0 for message in request.messages) > LARGE_TOKENS
        if large or any(shown_in(message) for message in request.messages):
            return await asyncio.to_thread(self.chat, request, model=model, room=room)
        return self.chat(request, model=model, room=room)

    def _messages(self, messages: Sequence[Message], room: Room) -> Iterator[ChatMessage]:
        weight = Weight()
        for message in messages:
            sent, weight = within(message, weight, room) if shown_in(message) else (message, weight)
            yield from self._of(sent)

    def _of(self, message: Message) -> Iterator[ChatMessage]:
        if message.role == "assistant":
            said = tuple(_assistant(message.blocks))
            if said:
                yield ChatMessage("assistant", said)
            return
        results: list[SentPart] = []
        others: list[SentPart] = []
        for block in message.blocks:
            if isinstance(block, ToolResult):
                results.append(ToolResultPart(block.tool_use_id, block.content))
                if block.media:
                    others += [TextPart(SHOWN_BY.format(id=block.tool_use_id)), *map(self._shown, block.media)]
        for block in message.blocks:
            if isinstance(block, Text):
                others.append(TextPart(block.text))
            elif isinstance(block, Image | Document):
                others.append(self._shown(block))
        yield from (ChatMessage("user", tuple(parts)) for parts in (results, others) if parts)

    def _shown(self, media: Media) -> TextPart | ImagePart:
        if isinstance(media, Document):
            return TextPart(f"[{in_words(media)}: the editor's models take no PDFs]")
        data = self._encoded.of(media)
        return TextPart(gone(media)) if data is None else ImagePart(media.media_type, data)


def _system(request: Request) -> Iterator[ChatMessage]:
    if request.system:
        yield ChatMessage("user", (TextPart("\n\n".join(part.text for part in request.system)),))


def _assistant(blocks: Sequence[Block]) -> Iterator[SentPart]:
    """The parts of a reply that go back: what was said and called. What was thought does not."""
    said = "\n\n".join(block.text for block in blocks if isinstance(block, Text))
    if said:
        yield TextPart(said)
    yield from (ToolCallPart(block.id, block.name, dump(block.input).decode()) for block in blocks if isinstance(block, ToolUse))
