"""Both wires against a real llama.cpp server, where `ULLAGE_LLAMA_SERVER` names its program. CONTRIBUTING.md has how."""

from __future__ import annotations

import asyncio
import os
import shlex
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.llama.tiny_model import write_tiny_model
from ullage.context.blocks import Message, SystemPart, Text, ToolSpec
from ullage.context.view.request import Request
from ullage.models.anthropic_model import AnthropicModel
from ullage.models.chat_model import ChatModel
from ullage.models.errors import PromptTooLong
from ullage.models.model import Reply, TextDelta

PROGRAM = os.environ.get("ULLAGE_LLAMA_SERVER", "")
WINDOW = 8_192
PATIENCE = 60.0
pytestmark = pytest.mark.skipif(not PROGRAM, reason="ULLAGE_LLAMA_SERVER names no program")


@pytest.fixture
async def address(tmp_path: Path) -> AsyncIterator[str]:
    """Of a server that has loaded the tiny model."""
    write_tiny_model(tmp_path / "tiny.gguf")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    options = ["-m", str(tmp_path / "tiny.gguf"), "-c", str(WINDOW), "-np", "1", "--host", "127.0.0.1", "--port", str(port), "--jinja"]
    quiet = asyncio.subprocess.DEVNULL
    server = await asyncio.create_subprocess_exec(*shlex.split(PROGRAM), *options, stdout=quiet, stderr=quiet)
    try:
        async with asyncio.timeout(PATIENCE):
            while not await _answers(port):
                assert server.returncode is None
                await asyncio.sleep(0.1)  # nothing tells when a foreign program listens
        yield f"http://127.0.0.1:{port}"
    finally:
        if server.returncode is None:
            server.terminate()
        await server.wait()


async def _answers(port: int) -> bool:
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.write(b"GET /health HTTP/1.0\r\n\r\n")
    status = await reader.readline()
    writer.close()
    return b" 200 " in status


def _request(words: str) -> Request:
    tool = ToolSpec("bash", "Runs a command.", {"type": "object", "properties": {"command": {"type": "string"}}})
    return Request((SystemPart("system", "Be brief."),), (tool,), (Message("user", (Text(words),), (0,)),), ())


async def test_a_real_server_over_both_wires(address: str) -> None:
    for model in (ChatModel("tiny", api_key=None, base_url=address), AnthropicModel("tiny", api_key=None, base_url=address)):
        card = await model.card()
        assert (card.window, card.source) == (WINDOW, "server")
        assert [each.window for each in await model.offered()] == [WINDOW]
        events = [event async for event in model.stream(_request("hello"), 24)]
        reply = events[-1]
        assert isinstance(reply, Reply)
        assert reply.usage is not None
        assert reply.doubts == ()
        assert any(isinstance(event, TextDelta) for event in events)
        again = [event async for event in model.stream(_request("hello"), 24)][-1]
        assert isinstance(again, Reply)
        assert again.usage is not None
        assert again.usage.total_input_tokens == reply.usage.total_input_tokens
        assert again.usage.cache_read_tokens > 0
        counted = await model.count(_request("hello"))
        assert counted in (None, reply.usage.total_input_tokens)
        with pytest.raises(PromptTooLong) as caught:
            async for _ in model.stream(_request("word " * WINDOW), 24):
                pass
        assert caught.value.window == WINDOW
        assert caught.value.input_tokens is not None
        await model.aclose()
