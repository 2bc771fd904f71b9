"""Models behind Chat Completions, by the real server process: settings, keys, the list, a turn, its gauge."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from lsprotocol.types import DidChangeConfigurationParams

from tests.fake_api import Call, Say, Think
from tests.fake_api.chat import FakeChat, Manners
from tests.server.client import UllageClient, editor_window
from ullage.lsp import protocol
from ullage.lsp.protocol import items as wire
from ullage.lsp.protocol import models, sessions

KEY, OF_ANTHROPIC, OF_OPENAI = "stored-0123456789", "sk-ant-inherited-0123456789", "sk-inherited-0123456789"


@asynccontextmanager
async def window(
    fake: FakeChat, folder: Path, state: Path, key: str | None = KEY, given_for: str | None = None
) -> AsyncGenerator[UllageClient]:
    """A window for the model `qwen`, with keys of other vendors in its environment. `given_for`: the address that the key is for, if the
    client says so."""
    model = {"baseUrl": fake.base_url, "provider": "openai", "name": "qwen", "facts": {"qwen": {"inputPrice": 1, "outputPrice": 4}}}
    settings = {"model": model, "bash": {"sandbox": "off"}}
    own = {"ULLAGE_API_KEY": key, "ULLAGE_API_KEY_ADDRESS": given_for}
    inherited = {"ANTHROPIC_API_KEY": OF_ANTHROPIC, "OPENAI_API_KEY": OF_OPENAI}
    env = inherited | {name: value for name, value in own.items() if value is not None}
    async with editor_window(folder, state, settings=settings, env=env, arguments=("--log-level", "debug")) as client:
        yield client


async def shown(client: UllageClient, session_id: str) -> sessions.Snapshot:
    now: sessions.Snapshot = await client.ask(protocol.SNAPSHOT, protocol.SessionParams(session_id))
    return now


async def test_a_turn_with_reasoning_and_a_tool(folder: Path, state: Path) -> None:
    (folder / "a.txt").write_text("hello\n")
    async with FakeChat(windows={"qwen": 60_000}) as fake, window(fake, folder, state) as client:
        fake.enqueue([Think("Let me look."), Call("read_file", {"path": "a.txt"})], Say("It greets."))
        opened = await client.open()
        await client.prompt(opened.session_id, "what is in a.txt?")
        await client.until_idle()
        now = await shown(client, opened.session_id)
        assert [type(item) for item in now.items] == [wire.UserItem, wire.ThinkingItem, wire.ToolCallItem, wire.AssistantItem]
        assert (now.model.name, now.model.limits_source, now.gauge.size) == ("qwen", "server", 60_000)
        last = fake.requests[-1]
        assert last.input is not None
        assert (now.gauge.used, now.gauge.estimated) == (last.input.total + last.output_tokens, False)
        assert now.gauge.cost is not None
        assert now.gauge.cost > 0
        assert {record.key for record in fake.all_requests} == {KEY}


async def test_where_nobody_counts_the_gauge_is_an_estimate_and_no_other_vendors_key_is_sent(folder: Path, state: Path) -> None:
    manners = Manners(counts="never", tells_window=False)
    async with FakeChat(manners, windows={"qwen": 60_000}) as fake, window(fake, folder, state, key=None) as client:
        opened = await client.open()
        await client.prompt(opened.session_id, "hello")
        await client.until_idle()
        now = await shown(client, opened.session_id)
        assert (now.gauge.estimated, now.model.limits_source) == (True, "assumed")
        assert {record.key for record in fake.all_requests} == {None}


async def test_the_models_of_another_server_are_listed_and_tried_without_the_key(folder: Path, state: Path) -> None:
    async with FakeChat(windows={"qwen": 60_000}) as fake, FakeChat(windows={"other": 9_000}) as new, window(fake, folder, state) as client:
        await client.open()
        at = {"address": new.base_url, "provider": "openai"}
        listed: models.ModelsResult = await client.ask(protocol.MODELS, models.ModelsParams(**at))  # pyright: ignore[reportArgumentType]
        assert next(model.window for model in listed.models if model.name == "other") == 9_000
        await client.ask(protocol.TRY_MODEL, models.TryModelParams("other", **at))  # pyright: ignore[reportArgumentType]
        assert [record.body["model"] for record in new.requests] == ["other"]
        assert {record.key for record in new.all_requests} == {None}
        own: models.ModelsResult = await client.ask(protocol.MODELS, models.ModelsParams())
        assert next(model.prices for model in own.models if model.name == "qwen") == models.ModelPrices(1.0, 4.0)


async def test_while_the_address_is_no_address_nothing_is_sent(folder: Path, state: Path) -> None:
    async with FakeChat(windows={"qwen": 60_000}) as fake, window(fake, folder, state) as client:
        opened = await client.open()
        set_address(client, "localhost:8080")
        await client.prompt(opened.session_id, "hello")
        await client.until_idle()
        (failed,) = [item for item in (await shown(client, opened.session_id)).items if isinstance(item, wire.NoticeItem)]
        assert "Nothing was sent" in failed.text
        assert failed.action == "settings"
        assert any("Model: Base Url" in message.message and "no model is asked" in message.message for message in client.messages)
        assert fake.requests == []
        set_address(client, fake.base_url)
        fake.enqueue(Say("Hello."))
        after = client.updates[-1].seq
        await client.ask(protocol.CONTINUE, protocol.SessionParams(opened.session_id))  # at once, but not before the settings
        await client.until_idle(after)
        assert [item.text for item in (await shown(client, opened.session_id)).items if isinstance(item, wire.AssistantItem)] == ["Hello."]
        assert {record.key for record in fake.all_requests} == {KEY}


async def test_a_stored_key_is_not_sent_to_an_address_that_it_was_not_given_for(folder: Path, state: Path) -> None:
    async with (
        FakeChat(windows={"qwen": 60_000}) as fake,
        FakeChat(windows={"qwen": 60_000}) as other,
        window(fake, folder, state, given_for=f"{fake.base_url}/") as client,
    ):
        opened = await client.open()
        for server, key in ((fake, KEY), (other, None), (fake, KEY)):
            set_address(client, server.base_url)
            server.enqueue(Say("Hello."))
            after = client.updates[-1].seq if client.updates else 0
            await client.prompt(opened.session_id, "hello")
            await client.until_idle(after)
            assert {record.key for record in server.all_requests} == {key}
        told = [message.message for message in client.messages if "stored API key" in message.message]
        assert len(told) == 1
        assert f"leads to {other.base_url}, but the stored API key was given for {fake.base_url}" in told[0]
        now = await shown(client, opened.session_id)
        assert [item.text for item in now.items if isinstance(item, wire.AssistantItem)] == ["Hello."] * 3


def set_address(client: UllageClient, address: str) -> None:
    """The user writes it into the settings."""
    client.set_configuration({"baseUrl": address, "provider": "openai", "name": "qwen"}, section="ullage.model")
    client.workspace_did_change_configuration(DidChangeConfigurationParams(None))
