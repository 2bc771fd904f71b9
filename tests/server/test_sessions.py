"""Sessions over the wire, with the practice model: every request of PROTOCOL.md does what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest
from pygls.exceptions import JsonRpcException

from tests.server.client import UllageClient, editor_window
from ullage.lsp import protocol
from ullage.lsp.protocol import history, models, permissions, prompts, sessions, updates
from ullage.lsp.protocol import items as wire


def texts_of(items: list[wire.Item]) -> list[tuple[str, str]]:
    return [(type(item).__name__, item.text) for item in items if isinstance(item, wire.UserItem | wire.AssistantItem)]


async def test_a_prompt_is_acknowledged_and_its_turn_comes_as_updates(client: UllageClient, folder: Path) -> None:
    (folder / "pump.py").write_text("def prime():\n    pass\n")
    opened = await client.open()
    assert (opened.state, opened.items, opened.earlier) == ("idle", [], 0)
    assert opened.model.practice
    prompt_id = await client.prompt(opened.session_id, "where is prime defined?")
    await client.until_idle()
    newer = [params.seq for params in client.updates if params.seq > opened.seq]
    assert newer == list(range(opened.seq + 1, opened.seq + 1 + len(newer)))
    assert {params.session_id for params in client.updates} == {opened.session_id}
    now: sessions.Snapshot = await client.ask(protocol.SNAPSHOT, protocol.SessionParams(opened.session_id))
    assert now.items[0].id == prompt_id
    assert now.seq == client.updates[-1].seq
    assert any(isinstance(item, wire.ToolCallItem) and "pump.py" in item.output for item in now.items)


async def test_the_updates_build_what_the_snapshot_shows(client: UllageClient, folder: Path) -> None:
    (folder / "pump.py").write_text("def prime():\n    pass\n")
    opened = await client.open()
    await client.prompt(opened.session_id, "where is prime defined?")
    await client.until_idle()
    shown: dict[str, Any] = {}
    gauge, title = opened.gauge, opened.title
    for params in client.updates:
        match params.update:
            case updates.ItemUpdate(item):
                shown[item.id] = item
            case updates.AppendUpdate(item_id, field, text):
                shown[item_id] = attrs.evolve(shown[item_id], **{field: getattr(shown[item_id], field) + text})
            case updates.RemoveUpdate(item_id):
                del shown[item_id]
            case updates.GaugeUpdate(new):
                gauge = new
            case updates.TitleUpdate(new_title):
                title = new_title
            case _:
                pass
    now: sessions.Snapshot = await client.ask(protocol.SNAPSHOT, protocol.SessionParams(opened.session_id))
    assert list(shown.values()) == now.items
    assert (gauge, title) == (now.gauge, now.title)
    assert sum(category.tokens for category in gauge.categories) == gauge.used


async def test_sessions_are_listed_renamed_and_deleted(client: UllageClient) -> None:
    first: sessions.Snapshot = await client.ask(protocol.NEW)
    second: sessions.Snapshot = await client.ask(protocol.NEW)
    await client.ask(protocol.RENAME, sessions.RenameParams(first.session_id, "Pumps"))
    listed: sessions.ListResult = await client.ask(protocol.LIST)
    assert {summary.session_id: summary.title for summary in listed.sessions} == {first.session_id: "Pumps", second.session_id: ""}
    await client.ask(protocol.DELETE, protocol.SessionParams(first.session_id))
    listed = await client.ask(protocol.LIST)
    assert [summary.session_id for summary in listed.sessions] == [second.session_id]
    assert client.list_changes == 4


async def test_a_session_is_forked_from_a_prompt_that_comes_back_with_what_was_attached(client: UllageClient, folder: Path) -> None:
    (folder / "dip.txt").write_text("731 mm\n")
    opened = await client.open()
    attached: list[prompts.AttachmentRef] = [prompts.FileAttachment((folder / "dip.txt").as_uri()), prompts.ProblemsAttachment()]
    prompt_id = await client.prompt(opened.session_id, "read the dip", attachments=attached)
    await client.until_idle()
    forked: sessions.ForkResult = await client.ask(protocol.FORK, sessions.ForkParams(opened.session_id, prompt_id))
    assert forked.prompt == sessions.ForkPrompt("read the dip", attached)
    assert texts_of(forked.snapshot.items) == []
    assert (forked.snapshot.title, forked.snapshot.state) == ("read the dip (fork)", "idle")
    assert forked.snapshot.forked_from == sessions.ForkOrigin(opened.session_id, "read the dip")
    whole: sessions.ForkResult = await client.ask(protocol.FORK, sessions.ForkParams(opened.session_id))
    assert whole.prompt is None
    now: sessions.Snapshot = await client.ask(protocol.SNAPSHOT, protocol.SessionParams(opened.session_id))
    assert texts_of(whole.snapshot.items) == texts_of(now.items)
    listed: sessions.ListResult = await client.ask(protocol.LIST)
    assert {summary.title for summary in listed.sessions} == {"read the dip", "read the dip (fork)", "read the dip (fork 2)"}


async def test_a_session_is_there_again_in_the_next_window(folder: Path, state: Path) -> None:
    async with editor_window(folder, state) as before:
        opened = await before.open()
        await before.prompt(opened.session_id, "hello there")
        await before.until_idle()
        shown: sessions.Snapshot = await before.ask(protocol.SNAPSHOT, protocol.SessionParams(opened.session_id))
    async with editor_window(folder, state) as after:
        again = await after.open()
        assert again.session_id == opened.session_id
        assert again.title == shown.title
        assert texts_of(again.items) == texts_of(shown.items)


async def test_two_windows_on_one_folder_do_not_share_a_session(folder: Path, state: Path) -> None:
    async with editor_window(folder, state) as here, editor_window(folder, state) as there:
        mine = await here.open()
        with pytest.raises(JsonRpcException) as refused:
            await there.open(mine.session_id)
        assert refused.value.data == {"reason": "session_busy"}
        theirs = await there.open()
        assert theirs.session_id != mine.session_id


async def test_older_items_are_fetched_in_pages(client: UllageClient) -> None:
    opened = await client.open()
    for text in ("one", "two", "three"):
        after = client.updates[-1].seq if client.updates else 0
        await client.prompt(opened.session_id, text)
        await client.until_idle(after)
    now: sessions.Snapshot = await client.ask(protocol.SNAPSHOT, protocol.SessionParams(opened.session_id))
    last = now.items[-1]
    page: sessions.ItemsResult = await client.ask(protocol.ITEMS, sessions.ItemsParams(opened.session_id, last.id, 2))
    assert page.items == now.items[-3:-1]
    assert page.earlier == len(now.items) - 3


async def test_a_compaction_is_made_undone_and_redone(client: UllageClient, folder: Path) -> None:
    (folder / "pump.py").write_text("".join(f"def prime_{number}(pressure, level, temperature):\n    pass\n" for number in range(400)))
    opened = await client.open()
    for question in ("where is prime defined?", "where is pressure used?", "where is level used?"):
        after = client.updates[-1].seq if client.updates else 0
        await client.prompt(opened.session_id, question)
        await client.until_idle(after)
    after = client.updates[-1].seq
    made: history.CompactionResult = await client.ask(protocol.COMPACT, history.CompactParams(opened.session_id, "pumps"))
    await client.until(lambda update: compaction_of(update, made.compaction_id) in ("completed", "failed"), after)
    snapshot: sessions.Snapshot = await client.ask(protocol.SNAPSHOT, protocol.SessionParams(opened.session_id))
    card = next(item for item in snapshot.items if item.id == made.compaction_id)
    assert isinstance(card, wire.CompactionItem)
    assert (card.status, card.trigger, card.focus) == ("completed", "manual", "pumps"), card
    for method, status in ((protocol.UNDO_COMPACTION, "undone"), (protocol.REDO_COMPACTION, "completed")):
        after = client.updates[-1].seq
        changed: history.CompactionResult = await client.ask(method, history.CompactionParams(opened.session_id))
        assert changed.compaction_id == made.compaction_id
        await client.until(lambda update, status=status: compaction_of(update, made.compaction_id) == status, after)
    await client.until_progress_ended(f"compaction {made.compaction_id}")
    progress = client.progress_reports[f"compaction {made.compaction_id}"]
    assert [type(report).__name__ for report in progress] == ["WorkDoneProgressBegin", "WorkDoneProgressEnd"]


def compaction_of(update: updates.Update, compaction_id: str) -> str | None:
    if isinstance(update, updates.ItemUpdate) and isinstance(update.item, wire.CompactionItem) and update.item.id == compaction_id:
        return update.item.status
    return None


async def test_what_cannot_be_done_is_refused_with_a_reason(client: UllageClient, folder: Path) -> None:
    here = (await client.open()).session_id
    refusals: list[tuple[str, Any, str]] = [
        (protocol.OPEN, sessions.OpenParams("nowhere"), "unknown_session"),
        (protocol.SNAPSHOT, protocol.SessionParams("nowhere"), "unknown_session"),
        (protocol.DELETE, protocol.SessionParams("nowhere"), "unknown_session"),
        (protocol.RENAME, sessions.RenameParams("nowhere", "t"), "unknown_session"),
        (protocol.FORK, sessions.ForkParams("nowhere"), "unknown_session"),
        (protocol.FORK, sessions.ForkParams("nowhere", "p"), "unknown_session"),
        (protocol.FORK, sessions.ForkParams(here, "p"), "no_such_item"),
        (protocol.PROMPT, prompts.PromptParams("nowhere", "t"), "unknown_session"),
        (protocol.PROMPT, prompts.PromptParams(here, "  "), "invalid"),
        (protocol.PROMPT, prompts.PromptParams(here, "t", [prompts.FileAttachment("untitled:one")]), "invalid"),
        (protocol.PROMPT, prompts.PromptParams(here, "t", [prompts.FileAttachment((folder / "none.py").as_uri())]), "invalid"),
        (protocol.PROMPT, prompts.PromptParams(here, "t", [prompts.FileAttachment("file:///etc/hostname")]), "invalid"),
        (protocol.PIN, history.PinParams(here, pinned=True, path="none.py"), "invalid"),
        (protocol.PIN, history.PinParams(here, pinned=True, path="untitled:one"), "invalid"),
        (protocol.PIN, history.PinParams(here, pinned=True, path=(folder / "none.py").as_uri()), "invalid"),
        (protocol.CLOSE, protocol.SessionParams("nowhere"), "unknown_session"),
        (protocol.ITEMS, sessions.ItemsParams(here, "no item", 5), "no_such_item"),
        (protocol.ITEMS, sessions.ItemsParams(here, "no item", 0), "invalid"),
        (protocol.RENAME, sessions.RenameParams(here, "  "), "invalid"),
        (protocol.UNDO_COMPACTION, history.CompactionParams(here), "nothing_to_undo"),
        (protocol.RESPOND, permissions.RespondParams(here, "no call", "q0", "allow_once"), "no_such_permission"),
        (protocol.UNQUEUE, prompts.UnqueueParams(here, "no prompt"), "no_such_item"),
        (protocol.SET_MODEL, models.SetModelParams(here, " "), "invalid"),
        (protocol.CONTINUE, protocol.SessionParams(here), "invalid"),
    ]
    for method, params, reason in refusals:
        with pytest.raises(JsonRpcException) as refused:
            await client.ask(method, params)
        assert (refused.value.code, refused.value.data) == (protocol.REQUEST_FAILED, {"reason": reason}), method
        assert refused.value.message
    assert await client.ask(protocol.LIST)


@pytest.mark.parametrize("named", ["relative", "absolute", "uri"])
async def test_a_file_is_named_by_a_path_or_a_uri(client: UllageClient, folder: Path, named: str) -> None:
    path = folder / "the tank.py"
    path.write_text("LITRES = 100\n")
    here = (await client.open()).session_id
    names = {"relative": path.name, "absolute": str(path), "uri": path.as_uri()}
    await client.ask(protocol.PIN, history.PinParams(here, pinned=True, path=names[named]))
    pins = (await client.ask(protocol.SNAPSHOT, protocol.SessionParams(here))).pins
    assert pins.paths == ["the tank.py"]


async def test_a_session_that_was_closed_can_be_opened_by_another_client(client: UllageClient, folder: Path, state: Path) -> None:
    here = (await client.open()).session_id
    async with editor_window(folder, state) as there:
        with pytest.raises(JsonRpcException, match="another window"):
            await there.open(here)
        await client.ask(protocol.CLOSE, protocol.SessionParams(here))
        assert (await there.open(here)).session_id == here
        with pytest.raises(JsonRpcException, match="not open"):
            await client.ask(protocol.SNAPSHOT, protocol.SessionParams(here))


async def test_without_a_folder_sessions_work_and_the_user_is_told(state: Path) -> None:
    async with editor_window(None, state) as client:
        opened = await client.open()
        await client.prompt(opened.session_id, "hello there")
        await client.until_idle()
        assert any("memory only" in shown.message for shown in client.messages)


async def test_a_session_that_is_open_elsewhere_is_shown_as_such(client: UllageClient, folder: Path, state: Path) -> None:
    here = (await client.open()).session_id
    async with editor_window(folder, state) as there:
        free: sessions.Snapshot = await there.ask(protocol.NEW)
        assert await open_elsewhere(there) == {here: True, free.session_id: None}
        assert await open_elsewhere(client) == {here: None, free.session_id: True}
        await there.ask(protocol.CLOSE, protocol.SessionParams(free.session_id))
        assert await open_elsewhere(client) == {here: None, free.session_id: None}
        assert (await client.open(free.session_id)).session_id == free.session_id


async def open_elsewhere(client: UllageClient) -> dict[str, bool | None]:
    listed: sessions.ListResult = await client.ask(protocol.LIST)
    return {summary.session_id: summary.open_elsewhere for summary in listed.sessions}


async def test_a_rename_reaches_the_window_that_has_the_session_open(client: UllageClient, folder: Path, state: Path) -> None:
    here = (await client.open()).session_id
    async with editor_window(folder, state) as there:
        await there.ask(protocol.RENAME, sessions.RenameParams(here, "Pumps"))
        listed: sessions.ListResult = await client.ask(protocol.LIST)
        assert [summary.title for summary in listed.sessions] == ["Pumps"]
        assert (await client.ask(protocol.SNAPSHOT, protocol.SessionParams(here))).title == "Pumps"
        await client.until(lambda update: update == updates.TitleUpdate("Pumps"))
        await there.ask(protocol.RENAME, sessions.RenameParams(here, "Valves"))
        assert (await client.open(here)).title == "Valves"
        await there.ask(protocol.RENAME, sessions.RenameParams(here, "Tanks"))
        await client.until(lambda update: update == updates.TitleUpdate("Tanks"))  # nobody looks


async def test_a_command_is_understood_from_a_client_that_knows_none(client: UllageClient) -> None:
    here = (await client.open()).session_id
    listed: prompts.CommandsResult = await client.ask(protocol.COMMANDS)
    assert {"compact", "undo", "help"} <= {command.name for command in listed.commands}
    done: prompts.PromptResult = await client.ask(protocol.PROMPT, prompts.PromptParams(here, "/context"))
    assert done.command == prompts.CommandDone("context")
    ended = updates.EndedTurn(done.prompt_id, "end_turn")
    await client.until(lambda update: update == updates.StateUpdate("idle", ended=ended))
    now: sessions.Snapshot = await client.ask(protocol.SNAPSHOT, protocol.SessionParams(here))
    assert [type(item) for item in now.items] == [wire.NoticeItem]
    assert now.items[0].id == done.prompt_id
    new: prompts.PromptResult = await client.ask(protocol.PROMPT, prompts.PromptParams(here, "/new"))
    assert new.command is not None
    assert (await client.open(new.command.session_id)).items == []
    for text, reason in (("/compact", "nothing_to_compact"), ("/undo", "nothing_to_undo")):
        with pytest.raises(JsonRpcException) as refused:
            await client.prompt(here, text)
        assert refused.value.data == {"reason": reason}
    with pytest.raises(JsonRpcException, match="takes no attachments"):
        await client.prompt(here, "/compact", attachments=[prompts.ProblemsAttachment()])
    asked: prompts.PromptResult = await client.ask(protocol.PROMPT, prompts.PromptParams(here, "/etc/hosts is wrong"))
    assert asked.command is None
    await client.until_idle()
