"""What may have become of a changed file when the user decides about it: each is said in place, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Awaitable, Callable
from itertools import product
from pathlib import Path

import pytest

from tests.deep import diagonal, many, sampled
from tests.unit.session.changes.changing import run, turn
from tests.unit.session.changes.test_reviewing import AFTER, BEFORE, at_work, edit
from tests.unit.session.harness import kept_of
from ullage.session.changes import deciding, going_back, looking, reviewing
from ullage.session.changes.shown import DecidedFile
from ullage.session.session import Session
from ullage.store import folder as ullage_folder
from ullage.store.errors import StoreFailed
from ullage.store.versions import Versions, pack

Became = Callable[[Path], None]
"""What somebody does to the file `a.py`, which the agent changed from BEFORE to AFTER."""


def renamed(path: Path) -> None:
    path.rename(path.with_name("b.py"))


def deleted(path: Path) -> None:
    path.unlink()


def reformatted(path: Path) -> None:
    path.write_text(AFTER.replace("\n", " \n"))


def binary(path: Path) -> None:
    path.write_bytes(b"\0mine")


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(50_000_000)


def with_other_line_ends(path: Path) -> None:
    path.write_bytes(AFTER.replace("\n", "\r\n").encode())


def with_a_mark(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + AFTER.encode())


def without_its_end(path: Path) -> None:
    path.write_bytes(("mine\n" + AFTER).removesuffix("\n").encode())


def read_only(path: Path) -> None:
    path.chmod(0o444)


def link_out(path: Path) -> None:
    outside = path.parent.parent / "outside.py"
    outside.write_text(AFTER)
    path.unlink()
    path.symlink_to(outside)


def folder_in_its_place(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "mine.txt").write_text("mine\n")


def damaged_copy(path: Path) -> None:
    """Of what was in the file before."""
    with sqlite3.connect(ullage_folder.versions(kept_of(path.parent))) as connection:
        connection.execute("UPDATE content SET packed = ? WHERE sha256 = ?", (b"?", bytes.fromhex(pack(BEFORE.encode()).sha256)))


def tree(folder: Path) -> dict[str, bytes | str]:
    """Everything there is, beside the folder too. Of a link, where it leads."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.parent.rglob("*")):
        if f"{folder.name}-state" not in path.parts and not path.is_dir():
            found[str(path)] = str(path.readlink()) if path.is_symlink() else path.read_bytes()
    return found


async def undo_all(session: Session) -> list[DecidedFile]:
    return await session.reviewing.undo()


async def undo_turn(session: Session) -> list[DecidedFile]:
    [turn] = await session.reviewing.turns()
    return await session.reviewing.undo(turn_id=turn.turn_id)


async def undo_a_hunk(session: Session) -> list[DecidedFile]:
    files = await session.reviewing.open_files()
    hunks = [hunk for file in files for hunk in file.hunks]
    return await session.reviewing.undo("a.py", hunks[0].id if hunks else "gone")


async def go_back(session: Session) -> list[DecidedFile]:
    [point] = await session.going_back.checkpoints()
    return await session.restore(point.id)


async def go_back_over_it(session: Session) -> list[DecidedFile]:
    [point] = await session.going_back.checkpoints()
    return await session.restore(point.id, ["a.py"])


async def keep_all(session: Session) -> list[DecidedFile]:
    return await session.reviewing.keep()


Do = Callable[[Session], Awaitable[list[DecidedFile]]]
DOES: list[Do] = [undo_all, undo_turn, undo_a_hunk, go_back, go_back_over_it, keep_all]

ELSEWHERE = {looking.OUTSIDE, going_back.LEADS_ELSEWHERE}
NOT_READ = {"This file cannot be read: Is a directory", "It cannot be read: Is a directory"}

STAYS: dict[Became, set[str]] = {
    renamed: {looking.MOVED, going_back.CHANGED_SINCE},
    deleted: {looking.MOVED, going_back.CHANGED_SINCE},
    reformatted: {deciding.EDITED, going_back.CHANGED_SINCE},
    binary: {looking.BINARY_CHANGED, going_back.CHANGED_SINCE},
    huge: {looking.TOO_LARGE, "It is larger than 5 MB by now, so what it holds could not be kept"},
    read_only: {"It cannot be written: The file is read-only"},
    link_out: ELSEWHERE,
    folder_in_its_place: NOT_READ,
    damaged_copy: {looking.NO_VERSION, f"What it held then ({pack(BEFORE.encode()).sha256[:12]}) is damaged"},
}
"""What the file may have become, and what is said then by whatever would take something back."""

OF_A_HUNK = {deciding.EDITED, reviewing.NO_SUCH_HUNK, reviewing.WHOLE_ONLY}

