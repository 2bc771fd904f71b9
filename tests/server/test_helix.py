"""The blocks of docs/editors/others.md for Helix: read everywhere, and typed into a real Helix in a pseudo-terminal where there is one.

Debian has Helix from version 13 on; PyPI and npm have none.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from tests.fake_api import FakeApi, Say
from tests.patience import PATIENCE
from tests.server.acp_client import KEY
from tests.server.client import environment
from ullage.store.folder import VARIABLE

ROOT = Path(__file__).parents[2]

HELIX = shutil.which("hx") or shutil.which("helix")
SETSID = shutil.which("setsid")


def block(kind: str) -> str:
    """The first block of that kind on the page."""
    page = (ROOT / "docs" / "editors" / "others.md").read_text(encoding="utf-8")
    found = re.search(rf"^```{kind}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def test_the_keys_are_helixs_own_form() -> None:
    keys = tomllib.loads(block("toml"))["keys"]
    assert keys == {mode: {"space": {"u": ":pipe ullage-ask"}} for mode in ("normal", "select")}


@pytest.mark.skipif(sys.platform == "win32", reason="the script is for a shell of Unix")
async def test_the_script_answers_below_the_question(tmp_path: Path, folder: Path, state: Path) -> None:
    async with FakeApi() as fake:
        fake.enqueue(Say("It is four."))
        env = prepared(tmp_path, state, fake)
        script = await asyncio.create_subprocess_exec(
            str(tmp_path / "bin" / "ullage-ask"), cwd=folder, env=env, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(PATIENCE):
            said, _ = await script.communicate(b"How deep\nis it?\n")
        sent = json.dumps(fake.requests[-1].body["messages"])
    assert said.decode().startswith("How deep\nis it?\n\n")
    assert "It is four." in said.decode()
    assert "How deep is it?" in sent


@pytest.mark.skipif(HELIX is None or SETSID is None, reason="there is no Helix on the PATH, or no setsid")
async def test_a_question_is_asked_and_answered_in_helix(tmp_path: Path, folder: Path, state: Path) -> None:
    (tmp_path / "config.toml").write_text(block("toml"))
    (folder / "question.md").write_text("How deep is it?\n")
    async with FakeApi() as fake:
        fake.enqueue(Say("It is four."))
        env = prepared(tmp_path, state, fake) | {"TERM": "xterm-256color", "HOME": str(tmp_path)}
        import termios  # Windows has none

        keyboard, screen = os.openpty()
        termios.tcsetwinsize(screen, (30, 100))
        command = (SETSID, "--ctty", HELIX, "-c", str(tmp_path / "config.toml"), "question.md")  # it wants a terminal that controls it
        helix = await asyncio.create_subprocess_exec(*map(str, command), cwd=folder, env=env, stdin=screen, stdout=screen, stderr=screen)
        os.close(screen)
        shown = asyncio.Event()
        loop = asyncio.get_running_loop()

        def read() -> None:
            try:
                if b"question.md" in os.read(keyboard, 65_536):
                    shown.set()
            except OSError:  # it has ended
                loop.remove_reader(keyboard)

        loop.add_reader(keyboard, read)
        try:
            async with asyncio.timeout(PATIENCE):
                await shown.wait()
                os.write(keyboard, b"x u:wq\r")
                await helix.wait()
        finally:
            if helix.returncode is None:
                helix.kill()
                await helix.wait()
            loop.remove_reader(keyboard)
            os.close(keyboard)
    written = (folder / "question.md").read_text()
    assert written.startswith("How deep is it?\n")
    assert "It is four." in written


def prepared(here: Path, state: Path, fake: FakeApi) -> dict[str, str]:
    """The script of the page on the PATH; the client of the examples gets settings that lead to the test's own model."""
    settings = {"model": {"baseUrl": fake.base_url, "provider": "anthropic"}, "bash": {"sandbox": "off"}}
    client = here / "client.py"
    client.write_text(
        f"import runpy, sys\nsys.argv[2:] = [{json.dumps(settings)!r}]\n"
        f"runpy.run_path({str(ROOT / 'examples' / 'plain_client.py')!r}, run_name='__main__')\n"
    )
    script = here / "bin" / "ullage-ask"
    script.parent.mkdir()
    script.write_text(block("sh"))
    script.chmod(0o755)
    path = f"{script.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return environment({VARIABLE: str(state), "ANTHROPIC_API_KEY": KEY, "ULLAGE_CLIENT": str(client), "PATH": path})
