"""A session in a worktree of its own: where its agent works, what comes back into the workspace folder, and what is never lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fake_api import Call, Say
from tests.unit.session.changes.changing import versions
from tests.unit.session.harness import Stage, calls, kept_of, stage
from ullage.context.blocks import Json
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.sessions.bringing_back import (
    BOTH_CHANGED,
    BOTH_CHANGED_BYTES,
    BOTH_CREATED,
    DELETED_HERE,
    DELETED_THERE,
    Joined,
    joining,
)
from ullage.session.sessions.bringing_back import from_json as brought_from_json
from ullage.session.sessions.worktrees import from_json, to_json
from ullage.workspace.files import Content
from ullage.workspace.worktrees import Worktree

pygit2: Any = pytest.importorskip("pygit2")


def content(text: str) -> Content:
    return Content(text.encode())


# What becomes of one file


def test_what_changed_in_the_worktree_alone_is_taken() -> None:
    assert joining(None, content("a\n"), content("b\n"), changed_here=False) == Joined("write", content("b\n"))
    assert joining(None, None, content("b\n"), changed_here=False) == Joined("create", content("b\n"))
    assert joining(None, content("a\n"), None, changed_here=False) == Joined("delete", None)


def test_texts_that_changed_on_both_sides_are_joined_line_by_line() -> None:
    found = joining(b"1\n2\n3\n4\n", content("one\n2\n3\n4\n"), content("1\n2\n3\nfour\n"), changed_here=True)
    assert found == Joined("join", content("one\n2\n3\nfour\n"))


def test_the_line_ends_of_the_workspace_folder_stay() -> None:
    found = joining(b"1\n2\n3\n", content("one\r\n2\r\n3\r\n"), content("1\n2\nthree\n"), changed_here=True)
    assert found == Joined("join", content("one\r\n2\r\nthree\r\n"))


@pytest.mark.parametrize(
    ("base", "here", "there", "why"),
    [
        (b"1\n", content("one\n"), content("uno\n"), BOTH_CHANGED),
        (b"\0", content("\0a"), content("\0b"), BOTH_CHANGED_BYTES),
        (b"1\n", content("one\n"), None, DELETED_THERE),
        (b"1\n", None, content("uno\n"), DELETED_HERE),
        (None, content("one\n"), content("uno\n"), BOTH_CREATED),
    ],
)
def test_what_cannot_be_joined_stays_and_is_named(base: bytes | None, here: Content | None, there: Content | None, why: str) -> None:
    assert joining(base, here, there, changed_here=True) == Joined("same", here, why)


LINES = st.lists(st.sampled_from("abc"), max_size=6).map(lambda lines: "".join(f"{line}\n" for line in lines))


@given(LINES, LINES, LINES)
def test_no_line_that_the_user_wrote_is_lost(base: str, here: str, there: str) -> None:
    found = joining(base.encode(), content(here), content(there), changed_here=here != base)
    if here == base:
        assert found.conflict == ""
        assert found.wanted == content(there)
    elif found.conflict:
        assert found.wanted == content(here)
    elif found.wanted is not None:
        ours = [line for line in here.splitlines() if line not in base.splitlines()]
        assert all(line in found.wanted.data.decode().splitlines() for line in ours)


def test_a_row_is_read_as_it_was_written() -> None:
    worktree = Worktree(Path("/work/tanks"), Path("/work/tanks.worktrees/s1"), "s1", "ullage/s1", "a" * 40, ".")
    assert from_json(to_json(worktree)) == worktree
    broken: list[Json] = [None, [], {}, {"top": "/work/tanks"}]
    assert [from_json(each) for each in broken] == [None] * 4


# In sessions


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with a commit."""
    made = tmp_path / "tanks"
    made.mkdir()
    for name, text in (("tank.py", "1\n2\n3\n4\n"), ("dip.py", "dip\n"), ("old.py", "old\n"), (".gitignore", "ignored\n")):
        (made / name).write_text(text)
    repository = pygit2.init_repository(str(made))
    repository.index.add_all()
    tree = repository.index.write_tree()
    repository.index.write()
    who = pygit2.Signature("A", "a@example.com", 1_795_000_000, 0)
    repository.create_commit("HEAD", who, who, "First", tree, [])
    return made


async def written(here: Stage, session: Session, **files: str) -> None:
    """The agent writes these in the folder that it works in."""
    calls = [Call("write_file", {"path": f"{name}.py", "content": text}) for name, text in files.items()]
    here.fake.enqueue(*calls, Say("Done."))
    await session.prompt("Go on")
    for _ in calls:
        asked = await here.asked(session)
        session.answer_permission(asked.id, "allow_once")
    await here.idle(session)


def root_of(session: Session) -> Path:
    worktree = session.snapshot().worktree
    assert worktree is not None
    return worktree.root


