from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from ullage.processes.programs import own_python
from ullage.processes.start import Asker, NotAbsolute, start, start_for_user, start_talking
from ullage.tools.limit import Limit
from ullage.tools.process import run_alone, run_process


async def output_of(*command: str) -> bytes:
    process = await start(Asker.RIPGREP, command)
    try:
        return await process.output.read()
    finally:
        await process.end()


@pytest.mark.parametrize("program", ["sh", "./sh", "bin/sh", ""])
async def test_a_program_is_named_by_an_absolute_path(program: str):
    with pytest.raises(NotAbsolute):
        await start(Asker.RIPGREP, [program])
    with pytest.raises(NotAbsolute):
        await start_for_user(Asker.SHELL, [program], asyncio.SubprocessProtocol, folder=Path("/"), environment={})


async def test_only_the_users_own_commands_bring_an_environment():
    with pytest.raises(ValueError, match="no environment"):
        await start_for_user(Asker.RIPGREP, ["/bin/sh"], asyncio.SubprocessProtocol, folder=Path("/"), environment={})


async def test_it_starts_in_the_root_folder_with_a_bare_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for name in ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "/x")
    said = (await output_of(sys.executable, "-I", "-c", "import os; print(os.getcwd(), *sorted(os.environ))")).split()
    assert said[0] == b"/"
    assert not {b"PATH", b"PYTHONPATH", b"LD_LIBRARY_PATH", b"ANTHROPIC_API_KEY"} & set(said)


async def test_its_standard_input_is_empty():
    assert await output_of(sys.executable, "-I", "-c", "import sys; print(len(sys.stdin.read()))") == b"0\n"


async def test_it_ends_with_all_that_it_started():
    child = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    process = await start(Asker.RIPGREP, [sys.executable, "-I", "-c", parent])
    assert int(await process.output.readline())
    await process.end()
    assert await process.output.read() == b""  # the end, which the child would hold open


async def test_our_own_python_imports_nothing_of_the_folder_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("sitecustomize.py", "usercustomize.py", "json.py", "re.py", "runpy.py", "ullage.py", "pathlib.py"):
        (tmp_path / name).write_text("print('taken over')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert await output_of(*own_python("ullage.processes.start")) == b""


async def _shell(folder: Path) -> None:
    command = ["/bin/sh", "-c", "sleep 300"]
    await run_process(command, folder, {"PATH": "/usr/bin:/bin"}, Limit(300), lambda _: None)


async def _alone(folder: Path) -> None:
    command = ["/bin/sh", "-c", "sleep 300"]
    await run_alone(command, folder, {"PATH": "/usr/bin:/bin"}, Limit(300), lambda _: None)


async def _own(folder: Path) -> None:
    process = await start(Asker.RIPGREP, ["/bin/sh", "-c", "sleep 300"])
    try:
        await process.wait()
    finally:
        await process.end()


async def _talks(folder: Path) -> None:
    process = await start_talking(Asker.MCP_SERVER, ["/bin/cat"], folder=folder, environment={"PATH": "/usr/bin:/bin"})
    try:
        await process.ended()
    finally:
        await process.end()


@pytest.mark.parametrize("begin", [_shell, _alone, _own, _talks])
async def test_a_stop_in_the_middle_of_a_start_ends_it(begin: Callable[[Path], Coroutine[None, None, None]], tmp_path: Path):
    """At each step of the loop: asyncio itself waits for ever where it is cancelled before the pipes are connected."""
    for steps in range(8):
        task = asyncio.ensure_future(begin(tmp_path))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        done, _ = await asyncio.wait({task}, timeout=PATIENCE)
        assert done, f"cancelled after {steps} steps, it never ended"
        assert task.cancelled()


async def test_a_time_limit_in_the_middle_of_a_start_is_one(tmp_path: Path):
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await _own(tmp_path)
