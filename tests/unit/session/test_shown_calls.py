"""What a call and its thinking show beside their texts: why it failed, how long it took; and the queue in the order in which it is sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fake_api import Call, Hang, Reply, Say
from tests.unit.session.filling import make_project
from tests.unit.session.harness import calls, items, stage
from ullage.context.blocks import Json
from ullage.context.entries import FileTouch, ToolReturned
from ullage.models.model import TextDelta, ThinkingDelta
from ullage.session.session import Session
from ullage.session.timeline.items import Location, ThinkingItem, UserItem
from ullage.session.timeline.shown_entries import MOST_LOCATIONS, locating
from ullage.session.timeline.timeline import Timeline
from ullage.session.turns.incoming import Incoming
from ullage.workspace.folders import Folders


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


async def test_a_refused_call_a_file_that_is_not_there_and_a_fault_are_told_apart(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue(
            Call("read_file", {"path": "gone.py"}), Call("read_file", {"path": "."}), Call("write_file", WRITE), Say("So be it.")
        )
        await session.prompt("Try")
        asked = await here.asked(session)
        session.answer_permission(asked.id, "reject_once")
        await here.idle(session)
        assert [(call.status, call.failure) for call in calls(session)] == [
            ("failed", "not_found"),
            ("failed", None),
            ("failed", "refused"),
        ]


WRITE = {"path": "new.py", "content": "x = 1\n"}


async def test_a_file_that_is_not_there_yet_is_created_and_not_edited(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue(Call("write_file", WRITE), Say("Done."))
        await session.prompt("Write it")
        asked = await here.asked(session)
        assert asked.permission_reason == "Create new.py"
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        (call,) = calls(session)
        assert call.seconds is not None
        assert call.seconds >= 0


def test_how_long_thinking_took_is_known_when_something_else_comes() -> None:
    timeline = Timeline(lambda name, input: (name, "other"), lambda update: None)
    now = iter((10.0, 14.5, 14.5))
    incoming = Incoming("r1", timeline, lambda: next(now), lambda retry: None, lambda piece: None)
    incoming.take(ThinkingDelta(0, "Hm"))
    assert thinking(timeline).seconds is None
    incoming.take(TextDelta(1, "So"))
    assert (thinking(timeline).seconds, thinking(timeline).text) == (4.5, "Hm")


def thinking(timeline: Timeline) -> ThinkingItem:
    item = timeline.get("r1.0")
    assert isinstance(item, ThinkingItem)
    return item


async def test_prompts_wait_in_the_order_in_which_they_are_sent(folder: Path) -> None:
    """A prompt that was to join a turn that was stopped before it could goes first."""
    async with stage(folder) as here:
        here.fake.enqueue(Hang(Reply((Say("Never."),))))
        session = await here.new()
        await session.prompt("First")
        await here.fake.until_held()
        await session.prompt("A")
        await session.prompt("B", steer=True)
        await session.prompt("C")
        assert [(item.text, item.steering) for item in waiting(session)] == [("A", False), ("B", True), ("C", False)]
        session.cancel()
        await here.idle(session)
        here.fake.enqueue(*(Say(f"Answer {number}.") for number in range(4)))
        session.resume()
        await here.idle(session)
        sent = [item.text for item in items(session) if isinstance(item, UserItem)]
        assert sent == ["First", "B", "A", "C"]


def waiting(session: Session) -> list[UserItem]:
    return [item for item in items(session) if isinstance(item, UserItem) and item.queued]


async def test_a_call_tells_where_it_is_at_work_by_absolute_paths(folder: Path) -> None:
    (folder / "valve.py").write_text("one\ntwo\nthree\n")
    root = folder.resolve()
    valve = str(root / "valve.py")
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue(
            Call("read_file", {"path": "./valve.py", "offset": 2}),
            Call("read_file", {"path": "valve.py"}),
            Call("read_file", {"path": "../outside.py"}),
            Call("edit_file", {"path": valve, "old_text": "three", "new_text": "3"}),
            Call("todo", {"tasks": []}),
            Say("Done."),
        )
        await session.prompt("Look")
        asked = await here.asked(session)
        assert asked.locations == (Location(valve),)  # before it runs, too
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        expected = [(Location(valve, 2),), (Location(valve),), (), (Location(valve, 3),), ()]
        assert [call.locations for call in calls(session)] == expected
        id = session.id
    async with stage(folder) as again:
        assert [call.locations for call in calls(await again.sessions.open(id))] == expected


def test_no_path_out_of_the_workspace_is_a_location(tmp_path: Path) -> None:
    folders = Folders([tmp_path / "work"])
    locate = locating(folders)
    outside: list[Json] = ["/etc/passwd", "../x", "a/../../x", "a\0b", 7, None, ""]
    assert [locate("read", {"path": path}, None) for path in outside] == [()] * len(outside)
    assert locate("execute", {"path": "a"}, None) == ()
    assert locate("search", {"path": "a/../b"}, None) == (Location(str(tmp_path.resolve() / "work" / "b")),)
    assert locating(Folders([]))("read", {"path": "/a"}, None) == ()


def test_a_search_that_touched_hundreds_tells_of_some(tmp_path: Path) -> None:
    touched = tuple(FileTouch(f"{number}.py", "read", "", partial=True) for number in range(200))
    result = ToolReturned("t", "search", "found", False, 5, touched=touched)
    assert len(locating(Folders([tmp_path]))("search", {}, result)) == MOST_LOCATIONS
