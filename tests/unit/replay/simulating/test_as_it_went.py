"""One heart: a random live session, replayed from its own log, makes the same compactions at the same entries with the same bytes."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.deep import many
from tests.fake_api import Call, Reply, Say, Think
from tests.unit.replay.simulating.exact_api import exact_api
from tests.unit.session.harness import MODEL, Stage, calls, kept_of, stage
from tests.unit.session.test_every_policy import BY_ITSELF, TOLD, summaries
from ullage.context.blocks import Block, Json
from ullage.context.compaction_entries import Compaction, SpentInVain
from ullage.context.engines.engine import wants_files
from ullage.context.entries import AssistantReply, Clipped, Logged, Notice, Prelude, ToolReturned, TurnEnded, UserPrompt
from ullage.context.policies.table import BUILT_IN
from ullage.context.policy import Policy
from ullage.context.view.projection import Projection
from ullage.replay.readers.own_log import read
from ullage.replay.simulating import simulation
from ullage.replay.simulating.outcome import StandIn
from ullage.replay.simulating.prepared import Prepared, Settings
from ullage.session.session import Session
from ullage.session.settings import Settings as LiveSettings
from ullage.session.timeline.items import ToolCallItem

WINDOW = 40_000
FACTS = "\n".join(f"<fact>{line}</fact>" for line in TOLD.splitlines())
RECORDED = (Prelude, UserPrompt, AssistantReply, ToolReturned, Notice, TurnEnded, Clipped)
"""The entries that a replay takes from a log."""

CHANGING = ("edit", "write")
Doing = tuple[str, int]
doings = st.lists(
    st.tuples(st.sampled_from(["read", "read both", "edit", "write", "long prompt"]), st.integers(0, 9)), min_size=8, max_size=20
)


@dataclass(frozen=True)
class Made:
    """A compaction with what it leaves of numbers out that another process may have otherwise (ids, what was paid)."""

    after: int
    """How many entries there were that a replay takes."""
    entry: Compaction


def made_in(entries: Sequence[Logged]) -> list[Made]:
    """The compactions of a log that a reply follows, in order. A call that was held has none, so a replay does not come to it."""
    found: list[Made] = []
    before = replied = 0
    for logged in entries:
        if isinstance(logged.entry, Compaction):
            same = replace(logged.entry, id="", usage=None, cost=None, through=0, counts=None)
            found.append(Made(before, same))
        else:
            before += isinstance(logged.entry, RECORDED)
            replied = before if isinstance(logged.entry, AssistantReply) else replied
    return [made for made in found if made.after < replied]


def shown(view: Projection) -> list[tuple[str, tuple[Block, ...]]]:
    """The messages of the next request."""
    return [(message.role, message.blocks) for message in view.complete_messages]


class Live:
    """A session that was lived, and its workspace."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        self.folder.mkdir()
        for number in range(4):
            lines = (f"tank_{number}_{line} = {line * 7919 % 1009}" for line in range(number * 60 + 180))
            # What is read does not tell whether the last line has an end, so none has one here.
            (self.folder / f"f{number}.py").write_text("\n".join(lines))

    async def live(self, policy: Policy, happenings: Sequence[Doing]) -> Sequence[Logged]:
        """Does all of it, one prompt after the other; gives the log."""
        async with exact_api({MODEL: WINDOW}) as fake:
            fake.add_rules(*summaries())
            async with stage(self.folder, settings=LiveSettings(policy_name=policy.name), fake=fake) as here:
                session = await here.new()
                for turn, (what, number) in enumerate(happenings):
                    await self._turn(here, session, turn, what, number)
                assert here.refused() == []
                return list(session._conversation.entries)  # pyright: ignore[reportPrivateUsage]

    async def _turn(self, here: Stage, session: Session, turn: int, what: str, number: int) -> None:
        path, other = f"f{number % 4}.py", f"f{(number + 1) % 4}.py"
        edit: dict[str, Json] = {
            "path": path,
            "old_text": f"tank_{number % 4}_{turn} = ",
            "new_text": f"tank_{number % 4}_{turn} = {turn} + ",
        }
        called = {
            "read": [Call("read_file", {"path": path})],
            "read both": [Call("read_file", {"path": path}), Call("read_file", {"path": other})],
            "edit": [Call("read_file", {"path": path}), Call("edit_file", edit)],
            "write": [Call("write_file", {"path": f"new{turn}.py", "content": "\n".join([f"# round {turn}"] * (number * 40 + 1))})],
        }.get(what, [])
        for call in called:
            here.fake.enqueue(Reply((Think(f"I look, {turn}."), call)))
        here.fake.enqueue(Reply((Think("So."), Say(f"Seen in round {turn}."))))
        await session.prompt(
            f"Go on, round {turn}. Never change the files. " + "It matters to me. " * (number * 100 if what == "long prompt" else 10)
        )
        await here.watcher.until(lambda: bool(_asked(session)) or (session.state == "idle" and not session.busy))
        for asked in _asked(session):
            session.answer_permission(asked.id, "allow_once", permission_id=asked.permission_id)
        await here.idle(session)
        here.fake.state.script.drop_queued()  # a turn that was held used less


def _asked(session: Session) -> list[ToolCallItem]:
    return [call for call in calls(session) if call.status == "awaiting_permission"]


def as_asked(summaries: object, told: object, asked: object) -> StandIn:
    """The words of the fake's model."""
    prompt = getattr(asked, "prompt", "")
    return StandIn(FACTS if "<fact>" in prompt else TOLD, "told", 100)


def check(policy: Policy, happenings: Sequence[Doing]) -> int:
    """The same live and in replay; gives how many compactions there were.

    An engine that reads the repository would find later files in replay, so for it nothing is changed.
    """
    if wants_files(policy.engine):
        happenings = [("read" if what in CHANGING else what, number) for what, number in happenings]
    with tempfile.TemporaryDirectory() as temporary, pytest.MonkeyPatch.context() as patch:
        lived = Live(Path(temporary).resolve())
        entries = asyncio.run(lived.live(policy, happenings))
        assert not [logged for logged in entries if isinstance(logged.entry, SpentInVain)]
        patch.setattr(simulation, "stand_in", as_asked)
        (transcript,) = read(kept_of(lived.folder) / "ullage.db")
        sources = {path.name: path.read_text() for path in lived.folder.iterdir()}
        again = simulation.carry(Prepared(transcript, sources=sources), policy, Settings(window=WINDOW))
        live = made_in(entries)
        assert made_in(again.entries) == live
        if not any(isinstance(logged.entry, TurnEnded) and logged.entry.outcome == "error" for logged in entries):
            assert shown(again) == shown(Projection(entries))
        return len(live)


@pytest.mark.parametrize("policy", BY_ITSELF, ids=lambda policy: policy.name)
def test_a_long_session_is_compacted_the_same_live_and_in_replay(policy: Policy) -> None:
    work = ("read", "edit", "read both", "write")
    happenings = [(work[turn // 2 % 4], turn) if turn % 2 else ("long prompt", 9) for turn in range(18)]
    assert check(policy, happenings) > 0


@given(st.sampled_from(list(BUILT_IN)), doings)
@settings(max_examples=many(4, deep=300))
def test_any_session_is_compacted_the_same_live_and_in_replay(policy: str, happenings: list[Doing]) -> None:
    check(BUILT_IN[policy], happenings)
