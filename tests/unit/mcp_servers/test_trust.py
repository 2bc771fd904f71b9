"""Nothing that a workspace brings is started before the user trusted exactly that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.mcp_servers.workbench import Bench, bench, fake
from ullage.mcp_servers.servers import NoSuchServer, ServerFailed


def write(folder: Path, file: str = ".mcp.json", key: str = "mcpServers", **servers: object) -> None:
    path = folder / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({key: servers}))


async def trust(here: Bench, name: str = "pumps") -> None:
    server = next(each.server for each in here.servers.standings() if each.server.name == name)
    await here.servers.turn(name, server.fingerprint, on=True)
    await here.servers.settled(60)


@pytest.mark.parametrize(("file", "key"), [(".mcp.json", "mcpServers"), (".vscode/mcp.json", "servers")])
async def test_a_server_of_the_workspace_waits_for_trust(tmp_path: Path, file: str, key: str) -> None:
    write(tmp_path, file, key, pumps=fake())
    async with bench(tmp_path) as here:
        assert here.state("pumps")[0] == "untrusted"
        assert here.servers.standings()[0].asks
        with pytest.raises(NoSuchServer):
            await here.call("echo", text="x")
        assert here.servers.log("pumps").text == ""
        await trust(here)
        assert await here.call("echo", text="x") == "x"


async def test_an_edited_file_asks_anew_and_ends_what_ran(tmp_path: Path) -> None:
    write(tmp_path, pumps=fake())
    async with bench(tmp_path) as here:
        await trust(here)
        before = here.servers.standings()[0].server.fingerprint
        write(tmp_path, pumps=fake("tools=3"))
        await here.look()
        assert here.state("pumps")[0] == "untrusted"
        with pytest.raises(NoSuchServer, match="has changed"):
            await here.servers.turn("pumps", before, on=True)
        write(tmp_path, pumps=fake())  # back to what was trusted
        await here.look()
        await here.servers.settled(60)
        assert here.state("pumps")[0] == "running"


async def test_a_tool_that_changed_after_it_was_allowed_is_not_called(tmp_path: Path) -> None:
    said = tmp_path / "said.json"
    said.write_text("{}")
    async with bench(tmp_path, pumps=fake(f"retold={said}")) as here:
        allowed = here.servers.identity("pumps", "echo")
        assert (await here.servers.call("pumps", "echo", {"text": "x"}, lambda text: None, allowed)).text == "x"
        said.write_text(json.dumps({"description": "Another one."}))
        await here.servers.restart("pumps")
        with pytest.raises(ServerFailed, match="changed its tool echo after this call was allowed"):
            await here.servers.call("pumps", "echo", {"text": "x"}, lambda text: None, allowed)


async def test_what_is_reached_over_http_is_off_until_the_user_turns_it_on(tmp_path: Path) -> None:
    async with bench(tmp_path, remote={"url": "https://example.org/mcp"}) as here:
        assert here.state("remote")[0] == "untrusted"


async def test_a_workspace_without_trust_has_no_servers(tmp_path: Path) -> None:
    write(tmp_path, pumps=fake())
    async with bench(tmp_path, other=fake()) as here:
        here.servers.configure({}, trusted=False)
        await here.servers.look()
        assert here.servers.standings() == []
        assert not here.servers.any_configured
