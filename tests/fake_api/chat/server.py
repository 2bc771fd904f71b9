"""The fake as a server on 127.0.0.1: that of the Messages API with another wire."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping

from tests.fake_api.catalogue import MODELS, ModelFacts
from tests.fake_api.chat.endpoint import CHAT, Prefixes, answer_chat, respond_error
from tests.fake_api.chat.manners import Manners
from tests.fake_api.connection import HttpRequest, ResponseWriter
from tests.fake_api.routes import recorded
from tests.fake_api.script import Script
from tests.fake_api.server import FakeApi


class FakeChat(FakeApi):
    """Chat Completions over a real socket; see `FakeApi`.

    async with FakeChat(windows={"qwen": 20_000}) as fake:
        fake.enqueue(Call("read_file", {"path": "a.py"}), Say("Done."))
        client = AsyncOpenAI(base_url=f"{fake.base_url}/v1", api_key="any")
    """

    reply_path = CHAT

    def __init__(
        self,
        manners: Manners | None = None,
        script: Script | None = None,
        *,
        models: Mapping[str, ModelFacts] = MODELS,
        windows: Mapping[str, int] | None = None,
        keys: Collection[str] | None = None,
        lists_models: bool = True,
        clock: Callable[[], float] = time.time,
        port: int = 0,
    ) -> None:
        super().__init__(script, models=models, windows=windows, keys=keys, lists_models=lists_models, clock=clock, port=port)
        self.manners = manners or Manners()
        self._prefixes = Prefixes()

    async def _handle(self, request: HttpRequest, response: ResponseWriter) -> None:
        await recorded(
            self.state,
            request,
            response,
            lambda record: answer_chat(self.state, self.manners, self._prefixes, request, record, response),
            lambda record, refused: respond_error(response, record, refused),
        )
