"""The block of docs/editors/emacs.md in a real Emacs, with the real server and the strict fake of the API.

Emacs and its packages are in no registry of Python or Node. So this runs where an Emacs is on the PATH (29 or newer), and `ULLAGE_ELISP`
names a folder with `agent-shell`, `acp.el` and `shell-maker`.
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

pytestmark = [
    pytest.mark.skipif(EMACS is None, reason="there is no Emacs on the PATH"),
    pytest.mark.skipif("ULLAGE_ELISP" not in os.environ, reason="ULLAGE_ELISP names no folder with agent-shell, acp.el and shell-maker"),
]


async def test_the_block_for_agent_shell_works(tmp_path: Path, folder: Path, state: Path) -> None:
    blocks = re.findall(r"^```elisp\n(.*?)^```$", (ROOT / "docs" / "editors" / "emacs.md").read_text(), re.DOTALL | re.MULTILINE)
    (tmp_path / "block.el").write_text(";; -*- lexical-binding: t -*-\n" + blocks[0])
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
        told = await emacs(tmp_path, folder, state)
    assert told["errors"] == []
    ((title, options),) = told["questions"]
    assert (title, set(options)) == ("Edit dip.txt", {"allow_once", "allow_always", "reject_once"})
    assert (folder / "dip.txt").read_text() == "dip 5\n"
    for text in ("set the dip to five", "The dip is five.", "Edit dip.txt", "tokens"):
        assert text in told["shown"]


async def emacs(here: Path, folder: Path, state: Path) -> dict[str, Any]:
    """Runs the script in Emacs; gives what it wrote to `told.json`."""
    env = environment({VARIABLE: str(state), "ANTHROPIC_API_KEY": KEY, "ULLAGE_TEST": str(here), "HOME": str(here)})
    env |= {"ULLAGE_ELISP": os.environ["ULLAGE_ELISP"], "PATH": f"{here / 'bin'}:{env['PATH']}"}
    command = (str(EMACS), "--batch", "-Q", "-l", str(ROOT / "tests" / "editors" / "agent_shell.el"))
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
