"""PROTOCOL.md is enough to write a client: the one in examples/ is written from that page, with the standard library alone."""

from __future__ import annotations

import ast
import asyncio
import json
import re
import sys
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path

from tests.fake_api import Call, FakeApi, Say
from tests.patience import PATIENCE
from tests.server.acp_client import KEY
from tests.server.client import environment
from ullage.store.folder import VARIABLE

CLIENT = Path(__file__).parents[2] / "examples" / "plain_client.py"


async def test_a_client_from_the_page_alone_prompts_answers_compacts_and_undoes(folder: Path, state: Path) -> None:
    async with FakeApi() as fake:
        settings = {
            "model": {"provider": "anthropic", "baseUrl": fake.base_url},
            "bash": {"sandbox": "off"},
            "compaction": {"summary": "digest"},
        }
        fake.enqueue(Call("write_file", {"path": "note.txt", "content": "one\n"}), Say("Noted."))
        fake.enqueue(Call("write_file", {"path": "more.txt", "content": "two\n"}), Say("As you wish."))
        for number in range(3):
            fake.enqueue(Call("bash", {"command": f"echo {number} drip; seq 300"}), Say(f"Number {number} drips. " * 30))
        typed = ["make a note", "1", "make another", "no", "one", "two", "three", ":undo", ":compact", ":undo", "/context", ":quit"]
        env = environment({VARIABLE: str(state), "ANTHROPIC_API_KEY": KEY})
        env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
        command = (sys.executable, "-I", str(CLIENT), str(folder), json.dumps(settings))
        process = await asyncio.create_subprocess_exec(*command, env=env, stdin=PIPE, stdout=PIPE, stderr=STDOUT)
        try:
            async with asyncio.timeout(PATIENCE):
                printed, _ = await process.communicate("\n".join(typed).encode())
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    shown = printed.decode()
    assert process.returncode == 0, shown
    assert re.search(r"^\? Create note\.txt: 1 Allow once, 2 .*", shown, re.MULTILINE), shown
    assert (folder / "note.txt").read_text() == "one\n"
    assert not (folder / "more.txt").exists()
    for words in ("Noted.", "As you wish.", "Number 2 drips.", "[end_turn]", "! There is no compaction to undo", "- system: "):
        assert words in shown
    made = re.search(r"^- compaction completed: (\d+) tokens -> (\d+)$", shown, re.MULTILINE)
    assert made is not None, shown
    assert int(made[2]) < int(made[1])
    assert re.search(r"^- compaction undone: .*\nundone: c", shown, re.MULTILINE), shown


def test_it_needs_nothing_but_the_standard_library() -> None:
    imported = [node for node in ast.walk(ast.parse(CLIENT.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in imported if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in imported if isinstance(node, ast.ImportFrom)}
    assert names <= sys.stdlib_module_names
