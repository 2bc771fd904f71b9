"""Random sessions under policies that change all the time: the strict fake must take every request, and nothing that was said is lost."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.deep import many
from tests.fake_api import Call, FakeApi, Reply, Rule, Say, Think
from tests.unit.session.filling import asks_for_summary
from tests.unit.session.harness import MODEL, Stage, compactions, items, stage
from ullage.context.policies.table import BUILT_IN
from ullage.policies_command import prompts_in
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.settings import Settings
from ullage.session.timeline.items import UserItem

WINDOW = 30_000
"""Small, so that every line is near."""

TOLD = "The tank is measured in millimetres, since the dip stick is. Two of the readings are done. " * 2
ASKED = tuple({text[:40] for policy in BUILT_IN.values() for _, text in prompts_in(policy.engine, "engine")})

happenings = st.lists(
    st.tuples(
        st.sampled_from(["policy", "read", "read", "read at once", "long prompt", "compact", "undo", "redo", "auto", "opened again"]),
        st.integers(0, 99),
    ),
    min_size=4,
    max_size=12,
)


def asks_otherwise(body: dict[str, Any]) -> bool:
    """Whether a request asks for a summary in the words of a policy, or by a request of its own."""
    last = body["messages"][-1]["content"][-1]
    return not body.get("tools") or (last["type"] == "text" and any(begin in last["text"] for begin in ASKED))


def just_too_long(error: str | None) -> bool:
    """Whether a request was over the window by no more than what estimates are off: calls are held at 98 % of it by an estimate, and where
    nothing may be compacted nothing keeps the context further away from it."""
    found = re.search(r"prompt is too long: (\d+) tokens", error or "")
    return found is not None and int(found[1]) < WINDOW * 1.02


@given(happenings)
@settings(max_examples=many(9, deep=500))
def test_the_api_takes_every_request_whichever_policy_is_in_force(happenings: list[tuple[str, int]]) -> None:
    asyncio.run(live(happenings))


async def live(happenings: Sequence[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve() / "project"
        folder.mkdir()
        for number in range(4):
            (folder / f"f{number}.py").write_text("".join(f"tank_{number}_{line} = {line * 7919 % 1009}\n" for line in range(250)))
        async with FakeApi(windows={MODEL: WINDOW}) as fake:
            record = f"=== RECORD ===\n{TOLD}\n=== END OF RECORD ==="
            fake.add_rules(Rule(asks_for_summary, Say(record)), Rule(asks_otherwise, Say(TOLD)))
            story = Story()
            while happenings:
                async with stage(folder, settings=Settings(policy_name=story.policy), fake=fake) as here:
                    happenings = await story.go_on(here, happenings)
            assert [record.error for record in fake.requests if record.status == 400 and not just_too_long(record.error)] == []


class Story:
    """What happens to one session, over several lives of the server."""

    def __init__(self) -> None:
        self.policy = "ullage"
        self.said: list[str] = []

    async def go_on(self, here: Stage, happenings: Sequence[tuple[str, int]]) -> Sequence[tuple[str, int]]:
        """Lives until the server ends; gives what has not happened yet."""
        session = await here.sessions.open(None)
        self._check(session)
        for index, (what, number) in enumerate(happenings):
            if what == "opened again":
                return happenings[index + 1 :]
            await self._do(here, session, what, number)
            self._check(session)
        return []

    def _check(self, session: Session) -> None:
        assert [item.text for item in items(session) if isinstance(item, UserItem)] == self.said
        assert all(card.status != "in_progress" for card in compactions(session))
        assert session.snapshot().gauge.policy == self.policy

    async def _do(self, here: Stage, session: Session, what: str, number: int) -> None:
        reads = [Call("read_file", {"path": f"f{(number + more) % 4}.py"}) for more in range(3)]
        match what:
            case "policy":
                self.policy = list(BUILT_IN)[number % len(BUILT_IN)]
                here.use_policy(self.policy)
            case "read":
                await self._say(here, session, f"Read, {number}", [[Think("Hm."), reads[0]], [Think("So."), reads[1]]])
            case "read at once":
                await self._say(here, session, f"Read all, {number}", [[Think("Hm."), *reads]])
            case "long prompt":
                await self._say(here, session, f"Mind this, {number}. " * 300, [])
            case "compact":
                with suppress(SessionError):  # nothing was said yet
                    session.compact()
                await here.idle(session)
            case "auto":
                here.sessions.configure(replace(here.settings, policy_name=self.policy, auto_compact=number % 2 == 0))
            case _:
                with suppress(SessionError):  # there is none, or it would not fit
                    _ = await session.history.undo() if what == "undo" else await session.history.redo()

    async def _say(self, here: Stage, session: Session, text: str, replies: list[Any]) -> None:
        self.said.append(text)
        here.fake.enqueue(*(Reply(tuple(blocks)) for blocks in replies), Say("Done."))
        await here.say(session, text)
        here.fake.state.script.drop_queued()  # a turn that was held used less
