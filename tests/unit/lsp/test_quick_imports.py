"""Classes made in `quick_imports` are as ever, and what was compiled for them once is not compiled again."""

from __future__ import annotations

import builtins
import dataclasses
import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from ullage.lsp.quick_imports import quick_imports


@pytest.fixture(autouse=True)
def writes_what_is_compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    yield
    gc.unfreeze()


def make_classes() -> tuple[type[Any], type[Any]]:
    @attrs.frozen
    class Tank:
        name: str
        litres: int = 5

    @dataclasses.dataclass(frozen=True, slots=True, order=True)
    class Gauge:
        name: str
        marks: tuple[int, ...] = dataclasses.field(default_factory=tuple)

    return Tank, Gauge


def made_in(folder: Path) -> tuple[type[Any], type[Any]]:
    with quick_imports("test", folder):
        return make_classes()


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were compiled since."""
    texts: list[str] = []
    compile_it: Any = builtins.compile

    def counting(source: Any, *more: Any, **options: Any) -> Any:
        texts.append(str(source))
        return compile_it(source, *more, **options)

    monkeypatch.setattr(builtins, "compile", counting)
    return texts


def test_the_second_time_nothing_is_compiled(tmp_path: Path, compiled: list[str]) -> None:
    made_in(tmp_path)
    assert compiled
    compiled.clear()
    made_in(tmp_path)
    assert compiled == []


def test_classes_from_kept_code_are_as_ever(tmp_path: Path) -> None:
    made_in(tmp_path)
    tank, gauge = made_in(tmp_path)
    plain_tank, plain_gauge = make_classes()
    assert repr(tank("east", 3)) == repr(plain_tank("east", 3))
    assert tank("east") == tank("east", 5) != tank("west")
    assert hash(tank("east")) == hash(tank("east", 5))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        tank("east").name = "west"
    assert repr(gauge("a")) == repr(plain_gauge("a"))
    assert gauge("a") < gauge("b", (1,))
    with pytest.raises(dataclasses.FrozenInstanceError):
        gauge("a").name = "b"
    assert tank.__init__.__annotations__ == plain_tank.__init__.__annotations__
    assert gauge.__init__.__annotations__ == plain_gauge.__init__.__annotations__


def test_a_changed_class_is_compiled_anew(tmp_path: Path) -> None:
    made_in(tmp_path)
    with quick_imports("test", tmp_path):

        @dataclasses.dataclass(frozen=True)
        class Gauge:
            name: str
            tank: str = "east"

    assert repr(Gauge("a")).endswith("Gauge(name='a', tank='east')")


@pytest.mark.parametrize("damage", [b"", b"nothing of the kind", None])
def test_a_damaged_file_is_made_anew(tmp_path: Path, damage: bytes | None, compiled: list[str]) -> None:
    made_in(tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-50] if damage is None else damage)
    tank, _ = made_in(tmp_path)
    assert tank("east").litres == 5
    compiled.clear()
    made_in(tmp_path)
    assert compiled == []


def test_nothing_is_written_where_python_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made_in(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_does_not_matter(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    tank, _ = made_in(in_the_way)
    assert tank("east").litres == 5


def test_all_is_as_before_where_an_import_fails(tmp_path: Path, compiled: list[str]) -> None:
    with pytest.raises(ImportError), quick_imports("test", tmp_path):
        raise ImportError
    assert gc.isenabled()
    make_classes()
    before = len(compiled)
    make_classes()
    assert len(compiled) > before
    assert list(tmp_path.iterdir()) == []
