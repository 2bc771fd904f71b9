"""Servers over HTTP, and signing in to them with a browser."""

# ruff: noqa: SLF001

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx2
import pytest

from tests.fake_mcp.service import Service, running
from tests.unit.mcp_servers.workbench import Bench, bench
from ullage.mcp_servers.connection import ServerFailed
from ullage.mcp_servers.servers import NoSuchServer
from ullage.mcp_servers.services import check_request


async def turn_on(here: Bench, name: str = "tickets") -> None:
    await here.servers.turn(name, here.servers.standings()[0].server.fingerprint, on=True)
    await here.servers.settled(60)


async def browse(address: str) -> bool:
    """A browser of a user who agrees to everything."""
    async with httpx2.AsyncClient(follow_redirects=True) as client:
        await client.get(address)
    return True


async def test_nothing_is_asked_of_it_before_it_is_turned_on(tmp_path: Path) -> None:
    with running(Service(open_to_all=True)) as service:
        async with bench(tmp_path, tickets={"url": service.url}) as here:
            assert here.state("tickets")[0] == "untrusted"
            assert service.asked == []
            await turn_on(here)
            assert await here.call("find", "tickets") == "found"


async def test_the_user_signs_in_once_and_the_token_is_renewed(tmp_path: Path) -> None:
    with running(Service()) as service:
        async with bench(tmp_path, tickets={"url": service.url}) as here:
            await turn_on(here)
            assert here.state("tickets") == ("sign_in", "it wants you to sign in")
            assert here.opened == []  # a browser opens where the user asks for it alone
            here.browse = browse
            service.expires_in = 1
            await here.servers.sign_in("tickets")
            assert here.state("tickets")[0] == "running"
            assert here.servers.standings()[0].signed_in
            assert len(here.opened) == 1
            kept = json.loads(next(iter(here.secrets._kept.values())))
            service.tokens.clear()  # the first one is over: at the next start it is renewed
            await here.servers.restart("tickets")
            await here.servers.settled(60)
            assert await here.call("find", "tickets") == "found"
            assert len(here.opened) == 1
            assert json.loads(next(iter(here.secrets._kept.values())))["tokens"] != kept["tokens"]
            log = here.servers.log_of("tickets")
            assert kept["tokens"]["access_token"] not in log
            await here.servers.sign_out("tickets")
            await here.servers.settled(60)
            assert here.secrets._kept == {}
            assert here.state("tickets")[0] == "sign_in"


async def test_a_sign_in_that_is_cancelled_changes_nothing(tmp_path: Path) -> None:
    with running(Service()) as service:
        service.denies = True
        async with bench(tmp_path, tickets={"url": service.url}) as here:
            await turn_on(here)
            here.browse = browse
            with pytest.raises(ServerFailed, match="the sign-in was cancelled"):
                await here.servers.sign_in("tickets")
            await here.servers.settled(60)
            assert here.state("tickets")[0] == "sign_in"
            here.browse = None  # no browser can be opened
            with pytest.raises(ServerFailed, match="no browser could be opened"):
                await here.servers.sign_in("tickets")
            opened = asyncio.Event()

            async def look_and_leave(address: str) -> bool:
                opened.set()
                return True

            here.browse = look_and_leave
            signing_in = asyncio.ensure_future(here.servers.sign_in("tickets"))
            await opened.wait()
            signing_in.cancel()  # the user gave it up in the editor
            with pytest.raises(asyncio.CancelledError):
                await signing_in
            assert here.secrets._kept == {}
            assert len(here.opened) == 3


async def test_the_page_takes_nothing_but_an_answer(tmp_path: Path) -> None:
    with running(Service()) as service:
        async with bench(tmp_path, tickets={"url": service.url}) as here:
            await turn_on(here)

            async def meddle(address: str) -> bool:
                back = httpx2.URL(address).params["redirect_uri"]
                async with httpx2.AsyncClient() as client:
                    assert (await client.get(back)).status_code == 404
                    assert (await client.post(back, content="x")).status_code == 404
                    await client.get(back, params={"code": "made-up", "state": "wrong"})
                return True

            here.browse = meddle
            with pytest.raises(ServerFailed, match=r"[Ss]tate"):
                await here.servers.sign_in("tickets")
            assert here.secrets._kept == {}


async def test_a_service_that_sends_too_much_or_is_gone_is_told(tmp_path: Path) -> None:
    with running(Service(open_to_all=True)) as service:
        async with bench(tmp_path, tickets={"url": service.url}) as here:
            await turn_on(here)
            service.megabytes = 20
            with pytest.raises(ServerFailed):
                await here.call("find", "tickets")
    async with bench(tmp_path, tickets={"url": service.url}) as here:
        await turn_on(here)
        assert here.state("tickets")[0] == "failed"


async def test_what_comes_packed_is_not_unpacked(tmp_path: Path) -> None:
    """A gigabyte of nothing is a megabyte when it is packed."""
    with running(Service(open_to_all=True)) as service:
        async with bench(tmp_path, tickets={"url": service.url}) as here:
            await turn_on(here)
            service.packed, service.megabytes = True, 20
            with pytest.raises(ServerFailed):
                await here.call("find", "tickets")


@pytest.mark.parametrize(
    ("url", "refused"),
    [
        ("http://127.0.0.1:2375/x", "to this machine"),
        ("https://localhost/x", "to this machine"),
        ("http://example.org/x", "without encryption"),
        ("https://169.254.169.254/x", "no service has"),
        ("https://[fe80::1]/x", "no service has"),
    ],
)
async def test_a_service_of_the_web_leads_to_no_other_place(url: str, refused: str) -> None:
    """Not to this machine, either, where others listen that trust whoever asks."""
    with pytest.raises(ServerFailed, match=refused):
        await check_request(httpx2.Request("POST", url), is_of_here=False)
    await check_request(httpx2.Request("POST", "https://login.example.org/token"), is_of_here=False)
    await check_request(httpx2.Request("POST", "http://127.0.0.1:8080/token"), is_of_here=True)


async def test_a_token_that_cannot_be_used_is_in_no_log(tmp_path: Path) -> None:
    with running(Service()) as service:
        service.bad_grant = {"refresh_token": "hunter2", "expires_in": "hunter3"}
        async with bench(tmp_path, tickets={"url": service.url}) as here:
            await turn_on(here)
            here.browse = browse
            with pytest.raises(ServerFailed) as failed:
                await here.servers.sign_in("tickets")
            assert "hunter" not in f"{failed.value}{here.servers.log_of('tickets')}"


async def test_where_there_is_nothing_to_sign_in_to(tmp_path: Path) -> None:
    async with bench(tmp_path, tickets={"url": "https://example.org/mcp"}) as here:
        with pytest.raises(NoSuchServer):
            await here.servers.sign_in("tickets")
