"""One server as a process: what it offers and answers, and everything that a bad one does."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from tests.unit.mcp_servers.workbench import bench, fake
from ullage.mcp_servers import connection
from ullage.mcp_servers.connection import ServerFailed
from ullage.mcp_servers.pipes import LONGEST_MESSAGE


async def test_it_lists_and_answers_and_leaves_no_process(tmp_path: Path) -> None:
    async with bench(tmp_path, pumps=fake(env={"PUMP_TOKEN": "secret"})) as here:
        assert here.state("pumps") == ("running", "")
        offers = here.servers.standings()[0].offers
        assert [tool.name for tool in offers.tools][:2] == ["echo", "where"]
        assert (offers.prompts[0].name, offers.prompts[0].arguments[0].required) == ("inspect", True)
        assert await here.call("echo", text="hello") == "hello"
        told = json.loads(await here.call("where"))
        assert told["folder"] == str(tmp_path)
        assert told["roots"] == [tmp_path.as_uri()]
        assert told["environment"]["PUMP_TOKEN"] == "secret"
        assert (await here.servers.prompt("pumps", "inspect", {"tank": "B"})).text == "Inspect B."
        assert "Open the valve first." in (await here.servers.resource("pumps", "fake://manual")).text
        output: list[str] = []
        await here.servers.call("pumps", "slow", {}, output.append)
        assert output == ["1 of 2: pumping\n", "2 of 2: pumping\n"]


async def test_secrets_of_the_environment_are_not_handed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "k")
    async with bench(tmp_path, pumps=fake(env={"GIVEN": "${env:SOME_API_KEY}"})) as here:
        environment = json.loads(await here.call("where"))["environment"]
        assert "SOME_API_KEY" not in environment
        assert environment["GIVEN"] == "k"


async def test_a_server_that_dies_says_why_and_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BACK_OFF", (0.0,))
    async with bench(tmp_path, pumps=fake()) as here:
        with pytest.raises(ServerFailed, match="ended before it answered: it ended with exit code 7: Something broke"):
            await here.call("die")
        await here.until(lambda: here.state("pumps")[0] == "running" and "exit code 7" in here.servers.log("pumps").text)
        assert "Something broke" in here.servers.log("pumps").text
        assert await here.call("echo", text="again") == "again"
        with pytest.raises(ServerFailed):
            await here.call("die")
        await here.until(lambda: here.state("pumps")[0] == "failed")
        assert await here.call("echo", text="tried once more") == "tried once more"


async def test_a_call_that_hangs_is_given_up_and_the_server_stays(tmp_path: Path) -> None:
    async with bench(tmp_path, pumps=fake(timeout=1)) as here:
        with pytest.raises(ServerFailed, match="did not answer within 1 seconds"):
            await here.call("hang")
        assert here.state("pumps")[0] == "running"


async def test_a_call_can_be_stopped(tmp_path: Path) -> None:
    async with bench(tmp_path, pumps=fake()) as here:
        calling = asyncio.ensure_future(here.call("hang"))
        await asyncio.sleep(0)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling


@pytest.mark.parametrize(
    ("start", "why"),
    [
        ("hang", "did not answer within 1 seconds"),
        ("garbage", "exit code 1"),
        ("flood", "messages within 10 seconds that nobody asked for"),
    ],
)
async def test_a_server_that_is_none_fails_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str, why: str) -> None:
    monkeypatch.setattr(connection, "START_SECONDS", 1.0 if start == "hang" else 60.0)
    async with bench(tmp_path, pumps=fake(f"start={start}")) as here:
        await here.until(lambda: here.state("pumps")[0] == "failed")
        assert why in here.state("pumps")[1]


async def test_a_program_that_is_not_there_fails(tmp_path: Path) -> None:
    async with bench(
        tmp_path, one={"command": "no-such-program-x"}, two={"command": "./missing"}, three={"command": "sh", "cwd": "nowhere"}
    ) as here:
        assert here.state("one") == ("failed", "there is no program `no-such-program-x` on PATH, outside of the workspace")
        assert "there is no program" in here.state("two")[1]
        assert "its folder is not there" in here.state("three")[1]


@pytest.mark.parametrize("command", ["{folder}/env/bin/python", "env/bin/python"])
async def test_the_python_of_a_virtual_environment_stays_one(tmp_path: Path, command: str) -> None:
    (tmp_path / "env" / "bin").mkdir(parents=True)
    (tmp_path / "env" / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\n")
    (tmp_path / "env" / "bin" / "python").symlink_to(Path(sys.executable).resolve())
    async with bench(tmp_path, pumps={**fake(), "command": command.format(folder=tmp_path)}) as here:
        assert json.loads(await here.call("where"))["python"] == str(tmp_path / "env")


async def test_a_program_of_the_workspace_is_not_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = tmp_path / "pump-server"
    trap.write_text("#!/bin/sh\ntouch was-run\n")
    trap.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    async with bench(tmp_path, pumps={"command": "pump-server"}) as here:
        assert here.state("pumps")[0] == "failed"
        assert not (tmp_path / "was-run").exists()


@pytest.mark.parametrize("flood", ["flood", "flood_answers"])
async def test_a_flood_ends_the_server_and_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flood: str) -> None:
    monkeypatch.setattr(connection, "BACK_OFF", ())
    async with bench(tmp_path, pumps=fake()) as here:
        with pytest.raises(ServerFailed):
            await here.call(flood)
        await here.until(lambda: here.state("pumps")[0] == "failed")
        assert "that nobody asked for" in here.state("pumps")[1]


async def test_lines_that_are_no_message_are_noted_and_passed_over(tmp_path: Path) -> None:
    async with bench(tmp_path, pumps=fake()) as here:
        assert await here.call("garbage") == "answered all the same"
        assert "a line that is no message: this is no JSON" in here.servers.log("pumps").text


async def test_fifty_megabytes_are_cut_at_the_door(tmp_path: Path) -> None:
    async with bench(tmp_path, pumps=fake()) as here:
        text = await here.call("large", megabytes=50)
        assert len(text) < 1_100_000
        assert f"at most {LONGEST_MESSAGE:,} are taken" in text[:200]
        assert "first line\nxxx" in text
        assert await here.call("echo", text="goes on") == "goes on"


async def test_of_a_long_answer_so_much_is_kept(tmp_path: Path) -> None:
    async with bench(tmp_path, pumps=fake()) as here:
        answered = await here.servers.call("pumps", "large", {"megabytes": 5}, lambda text: None)
        assert len(answered.text) < 2_000_100
        assert not answered.complete
        assert "more characters were not kept" in answered.text


async def test_a_server_that_changes_its_tools_is_listed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "AGAIN_SECONDS", 0.0)
    async with bench(tmp_path, pumps=fake()) as here:
        await here.call("grow")
        await here.until(lambda: here.servers.listed()[0].tools[-1].name == "grown")


async def test_turned_off_and_on_again(tmp_path: Path) -> None:
    async with bench(tmp_path, pumps=fake()) as here:
        fingerprint = here.servers.standings()[0].server.fingerprint
        await here.servers.turn("pumps", fingerprint, on=False)
        assert (here.state("pumps")[0], here.servers.listed()) == ("off", [])
        await here.servers.turn("pumps", fingerprint, on=True)
        await here.servers.settled(60)
        assert here.state("pumps")[0] == "running"
