"""The language models of the editor at the other end of the wire: `ullage.models.editor_models.EditorModels` over LSP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from uuid import uuid4

from pygls.exceptions import JsonRpcException, JsonRpcMethodNotFound

from ullage.lsp.agent_protocol import AgentProtocol
from ullage.lsp.protocol import CHAT, COUNT_TOKENS, EDITOR_MODELS, Nothing
from ullage.lsp.protocol import editor as wire
from ullage.models.editor_models import (
    Chat,
    ChatFailed,
    ChatMessage,
    ImagePart,
    ListedModel,
    NoEditorModels,
    ReplyPart,
    SentPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from ullage.models.endpoint_checks import plausible_window, word

logger = logging.getLogger(__name__)

LIST_SECONDS = 10.0
"""A client that takes longer to list its models counts as one that has none now. VS Code starts the extensions first that bring some."""

COUNT_SECONDS = 30.0
"""A client that takes longer to count texts counts as one that cannot: the estimates stand."""

MOST_MODELS = 500
"""How many models of the editor's list are taken. Nobody picks from more."""


class ConnectedModels:
    """The language models of the editor at the other end of the wire, as `EditorModels` describes them."""

    def __init__(self, protocol: AgentProtocol) -> None:
        self._protocol = protocol
        self._listed: asyncio.Task[Sequence[ListedModel]] | None = None
        self._chats: dict[str, asyncio.Queue[Sequence[wire.ReplyPart] | None]] = {}
        """The parts that came of each reply that is waited for, by the id of the chat; None marks its end."""

    def changed(self) -> None:
        """Forgets the list of models, because the editor offers others than before."""
        self._listed = None

    async def listed(self) -> Sequence[ListedModel]:
        """See `EditorModels.listed`. Asked once, until the editor says that they changed or where it offered none."""
        asking = self._listed
        if asking is None:
            asking = self._listed = asyncio.create_task(self._list(), name="list the editor's models")
        try:
            listed = await asyncio.shield(asking)
        except NoEditorModels:
            self._forget(asking)
            raise
        if not listed:
            self._forget(asking)
        return listed

    def _forget(self, asking: asyncio.Task[Sequence[ListedModel]]) -> None:
        if self._listed is asking:
            self._listed = None

    async def _list(self) -> Sequence[ListedModel]:
        try:
            async with asyncio.timeout(LIST_SECONDS):
                result: wire.EditorModelsResult = await self._protocol.ask(EDITOR_MODELS, Nothing())
        except JsonRpcMethodNotFound:
            raise NoEditorModels from None
        except (JsonRpcException, TimeoutError) as error:
            logger.warning("the editor does not list its language models: %s", error or "no answer")
            return ()
        known: dict[str, ListedModel] = {}
        for model in result.models[:MOST_MODELS]:
            said = {"id": model.id, "name": model.name, "vendor": model.vendor}
            if word(said, "id") == model.id and model.id.strip():
                window = plausible_window(model.window) or 0
                listed = ListedModel(
                    model.id, word(said, "name") or model.id, word(said, "vendor"), window, model.images is True, model.tools
                )
                known.setdefault(model.id, listed)
        return tuple(known.values())

    async def chat(self, chat: Chat) -> AsyncGenerator[ReplyPart, None]:
        """See `EditorModels.chat`."""
        chat_id = uuid4().hex
        coming: asyncio.Queue[Sequence[wire.ReplyPart] | None] = asyncio.Queue()
        self._chats[chat_id] = coming
        asking = asyncio.create_task(self._ask(chat_id, chat), name="ask a language model of the editor")
        asking.add_done_callback(lambda _: coming.put_nowait(None))
        try:
            while (parts := await coming.get()) is not None:
                for part in parts:
                    yield _part_of(part)
            failure = asking.result()
            if failure is not None:
                raise ChatFailed(failure.reason, failure.said)
        finally:
            del self._chats[chat_id]
            asking.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await asking

    async def _ask(self, chat_id: str, chat: Chat) -> wire.ChatFailure | None:
        messages = [_message_of(message) for message in chat.messages]
        tools = [wire.ChatTool(tool.name, tool.description, tool.input_schema) for tool in chat.tools]
        try:
            result: wire.ChatResult = await self._protocol.ask(CHAT, wire.ChatParams(chat_id, chat.model, messages, tools))
        except JsonRpcMethodNotFound:
            raise NoEditorModels from None
        except JsonRpcException as error:
            return wire.ChatFailure("other", str(error))
        return result.failure

    def came(self, params: wire.ChatPartsParams) -> None:
        """Passes on more of a reply. Parts of a reply that nobody waits for any more are passed over."""
        coming = self._chats.get(params.chat_id)
        if coming is not None:
            coming.put_nowait(params.parts)

    async def count(self, model: str, texts: Sequence[str]) -> Sequence[int | None]:
        """See `EditorModels.count`. A count is believed where it can be: a token is at least a byte, and no word is longer than a text."""
        try:
            async with asyncio.timeout(COUNT_SECONDS):
                result: wire.CountTokensResult = await self._protocol.ask(COUNT_TOKENS, wire.CountTokensParams(model, list(texts)))
        except (JsonRpcException, TimeoutError) as error:
            logger.info("the editor does not count for %s: %s", model, error or "no answer")
            return [None] * len(texts)
        if len(result.counts) != len(texts):
            logger.warning("the editor counted %d texts where %d were asked for", len(result.counts), len(texts))
            return [None] * len(texts)
        return [_believed(text, tokens) for text, tokens in zip(texts, result.counts, strict=True)]


FRAMING = 16
"""How many tokens a tokenizer may count around a text."""

LONGEST_TOKEN = 40
"""In characters. No text has so many for each of its tokens for long (`models/reply.py` has the same limit)."""


def _believed(text: str, tokens: int) -> int | None:
    size = len(text.encode("utf-8", "surrogatepass"))
    return tokens if 0 < tokens <= size + FRAMING and tokens * LONGEST_TOKEN >= len(text) else None


def _message_of(message: ChatMessage) -> wire.ChatMessage:
    return wire.ChatMessage(message.role, [_sent(part) for part in message.parts])


def _sent(part: SentPart) -> wire.SentPart:
    if isinstance(part, TextPart):
        return wire.ChatText(part.text)
    if isinstance(part, ImagePart):
        return wire.ChatImage(part.media_type, part.data)
    if isinstance(part, ToolCallPart):
        return wire.ChatToolCall(part.call_id, part.name, part.input)
    return wire.ChatToolResult(part.call_id, part.text)


def _part_of(part: wire.ReplyPart) -> ReplyPart:
    if isinstance(part, wire.ChatText):
        return TextPart(part.text)
    if isinstance(part, wire.ChatThinking):
        return ThinkingPart(part.text)
    return ToolCallPart(part.call_id, part.name, part.input)
