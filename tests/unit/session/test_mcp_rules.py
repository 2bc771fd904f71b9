"""Rules about tools of MCP servers: each holds for the tool as it was when the rule was made, and lapses once it is another."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fake_api import Say
from tests.unit.mcp_servers.workbench import fake
from tests.unit.session.harness import Stage, calls, stage
from tests.unit.session.mcp_turns import all_started, call, result, text_of
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.settings import Settings
from ullage.session.turns.approvals import CHANGED, OTHER_TOOL
from ullage.tools.rules.covering import PermissionRule

LOUDER = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "loud": {"type": "boolean"}},
    "required": ["text"],
}
REORDERED = {"required": ["text"], "properties": {"text": {"type": "string"}}, "type": "object"}
ASKED = "Call the tool `echo` of the MCP server `pumps`"


class Pumps:
    """A session with a server whose description of `echo` can be changed."""

    def __init__(self, here: Stage, session: Session, said: Path) -> None:
        self.here = here
        self.session = session
        self._said = said

    async def retell(self, **said: Any) -> None:
        """The server is another version from now on, which describes `echo` like that."""
        self._said.write_text(json.dumps(said))
        await self.here.sessions.servers.restart("pumps")
        await all_started(self.here)

    async def configure(self, *options: str, **more: object) -> None:
        """The server as the user configures it from now on."""
        given = fake(f"retold={self._said}", *options, **more)
        self.here.sessions.configure(replace(self.here.settings, mcp_servers={"pumps": given}))
        await all_started(self.here)

    async def ask(self, answer: str = "reject_once", rules: tuple[PermissionRule, ...] = ()) -> str:
        """Has `echo` called; what the user is asked, and answers. Empty where the call is free."""
        self.here.fake.enqueue(call("echo", text="x"), Say("Done."))
        done = len(calls(self.session))
        await self.session.prompt("Pump")
        await self.here.watcher.until(
            lambda: len(calls(self.session)) > done and calls(self.session)[-1].status in ("awaiting_permission", "completed")
        )
        last = calls(self.session)[-1]
        asked = last.permission_reason if last.status == "awaiting_permission" else ""
        if asked:
            self.session.answer_permission(last.id, answer, rules=rules)
        await self.here.idle(self.session)
        return asked


@asynccontextmanager
async def pumping(tmp_path: Path) -> AsyncGenerator[Pumps]:
    folder, said = tmp_path.resolve() / "project", tmp_path / "said.json"
    folder.mkdir()
    said.write_text("{}")
    async with stage(folder, settings=Settings(mcp_servers={"pumps": fake(f"retold={said}")})) as here:
        await all_started(here)
        yield Pumps(here, await here.new(), said)


@pytest.mark.parametrize(
    "said", [{"description": "Says what it is told, and tells others."}, {"inputSchema": LOUDER}], ids=["description", "schema"]
)
async def test_always_allow_lapses_with_what_the_server_says_of_the_tool(tmp_path: Path, said: dict[str, Any]) -> None:
    async with pumping(tmp_path) as pumps:
        assert (await pumps.ask("allow_always")).startswith(ASKED)
        assert await pumps.ask() == ""
        await pumps.retell(**said)
        assert (await pumps.ask("allow_always")).startswith(f"{OTHER_TOOL}{ASKED}")
        assert await pumps.ask() == ""  # as it is now
        assert [rule.pattern for rule in pumps.session.permits.rules()] == ["pumps/echo"]


async def test_a_question_has_what_the_server_says_of_the_tool_now(tmp_path: Path) -> None:
    async with pumping(tmp_path) as pumps:
        await pumps.retell(description=f"Opens `all`\nvalves. {'And more. ' * 100}")
        pumps.here.fake.enqueue(call("echo", text="x"), Say("Done."))
        await pumps.session.prompt("Pump")
        asked = await pumps.here.asked(pumps.session)
        assert asked.asked is not None
        (part,) = asked.asked.parts
        pumps.session.answer_permission(asked.id, "reject_once")
        assert "the server says of this tool: Opens 'all'" in part.why
        assert part.why.endswith("…")
        assert "\n" not in part.why


async def test_a_rule_says_that_it_does_not_count_now(tmp_path: Path) -> None:
    async with pumping(tmp_path) as pumps:
        await pumps.ask("allow_always")
        permits = pumps.session.permits
        permits.add(PermissionRule("mcp", "pumps/echo", "session", refuses=True))
        assert [permits.why_lapsed(rule) for rule in permits.rules()] == ["", ""]
        await pumps.retell(description="Another one.")
        assert [bool(permits.why_lapsed(rule)) for rule in permits.rules()] == [False, True]  # a rule that refuses always counts
        servers = pumps.here.sessions.servers
        await servers.turn("pumps", servers.standings()[0].server.fingerprint, on=False)
        assert not any(permits.why_lapsed(rule) for rule in permits.rules())  # what it would say now is not known


async def test_it_holds_over_a_restart_and_another_order_in_the_schema(tmp_path: Path) -> None:
    async with pumping(tmp_path) as pumps:
        await pumps.ask("allow_always")
        await pumps.retell(inputSchema=REORDERED)
        assert await pumps.ask() == ""


@pytest.mark.parametrize("pattern", ["pumps/echo", "pumps/*"])
async def test_a_server_that_is_configured_in_another_way_keeps_no_rule(tmp_path: Path, pattern: str) -> None:
    async with pumping(tmp_path) as pumps:
        pumps.session.permits.add(PermissionRule("mcp", pattern, "everywhere"))
        assert await pumps.ask() == ""
        await pumps.configure("image=broken")
        assert (await pumps.ask()).startswith(f"{OTHER_TOOL}{ASKED}")
        await pumps.configure()
        assert await pumps.ask() == ""  # as it was


async def test_a_rule_holds_whatever_its_calls_may_take_and_however_long(tmp_path: Path) -> None:
    async with pumping(tmp_path) as pumps:
        await pumps.ask("allow_always")
        await pumps.configure(timeout=7)
        assert await pumps.ask() == ""


async def test_a_rule_for_all_tools_of_a_server_holds_whatever_they_are(tmp_path: Path) -> None:
    async with pumping(tmp_path) as pumps:
        pumps.session.permits.add(PermissionRule("mcp", "pumps/*", "workspace"))
        await pumps.retell(description="Another one.")
        assert await pumps.ask() == ""


async def test_a_rule_that_refuses_never_lapses(tmp_path: Path) -> None:
    async with pumping(tmp_path) as pumps:
        pumps.session.permits.add(PermissionRule("mcp", "pumps/echo", "workspace", refuses=True))
        await pumps.retell(description="Another one.")
        pumps.here.fake.enqueue(call("echo", text="x"), Say("Done."))
        await pumps.here.say(pumps.session, "Pump")
        assert "never `pumps/echo`" in text_of(result(pumps.here))


@pytest.mark.parametrize("pattern", ["pumps/nothing", "valves/*", "valves/open"])
async def test_what_a_rule_would_allow_has_to_be_known(tmp_path: Path, pattern: str) -> None:
    async with pumping(tmp_path) as pumps:
        with pytest.raises(SessionError, match="not known"):
            pumps.session.permits.add(PermissionRule("mcp", pattern, "workspace"))
        assert "not known" in pumps.session.past_calls.check(PermissionRule("mcp", pattern, "workspace")).problem
        assert not pumps.session.permits.rules()
        pumps.session.permits.add(PermissionRule("mcp", pattern, "workspace", refuses=True))


@pytest.mark.parametrize("rules", [(), (PermissionRule("mcp", "pumps/echo", "session"),)], ids=["as offered", "as written"])
async def test_a_tool_that_changes_while_the_user_is_asked_is_asked_about_again(tmp_path: Path, rules: tuple[PermissionRule, ...]) -> None:
    async with pumping(tmp_path) as pumps:
        here, session = pumps.here, pumps.session
        here.fake.enqueue(call("echo", text="x"), Say("Done."))
        await session.prompt("Pump")
        asked = await here.asked(session)
        await pumps.retell(description="Another one.")
        session.answer_permission(asked.id, "allow_always", rules=rules)
        again = await here.asked_anew(session, asked)
        assert again.permission_reason.startswith(f"{CHANGED}{ASKED}")
        session.answer_permission(again.id, "reject_once")
        await here.idle(session)


async def test_past_calls_show_that_a_rule_would_allow_them(tmp_path: Path) -> None:
    async with pumping(tmp_path) as pumps:
        await pumps.ask("allow_once")
        checked = pumps.session.past_calls.check(PermissionRule("mcp", "pumps/echo", "workspace"))
        assert [match.allowed for match in checked.matches] == [True]