async def test_the_agent_works_in_the_worktree_and_the_folder_stays_as_it_is(folder: Path) -> None:
    (folder / "mine.txt").write_text("not committed\n")
    async with stage(folder) as here:
        session = await here.sessions.create(in_worktree=True)
        root = root_of(session)
        assert root.parent == folder.parent / "tanks.worktrees"
        assert sorted(path.name for path in root.iterdir()) == [".git", ".gitignore", "dip.py", "old.py", "tank.py"]
        await written(here, session, pump="pump\n")
        assert (root / "pump.py").read_text() == "pump\n"
        assert not (folder / "pump.py").exists()
        await here.watcher.until(lambda: session.reviewing.shown.count == 1)  # what a turn changed is looked at after it
        [listed] = [each for each in await here.sessions.listed(10) if each.session_id == session.id]
        assert listed.worktree is not None and listed.worktree.branch == f"ullage/{session.id[:8]}"
        assert listed.figures is not None and listed.figures.files == 1
    async with stage(folder) as here:
        assert root_of(await here.sessions.open(session.id)) == root


async def test_a_question_says_that_a_command_would_run_outside_of_the_workspace_folder(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.sessions.create(in_worktree=True)
        here.fake.enqueue(Call("bash", {"command": "mkdir one"}), Say("No."))
        await session.prompt("Go")
        asked = (await here.asked(session)).asked
        assert asked is not None
        assert (asked.folder, asked.outside) == (str(root_of(session)), True)
        session.answer_permission(calls(session)[-1].id, "reject_once")
        await here.idle(session)


async def test_a_file_outside_of_the_worktree_is_out_of_reach(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.sessions.create(in_worktree=True)
        here.fake.enqueue(Call("read_file", {"path": str(folder / "dip.py")}), Say("I cannot."))
        await here.say(session, "Read it")
        assert "outside the workspace" in str(here.fake.requests[-1].body)


async def test_it_is_out_of_reach_with_the_folder_that_it_is_a_worktree_of(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.sessions.create(in_worktree=True)
        here.sessions.folders_changed([folder], [])
        here.fake.enqueue(Call("read_file", {"path": "dip.py"}), Say("I cannot."))
        await here.say(session, "Read it")
        assert "No folder is open" in str(here.fake.requests[-1].body)


async def test_what_was_changed_comes_back_and_conflicts_are_named(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.sessions.create(in_worktree=True)
        root = root_of(session)
        (root / "tank.py").write_text("1\n2\n3\nfour\n")
        (root / "dip.py").write_text("dipstick\n")
        (root / "new").mkdir()
        (root / "new" / "pump.py").write_text("pump\n")
        (root / "old.py").unlink()
        (root / "ignored").write_text("built\n")
        (folder / "tank.py").write_text("one\n2\n3\n4\n")
        (folder / "dip.py").write_text("my own\n")
        back = here.sessions.bringing_back(session.id)
        standing = await back.standing()
        shown = {each.path: each.conflict or each.action for each in standing.files}
        assert shown == {"tank.py": "join", "dip.py": BOTH_CHANGED, "new/pump.py": "create", "old.py": "delete"}
        assert (folder / "tank.py").read_text() == "one\n2\n3\n4\n"  # nothing was done yet
        decided = {each.path: each.outcome for each in await back.bring()}
        assert decided == {"tank.py": "done", "dip.py": "conflict", "new/pump.py": "done", "old.py": "done"}
        assert (folder / "tank.py").read_text() == "one\n2\n3\nfour\n"
        assert (folder / "dip.py").read_text() == "my own\n"
        assert (folder / "new" / "pump.py").read_text() == "pump\n"
        assert not (folder / "old.py").exists()
        left = {each.path: each.conflict or each.action for each in (await back.standing()).files}
        assert left["new/pump.py"] == left["old.py"] == "same"


async def test_what_was_brought_back_is_taken_back_and_what_the_user_changed_since_stays(folder: Path) -> None:
    before = {"tank.py": "one\n2\n3\n4\n", "old.py": "old\n", "dip.py": "dip\n"}
    (folder / "tank.py").write_text(before["tank.py"])
    async with stage(folder) as here:
        session = await here.sessions.create(in_worktree=True)
        root = root_of(session)
        for name, text in (("tank.py", "1\n2\n3\nfour\n"), ("dip.py", "dipstick\n"), ("pump.py", "pump\n"), ("valve.py", "valve\n")):
            (root / name).write_text(text)
        (root / "old.py").unlink()
        back = here.sessions.bringing_back(session.id)
        with pytest.raises(SessionError, match="left to take back"):
            await back.take_back()
        await back.bring()
        assert (await back.standing()).brought == 5
        (folder / "dip.py").write_text("my dipstick\n")
        (folder / "tank.py").write_text("one\ntwo\n3\nfour\n")
    async with stage(folder) as here:
        await here.sessions.open(session.id)
        back = here.sessions.bringing_back(session.id)
        decided = {each.path: each.outcome for each in await back.take_back()}
        assert decided == {"tank.py": "done", "dip.py": "conflict", "pump.py": "done", "valve.py": "done", "old.py": "done"}
        assert (folder / "tank.py").read_text() == "one\ntwo\n3\n4\n"
        assert (folder / "dip.py").read_text() == "my dipstick\n"
        assert (folder / "old.py").read_text() == before["old.py"]
        assert not (folder / "pump.py").exists()
        (folder / "dip.py").write_text("dipstick\n")
        assert (await back.standing()).brought == 1, "what stayed can be tried again"
        assert {each.path: each.outcome for each in await back.take_back()}["dip.py"] == "done"
        assert (folder / "dip.py").read_text() == before["dip.py"]


@pytest.mark.parametrize("damaged", [None, 4, "x", [4], [{}], [{"path": "a", "here": "b", "before": "c", "after": None}]])
def test_a_damaged_row_of_what_was_brought_takes_nothing_back(damaged: Json) -> None:
    assert brought_from_json(damaged) == []


async def test_files_are_brought_back_also_where_their_copies_find_no_room(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.sessions.create(in_worktree=True)
        (root_of(session) / "dip.py").write_text("dipstick\n")
        versions(here).limit = 0
        back = here.sessions.bringing_back(session.id)
        assert [each.outcome for each in await back.bring()] == ["done"]
        assert (await back.standing()).brought == 0


async def test_only_some_are_brought_back(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.sessions.create(in_worktree=True)
        root = root_of(session)
        (root / "dip.py").write_text("dipstick\n")
        (root / "tank.py").write_text("tank\n")
        await here.sessions.bringing_back(session.id).bring(["dip.py"])
        assert ((folder / "dip.py").read_text(), (folder / "tank.py").read_text()) == ("dipstick\n", "1\n2\n3\n4\n")


async def test_unsaved_text_of_the_user_is_joined_and_not_lost(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.sessions.create(in_worktree=True)
        (root_of(session) / "tank.py").write_text("1\n2\n3\nfour\n")
        (root_of(session) / "dip.py").write_text("dipstick\n")
        here.editor.texts[folder / "tank.py"] = "one\n2\n3\n4\n"
        here.editor.texts[folder / "dip.py"] = "unsaved\n"
        decided = {each.path: each.outcome for each in await here.sessions.bringing_back(session.id).bring()}
        assert here.editor.texts[folder / "dip.py"] == "unsaved\n"
        assert decided["dip.py"] == "conflict"
        assert here.editor.texts[folder / "tank.py"] in ("one\n2\n3\nfour\n", "one\n2\n3\n4\n")
        if decided["tank.py"] == "done":
            assert here.editor.texts[folder / "tank.py"] == "one\n2\n3\nfour\n"


async def test_a_link_in_the_way_is_not_written_through(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "secret"
    target.write_text("secret\n")
    async with stage(folder) as here:
        session = await here.sessions.create(in_worktree=True)
        root = root_of(session)
        (root / "dip.py").write_text("dipstick\n")
        (folder / "dip.py").unlink()
        (folder / "dip.py").symlink_to(target)
        (root / "leak.py").symlink_to(target)
        decided = {each.path: each.outcome for each in await here.sessions.bringing_back(session.id).bring()}
        assert decided == {"dip.py": "conflict", "leak.py": "conflict"}
        assert target.read_text() == "secret\n"


async def test_a_worktree_is_removed_with_its_branch_unless_that_has_commits(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.sessions.create(in_worktree=True)
        root = root_of(session)
        assert await here.sessions.worktrees.remove(session.id) is False
        assert not root.exists()
        assert here.watcher.warnings == []
        assert list(pygit2.Repository(str(folder)).branches.local) == ["master"]
        with pytest.raises(SessionError, match="The worktree is gone"):
            await here.sessions.bringing_back(session.id).standing()
        await here.sessions.close_session(session.id)
        again = await here.sessions.open(session.id)
        assert any("is gone" in each for each in here.watcher.warnings)
        assert again.snapshot().worktree is not None


async def test_a_folder_without_a_repository_is_refused_and_leaves_no_session(tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        with pytest.raises(SessionError, match="no git repository"):
            await here.sessions.create(in_worktree=True)
        assert await here.sessions.listed(10) == []


async def test_a_repository_whose_configuration_leads_out_is_refused(folder: Path) -> None:
    with (folder / ".git" / "config").open("a") as config:
        config.write("[include]\n\tpath = /tmp/other\n")
    async with stage(folder) as here:
        with pytest.raises(SessionError, match="configuration names other places"):
            await here.sessions.create(in_worktree=True)
    assert not (folder.parent / "tanks.worktrees").exists()


async def test_no_hook_of_the_repository_runs(folder: Path, tmp_path: Path) -> None:
    hook = folder / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    async with stage(folder) as here:
        await here.sessions.create(in_worktree=True)
    assert not (tmp_path / "ran").exists()


async def test_a_fork_works_in_the_same_worktree_and_nothing_is_kept_of_one_that_is_deleted(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Say("Hello."))
        session = await here.sessions.create(in_worktree=True)
        await here.say(session, "Hello")
        fork = (await here.sessions.fork(session.id)).session
        assert root_of(fork) == root_of(session)
        await here.sessions.delete(session.id)
        assert list(here.sessions.worktrees.all()) == [fork.id]
        assert root_of(fork).is_dir()
    assert kept_of(folder).is_dir()
