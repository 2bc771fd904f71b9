"""A hook's command in the sandbox: what it reads, says and writes there, and that nothing of it stays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ullage.tools.hook_command import CannotRun, HookCommand, hook_runner
from ullage.tools.sandbox.confinement import NoSandbox
from ullage.tools.sandbox.sandbox import Sandbox, SandboxFinder
from ullage.workspace.folders import Folders


def command(folder: Path, line: str, *, confined: bool, writes: bool = True, given: bytes = b"{}") -> HookCommand:
    return HookCommand(line, given, folder, 20.0, {"CLAUDE_PROJECT_DIR": str(folder)}, confined, writes)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path.resolve() / "project"
    made.mkdir()
    return made


async def test_output_and_errors_come_apart_and_the_input_is_whole(folder: Path):
    folders, given = Folders([folder]), b"x" * 3_000_000
    run = hook_runner(folders, lambda: Sandbox(SandboxFinder(), "off", folders))
    finished = await run(command(folder, 'wc -c; echo oh >&2; echo "$CLAUDE_PROJECT_DIR"; exit 4', confined=False, given=given))
    assert finished.output.split() == ["3000000", str(folder)]
    assert (finished.errors, finished.exit_code) == ("oh\n", 4)


async def test_one_that_is_to_be_confined_does_not_run_without_a_sandbox(folder: Path):
    folders = Folders([folder])
    run = hook_runner(folders, lambda: Sandbox(SandboxFinder(), "off", folders))
    with pytest.raises(CannotRun, match="it is to run in the sandbox"):
        await run(command(folder, "touch ran", confined=True))
    assert not (folder / "ran").exists()


async def test_in_the_sandbox_it_reads_its_input_and_writes_to_the_workspace_alone(folder: Path, tmp_path: Path):
    folders, finder = Folders([folder]), SandboxFinder()
    found = await finder.find(folders.roots)
    run = hook_runner(folders, lambda: Sandbox(finder, "auto", folders))
    line = f"cat > given; echo no >&2; touch {tmp_path}/outside; touch .claude-x; exit 2"
    if isinstance(found, NoSandbox):  # where this machine has none, it must not run at all
        with pytest.raises(CannotRun):
            await run(command(folder, line, confined=True))
        return
    finished = await run(command(folder, line, confined=True, given=b'{"a": 1}'))
    assert (folder / "given").read_text() == '{"a": 1}'
    assert not (tmp_path / "outside").exists()
    assert (finished.exit_code, finished.errors.startswith("no\n")) == (2, True)
    reads: Sequence[str] = ("touch later", "cat given")
    said = [await run(command(folder, each, confined=True, writes=False)) for each in reads]
    assert not (folder / "later").exists(), "in Ask and Plan mode it writes nothing"
    assert said[1].output == '{"a": 1}'
