"""The blocks of docs/editors/emacs.md in a real Emacs, with the real server and the strict fake of the API.

Emacs is in no registry of Python or Node. On a build server with Debian's packages `npm test` fetches one
(`scripts/lib/systemPrograms.mjs`); elsewhere these run where an Emacs is on the PATH. agent-shell is in no package registry at all: it is
tried where `ULLAGE_ELISP` names a folder with `agent-shell`, `acp.el` and `shell-maker`.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from pathlib import Path
from typing import Any

import pytest

from tests.fake_api import Call, FakeApi, Say
from tests.patience import PATIENCE
from tests.server.acp_client import KEY
from tests.server.client import environment
from ullage.store.folder import VARIABLE

ROOT = Path(__file__).parents[2]

EMACS = shutil.which("emacs")

pytestmark = pytest.mark.skipif(EMACS is None, reason="there is no Emacs on the PATH")


def blocks() -> list[str]:
    """Of the page, the first one a file of one's own, the second one for agent-shell."""
    page = (ROOT / "docs" / "editors" / "emacs.md").read_text(encoding="utf-8")
    return [f";; -*- lexical-binding: t -*-\n{each}" for each in re.findall(r"^```elisp\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)]


async def test_the_file_of_the_page_is_a_client(tmp_path: Path, folder: Path, state: Path) -> None:
    here = tmp_path / "emacs"
    here.mkdir()
    (here / "ullage.el").write_text(blocks()[0], encoding="utf-8")
    (folder / "dip.txt").write_text("dip 4\n")
    async with FakeApi() as fake:
        model = {"baseUrl": fake.base_url, "provider": "anthropic"}
        settings = {"model": model, "bash": {"sandbox": "off"}, "compaction": {"summary": "digest"}}
        (here / "settings.json").write_text(json.dumps(settings))
        edit = Call("edit_file", {"path": "dip.txt", "old_text": "dip 4", "new_text": "dip 5"})
        fake.enqueue(Call("read_file", {"path": "dip.txt"}), edit, Say("The dip is five."))
        fake.enqueue(Call("bash", {"command": "rm other.txt"}), Say("Then not."))
        for number in range(3):
            fake.enqueue(Say(f"Tap {number} drips. " * 400))
        told = await emacs(here, folder, state, "ullage.el", {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"})
    assert told["errors"] == []
    (edited, names), (refused, _) = told["questions"]
    assert (edited, names[0]) == ("Edit dip.txt: ", "Allow once")
    assert "rm other.txt" in refused
    assert (folder / "dip.txt").read_text() == "dip 5\n"
    assert told["buffer"] == "dip 5\n"
    for text in ("## set the dip to five", "The dip is five.", "Edit dip.txt: completed", "Then not.", "compaction: undone"):
        assert text in told["shown"]
    assert re.search(r"idle · \d+ of \d+ tokens\n$", told["shown"])


@pytest.mark.skipif("ULLAGE_ELISP" not in os.environ, reason="ULLAGE_ELISP names no folder with agent-shell, acp.el and shell-maker")
async def test_the_block_for_agent_shell_works(tmp_path: Path, folder: Path, state: Path) -> None:
    (tmp_path / "block.el").write_text(blocks()[1])
    (folder / "dip.txt").write_text("dip 4\n")
    async with FakeApi() as fake:
        settings = tmp_path / "settings.json"
        settings.write_text(json.dumps({"model": {"baseUrl": fake.base_url, "provider": "anthropic"}, "bash": {"sandbox": "off"}}))
        ullage = tmp_path / "bin" / "ullage"
        ullage.parent.mkdir()
        ullage.write_text(f'#!/bin/sh\nexec "{Path(sys.executable).parent / "ullage"}" "$@" --settings "{settings}"\n')
        ullage.chmod(0o755)
        fake.enqueue(
            Call("read_file", {"path": "dip.txt"}, "toolu_r"),
            Call("edit_file", {"path": "dip.txt", "old_text": "dip 4", "new_text": "dip 5"}, "toolu_e"),
            Say("The dip is five."),
        )
        path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
        told = await emacs(tmp_path, folder, state, "agent_shell.el", {"ULLAGE_ELISP": os.environ["ULLAGE_ELISP"], "PATH": path})
    assert told["errors"] == []
    ((title, options),) = told["questions"]
    assert (title, set(options)) == ("Edit dip.txt", {"allow_once", "allow_always", "reject_once"})
    assert (folder / "dip.txt").read_text() == "dip 5\n"
    for text in ("set the dip to five", "The dip is five.", "Edit dip.txt", "tokens"):
        assert text in told["shown"]


async def emacs(here: Path, folder: Path, state: Path, script: str, more: dict[str, str]) -> dict[str, Any]:
    """Runs a script of tests/editors in Emacs; gives what it wrote to `told.json`."""
    env = environment({VARIABLE: str(state), "ANTHROPIC_API_KEY": KEY, "ULLAGE_TEST": str(here), "HOME": str(here), **more})
    command = (str(EMACS), "--batch", "-Q", "-l", str(ROOT / "tests" / "editors" / script))
    process = await asyncio.create_subprocess_exec(*command, cwd=folder, env=env, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT)
    try:
        async with asyncio.timeout(PATIENCE):
            printed, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    told = here / "told.json"
    assert told.exists(), printed.decode()
    found: dict[str, Any] = json.loads(told.read_text())
    return found
