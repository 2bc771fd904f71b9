"""The editor's text is the truth: unsaved edits are read, edits of the agent can be undone there, problems are listed."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from lsprotocol.types import DidChangeConfigurationParams
from pygls.exceptions import JsonRpcException

from tests.fake_api import Call, FakeApi, Say
from tests.server.client import UllageClient, editor_window
from ullage.context.policy import USUAL_CAP
from ullage.lsp import protocol
from ullage.lsp.documents import lines_of, path_of
from ullage.lsp.protocol import editor, permissions, prompts, sessions, updates
from ullage.lsp.protocol import items as wire


async def tool_result(
    client: UllageClient, fake: FakeApi, call: Call, attachments: list[prompts.AttachmentRef] | None = None
) -> wire.ToolCallItem:
    """What one call of a tool gives, approved."""
    fake.enqueue(call, Say("Done."))
    opened = await client.open()
    after = client.updates[-1].seq if client.updates else 0
    await client.prompt(opened.session_id, "go on", attachments=attachments)
    if call.name in ("edit_file", "write_file"):
        asked = await client.until_asked(after)
        await client.ask(protocol.RESPOND, permissions.RespondParams(opened.session_id, asked.id, asked.permission_id or "", "allow_once"))
    await client.until_idle(after)
    now: sessions.Snapshot = await client.ask(protocol.SNAPSHOT, protocol.SessionParams(opened.session_id))
    return [item for item in now.items if isinstance(item, wire.ToolCallItem)][-1]


def settings_for(fake: FakeApi) -> dict[str, Any]:
    return {"model": {"baseUrl": fake.base_url}}


async def test_unsaved_text_is_what_the_agent_reads(folder: Path, state: Path) -> None:
    path = folder / "valve.txt"
    path.write_text("open\nshut\n")
    async with FakeApi() as fake, editor_window(folder, state, settings=settings_for(fake)) as client:
        uri = client.open_document(path, "open\nshut\n")
        client.type_at(uri, 1, 0, "half ")
        read = await tool_result(client, fake, Call("read_file", {"path": "valve.txt"}))
        assert "half shut" in read.output
        client.type_at(uri, 0, 0, "wide ")
        fake.enqueue(Say("Seen."))
        opened = await client.open()
        after = client.updates[-1].seq
        await client.prompt(opened.session_id, "look", attachments=[prompts.FileAttachment(uri)])
        await client.until_idle(after)
        assert "wide open" in json.dumps(fake.requests[-1].body["messages"][-1])


async def after_opening(client: UllageClient, fake: FakeApi, uri: str) -> None:
    await client.open()  # by now the server knows that the file is open


async def after_saving(client: UllageClient, fake: FakeApi, uri: str) -> None:
    client.type_at(uri, 0, 0, "wide ")
    (path_of(uri) or Path()).write_text(client.documents[uri].source)
    client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))


async def after_reading_anew(client: UllageClient, fake: FakeApi, uri: str) -> None:
    """A command wrote the file, and the editor shows that: of a change it does not say where it comes from."""
    (path_of(uri) or Path()).write_text("wide open\n")
    client.type_at(uri, 0, 0, "wide ")
    await tool_result(client, fake, Call("read_file", {"path": "valve.txt"}))


@pytest.mark.parametrize("before", [after_opening, after_saving, after_reading_anew])
async def test_a_file_that_is_gone_is_gone_though_an_editor_shows_it(
    folder: Path, state: Path, before: Callable[[UllageClient, FakeApi, str], Awaitable[None]]
) -> None:
    path = folder / "valve.txt"
    path.write_text("open\n")
    async with FakeApi() as fake, editor_window(folder, state, settings=settings_for(fake)) as client:
        uri = client.open_document(path, "open\n")
        await before(client, fake, uri)
        path.unlink()
        assert (await tool_result(client, fake, Call("read_file", {"path": "valve.txt"}))).status == "failed"
        assert "valve" not in (await tool_result(client, fake, Call("search", {"pattern": "open"}))).output
        written = await tool_result(client, fake, Call("write_file", {"path": "valve.txt", "content": "new\n"}))
        assert "Created" in written.output
        assert path.read_text() == "new\n"


async def after_being_told(client: UllageClient, fake: FakeApi, uri: str) -> None:
    """The same, but nobody read the file: that nothing is unsaved, the editor says itself."""
    client.type_at(uri, 0, 0, "wide ")
    client.tell_dirty(uri, False)


async def after_being_told_at_last(client: UllageClient, fake: FakeApi, uri: str) -> None:
    client.type_at(uri, 0, 0, "wide ")
    client.tell_dirty(uri, True)
    client.tell_dirty(uri, False)


@pytest.mark.parametrize("before", [after_opening, after_saving, after_reading_anew, after_being_told, after_being_told_at_last])
async def test_a_file_that_an_editor_has_yet_to_load_anew_is_as_on_disk(
    folder: Path, state: Path, before: Callable[[UllageClient, FakeApi, str], Awaitable[None]]
) -> None:
    """An editor hears of a change on disk a second later at times."""
    path = folder / "valve.txt"
    path.write_text("open\n")
    async with FakeApi() as fake, editor_window(folder, state, settings=settings_for(fake)) as client:
        uri = client.open_document(path, "open\n")
        await before(client, fake, uri)
        path.write_text("shut\n")
        assert "shut" in (await tool_result(client, fake, Call("read_file", {"path": "valve.txt"}))).output
        assert "shut" in (await tool_result(client, fake, Call("search", {"pattern": "shut"}))).output
        edited = await tool_result(client, fake, Call("edit_file", {"path": "valve.txt", "old_text": "shut", "new_text": "tight"}))
        assert (edited.status, path.read_text()) == ("completed", "tight\n")


async def test_an_open_file_in_an_encoding_that_only_the_editor_knows_is_as_it_shows_it(folder: Path, state: Path) -> None:
    path = folder / "valve.txt"
    path.write_bytes("阀门打开\n".encode("gbk"))
    async with FakeApi() as fake, editor_window(folder, state, settings=settings_for(fake)) as client:
        uri = client.open_document(path, "阀门打开\n")
        client.tell_dirty(uri, False)
        assert "阀门打开" in (await tool_result(client, fake, Call("read_file", {"path": "valve.txt"}))).output


async def dirty(client: UllageClient, uri: str) -> None:
    client.tell_dirty(uri, True)


async def clean_before_more_was_typed(client: UllageClient, uri: str) -> None:
    client.tell_dirty(uri, False)
    client.type_at(uri, 0, 0, "very ")


async def clean_of_another_version(client: UllageClient, uri: str) -> None:
    client.tell_dirty(uri, False, version=1)


@pytest.mark.parametrize("told", [dirty, clean_before_more_was_typed, clean_of_another_version])
async def test_unsaved_text_counts_whatever_happens_on_disk(
    folder: Path, state: Path, told: Callable[[UllageClient, str], Awaitable[None]]
) -> None:
    path = folder / "valve.txt"
    path.write_text("open\n")
    async with FakeApi() as fake, editor_window(folder, state, settings=settings_for(fake)) as client:
        uri = client.open_document(path, "open\n")
        client.type_at(uri, 0, 0, "wide ")
        await told(client, uri)
        path.write_text("shut\n")
        assert "wide open" in (await tool_result(client, fake, Call("read_file", {"path": "valve.txt"}))).output


@pytest.mark.parametrize("is_new", [True, False])
async def test_unsaved_text_of_a_file_that_is_gone_counts(folder: Path, state: Path, is_new: bool) -> None:
    path = folder / "valve.txt"
    path.write_text("open\n")
    async with FakeApi() as fake, editor_window(folder, state, settings=settings_for(fake)) as client:
        if is_new:  # an editor opens again what was unsaved when it was closed
            client.open_document(path, "wide open\n")
        else:
            client.type_at(client.open_document(path, "open\n"), 0, 0, "wide ")
        path.unlink()
        assert "wide open" in (await tool_result(client, fake, Call("read_file", {"path": "valve.txt"}))).output


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("one\ntwo\nthree\n", "two"),
        ("one\r\ntwo\r\nthree", "two"),
        ("page one\n\x0cpage two\nend\n", "page two"),
        ("emoji \U0001f600 \u2028 and\ntwo \U0001f600 x\nthree\n", "two"),
    ],
)
async def test_an_edit_of_an_open_document_goes_through_the_editor(folder: Path, state: Path, text: str, typed: str) -> None:
    path = folder / "a.txt"
    path.write_bytes(text.encode())
    async with FakeApi() as fake, editor_window(folder, state, settings=settings_for(fake)) as client:
        uri = client.open_document(path, text)
        client.type_at(uri, 1, 0, "unsaved ")
        await tool_result(client, fake, Call("read_file", {"path": "a.txt"}))
        edited = await tool_result(client, fake, Call("edit_file", {"path": "a.txt", "old_text": typed, "new_text": "TWO"}))
        assert edited.status == "completed", edited.output
        first, second, *others = lines_of(text)
        assert client.documents[uri].source == "".join([first, "unsaved ", second, *others]).replace(typed, "TWO")
        assert path.read_bytes() == text.encode()


async def test_an_edit_of_a_saved_document_reaches_the_disk_too(folder: Path, state: Path) -> None:
    path = folder / "a.txt"
    path.write_text("one\ntwo\n")
    async with FakeApi() as fake, editor_window(folder, state, settings=settings_for(fake)) as client:
        uri = client.open_document(path, "one\ntwo\n")
        await tool_result(client, fake, Call("read_file", {"path": "a.txt"}))
        await tool_result(client, fake, Call("edit_file", {"path": "a.txt", "old_text": "two", "new_text": "TWO"}))
        assert client.documents[uri].source == "one\nTWO\n"
        assert path.read_text() == "one\nTWO\n"


async def test_a_user_who_is_faster_wins(folder: Path, state: Path) -> None:
    path = folder / "a.txt"
    path.write_text("one\ntwo\n")
    async with FakeApi() as fake, editor_window(folder, state, settings=settings_for(fake)) as client:
        uri = client.open_document(path, "one\ntwo\n")
        await tool_result(client, fake, Call("read_file", {"path": "a.txt"}))
        client.before_edit = lambda: client.type_at(uri, 0, 0, "mine ")
        edited = await tool_result(client, fake, Call("edit_file", {"path": "a.txt", "old_text": "two", "new_text": "TWO"}))
        assert edited.status == "failed"
        assert client.documents[uri].source == "mine one\ntwo\n"
        assert path.read_text() == "one\ntwo\n"


async def test_problems_are_those_of_the_editor(folder: Path, state: Path) -> None:
    (folder / "a.py").write_text("x\n")
    async with FakeApi() as fake, editor_window(folder, state, settings=settings_for(fake)) as client:
        client.problems = [editor.Problem((folder / "a.py").as_uri(), 1, "error", "pyright", "x is not defined")]
        shown = await tool_result(client, fake, Call("diagnostics", {}), [prompts.ProblemsAttachment()])
        assert "x is not defined" in shown.output
        assert "x is not defined" in json.dumps(fake.requests[0].body["messages"][0])


async def test_settings_are_asked_for_and_bad_ones_named(folder: Path, state: Path) -> None:
    settings = {"model": {"provider": "practice"}, "compaction": {"cap": "much", "auto": False}, "bash": {"timeout": 0}}
    async with editor_window(folder, state, settings=settings) as client:
        opened = await client.open()
        assert opened.gauge.next.why == "off"
        told = [message.message for message in client.messages]
        assert len(told) == 2
        assert any("Compaction: Cap" in message and str(USUAL_CAP) in message for message in told)
        assert any("Bash: Timeout" in message for message in told)
        client.set_configuration({"provider": "practice"}, section="ullage.model")
        client.set_configuration({"auto": True, "cap": 30_000}, section="ullage.compaction")
        client.set_configuration({}, section="ullage.bash")
        client.workspace_did_change_configuration(DidChangeConfigurationParams(None))
        changed = await client.until(lambda update: isinstance(update, updates.GaugeUpdate) and update.gauge.next.why != "off")
        assert isinstance(changed.update, updates.GaugeUpdate)
        assert changed.update.gauge.threshold <= 30_000
        assert len(client.messages) == 2


def folders_changed(client: UllageClient, *, removed: list[Path], added: list[Path]) -> None:
    """The user takes workspace folders away and adds others."""

    def named(paths: list[Path]) -> list[types.WorkspaceFolder]:
        return [types.WorkspaceFolder(path.as_uri(), path.name) for path in paths]

    event = types.WorkspaceFoldersChangeEvent(added=named(added), removed=named(removed))
    client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))


async def test_workspace_folders_come_and_go_and_one_that_is_gone_is_out_of_reach(folder: Path, state: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "pump.txt").write_text("the pump is in the other folder")
    (folder / "valve.txt").write_text("open\n")
    read = Call("read_file", {"path": str(other / "pump.txt")})
    async with FakeApi() as fake, editor_window(folder, state, settings=settings_for(fake)) as client:
        assert "outside the workspace" in (await tool_result(client, fake, read)).output
        folders_changed(client, removed=[], added=[other])
        assert "the pump is" in (await tool_result(client, fake, read)).output
        assert str(other) in json.dumps(fake.requests[-1].body["system"])
        folders_changed(client, removed=[other], added=[])
        assert "outside the workspace" in (await tool_result(client, fake, read)).output
        folders_changed(client, removed=[folder], added=[other])
        assert "No folder is open" in (await tool_result(client, fake, Call("read_file", {"path": "valve.txt"}))).output


async def test_a_document_that_was_never_saved_is_attached_as_it_is_typed(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, editor_window(folder, state, settings=settings_for(fake)) as client:
        opened = await client.open()
        new = prompts.FileAttachment("untitled:Untitled-1")
        with pytest.raises(JsonRpcException, match="untitled:Untitled-1 cannot be attached: no document of that name is open"):
            await client.prompt(opened.session_id, "look", attachments=[new])
        client.open_document(folder, "the pump leaks\n", "untitled:Untitled-1")
        client.type_at("untitled:Untitled-1", 0, 4, "second ")
        fake.enqueue(Say("Seen."))
        prompt_id = await client.prompt(opened.session_id, "look", attachments=[new])
        await client.until_idle()
        told = json.dumps(fake.requests[-1].body["messages"][-1])
        assert "the second pump leaks" in told
        fork: sessions.ForkResult = await client.ask(protocol.FORK, sessions.ForkParams(opened.session_id, prompt_id))
        assert fork.prompt == sessions.ForkPrompt("look", [new])
        closed = types.DidCloseTextDocumentParams(types.TextDocumentIdentifier("untitled:Untitled-1"))
        client.text_document_did_close(closed)
        with pytest.raises(JsonRpcException, match="no document of that name is open"):
            await client.prompt(opened.session_id, "look", attachments=[new])


class Neovim:
    """A document as Neovim holds it: what is on disk counts as known as long as its time and size are those it saw when it last read or
    wrote the file. Otherwise a changed buffer is in conflict, and an unchanged one is read again."""

    def __init__(self, client: UllageClient, path: Path) -> None:
        self.client, self.path = client, path
        self.uri = client.open_document(path, path.read_text())
        self.modified = False
        self.seen = path.stat()

    def edited(self, _: str) -> None:
        self.modified = True

    def write(self, uri: str) -> None:
        """`:write`, in which it would ask first where there is a conflict."""
        assert not self.conflict
        self.path.write_text(self.client.documents[uri].source)
        self.modified, self.seen = False, self.path.stat()
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    @property
    def changed_on_disk(self) -> bool:
        now = self.path.stat()
        return (now.st_mtime_ns, now.st_size, now.st_ino) != (self.seen.st_mtime_ns, self.seen.st_size, self.seen.st_ino)

    @property
    def conflict(self) -> bool:
        """W12: the file has changed, and the buffer, too."""
        return self.modified and self.changed_on_disk

    def reload(self) -> None:
        """`:edit!`: its client closes the document and opens it anew."""
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(self.uri)))
        self.client.open_document(self.path, self.path.read_text())
        self.modified, self.seen = False, self.path.stat()


async def test_an_editor_that_saves_before_it_answers_meets_no_conflict(folder: Path, state: Path) -> None:
    path = folder / "a.txt"
    path.write_text("one\ntwo\n")
    async with FakeApi() as fake, editor_window(folder, state, settings=settings_for(fake)) as client:
        editor = Neovim(client, path)
        client.after_edit = editor.write
        await tool_result(client, fake, Call("read_file", {"path": "a.txt"}))
        for old, new in (("two", "TWO"), ("one", "ONE")):
            edited = await tool_result(client, fake, Call("edit_file", {"path": "a.txt", "old_text": old, "new_text": new}))
            assert edited.status == "completed", edited.output
            assert not editor.changed_on_disk  # nobody wrote it a second time
        assert path.read_text() == client.documents[editor.uri].source == "ONE\nTWO\n"
        assert "Changed since you last saw it" not in json.dumps(fake.requests[-1].body["messages"])


async def test_an_editor_that_does_not_save_reloads_and_goes_on(folder: Path, state: Path) -> None:
    path = folder / "a.txt"
    path.write_text("one\ntwo\n")
    async with FakeApi() as fake, editor_window(folder, state, settings=settings_for(fake)) as client:
        editor = Neovim(client, path)
        client.after_edit = editor.edited
        await tool_result(client, fake, Call("read_file", {"path": "a.txt"}))
        for old, new in (("two", "TWO"), ("one", "ONE")):
            edited = await tool_result(client, fake, Call("edit_file", {"path": "a.txt", "old_text": old, "new_text": new}))
            assert edited.status == "completed", edited.output
            assert editor.conflict  # what the page warns of: the server wrote the file, since commands read the disk
            assert path.read_text() == client.documents[editor.uri].source
            editor.reload()
        assert path.read_text() == "ONE\nTWO\n"
        await tool_result(client, fake, Call("read_file", {"path": "a.txt"}))
        assert not editor.changed_on_disk
        assert "Changed since you last saw it" not in json.dumps(fake.requests[-1].body["messages"])


async def test_what_a_rule_refuses_to_have_read_is_not_attached_by_any_name(folder: Path, state: Path) -> None:
    (folder / "key.txt").write_text("hunter2\n")
    (folder / "linked.txt").symlink_to(folder / "key.txt")
    async with editor_window(folder, state) as client:
        opened = await client.open()
        for pattern in ("linked.txt", "**/.env"):
            never = permissions.NewRule("read", pattern, "workspace", refuses=True)
            await client.ask(protocol.ALLOW, permissions.AllowParams(opened.session_id, never))
        for attachment in (
            prompts.FileAttachment((folder / "linked.txt").as_uri()),
            prompts.TextAttachment(".env", "KEY=hunter2"),
        ):
            with pytest.raises(JsonRpcException, match="refuses to have it read"):
                await client.prompt(opened.session_id, "look", attachments=[attachment])