CHANGES_LINES: list[Became] = [with_other_line_ends, with_a_mark, without_its_end]
"""What the user may have done to the file that leaves the agent's changes what they are."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


TRIED = [pair for moved in (0, 2, 4) for pair in diagonal(list(STAYS), DOES, moved)]
"""Each of what it may have become, with three ways of deciding, and each of these with four or five of those."""


@sampled(("became", "do"), product(STAYS, DOES), keep=TRIED.__contains__)
async def test_it_is_said_and_stays(folder: Path, became: Became, do: Do) -> None:
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        await edit(here, session, ("a.py", AFTER))
        became(folder / "a.py")
        before = tree(folder)
        [decided] = await do(session)
        if do is keep_all:
            assert decided == DecidedFile("a.py", "done")
            assert await session.reviewing.open_files() == []
        elif decided.outcome == "done" and became is damaged_copy:
            assert "two" in (folder / "a.py").read_text(), "it is in memory still"
            return
        elif decided.outcome == "done":
            assert do is go_back_over_it, "the user chose to overwrite just this file"
            assert (folder / "a.py").read_text() == BEFORE
            forward = (await session.going_back.checkpoints())[-1]
            assert forward.forward
            await session.restore(forward.id)
        else:
            assert decided.why in STAYS[became] | OF_A_HUNK
        assert tree(folder) == before, "nothing is lost, also by way of going forward again"


@sampled(
    ("became", "do"), product(CHANGES_LINES, DOES), keep=[*diagonal(CHANGES_LINES, DOES), *diagonal(CHANGES_LINES, DOES, 2)].__contains__
)
async def test_what_the_user_did_to_the_lines_stays_beside_what_is_undone(folder: Path, became: Became, do: Do) -> None:
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        await edit(here, session, ("a.py", AFTER))
        became(folder / "a.py")
        now = (folder / "a.py").read_bytes()
        [decided] = await do(session)
        after = (folder / "a.py").read_bytes()
        if do is keep_all:
            assert after == now
        elif do is go_back:
            assert (decided.outcome, after) == ("conflict", now)
        elif do is go_back_over_it:
            assert after == BEFORE.encode()
            await session.restore((await session.going_back.checkpoints())[-1].id)
            assert (folder / "a.py").read_bytes() == now
        else:
            assert decided.outcome == "done"
            assert b"two" in after
            assert (b"\r\n" in after, after.startswith(b"\xef\xbb\xbf"), b"mine" in after) == (
                b"\r\n" in now,
                now.startswith(b"\xef\xbb\xbf"),
                b"mine" in now,
            )


@pytest.mark.parametrize("do", [undo_all, undo_turn, undo_a_hunk, go_back])
async def test_on_a_full_disk_nothing_is_taken_back_and_it_works_later(folder: Path, do: Do, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Versions, *_: object, **__: object) -> None:
        raise StoreFailed("Cannot keep a version of a file: database or disk is full")

    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        await edit(here, session, ("a.py", AFTER))
        before = tree(folder)
        with monkeypatch.context() as patch:
            patch.setattr(Versions, "keep_packed", full)
            with pytest.raises(StoreFailed, match="disk is full"):
                await do(session)
        assert tree(folder) == before
        assert [each.outcome for each in await do(session)] == ["done"]
        assert b"two" in (folder / "a.py").read_bytes()


async def test_a_workspace_folder_that_is_gone_loses_nothing(folder: Path) -> None:
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        await edit(here, session, ("a.py", AFTER))
        shutil.rmtree(folder)
        assert [each.outcome for each in await session.reviewing.undo()] == ["conflict"]
        [decided] = await go_back(session)
        assert decided == DecidedFile("a.py", "conflict", going_back.CHANGED_SINCE)


LINE = b"x" * many(79, deep=1) + b"\n"
LARGE = LINE * (4_000_000 // len(LINE))
"""As large in the sample, with fewer lines to compare."""


COMMANDS: dict[str, tuple[bytes | None, str]] = {
    "binary": (b"\0\1\2", "printf '\\0\\7' > a.bin"),
    "deleted": (b"\0\1\2", "rm a.bin"),
    "mixed line ends": (b"one\r\ntwo\rthree\n", "printf 'one\\n' > a.bin"),
    "mark": (b"\xef\xbb\xbfone", "printf 'one' > a.bin"),
    "4 MB": (LARGE, "echo y >> a.bin"),
    "new": (None, "printf '\\0' > a.bin"),
    "executable": (b"#!/bin/sh\n", "chmod +x a.bin"),
}
"""What a file held before, and what a command then does to it."""

TAKES_BACK: list[Do] = [undo_all, undo_turn, go_back]


@sampled(("changed", "do"), product(COMMANDS, TAKES_BACK), keep=diagonal(list(COMMANDS), TAKES_BACK).__contains__)
async def test_what_a_command_did_to_any_bytes_is_taken_back(folder: Path, changed: str, do: Do) -> None:
    before, command = COMMANDS[changed]
    files = () if before is None else (("a.bin", before),)
    async with at_work(folder, *files) as (here, session):
        await turn(here, session, run(command))
        assert [each.outcome for each in await do(session)] == ["done"]
        path = folder / "a.bin"
        assert (path.read_bytes() if path.exists() else None) == before
        assert not os.access(path, os.X_OK)
        assert await session.reviewing.open_files() == []


@pytest.mark.parametrize("do", [undo_all, go_back])
async def test_a_file_of_50_mb_is_named_and_stays(folder: Path, do: Do) -> None:
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        with (folder / "a.bin").open("wb") as file:
            file.truncate(50_000_000)
        (found,) = await turn(here, session, run("echo more >> a.bin; echo more >> a.py"))
        assert [(each.path, each.why) for each in found.uncovered] == [("a.bin", "larger than 5 MB")]
        assert await do(session) == [DecidedFile("a.py", "done")]
        assert (folder / "a.bin").stat().st_size == 50_000_005
        assert (folder / "a.py").read_text() == BEFORE
