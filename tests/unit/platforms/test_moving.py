"""Files that others have open on Windows: what is tried again, how often, and what is told."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ullage.platforms import moving
from ullage.platforms.system import System


class Held:
    """`os.replace` and `os.unlink` of a system where the file is held for so many tries."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tries: int, winerror: int | None) -> None:
        self.left = tries
        self.waited: list[float] = []
        self._winerror = winerror
        monkeypatch.setattr(moving.os, "replace", self._first(os.replace))
        monkeypatch.setattr(moving.os, "unlink", self._first(os.unlink))

    def _first(self, real: Callable[..., None]) -> Callable[..., None]:
        def function(*names: str, **folders: int | None) -> None:
            self._hold()
            real(*names, **folders)

        return function

    def _hold(self) -> None:
        if self.left:
            self.left -= 1
            error = PermissionError(13, "held")
            error.winerror = self._winerror  # type: ignore[attr-defined]
            raise error


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "new").write_text("new")
    (tmp_path / "old").write_text("old")
    return tmp_path / "new", tmp_path / "old"


@pytest.mark.parametrize("code", sorted(moving.SHARING))
def test_it_waits_until_the_file_is_let_go(monkeypatch: pytest.MonkeyPatch, files: tuple[Path, Path], code: int) -> None:
    held = Held(monkeypatch, 3, code)
    moving.replace(*files, system=System.WINDOWS, wait=held.waited.append)
    assert files[1].read_text() == "new"
    assert held.waited == list(moving.WAITS[:3])
    held.left = 1
    moving.unlink(files[1], system=System.WINDOWS, wait=held.waited.append)
    assert not files[1].exists()


def test_it_gives_up_and_leaves_both_as_they_were(monkeypatch: pytest.MonkeyPatch, files: tuple[Path, Path]) -> None:
    held = Held(monkeypatch, 100, 32)
    with pytest.raises(PermissionError):
        moving.replace(*files, system=System.WINDOWS, wait=held.waited.append)
    assert held.waited == list(moving.WAITS) and sum(held.waited) < 0.5
    assert [path.read_text() for path in files] == ["new", "old"]


@pytest.mark.parametrize(("system", "code"), [(System.LINUX, None), (System.MACOS, None), (System.WINDOWS, 1314)])
def test_what_waiting_does_not_mend_is_told_at_once(
    monkeypatch: pytest.MonkeyPatch, files: tuple[Path, Path], system: System, code: int | None
) -> None:
    held = Held(monkeypatch, 1, code)
    with pytest.raises(PermissionError):
        moving.replace(*files, system=system, wait=held.waited.append)
    assert held.waited == []
