"""Sessions of OpenCode. Messages and parts follow `session/message-v2.ts` of anomalyco/opencode, tables `session/session.sql.ts` and
`packages/core/src/session/sql.ts`, files `storage/storage.ts`, messages of the newer form `packages/schema/src/session-message.ts`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.recorded.readers.recorded import Line, drawn, mended
from tests.unit.recorded.readers.test_readers_are_total import check_valid, spoilt
from ullage.context.blocks import Json, Usage
from ullage.context.entries import ToolReturned
from ullage.recorded.readers import NotATranscript, read
from ullage.recorded.readers.files import transcripts_in
from ullage.recorded.readers.values import JsonObject, RecordNotJson, as_list, as_object, parse

PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TOKENS: Line = {"input": 3, "output": 40, "reasoning": 5, "cache": {"read": 100, "write": 30}}
TIME = 1_769_940_000_000

Message = tuple[Line, list[Line]]


def user(*parts: Line) -> Message:
    return {"role": "user", "time": {"created": TIME}, "agent": "build", "model": {"providerID": "anthropic", "modelID": "m"}}, list(parts)


def reply(*parts: Line, **members: Json) -> Message:
    about: Line = {"role": "assistant", "modelID": "claude-sonnet-4-5", "path": {"cwd": "/work/app", "root": "/"}}
    return {**about, "time": {"created": TIME, "completed": TIME + 9_000}, "tokens": TOKENS, "finish": "stop", **members}, list(parts)


def text(words: str, **members: Json) -> Line:
    return {"type": "text", "text": words, **members}


def tool(id: str, name: str, output: str = "done", status: str = "completed", **input: Json) -> Line:
    told: Line = {"output": output, "title": "", "metadata": {}} if status == "completed" else {"error": output}
    state: Line = {"status": status, "input": input, "time": {"start": TIME + 2_000, "end": TIME + 3_000}, **told}
    return {"type": "tool", "callID": id, "tool": name, "state": state}


def step(*parts: Line, tokens: Json = None) -> list[Line]:
    return [{"type": "step-start"}, *parts, {"type": "step-finish", "reason": "stop", "cost": 0.1, "tokens": tokens or TOKENS}]


def every_kind() -> list[Message]:
    """A message and a part of every kind that the reader knows."""
    image: Line = {"type": "file", "mime": "image/png", "url": PIXEL}
    looked = tool("t1", "read", "a = 1", filePath="/work/app/a.py")
    thought: Line = {"type": "reasoning", "text": "Hm.", "metadata": {"anthropic": {"signature": "s"}}, "time": {"start": TIME}}
    return [
        user(text("Fix it"), text("<file>a = 1</file>", synthetic=True), text("…", ignored=True), image),
        reply(*step(thought, text("I look."), looked, tool("t2", "bash", "no", "error", command="make")), {"type": "patch", "files": []}),
        reply(*step(text("Still."), tool("t3", "edit", status="running", filePath="a.py", oldString="1", newString="2"))),
        reply(error={"name": "MessageAbortedError"}),
        user({"type": "compaction", "auto": True, "tail_start_id": "msg_01"}),
        reply(text("So far"), summary=True, agent="compaction"),
        user(text("Continue", synthetic=True)),
        reply(*step(text("Done."))),
    ]


DRAWN = [
    "user: Fix it",
    "program: <file>a = 1</file>",
    "user: [image, 1 x 1 pixels, 1 tokens]",
    "assistant: Hm. | I look. | t1() | t2()",
    "=t1 a = 1",
    "=t2 ! no",
    "assistant: Still. | t3()",
    "program: Continue",
    "assistant: Done.",
]


def as_files(root: Path, messages: Sequence[Message], **about: Json) -> Path:
    """The session in files below `root`; gives the one that names it."""
    info: Line = {"id": "ses_1", "projectID": "p1", "directory": "/work/app", "title": "Fix", "version": "1.1.0", "time": {"created": TIME}}
    files = {f"session/p1/ses_{'1'}.json": {**info, **about}}
    for number, (message, parts) in enumerate(messages):
        files[f"message/ses_1/msg_{number:02}.json"] = {"id": f"msg_{number:02}", "sessionID": "ses_1", **message}
        for index, part in enumerate(parts):
            files[f"part/msg_{number:02}/prt_{index:02}.json"] = {"id": f"prt_{index:02}", "messageID": f"msg_{number:02}", **part}
    for name, value in files.items():
        (root / "storage" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "storage" / name).write_text(json.dumps(value, indent=2))
    return root / "storage" / "session" / "p1" / "ses_1.json"


TABLES = """
CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT NOT NULL, title TEXT, revert TEXT);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER, time_updated INTEGER, data TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT NOT NULL);
CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER, time_updated INTEGER,
  data TEXT NOT NULL);
