"""What engines ask for beside the log: tools of their own, the workspace's source texts, several compactions at one boundary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.fake_api import Call, Hang, Reply, Rule, Say, Think
from tests.unit.session.engines import PROMPT, AsksModel, policy
from tests.unit.session.filling import WINDOW, fill, make_project
from tests.unit.session.harness import calls, compactions, stage
from ullage.context.engines.engine import Covered, Occasion, SummaryText
from ullage.context.entries import Prelude
from ullage.context.moves.cheap import clear
from ullage.context.moves.plan import Plan
from ullage.context.policy import ClearOptions, FixedTokens
from ullage.session.settings import Settings
from ullage.tools import registry
from ullage.tools.registry import ToolDependencies
from ullage.tools.todo import Todo
from ullage.tools.tool import ToolCall, ToolOutcome


class Tally(Todo):
    """Says how long the session's log is."""

    def __init__(self, needed: ToolDependencies) -> None:
        super().__init__()
        self.spec = replace(self.spec, name="tally", input_schema={"type": "object", "properties": {}})
        self._entries = needed.entries

    def permission(self, input: Any) -> None:
        return None

    def title(self, input: Any) -> str:
        return "Tally"

    async def run(self, call: ToolCall) -> ToolOutcome:
        return ToolOutcome(f"{len(self._entries())} entries")


@dataclass(frozen=True)
class WithTally(AsksModel):
    """Comes with a tool, and with one that nobody knows."""

    tools: frozenset[str] = frozenset({"tally", "unheard_of"})  # pyrefly: ignore[bad-override]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


@pytest.fixture(autouse=True)
def tally(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "OF_POLICIES", {"tally": Tally})


def tools_of(body: dict[str, Any]) -> Sequence[str]:
    return [tool["name"] for tool in body["tools"]]


async def test_a_tool_comes_and_goes_with_its_policy_while_a_turn_runs(folder: Path) -> None:
    async with stage(folder, window=WINDOW, extra=[policy(WithTally())]) as here:
        session = await here.new()
        read = Call("read_file", {"path": "tank.py"})
        here.fake.enqueue(
            Hang(Reply((Think("Hm."), read))), [Think("Now."), Call("tally")], Hang(Reply((Think("Hm."), read))), Say("Done.")
        )
        await session.prompt("Go")
        await here.fake.until_held()
        here.use_policy("tried")
        here.fake.release()
        await here.fake.until_held()
        here.use_policy("ullage")
        here.fake.release()
        await here.idle(session)
        assert ["tally" in tools_of(record.body) for record in here.fake.requests] == [False, True, True, False]
        assert [call.status for call in calls(session)] == ["completed"] * 3
        assert calls(session)[1].output.endswith(" entries")
        assert here.refused() == []
        preludes = [logged.entry for logged in session._conversation.entries if isinstance(logged.entry, Prelude)]  # noqa: SLF001
        assert len(preludes) == 3


async def test_a_session_that_is_opened_under_such_a_policy_has_its_tools_at_once(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=Settings(policy_name="tried"), extra=[policy(WithTally())]) as here:
        session = await here.new()
        here.fake.enqueue(Call("tally"), Say("Done."))
        await here.say(session, "Go")
        assert calls(session)[0].output == "3 entries"
        assert "unheard_of" not in tools_of(here.fake.requests[0].body)


@dataclass(frozen=True)
class WithFiles(AsksModel):
    """Names the workspace's files in its summary."""

    wants_files: bool = True  # pyrefly: ignore[bad-override]

    def summarise(self, covered: Covered) -> SummaryText:
        return SummaryText("Files: " + ", ".join(f"{path} ({len(text)})" for path, text in sorted(covered.files.items())))


async def test_a_handoff_gets_the_source_texts_that_are_not_ignored(folder: Path) -> None:
    (folder / ".gitignore").write_text("built/\n")
    (folder / "built").mkdir()
    (folder / "built" / "made.py").write_text("MADE = 1\n")
    (folder / "inner").mkdir()
    (folder / "inner" / "pump.py").write_bytes(b"P = 1\r\n")
    (folder / "inner" / "binary.py").write_bytes(b"\x00\x01\x02")
    async with stage(folder, window=WINDOW, settings=Settings(policy_name="tried"), extra=[policy(WithFiles())]) as here:
        here.fake.add_rules(Rule(lambda body: PROMPT in str(body["messages"][-1]), Say("Told.")))
        session = await here.new()
        await fill(here, session, 1)
        session.compact()
        await here.idle(session)
        assert compactions(session)[0].summary == "Files: inner/pump.py (6), tank.py (15)"


@dataclass(frozen=True)
class InSweeps(AsksModel):
    """Takes one result after the other away at one boundary."""

    sweeps: int = 2  # pyrefly: ignore[bad-override]

    def plan(self, at: Occasion) -> Plan | None:
        cleared = clear(at.projection, ClearOptions(keep_results=1, spares_newest_reads=False))[:1]
        return Plan(at.projection.entries[-1].seq, cleared, None, None, 0, 0) if cleared else None


async def test_some_policies_compact_several_times_at_one_boundary(folder: Path) -> None:
    extra = [policy(InSweeps(), full_at=FixedTokens(20_000))]
    async with stage(folder, window=WINDOW, settings=Settings(policy_name="tried"), extra=extra) as here:
        session = await here.new()
        here.fake.enqueue(*[[Think("On."), Call("read_file", {"path": "readings.csv"})] for _ in range(4)], Say("Done."))
        await here.say(session, "Read it")
        assert [card.trigger for card in compactions(session)] == ["threshold"] * 2
        assert [len(made.cleared) for made in here.made(session)] == [1, 1]
        assert here.refused() == []
