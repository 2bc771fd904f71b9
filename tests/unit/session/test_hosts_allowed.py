"""Hosts that a command may connect to: asked for as they are, remembered for the workspace like a command, seen and taken back there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fake_api import Call, Say
from tests.unit.session.harness import Stage, calls, stage
from tests.unit.tools.allowed import covers
from ullage.session.session import Session
from ullage.tools.command_lines.judge import Site
from ullage.tools.permission import command_need, extras_of, shown_rule, with_extras
from ullage.tools.rules.covering import PermissionRule
from ullage.tools.tool import PermissionNeed

SITE = Site(Path("/work/a"), "/usr/bin:/bin", (Path("/work/a"),), caged=True)


def need_of(command: str, *hosts: str) -> PermissionNeed:
    return with_extras(command_need(command, SITE), command, extras_of({"network": list(hosts)}, Path("/work/a")))


@pytest.mark.parametrize(
    ("hosts", "asked"),
    [
        (["Example.ORG"], "`example.org` (ports 80 and 443)"),
        (["example.org:8443"], "`example.org:8443`"),
        (["xn--pple-43d.com"], "`xn--pple-43d.com` (ports 80 and 443)"),
        (["[::1]:80", "127.0.0.1:5432"], "`[::1]:80`, `127.0.0.1:5432`"),
    ],
)
def test_the_question_shows_hosts_as_they_are(hosts: list[str], asked: str) -> None:
    assert need_of("npm install", *hosts).description.endswith(f"with access to {asked}")


@pytest.mark.parametrize(
    ("command", "pattern"),
    [
        ("cat a", "exactly `cat a`"),
        ("git log", "exactly `git log`"),
        ("npm test", "`npm test *`"),
    ],
)
def test_a_command_that_only_reads_is_only_itself_once_it_may_connect(command: str, pattern: str) -> None:
    """What git reads of the folder can name programs: allowed by name it would run these with a network."""
    need = need_of(command, "example.org")
    assert not need.harmless
    assert need.pattern.startswith(pattern)


def test_what_may_change_steering_files_is_not_remembered() -> None:
    extras = extras_of({"network": ["example.org"], "steering_files": [".envrc"]}, Path("/work/a"))
    assert with_extras(command_need("npm test", SITE), "npm test", extras).pattern == ""


def install(*hosts: str, command: str = "true x") -> Call:
    return Call("bash", {"command": command, "network": list(hosts)})


async def answer(here: Stage, session: Session, name: str) -> list[str]:
    """Gives the answer whose button begins so; gives the names of all buttons."""
    asked = await here.asked(session)
    options = asked.permission or ()
    chosen = next(option for option in options if option.name.startswith(name))
    session.answer_permission(asked.id, chosen.option_id, permission_id=asked.permission_id)
    return [option.name for option in options]


async def test_a_host_is_allowed_once_and_for_all(tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        session = await here.new()
        here.fake.enqueue(install("a.example", "b.example:8443"), Say("Done."))
        await session.prompt("Go")
        assert await answer(here, session, "Always") == [
            "Allow once",
            "Always allow connections to `a.example`, `b.example:8443`",
            "Refuse",
        ]
        await here.idle(session)
        here.fake.enqueue(install("b.example:8443"), Say("Done."))
        await session.prompt("Again")
        assert await answer(here, session, "Always") == ["Allow once", "Always allow exactly `true x`", "Refuse"]
        await here.idle(session)
        here.fake.enqueue(install("a.example"), Say("Done."))
        await session.prompt("Both are allowed")
        await here.idle(session)
        here.fake.enqueue(install("a.example", "c.example"), Say("Done."))
        await session.prompt("Another host")
        assert (await answer(here, session, "Refuse"))[1] == "Always allow connections to `c.example`"
        await here.idle(session)
        assert [call.status for call in calls(session)] == ["completed", "completed", "completed", "failed"]
        names = [shown_rule(each.action, each.pattern) for each in here.sessions.always_allowed.rules()]
        assert names == ["exactly `true x`", "connections to `a.example`", "connections to `b.example:8443`"]
        here.sessions.always_allowed.forget("workspace", "host", "a.example")
        here.fake.enqueue(install("a.example"), Say("Done."))
        await session.prompt("Taken back")
        await answer(here, session, "Refuse")
        await here.idle(session)


def test_a_host_with_another_port_or_below_is_another_one() -> None:
    rules = [PermissionRule("host", "example.org", "workspace")]
    for other in ("example.org:8443", "a.example.org", "example.or", "localhost"):
        need = need_of("npm install", other)
        assert not covers(rules, PermissionNeed("host", "x", "x", need.hosts)), other