"""


def as_database(
    path: Path, messages: Sequence[Message], newer: Sequence[Line] = (), *, revert: Json = None, parent: str | None = None
) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(TABLES)
        row = ("ses_1", "p1", parent, "/work/app", "Fix", None if revert is None else json.dumps(revert))
        connection.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?)", row)
        for number, (message, parts) in enumerate(messages):
            id = f"msg_{number:02}"
            connection.execute("INSERT INTO message VALUES (?, 'ses_1', ?, 0, ?)", (id, TIME + number, json.dumps(message)))
            rows = [(f"prt_{number:02}{index:02}", id, "ses_1", json.dumps(part)) for index, part in enumerate(parts)]
            connection.executemany("INSERT INTO part VALUES (?, ?, ?, 0, 0, ?)", rows)
        for number, message in enumerate(newer):
            data = json.dumps({name: value for name, value in message.items() if name != "type"})
            row = (f"new_{number:02}", str(message.get("type")), number, TIME + 100 + number, data)
            connection.execute("INSERT INTO session_message VALUES (?, 'ses_1', ?, ?, ?, 0, ?)", row)
    return path


@pytest.mark.parametrize("as_a_database", [False, True])
def test_a_session_with_everything(tmp_path: Path, as_a_database: bool):
    path = as_database(tmp_path / "opencode.db", every_kind()) if as_a_database else as_files(tmp_path, every_kind())
    (session,) = read(path)
    assert (session.session_id, session.source, session.project) == ("ses_1", "opencode", "/work/app")
    assert drawn(session) == DRAWN
    assert session.replies[0].usage == Usage(3, 45, 100, 30)
    assert session.replies[0].model == "claude-sonnet-4-5"
    (compaction,) = session.compactions
    assert (compaction.after_seq, compaction.summary, compaction.automatic) == (7, "So far", True)
    assert compaction.usage == Usage(3, 45, 100, 30)
    assert mended(session) == {
        "tool calls without a result": 1,
        "calls that failed or were broken off without a reply": 1,
        "compactions that kept some messages as they were": 1,
    }
    assert session.media_tokens == {3: 1}
    read_it = session.entries[4].entry
    assert isinstance(read_it, ToolReturned)
    assert [(touch.path, touch.kind) for touch in read_it.touched] == [("a.py", "read")]


def test_one_message_of_the_model_may_be_several_calls(tmp_path: Path):
    one, two = {**TOKENS, "input": 1}, {**TOKENS, "input": 2, "total": 172}
    message = reply(*step(text("I look."), tool("t1", "bash"), tokens=one), *step(text("Done."), tokens=two))
    (session,) = read(as_files(tmp_path, [user(text("Fix")), message]))
    assert drawn(session) == ["user: Fix", "assistant: I look. | t1()", "=t1 done", "assistant: Done."]
    # `total` says that the thinking is in the output already.
    assert [each.usage for each in session.replies] == [Usage(1, 45, 100, 30), Usage(2, 40, 100, 30)]


def test_what_the_user_took_back_is_left_out(tmp_path: Path):
    messages = [user(text("Fix")), reply(text("Done.")), user(text("No")), reply(text("Ok"))]
    (session,) = read(as_database(tmp_path / "opencode.db", messages, revert={"messageID": "msg_02"}, parent="ses_0"))
    assert session.session_id == "ses_0/ses_1"
    assert drawn(session) == ["user: Fix", "assistant: Done."]
    assert mended(session) == {"turns that the user took back": 1}


def newer_messages() -> list[Line]:
    """A message of every kind of the newer form."""
    at: Line = {"time": {"created": TIME, "completed": TIME + 1_000}}
    said: Json = [{"type": "text", "text": "a = 1"}, {"type": "file", "uri": PIXEL, "mime": "image/png"}]
    looked: Json = {"status": "completed", "input": {"path": "a.py"}, "content": said}
    failed: Json = {"status": "error", "input": {}, "error": {"type": "x", "message": "no"}}
    content: Json = [
        {"type": "reasoning", "text": "Hm."},
        {"type": "text", "text": "I look."},
        {"type": "tool", "id": "t1", "name": "read", "state": looked, "time": {"created": TIME, "completed": TIME}},
        {"type": "tool", "id": "t2", "name": "shell", "state": failed, "time": {"created": TIME, "pruned": TIME}},
    ]
    model: Json = {"id": "claude-sonnet-4-5", "providerID": "anthropic"}
    return [
        {"type": "model-switched", "model": model, **at},
        {"type": "system", "text": "Be brief", **at},
        {"type": "user", "text": "Fix it", "files": [{"uri": PIXEL, "mime": "image/png"}], **at},
        {"type": "assistant", "agent": "build", "model": model, "content": content, "tokens": TOKENS, **at},
        {"type": "shell", "command": "ls", "output": {"output": "a.py"}, **at},
        {"type": "compaction", "status": "completed", "reason": "manual", "summary": "So far", "recent": "…", "tokens": TOKENS, **at},
        {"type": "compaction", "status": "failed", "reason": "auto", "error": {}, **at},
        {"type": "idle", "outcome": "succeeded", **at},
        {"type": "assistant", "model": model, "content": [{"type": "text", "text": "Done."}], **at},
    ]


def test_messages_of_the_newer_form(tmp_path: Path):
    (session,) = read(as_database(tmp_path / "opencode.db", every_kind()[:1], newer_messages()))
    assert drawn(session) == [
        "program: Be brief",
        "user: Fix it",
        "user: [image, 1 x 1 pixels, 1 tokens]",
        "assistant: Hm. | I look. | t1() | t2()",
        "=t1 a = 1\n[image, 1 x 1 pixels, 1 tokens]",
        "=t2 ! no",
        "program: $ ls\na.py",
        "assistant: Done.",
    ]
    assert [(each.after_seq, each.summary, each.automatic) for each in session.compactions] == [(7, "So far", False)]
    assert mended(session) == {
        "compactions that kept some messages as they were": 1,
        "old tool results that the program cleared or shortened later": 1,
        "calls that failed or were broken off without a reply": 1,
        "replies without token counts": 1,
    }


def test_nothing_in_a_database_is_believed(tmp_path: Path):
    path = as_database(tmp_path / "opencode.db", every_kind())
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO message VALUES ('msg_98', 'ses_1', 'soon', 0, x'ff00')")
        connection.execute("INSERT INTO message VALUES ('msg_99', 'ses_1', 7, 0, '[1')")
        connection.execute("INSERT INTO part VALUES (7, 'msg_99', 'ses_1', 0, 0, 3.5)")
        connection.execute("INSERT INTO session VALUES (x'00', 'p', 1, x'01', 2, 'revert')")
    (session,) = read(path)
    assert set(DRAWN) <= set(drawn(session))
    assert mended(session)["entries of the log that cannot be read"] == 3


@pytest.mark.parametrize(
    "trap",
    [
        "DROP TABLE part; CREATE VIEW part AS SELECT 1 AS id, 2 AS message_id, 3 AS data",
        "DROP TABLE part; CREATE VIRTUAL TABLE part USING fts5(id, message_id, data)",
        "ALTER TABLE message RENAME COLUMN data TO content; DROP TABLE session_message",
    ],
)
def test_a_database_whose_tables_are_others_is_refused(tmp_path: Path, trap: str):
    path = as_database(tmp_path / "opencode.db", every_kind())
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript("DROP TABLE session_message;" + trap if "DROP TABLE session_message" not in trap else trap)
    with pytest.raises(NotATranscript, match=r"opencode\.db"):
        read(path)


def test_a_database_is_left_as_it_is_and_what_lies_beside_it_is_told(tmp_path: Path):
    path = as_database(tmp_path / "opencode.db", every_kind())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("UPDATE session SET title = 'New'")
        connection.commit()
        before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
        (session,) = read(path)
        assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before
    assert drawn(session) == DRAWN
    assert any("-wal" in repair.what for repair in session.repairs)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(at=st.integers(0, 40_000), new=st.binary(min_size=1, max_size=64))
def test_a_database_with_any_bytes_changed(tmp_path: Path, at: int, new: bytes):
    whole = tmp_path / "whole.db"
    if not whole.exists():
        as_database(whole, every_kind(), newer_messages())
    content = whole.read_bytes()
    path = tmp_path / "opencode.db"
    path.write_bytes(content[:at] + new + content[at + len(new) :])
    with suppress(NotATranscript):
        for transcript in read(path):
            check_valid(transcript)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(
    old=spoilt([{"message": message, "parts": [*parts]} for message, parts in every_kind()]),
    new=st.one_of(st.just(b""), spoilt(newer_messages())),
)
def test_any_messages(tmp_path: Path, old: bytes, new: bytes):
    path = tmp_path / "opencode.db"
    path.unlink(missing_ok=True)
    messages = [(as_object(each.get("message")), [as_object(part) for part in as_list(each.get("parts"))]) for each in _objects(old)]
    as_database(path, [(dict(message), [*map(dict, parts)]) for message, parts in messages], [*map(dict, _objects(new))])
    for transcript in read(path):
        check_valid(transcript)


def _objects(lines: bytes) -> Iterator[JsonObject]:
    for line in lines.splitlines():
        with suppress(RecordNotJson):
            yield as_object(parse(line.decode("utf-8", "replace")))


def test_files_that_are_cut_off_are_counted_and_the_first_are_named(tmp_path: Path):
    path = as_files(tmp_path, every_kind())
    (tmp_path / "storage" / "part" / "msg_01" / "prt_03.json").write_text('{"type": "to')
    (tmp_path / "storage" / "message" / "ses_1" / "msg_07.json").write_text("")
    (session,) = read(path)
    assert "assistant: Hm. | I look. | t2()" in drawn(session)
    assert mended(session)["files of messages that cannot be read whole"] == 2
    assert any("prt_03.json" in note for note in session.notes)


def test_what_a_version_to_come_writes_is_counted(tmp_path: Path):
    strange: Message = ({"role": "oracle"}, [])
    (session,) = read(as_files(tmp_path, [user(text("Hi"), {"type": "hologram"}), strange, reply(text("Hi."), {"type": "dream"})]))
    assert drawn(session) == ["user: Hi", "assistant: Hi."]
    kinds = ['parts of messages of the unknown kind "hologram"', 'messages of the unknown kind "oracle"']
    assert mended(session) == dict.fromkeys([*kinds, 'parts of messages of the unknown kind "dream"'], 1)


def test_a_folder_gives_each_session_once(tmp_path: Path):
    """Newer versions leave the files of older ones behind."""
    of_files = as_files(tmp_path, every_kind())
    assert list(transcripts_in(tmp_path, [], {})) == [of_files]
    database = as_database(tmp_path / "opencode.db", every_kind())
    assert list(transcripts_in(tmp_path, [], {})) == [database]
