"""A flipped bit, wherever it is, costs at most the row that it is in: nothing is silently wrong, and what is damaged is named."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.deep import many
from tests.unit.store.damage import Written, flip, flips, look, write
from ullage.context.entries import UserPrompt
from ullage.store import folder as ullage_folder
from ullage.store.log_store import LogStore
from ullage.store.plain_files import ResultFiles
from ullage.store.search import SearchIndex

PAGE = 4096
SAMPLE, DEEP = 12, 500


@pytest.fixture(scope="module")
def at_rest(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Written]:
    """A log that was closed."""
    folder = tmp_path_factory.mktemp("at-rest")
    return folder, write(folder)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Written]:
    """A log whose writer was killed: half of it is in the write-ahead log."""
    folder, copy = tmp_path_factory.mktemp("running"), tmp_path_factory.mktemp("killed")
    return copy, write(folder, into_wal=copy)


def check(folder: Path, written: Written, name: str, bit: int, into: Path) -> None:
    shutil.rmtree(into, ignore_errors=True)
    shutil.copytree(folder, into)
    path = into / name
    flip(path, bit)
    verdict = look(into, written)
    assert (verdict.wrong, verdict.unnamed) == (0, 0), f"bit {bit} of {name}"
    assert verdict.lost <= 1, f"bit {bit} of {name} cost {verdict.lost} rows"


def in_first_page(_: int) -> Callable[[random.Random], int]:
    return lambda chance: chance.randrange(PAGE * 8)


def anywhere(size: int) -> Callable[[random.Random], int]:
    return lambda chance: chance.randrange(size * 8)


def in_heads_of_pages(size: int) -> Callable[[random.Random], int]:
    """Where SQLite keeps what a page is and where its rows lie."""
    return lambda chance: chance.randrange(size // PAGE) * PAGE * 8 + chance.randrange(16 * 8)


@pytest.mark.deep
@pytest.mark.parametrize("where", [in_first_page, anywhere, in_heads_of_pages])
def test_a_bit_of_the_database(
    at_rest: tuple[Path, Written], tmp_path: Path, where: Callable[[int], Callable[[random.Random], int]]
) -> None:
    folder, written = at_rest
    size = ullage_folder.database(folder).stat().st_size
    for bit in flips(many(SAMPLE // 3, deep=DEEP), 1, where(size)):
        check(folder, written, "ullage.db", bit, tmp_path / "copy")


@pytest.mark.deep
@pytest.mark.parametrize("at", [60, 68])
def test_each_bit_of_the_version(at_rest: tuple[Path, Written], tmp_path: Path, at: int) -> None:
    """It stands at two places in SQLite's header: one of them alone makes no file of a later version."""
    folder, written = at_rest
    for bit in range(8 * at, 8 * at + 32, many(3, deep=1)):  # three by three: some of each byte, and each place in a byte
        check(folder, written, "ullage.db", bit, tmp_path / "copy")


@pytest.mark.deep
def test_a_bit_of_the_write_ahead_log(killed: tuple[Path, Written], tmp_path: Path) -> None:
    folder, written = killed
    size = (folder / "ullage.db-wal").stat().st_size
    for bit in flips(many(SAMPLE // 3, deep=DEEP), 2, anywhere(size)):
        check(folder, written, "ullage.db-wal", bit, tmp_path / "copy")


@pytest.mark.deep
def test_a_bit_of_the_search_index(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    folder.mkdir()
    write(folder)
    with_index(folder, "dip", 5)
    wanted = with_index(folder, "stick", 5)
    size = ullage_folder.search_index(folder).stat().st_size
    for bit in flips(many(SAMPLE // 3, deep=DEEP), 3, anywhere(size)):
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        flip(ullage_folder.search_index(copy), bit)
        assert with_index(copy, "stick", 5) == wanted, f"bit {bit}"


def with_index(folder: Path, words: str, limit: int) -> list[tuple[str, int, str]]:
    store = LogStore.open(folder)
    index = SearchIndex(folder, store, ResultFiles(folder))
    try:
        return [(hit.session_id, hit.seq, hit.excerpt) for hit in index.search(words, limit)]
    finally:
        index.close()
        store.close()


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[LogStore, SearchIndex, Path]]:
    store = LogStore.open(tmp_path)
    index = SearchIndex(tmp_path, store, ResultFiles(tmp_path))
    yield store, index, tmp_path
    index.close()
    store.close()


def test_an_index_that_is_damaged_while_it_is_open_is_made_anew(opened: tuple[LogStore, SearchIndex, Path]) -> None:
    store, index, folder = opened
    session = store.create_session("a", 1.0)
    store.append_many(session.id, [UserPrompt(f"p{number}", f"nozzle {number} " + "x" * 500) for number in range(50)], 2.0)
    assert len(index.search("nozzle", 100)) == 50
    index._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # noqa: SLF001
    path = ullage_folder.search_index(folder)
    path.write_bytes(path.read_bytes()[:PAGE] + b"\xff" * (path.stat().st_size - PAGE))
    index._connection.execute("PRAGMA shrink_memory")  # noqa: SLF001
    store.append(session.id, UserPrompt("later", "nozzle again"), 3.0)
    assert len(index.search("nozzle", 100)) == 51
