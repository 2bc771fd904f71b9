"""The editor's language models where no server is needed: consent that nobody gives, and images."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncGenerator, Sequence
from hashlib import sha256

import pytest

from tests.unit.context.pictures import png
from ullage.context.blocks import Image, Message, SystemPart, Text
from ullage.context.view.request import Request
from ullage.models.editor_model import EditorModel
from ullage.models.editor_models import Chat, ImagePart, ListedModel, ReplyPart, TextPart
from ullage.models.errors import NothingMore
from ullage.models.retry import Patience

PIXEL = png(1, 1)
IMAGE = Image(sha256(PIXEL).hexdigest(), "image/png", 1, 1, len(PIXEL))


class Editor:
    """Offers one model, which answers, or asks the user first and gets no answer."""

    def __init__(self, *, images: bool = True, answers: bool = True) -> None:
        self.model = ListedModel("copilot/gpt", "GPT", "copilot", 64_000, images, True)
        self.answers = answers
        self.chats: list[Chat] = []
        self.ended = 0

    async def listed(self) -> Sequence[ListedModel]:
        return [self.model]

    async def chat(self, chat: Chat) -> AsyncGenerator[ReplyPart, None]:
        self.chats.append(chat)
        try:
            if not self.answers:
                await asyncio.Event().wait()
            yield TextPart("Seen.")
        finally:
            self.ended += 1

    async def count(self, model: str, texts: Sequence[str]) -> Sequence[int | None]:
        return [None for _ in texts]


def model_of(editor: Editor) -> EditorModel:
    return EditorModel("copilot/gpt", editor, media=lambda _: PIXEL, patience=Patience(answer=0.05))


def request(*blocks: Text | Image) -> Request:
    return Request((SystemPart("system", "You are Ullage."),), (), [Message("user", blocks, (1,))], ())


async def test_consent_that_nobody_gives_ends_the_call_and_says_where_to_give_it() -> None:
    editor = Editor(answers=False)
    with pytest.raises(NothingMore, match="may be asking whether Ullage may use it: allow it there"):
        _ = [event async for event in model_of(editor).stream(request(Text("hello")), 1_000)]
    assert (len(editor.chats), editor.ended) == (1, 1)


@pytest.mark.parametrize("images", [True, False])
async def test_images_go_to_models_that_see_them_and_others_get_words(images: bool) -> None:
    editor = Editor(images=images)
    _ = [event async for event in model_of(editor).stream(request(Text("What is it?"), IMAGE), 1_000)]
    parts = [part for message in editor.chats[0].messages for part in message.parts]
    shown = [part for part in parts if isinstance(part, ImagePart)]
    assert shown == ([ImagePart("image/png", base64.b64encode(PIXEL).decode())] if images else [])
    words = " ".join(part.text for part in parts if isinstance(part, TextPart))
    assert ("image" in words) is not images
