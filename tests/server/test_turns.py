"""Turns over the wire with the real SDK and the strict fake of the API: approvals, steering, cancelling, secrets, crashes."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.fake_api import Call, FakeApi, HoldsAfter, Reply, Say
from tests.patience import PATIENCE
from tests.server.client import UllageClient, call_of, editor_window
from ullage.context.blocks import Text
from ullage.context.entries import AssistantReply, ToolReturned, TurnEnded
from ullage.lsp import protocol
from ullage.lsp.protocol import items as wire
from ullage.lsp.protocol import permissions, prompts, sessions, updates
from ullage.store.folder import folder_of
from ullage.store.log_store import LogStore

KEY = "sk-ant-api03-" + "k3y" * 20


@asynccontextmanager
async def window(fake: FakeApi, folder: Path, state: Path, *, questions: bool = False) -> AsyncGenerator[UllageClient]:
    settings = {"model": {"baseUrl": fake.base_url, "provider": "anthropic"}, "bash": {"sandbox": "off"}}
    async with editor_window(
        folder, state, settings=settings, env={"ANTHROPIC_API_KEY": KEY}, arguments=("--log-level", "debug"), questions=questions
    ) as client:
        yield client


async def respond(client: UllageClient, session_id: str, option: str, reason: str | None = None, after: int = 0) -> wire.ToolCallItem:
    call = await client.until_asked(after)
    assert option in [each.option_id for each in call.permission or ()]
    await client.ask(protocol.RESPOND, permissions.RespondParams(session_id, call.id, call.permission_id or "", option, reason))
    return call


async def items_of(client: UllageClient, session_id: str) -> list[wire.Item]:
    now: sessions.Snapshot = await client.ask(protocol.SNAPSHOT, protocol.SessionParams(session_id))
    return now.items


async def test_an_edit_waits_for_an_approval_and_then_stands_on_disk(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, window(fake, folder, state) as client:
        fake.enqueue(Call("write_file", {"path": "new.txt", "content": "hello\n"}, "toolu_w"), Say("Written."))
        opened = await client.open()
        await client.prompt(opened.session_id, "write it")
        call = await client.until_asked()
        assert call.permission_reason
        assert not (folder / "new.txt").exists()
        await respond(client, opened.session_id, "allow_once")
        await client.until_idle()
        assert (folder / "new.txt").read_text() == "hello\n"
        written = next(item for item in await items_of(client, opened.session_id) if item.id == "toolu_w")
        assert isinstance(written, wire.ToolCallItem)
        assert (written.status, written.permission, json.loads(written.input)["path"]) == ("completed", None, "new.txt")
        assert written.diff == wire.Diff("new.txt", "", "hello\n")


async def test_a_refusal_reaches_the_model_with_its_reason(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, window(fake, folder, state) as client:
        fake.enqueue(Call("bash", {"command": "touch made.txt"}), Say("As you wish."))
        opened = await client.open()
        await client.prompt(opened.session_id, "touch it")
        await respond(client, opened.session_id, "reject_once", "not in this folder")
        await client.until_idle()
        assert "not in this folder" in json.dumps(fake.requests[-1].body["messages"])
        assert not (folder / "made.txt").exists()


ASKING = Call(
    "ask_user",
    {
        "questions": [
            {
                "header": "Database",
                "question": "Where are the tanks kept?",
                "options": [{"label": "SQLite", "description": "One file"}, {"label": "PostgreSQL", "description": "A server"}],
            }
        ]
    },
    "toolu_q",
)


async def test_a_question_is_shown_and_answered(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, window(fake, folder, state, questions=True) as client:
        fake.enqueue(ASKING, Say("SQLite then."))
        opened = await client.open()
        await client.prompt(opened.session_id, "keep the tanks")
        await client.until(lambda update: (item := call_of(update)) is not None and item.status == "awaiting_answer")
        call = await call_named("toolu_q", client, opened.session_id)
        assert call.permission is None
        assert call.questions is not None
        assert [(each.option_id, each.label) for each in call.questions[0].options] == [("1", "SQLite"), ("2", "PostgreSQL")]
        given = [prompts.GivenAnswer(["1"], "in the state folder")]
        await client.ask(protocol.ANSWER, prompts.AnswerParams(opened.session_id, call.id, call.question_id or "", given))
        await client.until_idle()
        call = await call_named("toolu_q", client, opened.session_id)
        assert (call.status, call.questions) == ("completed", None)
        assert call.answers == [wire.Answer("Where are the tanks kept?", ["SQLite"], "in the state folder")]


async def test_a_client_that_shows_no_questions_is_sent_none(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, window(fake, folder, state) as client:
        fake.enqueue(ASKING, Say("Where are the tanks kept?"))
        opened = await client.open()
        await client.prompt(opened.session_id, "keep the tanks")
        await client.until_idle()
        assert "Ask in your own words" in (await call_named("toolu_q", client, opened.session_id)).output


async def call_named(call_id: str, client: UllageClient, session_id: str) -> wire.ToolCallItem:
    found = next(item for item in await items_of(client, session_id) if item.id == call_id)
    assert isinstance(found, wire.ToolCallItem)
    return found


async def test_the_key_reaches_the_api_and_nothing_else(folder: Path, state: Path) -> None:
    async with FakeApi(keys=[KEY]) as fake, window(fake, folder, state) as client:
        fake.enqueue(Call("bash", {"command": "env; cat /proc/$PPID/environ | tr '\\0' '\\n'"}, "toolu_e"), Say("No key here."))
        opened = await client.open()
        await client.prompt(opened.session_id, "show the marigold environment")
        await respond(client, opened.session_id, "allow_once")
        await client.until_idle()
        shown = next(item for item in await items_of(client, opened.session_id) if item.id == "toolu_e")
        assert isinstance(shown, wire.ToolCallItem)
        assert "PATH=" in shown.output
        assert KEY not in json.dumps(fake.requests[-1].body)
        logged = "\n".join(message.message for message in client.log_messages)
        assert logged
        assert KEY not in logged
        assert "marigold" not in logged
    for path in (*folder.rglob("*"), *state.rglob("*")):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


async def test_a_prompt_can_wait_be_taken_back_and_steer(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, window(fake, folder, state) as client:
        fake.enqueue(
            Reply((Say("Thinking about it."), Call("list_files")), interruption=HoldsAfter(1)), Say("All done."), Say("And this too.")
        )
        opened = await client.open()
        await client.prompt(opened.session_id, "begin")
        await fake.until_held()
        waiting = await client.prompt(opened.session_id, "later")
        unwanted = await client.prompt(opened.session_id, "never mind")
        await client.prompt(opened.session_id, "mind the pumps", delivery="steer")
        await client.ask(protocol.UNQUEUE, prompts.UnqueueParams(opened.session_id, unwanted))
        fake.release()
        await client.until_idle()
        asked = [json.dumps(request.body["messages"]) for request in fake.requests]
        assert ["mind the pumps" in body for body in asked] == [False, True, True]
        assert ["later" in body for body in asked] == [False, False, True]
        assert not any("never mind" in body for body in asked)
        said = [(item.text, item.queued) for item in await items_of(client, opened.session_id) if isinstance(item, wire.UserItem)]
        assert said == [("begin", False), ("mind the pumps", False), ("later", False)]
        assert waiting


async def test_a_cancelled_turn_keeps_what_was_said_and_can_go_on(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, window(fake, folder, state) as client:
        fake.enqueue(Reply((Say("One two three four five six."),), interruption=HoldsAfter(1), chunk_size=8), Say("Going on."))
        opened = await client.open()
        await client.prompt(opened.session_id, "count")
        await fake.until_held()
        await client.until(lambda update: isinstance(update, updates.AppendUpdate))
        await client.ask(protocol.CANCEL, protocol.SessionParams(opened.session_id))
        await client.until_idle()
        kept = [item.text for item in await items_of(client, opened.session_id) if isinstance(item, wire.AssistantItem)]
        assert kept == ["One two "]
        after = client.updates[-1].seq
        await client.ask(protocol.CONTINUE, protocol.SessionParams(opened.session_id))
        await client.until_idle(after)
        kept = [item.text for item in await items_of(client, opened.session_id) if isinstance(item, wire.AssistantItem)]
        assert kept == ["One two ", "Going on."]


@pytest.mark.parametrize("how", ["end of stdin", "exit", "Ctrl-C", "kill"])
async def test_when_the_client_goes_the_turn_is_closed_and_nothing_is_lost(folder: Path, state: Path, how: str) -> None:
    async with FakeApi() as fake:
        fake.enqueue(Reply((Say("One two three four five six."),), interruption=HoldsAfter(2), chunk_size=8))
        async with window(fake, folder, state) as client:
            opened = await client.open()
            await client.prompt(opened.session_id, "count")
            await fake.until_held()
            await client.until(lambda update: isinstance(update, updates.AppendUpdate))
            server = client.process
            assert server.stdin is not None
            if how == "end of stdin":
                server.stdin.close()
            elif how == "exit":
                client.exit(None)
            elif how == "Ctrl-C":
                server.send_signal(signal.SIGINT)
            else:
                server.send_signal(signal.SIGKILL)
            async with asyncio.timeout(PATIENCE):
                code = await server.wait()
            assert code == {"end of stdin": 0, "exit": 1, "Ctrl-C": 130, "kill": -signal.SIGKILL}[how]
        fake.release()
        if how == "kill":
            async with window(fake, folder, state) as client:
                again = await client.open()
                assert again.session_id == opened.session_id
    store = LogStore.open(folder_of(folder, state))
    entries = [logged.entry for logged in store.load(opened.session_id)]
    store.close()
    assert isinstance(entries[-1], TurnEnded)
    assert entries[-1].outcome == "interrupted"
    said = [block.text for entry in entries if isinstance(entry, AssistantReply) for block in entry.blocks if isinstance(block, Text)]
    assert [text[:8] for text in said] == ["One two "]
    assert not [entry for entry in entries if isinstance(entry, ToolReturned)]
