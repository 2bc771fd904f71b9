"""An address from `ANTHROPIC_BASE_URL`: nothing is sent there before the user has said so, once, over the wire."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fake_api import FakeApi, Say
from tests.server.client import UllageClient, editor_window, state_of
from ullage.lsp import protocol
from ullage.lsp.protocol import items, sessions, updates
from ullage.lsp.server import DO_NOT, SEND_THERE

KEY = "sk-ant-of-a-test"


def variables(fake: FakeApi) -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": fake.base_url, "ANTHROPIC_API_KEY": KEY}


async def said(client: UllageClient) -> str:
    """What a session shows after one prompt."""
    session = await client.open()
    await client.prompt(session.session_id, "Hello")
    await client.until(lambda update: state_of(update) == "idle")
    shown: sessions.Snapshot = await client.ask(protocol.SNAPSHOT, protocol.SessionParams(session.session_id))
    return "\n".join(each.text for each in shown.items if isinstance(each, items.AssistantItem | items.NoticeItem))


@pytest.mark.parametrize("button", [DO_NOT, None, "Something else"])
async def test_nothing_is_sent_there_unless_the_user_says_so(folder: Path, state: Path, button: str | None) -> None:
    async with FakeApi() as fake, editor_window(folder, state, env=variables(fake)) as client:
        question = await client.until_question()
        assert fake.base_url.removeprefix("http://") in question
        assert KEY not in question
        client.answer.set_result(button)
        assert "ANTHROPIC_BASE_URL" in await said(client)
        assert fake.requests == []


async def test_nothing_is_sent_there_while_the_question_is_open(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, editor_window(folder, state, env=variables(fake)) as client:
        await client.until_question()
        await said(client)
        assert fake.requests == []
        client.answer.cancel()


async def test_once_confirmed_it_is_used_and_asked_for_no_more(folder: Path, state: Path) -> None:
    async with FakeApi() as fake:
        async with editor_window(folder, state, env=variables(fake)) as client:
            fake.enqueue(Say("Well."))
            await client.until_question()
            await client.open()
            client.answer.set_result(SEND_THERE)
            await client.until(lambda update: isinstance(update, updates.ModelUpdate))
            assert "Well." in await said(client)
        async with editor_window(folder, state, env=variables(fake)) as client:
            fake.enqueue(Say("Again."))
            assert "Again." in await said(client)
            assert client.questions == []


@pytest.mark.parametrize(("given_for", "sent"), [("https://api.anthropic.com", False), (None, True)])
async def test_a_stored_key_goes_to_a_confirmed_address_only_where_it_was_given_for_it(
    folder: Path, state: Path, given_for: str | None, sent: bool
) -> None:
    async with FakeApi() as fake:
        bound = {"ULLAGE_API_KEY": "sk-ant-stored", "ULLAGE_API_KEY_ADDRESS": given_for or fake.base_url}
        async with editor_window(folder, state, env=variables(fake) | bound) as client:
            await client.until_question()
            await client.open()
            client.answer.set_result(SEND_THERE)
            await client.until(lambda update: isinstance(update, updates.ModelUpdate))
            fake.enqueue(Say("Well."))
            await said(client)
            assert {record.key == "sk-ant-stored" for record in fake.requests} == {sent}
            assert KEY not in {record.key for record in fake.requests}
            told = [message.message for message in client.messages if "stored API key" in message.message]
            assert [message.startswith("ANTHROPIC_BASE_URL in the environment leads to ") for message in told] == ([] if sent else [True])
