"""Sessions of four programs are found where these keep them, come over, and say in place what is wrong with them."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.fake_api import Say
from tests.unit.recorded.readers.recorded import Line, codex, result, text, use
from tests.unit.session.coming_over.there import at_home, claude, claude_file, come_over, home_of, touched_at
from tests.unit.session.harness import Stage, items, stage
from ullage.session.coming_over import coming_over
from ullage.session.errors import SessionError
from ullage.session.timeline.items import UserItem

TIME = 1_769_940_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


def _write(path: Path, what: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(what, encoding="utf-8")
    return path


def of_claude_code(folder: Path) -> None:
    lines = claude()
    lines.user("Fix the tank")
    lines.assistant("m1", use("t1", "Read", file_path="a.py"), stop="tool_use")
    lines.user([result("t1", "a = 1")])
    lines.assistant("m2", text("Done."))
    claude_file(folder, lines.lines)


def of_codex(folder: Path) -> None:
    say: Any = [{"type": "output_text", "text": "Done."}]
    lines = [
        codex("session_meta", id="c1", cwd=str(folder), cli_version="0.50.0"),
        codex("response_item", type="message", role="user", content=[{"type": "input_text", "text": "Fix the tank"}]),
        codex("response_item", type="function_call", name="shell", arguments='{"command": ["ls"]}', call_id="t1"),
        codex("response_item", type="function_call_output", call_id="t1", output="a.py"),
        codex("response_item", type="message", role="assistant", content=say),
    ]
    _write(home_of(folder) / ".codex" / "sessions" / "2026" / "02" / "01" / "rollout-1.jsonl", "\n".join(map(json.dumps, lines)) + "\n")


def of_cline(folder: Path) -> None:
    storage = home_of(folder) / ".config" / "Code" / "User" / "globalStorage" / "saoudrizwan.claude-dev"
    messages: list[Line] = [
        {"role": "user", "content": [text("<task>\nFix the tank\n</task>")], "ts": TIME},
        {"role": "assistant", "content": [use("t1", "read_file", path="a.py")]},
        {"role": "user", "content": [result("t1", "a = 1")]},
        {"role": "assistant", "content": [text("Done.")]},
    ]
    _write(storage / "tasks" / "17" / "api_conversation_history.json", json.dumps(messages))
    told = [{"id": "17", "ts": TIME, "task": "Fix the tank", "cwdOnTaskInitialization": str(folder)}]
    _write(storage / "state" / "taskHistory.json", json.dumps(told))


def of_opencode(folder: Path) -> None:
    path = home_of(folder) / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    call: Line = {"type": "tool", "callID": "t1", "tool": "bash"}
    state: Line = {"status": "completed", "input": {"command": "ls"}, "output": "a.py", "title": "", "metadata": {}}
    messages: list[tuple[Line, list[Line]]] = [
        ({"role": "user", "time": {"created": TIME}}, [text("Fix the tank")]),
        ({"role": "assistant", "time": {"created": TIME + 1}, "modelID": "m", "finish": "stop"}, [{**call, "state": state}, text("Done.")]),
    ]
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE session (id text, title text, directory text, parent_id text, version text, time_updated integer)")
        made.execute("CREATE TABLE message (id text, session_id text, time_created integer, data text)")
        made.execute("CREATE TABLE part (id text, message_id text, data text)")
        made.execute("INSERT INTO session VALUES ('ses_1', 'Fix the tank', ?, NULL, '1.2.0', ?)", (str(folder), TIME))
        made.execute("INSERT INTO session VALUES ('ses_2', 'A helper', ?, 'ses_1', '1.2.0', ?)", (str(folder), TIME))
        for number, (about, parts) in enumerate(messages):
            made.execute("INSERT INTO message VALUES (?, 'ses_1', ?, ?)", (f"msg_{number}", TIME + number, json.dumps(about)))
            for place, part in enumerate(parts):
                made.execute("INSERT INTO part VALUES (?, ?, ?)", (f"prt_{number}_{place}", f"msg_{number}", json.dumps(part)))
        made.commit()


async def test_a_row_of_a_database_that_says_too_much_harms_no_other(folder: Path) -> None:
    of_opencode(folder)
    with closing(sqlite3.connect(home_of(folder) / ".local/share/opencode/opencode.db")) as made:
        made.execute("INSERT INTO session VALUES ('ses_3', ?, ?, NULL, ?, 'soon')", ("x" * 5_000_000, str(folder), b"\xff" * 5_000_000))
        made.execute("INSERT INTO session VALUES (?, 'Tanks', ?, NULL, 1, NULL)", ("ses_4" * 1_000_000, str(folder)))
        made.commit()
    async with stage(folder) as here:
        at_home(here)
        assert [each.found.title for each in (await here.sessions.coming_over.listed()).sessions] == ["Fix the tank"]


@pytest.mark.parametrize(
    ("write", "program"),
    [(of_claude_code, "claude-code"), (of_codex, "codex"), (of_cline, "cline"), (of_opencode, "opencode")],
)
async def test_each_program_is_found_and_gone_on_with(folder: Path, write: Callable[[Path], None], program: str) -> None:
    write(folder)
    before = {path: path.read_bytes() for path in home_of(folder).rglob("*") if path.is_file()}
    async with stage(folder) as here:
        at_home(here)
        listed = await here.sessions.coming_over.listed()
        assert [(each.found.program, each.found.title, each.is_here) for each in listed.sessions] == [(program, "Fix the tank", True)]
        looked = await here.sessions.coming_over.look(listed.sessions[0].id)
        assert (looked.told.prompts, looked.told.calls, looked.told.missing) == (1, 1, 0)
        session = await come_over(here)
        assert [item.text for item in items(session) if isinstance(item, UserItem)] == ["Fix the tank"]
        here.fake.enqueue(Say("Yes."))
        await here.say(session, "Is it done?")
        assert here.refused() == []
    assert {path: path.read_bytes() for path in home_of(folder).rglob("*") if path.is_file()} == before


async def test_nothing_is_read_before_the_list_is_asked_for(folder: Path) -> None:
    of_claude_code(folder)

    def nobody() -> Any:
        raise AssertionError("nobody asked")

    async with stage(folder) as here:
        here.sessions.coming_over.home = nobody
        await here.new()


async def test_those_of_other_folders_come_on_demand_and_the_newest_first(folder: Path) -> None:
    for number, name in enumerate(("old", "new")):
        lines = claude()
        lines.user(f"The {name} one")
        lines.assistant("m1", text("Yes."))
        touched_at(claude_file(folder, lines.lines, of=folder.parent / "elsewhere", name=name), 1_000_000 + number)
    of_codex(folder)
    async with stage(folder) as here:
        at_home(here)
        assert [each.found.program for each in (await here.sessions.coming_over.listed()).sessions] == ["codex"]
        every = (await here.sessions.coming_over.listed(everywhere=True)).sessions
        assert [(each.found.title, each.is_here) for each in every] == [
            ("Fix the tank", True),
            ("The new one", False),
            ("The old one", False),
        ]
        session = await here.sessions.coming_over.go_on(every[1].id)
        assert "It worked in another folder" in str([each.entry for each in session.entries][-2:])


def whole() -> str:
    lines = claude()
    lines.user("Fix the tank")
    lines.assistant("m1", text("Done."))
    return "".join(json.dumps(line) + "\n" for line in lines.lines)


async def chosen(here: Stage, folder: Path, what: bytes) -> Any:
    path = folder.parent / "theirs.jsonl"
    path.write_bytes(what)
    at_home(here)
    over = here.sessions.coming_over
    return await over.look((await over.chosen(path)).id)


@pytest.mark.parametrize(
    ("more", "missing", "unknown"),
    [
        (b'{"type": "user", "message": {"role": "user", "cont', 1, 0),  # being written, or cut off
        (b"\x00\xff\xfe garbage\n", 1, 0),
        (b'{"type": "hologram", "uuid": "u9", "sessionId": "s1", "shape": 3}\n', 0, 1),  # of a newer version
        (b'{"type": "assistant", "uuid": "u9", "sessionId": "s1", "message": {"id": "m9", "content": [{"type": "dream"}]}}\n', 0, 1),
        (b"[1, 2]\n", 1, 0),
    ],
)
async def test_what_cannot_be_read_is_counted_and_the_rest_comes_along(folder: Path, more: bytes, missing: int, unknown: int) -> None:
    async with stage(folder) as here:
        looked = await chosen(here, folder, whole().encode() + more)
        assert (looked.told.missing, looked.told.unknown, looked.told.prompts) == (missing, unknown, 1)
        session = await here.sessions.coming_over.go_on(looked.listed.id)
        here.fake.enqueue(Say("Yes."))
        await here.say(session, "Go on")
        assert here.refused() == []


@pytest.mark.parametrize("what", [b"", b"no JSON at all\n", b'{"a": 1}\n', b"SQLite format 3\x00" + b"\xff" * 200, b"PK\x03\x04"])
async def test_a_file_of_nobody_is_refused_in_words(folder: Path, what: bytes) -> None:
    async with stage(folder) as here:
        with pytest.raises(SessionError, match=r"“theirs\.jsonl” cannot be read: its file is damaged, or of no program"):
            await chosen(here, folder, what)


async def test_one_in_which_nothing_is_said_or_that_is_gone_or_huge_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_claude_code(folder)
    async with stage(folder) as here:
        with pytest.raises(SessionError, match="nothing is said in it"):
            await chosen(here, folder, b'{"type": "summary", "summary": "Tanks", "leafUuid": "u1"}\n')
        listed = (await here.sessions.coming_over.listed()).sessions[0]
        monkeypatch.setattr(coming_over, "LARGEST_FILE", 100)
        with pytest.raises(SessionError, match="no more than 100 are read"):
            await here.sessions.coming_over.go_on(listed.id)
        listed.found.path.unlink()
        with pytest.raises(SessionError, match="its file is gone"):
            await here.sessions.coming_over.go_on(listed.id)
        assert await here.sessions.listed(10) == []


async def test_pipes_and_links_are_passed_over(folder: Path) -> None:
    of_claude_code(folder)
    place = next((home_of(folder) / ".claude" / "projects").iterdir())
    os.mkfifo(place / "pipe.jsonl")
    (place / "link.jsonl").symlink_to(place / "s1.jsonl")
    async with stage(folder) as here:
        at_home(here)
        assert len((await here.sessions.coming_over.listed()).sessions) == 1


async def test_what_a_compaction_lost_is_told(folder: Path) -> None:
    lines = claude()
    lines.user("Look at tank_of_steel in src/tank.py")
    lines.assistant("m1", text("It holds pump_of_brass."))
    lines.line("system", subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 150_000})
    lines.user("There was a pump_of_brass.", isCompactSummary=True)
    lines.user("Go on")
    lines.assistant("m2", text("In src/tank.py tank_of_steel has the pump_of_brass."))
    claude_file(folder, lines.lines)
    async with stage(folder) as here:
        at_home(here)
        listed = (await here.sessions.coming_over.listed()).sessions[0]
        (lost,) = (await here.sessions.coming_over.look(listed.id)).told.compactions
        assert (lost.automatic, lost.tokens_before, lost.is_readable) == (True, 150_000, True)
        assert (lost.needed, lost.kept, lost.shown_again, lost.gone) == (4, 1, 0, 3)
        assert lost.examples[:2] == ("src/tank.py", "tank_of_steel")
