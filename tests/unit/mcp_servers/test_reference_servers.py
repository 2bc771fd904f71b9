"""Real servers, as people run them: what they offer, what their tools do, and both versions of the protocol that are spoken today."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.unit.mcp_servers import reference
from tests.unit.mcp_servers.workbench import Bench, bench
from ullage.mcp_servers.connection import ServerFailed
from ullage.mcp_servers.offers import ServerOffers, problem_of

PAGE = "<html><head><title>Pumps</title></head><body><article><h1>Pumps</h1><p>Open the valve first.</p></article></body></html>"


def offers(here: Bench, name: str) -> ServerOffers:
    (found,) = [each for each in here.servers.standings() if each.server.name == name]
    assert (found.state, found.why) == ("running", "")
    assert found.offers.left_out == ()
    return found.offers


async def test_filesystem_reads_and_writes_where_it_may(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside.txt"
    inside.mkdir()
    outside.write_text("not for it")
    (inside / "manual.txt").write_text("Open the valve first.\n")
    async with bench(inside, files=reference.filesystem(inside)) as here:
        tools = {tool.name: tool for tool in offers(here, "files").tools}
        assert {"read_text_file", "list_directory", "write_file", "edit_file"} <= set(tools)
        assert tools["read_text_file"].read_only
        assert not tools["write_file"].read_only
        assert problem_of(tools["read_text_file"].schema, {}) == "`arguments`: 'path' is a required property"
        assert await here.call("list_directory", "files", path=str(inside)) == "[FILE] manual.txt"
        assert await here.call("read_text_file", "files", path=str(inside / "manual.txt")) == "Open the valve first.\n"
        await here.call("write_file", "files", path=str(inside / "new.txt"), content="Then pump.")
        assert (inside / "new.txt").read_text() == "Then pump."
        refused = await here.servers.call("files", "read_text_file", {"path": str(outside)}, lambda text: None)
        assert refused.is_error
        assert "Access denied" in refused.text


async def test_git_tells_of_a_repository_and_commits(tmp_path: Path) -> None:
    reference.repository(tmp_path)
    async with bench(tmp_path, git=reference.git()) as here:
        assert {"git_status", "git_log", "git_commit"} <= {tool.name for tool in offers(here, "git").tools}
        folder = str(tmp_path)
        assert "modified:   pump.txt" in await here.call("git_status", "git", repo_path=folder)
        assert "+open" in await here.call("git_diff_unstaged", "git", repo_path=folder)
        await here.call("git_add", "git", repo_path=folder, files=["pump.txt"])
        await here.call("git_commit", "git", repo_path=folder, message="Open the pump")
        log = await here.call("git_log", "git", repo_path=folder, max_count=2)
        assert log.index("Open the pump") < log.index("Close the pump")
        refused = await here.servers.call("git", "git_log", {"repo_path": str(tmp_path.parent)}, lambda text: None)
        assert refused.is_error


async def test_fetch_gives_a_page_as_markdown_and_none_of_this_machine_by_itself(tmp_path: Path) -> None:
    with site() as address:
        async with bench(tmp_path, fetch=reference.fetch(private=True), careful=reference.fetch()) as here:
            assert [tool.name for tool in offers(here, "fetch").tools] == ["fetch"]
            assert offers(here, "fetch").prompts[0].arguments[0].name == "url"
            page = await here.call("fetch", "fetch", url=f"{address}/pumps")
            assert "# Pumps" in page
            assert "Open the valve first." in page
            assert "valve first" in (await here.servers.prompt("fetch", "fetch", {"url": f"{address}/pumps"})).text
            for url, why in ((f"{address}/secret", "robots.txt"), (f"{address}/gone", "404")):
                refused = await here.servers.call("fetch", "fetch", {"url": url}, lambda text: None)
                assert refused.is_error
                assert why in refused.text
            refused = await here.servers.call("careful", "fetch", {"url": f"{address}/pumps"}, lambda text: None)
            assert "not a public address" in refused.text


async def uses_everything(here: Bench) -> None:
    """What can be done with the server that has everything, over whichever transport."""
    offered = offers(here, "all")
    assert {"echo", "get-sum", "get-tiny-image", "trigger-long-running-operation"} <= {tool.name for tool in offered.tools}
    prompts = {prompt.name: [(each.name, each.required) for each in prompt.arguments] for prompt in offered.prompts}
    assert prompts["args-prompt"] == [("city", True), ("state", False)]
    assert "architecture.md" in [resource.name for resource in offered.resources]
    assert "Everything" in here.servers.instructions("all")

    assert await here.call("echo", "all", message="hello") == "Echo: hello"
    image = await here.servers.call("all", "get-tiny-image", {}, lambda text: None)
    assert image.images[0].startswith(b"\x89PNG")
    told: list[str] = []
    done = await here.servers.call("all", "trigger-long-running-operation", {"duration": 0.2, "steps": 2}, told.append)
    assert told == ["1 of 2\n", "2 of 2\n"]
    assert "completed" in done.text
    structured = await here.call("get-structured-content", "all", location="New York")
    assert json.loads(structured)["temperature"] == 33
    links = await here.call("get-resource-links", "all", count=2)
    assert "[resource demo://resource/dynamic/" in links
    embedded = await here.call("get-resource-reference", "all", resourceType="Text", resourceId=3)
    assert "[resource demo://resource/dynamic/text/3]\nResource 3:" in embedded
    refused = await here.servers.call("all", "get-sum", {"a": "one", "b": 2}, lambda text: None)
    assert refused.is_error

    assert (await here.servers.prompt("all", "args-prompt", {"city": "Delft"})).text == "What's weather in Delft?"
    several = await here.servers.prompt("all", "resource-prompt", {"resourceType": "Text", "resourceId": "1"})
    assert several.text.startswith("[as the user]\nThis prompt includes the Text resource")
    assert "[resource demo://resource/dynamic/text/1]" in several.text
    with pytest.raises(ServerFailed, match="The MCP server all says:"):
        await here.servers.prompt("all", "args-prompt", {})
    document = await here.servers.resource("all", "demo://resource/static/document/architecture.md")
    assert "# Everything Server" in document.text
    blob = await here.servers.resource("all", "demo://resource/dynamic/blob/1")
    assert "it is no text" in blob.text
    with pytest.raises(ServerFailed, match="not found"):
        await here.servers.resource("all", "demo://nowhere")


async def test_everything_as_a_program(tmp_path: Path) -> None:
    async with bench(tmp_path, all=reference.everything()) as here:
        await uses_everything(here)
        roots = await here.call("get-roots-list", "all")
        assert tmp_path.as_uri() in roots


async def test_everything_as_a_service(tmp_path: Path) -> None:
    async with reference.everything_over_http() as address, bench(tmp_path, all={"url": address}) as here:
        assert here.state("all")[0] == "untrusted"
        await here.servers.turn("all", here.servers.standings()[0].server.fingerprint, on=True)
        await here.servers.settled(60)
        await uses_everything(here)


@contextmanager
def site() -> Generator[str]:
    """A few pages on this machine, with rules for robots."""
    pages = {"/pumps": PAGE, "/secret": PAGE, "/robots.txt": "User-agent: *\nDisallow: /secret\n"}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = pages.get(self.path)
            self.send_response(404 if page is None else 200)
            self.send_header("Content-Type", "text/plain" if self.path.endswith(".txt") else "text/html")
            self.end_headers()
            self.wfile.write((page or "").encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
