from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ullage.workspace.git_status import uncommitted


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=Tester", "-c", "user.email=tester@example.org")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = tmp_path / "work tree"
    (made / "src").mkdir(parents=True)
    for name in ("same.py", "changed.py", "gone.py", "old name.py", "src/größe.py"):
        (made / name).write_text(f"# {name}\n" * 20)
    git(made, "init", "-q")
    git(made, "add", ".")
    git(made, "commit", "-q", "-m", "First")
    (made / "changed.py").write_text("x = 1\n")
    (made / "src/größe.py").write_text("x = 1\n")
    (made / "gone.py").unlink()
    (made / "new.py").write_text("")
    git(made, "mv", "old name.py", "new name.py")
    return made


async def test_it_names_what_has_changed_and_is_there(repository: Path) -> None:
    found = await uncommitted(repository, 20)
    assert set(found) == {repository / name for name in ("changed.py", "src/größe.py", "new name.py")}


async def test_of_a_folder_inside_it_names_what_is_below(repository: Path) -> None:
    assert set(await uncommitted(repository / "src", 20)) == {repository / "src/größe.py"}


async def test_outside_a_repository_and_without_git_there_is_nothing(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await uncommitted(tmp_path, 20) == ()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await uncommitted(repository, 20) == ()


async def test_nothing_that_the_repository_names_is_run(repository: Path) -> None:
    trap = repository / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch '{repository}/sprung'\n")
    trap.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(trap))
    await uncommitted(repository, 20)
    assert not (repository / "sprung").exists()
