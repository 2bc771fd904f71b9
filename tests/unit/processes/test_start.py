from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from ullage.processes.programs import own_python
from ullage.processes.start import Asker, NotAbsolute, start, start_for_user


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
