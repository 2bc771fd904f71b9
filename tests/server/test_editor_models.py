"""The editor's language models, by the real server process and an editor that is as strict as VS Code."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException

from tests.server.client import UllageClient, editor_window, state_of
from tests.server.editor_models import EditorModels, Fail, Hang, Reply, call, say
from ullage.lsp import protocol
from ullage.lsp.protocol import editor as wire_editor
from ullage.lsp.protocol import items as wire
from ullage.lsp.protocol import models as wire_models
from ullage.lsp.protocol import sessions, updates


@asynccontextmanager
async def window(models: EditorModels, folder: Path, state: Path, name: str = "copilot/gpt", **more: Any) -> AsyncGenerator[UllageClient]:
    settings = {"model": {"provider": "editor", "name": name}, "bash": {"sandbox": "off"}, **more}
    env = {"ANTHROPIC_API_KEY": "sk-ant-inherited-0123456789"}
    async with editor_window(folder, state, settings=settings, env=env, prepare=models.connect) as client:
        yield client
    assert models.refused == []


async def shown(client: UllageClient, session_id: str) -> sessions.Snapshot:
    now: sessions.Snapshot = await client.ask(protocol.SNAPSHOT, protocol.SessionParams(session_id))
    return now


async def notice_after(client: UllageClient, session_id: str, text: str) -> wire.NoticeItem:
    """What the user is told when that prompt fails."""
    before = client.updates[-1].seq if client.updates else 0
    await client.prompt(session_id, text)
    await client.until_idle(before)
    notices = [item for item in (await shown(client, session_id)).items if isinstance(item, wire.NoticeItem)]
    return notices[-1]


async def test_a_turn_with_thinking_a_tool_and_an_estimated_gauge(folder: Path, state: Path) -> None:
    (folder / "a.txt").write_text("hello\n")
    models = EditorModels()
    models.script += [
        [
            wire_editor.ChatThinking("A file."),
            wire_editor.ChatText("Let me "),
            wire_editor.ChatText("look."),
            call("read_file", '{"path":"a.txt"}'),
        ],
        say("It greets."),
    ]
    async with window(models, folder, state) as client:
        opened = await client.open()
        await client.prompt(opened.session_id, "what is in a.txt?")
        await client.until_idle()
        now = await shown(client, opened.session_id)
        kinds = [type(item) for item in now.items]
        assert kinds == [wire.UserItem, wire.ThinkingItem, wire.AssistantItem, wire.ToolCallItem, wire.AssistantItem]
        assert (now.model.name, now.model.display_name, now.model.limits_source, now.gauge.size) == ("copilot/gpt", "GPT", "editor", 64_000)
        assert (now.gauge.estimated, now.gauge.cost) == (True, None)
    first, second = models.chats
    assert [message.role for message in first.messages] == ["user", "user"]
    assert first.tools
    assert second.messages[2] == wire_editor.ChatMessage(
        "assistant", [wire_editor.ChatText("Let me look."), call("read_file", '{"path":"a.txt"}')]
    )
    assert [type(part) for part in second.messages[3].parts] == [wire_editor.ChatToolResult]


async def test_texts_are_counted_once_each_and_only_after_the_model_has_answered(folder: Path, state: Path) -> None:
    models = EditorModels(tokens=lambda text: max(1, len(text)))
    models.script.append([Fail("notAllowed", "The user did not consent")])
    async with window(models, folder, state) as client:
        opened = await client.open()
        await notice_after(client, opened.session_id, "hello")
        assert models.counted == []
        estimated = (await shown(client, opened.session_id)).gauge.used
        await client.prompt(opened.session_id, "hello again")
        await client.until(lambda update: isinstance(update, updates.GaugeUpdate) and update.gauge.used > 2 * estimated)
        now = await shown(client, opened.session_id)
        assert now.gauge.estimated
        before = client.updates[-1].seq
        await client.prompt(opened.session_id, "once more")
        await client.until_idle(before)
    assert len(models.counted) == len(set(models.counted)) > 5


@pytest.mark.parametrize(
    ("failure", "words", "action"),
    [
        (Fail("notAllowed", "cannot be used"), "does not let Ullage use the model `copilot/gpt` (cannot be used)", "continue"),
        (Fail("blocked", "too many requests"), "has stopped Ullage from using it for a while (too many requests)", "continue"),
        (Fail("quota", "You have no premium requests left."), "is used up (You have no premium requests left)", "continue"),
        (Fail("busy", "slow down"), "limits how often it may be asked (slow down)", "continue"),
        (Fail("gone", ""), "no longer offers the model `copilot/gpt`", "choose_model"),
        (Fail("other", "Request Failed: 400 model_not_supported"), "refused the request (Request Failed: 400", "continue"),
    ],
)
async def test_what_fails_is_said_once_asked_once_and_can_be_sent_again(
    folder: Path, state: Path, failure: Fail, words: str, action: str
) -> None:
    models = EditorModels()
    models.script.append([wire_editor.ChatText("I shall "), failure])
    async with window(models, folder, state) as client:
        opened = await client.open()
        notice = await notice_after(client, opened.session_id, "write a poem")
        assert words in notice.text
        assert notice.action == action
        assert len(models.chats) == 1
        before = client.updates[-1].seq
        await client.ask(protocol.CONTINUE, protocol.SessionParams(opened.session_id))
        await client.until_idle(before)
        texts = [item.text for item in (await shown(client, opened.session_id)).items if isinstance(item, wire.AssistantItem)]
        assert texts == ["I shall ", "All right."]


async def test_what_fails_for_no_reason_before_a_word_came_is_asked_again(folder: Path, state: Path) -> None:
    models = EditorModels()
    models.script.append([Fail("other", "net::ERR_NETWORK_CHANGED")])
    async with window(models, folder, state) as client:
        opened = await client.open()
        await client.prompt(opened.session_id, "hello")
        await client.until_idle()
        now = await shown(client, opened.session_id)
        assert [item.text for item in now.items if isinstance(item, wire.AssistantItem)] == ["All right."]
    assert len(models.chats) == 2


async def test_a_stop_reaches_the_model_and_keeps_what_it_said(folder: Path, state: Path) -> None:
    models = EditorModels()
    models.script.append([wire_editor.ChatText("Once upon a time"), Hang()])
    async with window(models, folder, state) as client:
        opened = await client.open()
        await client.prompt(opened.session_id, "tell me a story")
        await client.until(lambda update: isinstance(update, updates.AppendUpdate) and update.text == "Once upon a time")
        before = client.updates[-1].seq
        await client.ask(protocol.CANCEL, protocol.SessionParams(opened.session_id))
        await client.until(lambda update: state_of(update) == "idle", before)
        await models.cancelled.wait()
        now = await shown(client, opened.session_id)
        assert [item.text for item in now.items if isinstance(item, wire.AssistantItem)] == ["Once upon a time"]


async def test_input_that_is_no_object_is_told_to_the_model(folder: Path, state: Path) -> None:
    models = EditorModels()
    models.script.append([call("read_file", '["a.txt"')])
    async with window(models, folder, state) as client:
        opened = await client.open()
        await client.prompt(opened.session_id, "look")
        await client.until_idle()
        calls = [item for item in (await shown(client, opened.session_id)).items if isinstance(item, wire.ToolCallItem)]
        assert [each.status for each in calls] == ["failed"]
    assert len(models.chats) == 2


async def test_a_model_that_comes_and_goes_is_followed(folder: Path, state: Path) -> None:
    models = EditorModels()
    other, large = models.models[1], wire_editor.EditorModel("copilot/gpt", "GPT large", "copilot", 128_000, tools=True)
    async with window(models, folder, state) as client:
        opened = await client.open()
        models.change(other)
        notice = await notice_after(client, opened.session_id, "hello")
        assert "does not offer the model `copilot/gpt`" in notice.text
        assert notice.action == "choose_model"
        listed: wire_models.ModelsResult = await client.ask(protocol.MODELS, wire_models.ModelsParams())
        assert [model.name for model in listed.models] == ["acme/small"]
        models.change(other, large)
        await client.until(lambda update: isinstance(update, updates.GaugeUpdate) and update.gauge.size == 128_000)
        before = client.updates[-1].seq
        await client.prompt(opened.session_id, "hello again")
        await client.until_idle(before)
    assert len(models.chats) == 1


@pytest.mark.parametrize("models", [[], [wire_editor.EditorModel("acme/mute", "Mute", "acme", 9_000, tools=False)]])
async def test_where_nothing_can_be_used_the_list_says_what_to_do(folder: Path, state: Path, models: list[wire_editor.EditorModel]) -> None:
    editor = EditorModels(models=models)
    async with window(editor, folder, state, name="acme/mute") as client:
        opened = await client.open()
        with pytest.raises(JsonRpcException, match="Sign in to GitHub Copilot, or install an extension"):
            await client.ask(protocol.MODELS, wire_models.ModelsParams(provider="editor"))
        notice = await notice_after(client, opened.session_id, "hello")
        assert "cannot call tools" in notice.text or "offers no language model" in notice.text
    assert editor.chats == []


async def test_an_editor_without_models_is_told_so(folder: Path, state: Path) -> None:
    async with editor_window(folder, state, settings={"model": {"provider": "editor"}}) as client:
        opened = await client.open()
        notice = await notice_after(client, opened.session_id, "hello")
        assert "this editor has no language models for Ullage" in notice.text
        assert notice.action == "settings"


async def test_a_long_conversation_is_compacted_and_goes_on(folder: Path, state: Path) -> None:
    models = EditorModels()

    def answer(params: wire_editor.ChatParams) -> Reply:
        last = params.messages[-1].parts[-1]
        summary = isinstance(last, wire_editor.ChatText) and "=== RECORD ===" in last.text
        return say(
            "=== RECORD ===\nThe user wants the tank measured.\n\n## Decisions\n- Use millimetres, since the dip stick does.\n"
            "=== END OF RECORD ==="
            if summary
            else "Noted. " * 40
        )

    models.otherwise = answer
    async with window(models, folder, state) as client:
        opened = await client.open()
        for number in range(6):
            before = client.updates[-1].seq if client.updates else 0
            await client.prompt(opened.session_id, f"Dip {number}: " + f"at {number} o'clock the gauge of tank {number} said so. " * 600)
            await client.until_idle(before)
        now = await shown(client, opened.session_id)
        done = [item for item in now.items if isinstance(item, wire.CompactionItem)]
        assert done
        assert {item.status for item in done} == {"completed"}
        assert {item.way for item in done} == {"model"}
        assert now.gauge.used < now.gauge.size
