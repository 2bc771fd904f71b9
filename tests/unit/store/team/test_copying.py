"""`ullage store copy`: sessions go into the database and come out of it on another machine, with all that they speak of."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.postgres import Postgres
from tests.unit.store.team.here import Machine, turn
from ullage.cli import main
from ullage.context.blocks import Image
from ullage.context.change_entries import ChangedFile
from ullage.context.entries import Attachment, ToolReturned, UserPrompt
from ullage.store.team.postgres import PostgresStore

PICTURE = b"\x89PNG of no size"


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A machine with two sessions; gives the folder of the workspace. Its store is `first`."""
    machine = Machine(tmp_path / "project", tmp_path / "first")
    image = Image(hashlib.sha256(PICTURE).hexdigest(), "image/png", 1, 1, len(PICTURE))
    machine.media.keep(PICTURE, image)
    version = machine.versions.keep(b"print('before')\n")
    whole = machine.results.save("t1", "a long output\n" * 10)
    one, two = machine.log.create_session("One", 1.0), machine.log.create_session("Zwei \0 两", 2.0)
    machine.log.append_many(one.id, turn(1), 3.0)
    machine.log.append(one.id, UserPrompt("p9", "Look", (Attachment("a.png", "a picture", image),)), 4.0)
    changed = (ChangedFile("a.py", version, None),)
    machine.log.append(
        one.id, ToolReturned("t1", "bash", "a long", is_error=False, characters=140, full_output=whole, changed=changed), 5.0
    )
    machine.log.remember(f"model:{one.id}", "some-model")
    machine.log.prompts.add(two.id, UserPrompt("p10", "I wait"))
    machine.close()
    return tmp_path / "project"


def entries_of(folder: Path, location: Path) -> dict[str, list[object]]:
    with closing(Machine(folder, location)) as machine:
        return {each.title: [*machine.log.load(each.id), *machine.log.prompts.of(each.id)] for each in machine.log.sessions()}


def test_there_and_back_on_another_machine(first: Path, tmp_path: Path, postgres: Postgres, workspace: str) -> None:
    there = ["--workspace", workspace]
    assert main(["store", "copy", str(first), postgres.url("ann"), "--store", str(tmp_path / "first"), *there]) == 0
    assert main(["store", "copy", postgres.url("ann"), str(first), "--store", str(tmp_path / "second"), *there]) == 0
    assert entries_of(first, tmp_path / "second") == entries_of(first, tmp_path / "first")
    with closing(Machine(first, tmp_path / "second")) as second:
        (one,) = [each for each in second.log.sessions() if each.title == "One"]
        assert second.log.recalled(f"model:{one.id}") == "some-model"
        *_, prompt, returned = second.log.load(one.id)
        assert isinstance(prompt.entry, UserPrompt) and isinstance(returned.entry, ToolReturned)
        media, (changed,) = prompt.entry.attachments[0].media, returned.entry.changed
        assert media is not None and second.media.read(media) == PICTURE
        assert changed.before is not None and second.versions.read(changed.before.sha256) == b"print('before')\n"
        assert second.results.read("t1", returned.entry.full_output) == "a long output\n" * 10


def test_a_copy_goes_on_where_it_was_cut_off(
    first: Path, tmp_path: Path, postgres: Postgres, workspace: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["store", "copy", str(first), postgres.url("ann"), "--store", str(tmp_path / "first"), "--workspace", workspace]
    attach = PostgresStore.attach

    def cut_off(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ullage.store.team.passing.PAGE_BYTES", 1)
    monkeypatch.setattr(PostgresStore, "attach", cut_off)
    assert main(command) == 130
    before = postgres.sql("SELECT count(*) FROM ullage.entry WHERE workspace = %s", workspace)[0][0]
    assert before == 5
    monkeypatch.setattr(PostgresStore, "attach", attach)
    capsys.readouterr()
    assert main(command) == 0
    assert "2 sessions" in (told := capsys.readouterr().out) and "; 2 of their entries are new" in told
    assert main(command) == 0
    assert "; 0 of their entries are new" in capsys.readouterr().out


def test_what_went_another_way_is_told_and_stays(
    first: Path, tmp_path: Path, postgres: Postgres, workspace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    there = ["--workspace", workspace]
    for store, words in (("first", ""), ("second", "theirs"), ("first", "ours")):
        with closing(Machine(first, tmp_path / store)) as machine:
            for session in machine.log.sessions() if words else ():
                machine.log.load(session.id)
                machine.log.append(session.id, UserPrompt("p", words), 9.0)
        goes = [str(first), postgres.url("ann")]
        if store == "second" or not words:
            assert main(["store", "copy", *goes, "--store", str(tmp_path / store), *there]) == 0
        if not words:
            assert main(["store", "copy", *goes[::-1], "--store", str(tmp_path / "second"), *there]) == 0
    mine = entries_of(first, tmp_path / "first")
    capsys.readouterr()
    for direction in (goes, goes[::-1]):
        assert main(["store", "copy", *direction, "--store", str(tmp_path / "first"), *there]) == 1
        assert "each in its own way" in capsys.readouterr().err
    assert entries_of(first, tmp_path / "first") == mine


def test_names_from_the_database_lead_nowhere(
    tmp_path: Path, postgres: Postgres, workspace: str, connect: Callable[..., PostgresStore]
) -> None:
    connect("ann").sessions()
    for session in ("../../evil", "foreign-1", "fine"):
        postgres.sql("INSERT INTO ullage.session VALUES (%s, %s, 'title', 1, 1, 0, 'ann')", workspace, session)
    for kind, name in (("media", "../x.png"), ("result", "/etc/x.txt"), ("version", "zz"), ("media", "0" * 64 + ".png")):
        postgres.sql("INSERT INTO ullage.speaks_of VALUES (%s, 'fine', %s, %s)", workspace, kind, name)
        postgres.sql("INSERT INTO ullage.attached VALUES (%s, %s, %s, 'bytes')", workspace, kind, name)
    folder = tmp_path / "project"
    folder.mkdir()
    assert main(["store", "copy", postgres.url("ann"), str(folder), "--store", str(tmp_path / "s"), "--workspace", workspace]) == 0
    with closing(Machine(folder, tmp_path / "s")) as machine:
        assert [each.id for each in machine.log.sessions()] == ["fine"]
        assert not [path for path in machine.kept.rglob("*") if path.suffix in (".png", ".txt")]


@pytest.mark.parametrize(
    "given, why",
    [
        (["copy", "a", "b"], "Name the folder"),
        (["copy", "postgresql:///x", "postgresql:///y"], "Name the folder"),
        (["copy", "nowhere", "postgresql://localhost/x"], "is no folder"),
        (["setup", "somewhere"], "is no address"),
        (["setup", "postgresql://me:s3cret@localhost:1/x"], "nothing answers there"),
    ],
)
def test_what_cannot_be_done_is_said(given: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", *given]) == 1
    told = capsys.readouterr().err
    assert why in told and "s3cret" not in told
