"""Random sessions with everything that happens to them, over a real socket: the strict fake must take every request.

It signs thinking over all that stands before it, so it also judges that nothing replayed has lost its prefix.
"""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fake_api import Call, ErrorAfter, Fail, FakeApi, HoldsAfter, RedactedThink, Reply, Rule, Say, Think
from tests.unit.session.harness import MODEL, Stage, compactions, items, stage
from ullage.session.errors import SessionError
from ullage.session.items import AssistantItem, UserItem
from ullage.session.session import Session

WINDOW = 40_000
"""Small, so that compactions come by themselves too."""


@dataclass(frozen=True)
class Step:
    """One thing that happens."""

    what: str
    number: int = 0


steps = st.lists(
    st.builds(
        Step,
        st.sampled_from(
            [
                "answer",
                "answer",
                "think and read",
                "think and read",
                "read in parallel",
                "unknown tool",
                "cancelled",
                "broken stream",
                "refused by the API",
                "too long",
                "window full",
                "compact",
                "compact by digest",
                "compact without the API",
                "compact in vain",
                "undo",
                "redo",
                "edit",
                "opened again",
                "closed while it asks",
                "continue",
                "steered",
            ]
        ),
        st.integers(0, 5),
    ),
    min_size=3,
    max_size=14,
)


@pytest.mark.parametrize("compaction", [False, True])
@given(happenings=steps)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_api_takes_every_request_and_no_prompt_is_lost(happenings: list[Step], compaction: bool) -> None:
    asyncio.run(live(happenings, compaction))


async def live(happenings: list[Step], compaction: bool) -> None:
    """With `compaction` the API writes summaries of its own, and refuses thinking that does not fit its blocks."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve() / "project"
        folder.mkdir()
        for number in range(6):
            (folder / f"f{number}.txt").write_text("".join(f"{number} {line} tank {line * 7919 % 1009}\n" for line in range(150)))
        async with FakeApi(windows={MODEL: WINDOW}, compaction=compaction) as fake:
            story = Story(fake, folder)
            while happenings:
                async with stage(folder, fake=fake) as here:
                    happenings = await story.go_on(here, happenings)
                story.between_lives()
            refused = [record.error for record in fake.requests if record.status == 400 and record.error not in story.expected]
            assert refused == []


class Story:
    """What happens to one session, over several lives of the server."""

    def __init__(self, fake: FakeApi, folder: Path) -> None:
        self.fake = fake
        self.folder = folder
        self.said: list[str] = []
        self.expected = {"not now", "prompt is too long: 50000 tokens > 40000 maximum"}
        record = "=== RECORD ===\n## Decisions and why\nThe tank is measured in millimetres.\n=== END OF RECORD ==="
        fake.add_rules(Rule(_asks_for_record, [Think("Let me see."), Say(record)]))

    async def go_on(self, here: Stage, happenings: list[Step]) -> list[Step]:
        """Lives until the server ends; gives what has not happened yet."""
        session = await here.sessions.open(None)
        self._check(session)
        for index, step in enumerate(happenings):
            if step.what in ("opened again", "closed while it asks"):
                if step.what == "closed while it asks":
                    await self._begin(
                        here, session, Reply((Think("Hm."), Call("read_file", {"path": "f0.txt"})), interruption=HoldsAfter(1))
                    )
                    await self.fake.until_held()
                return happenings[index + 1 :]
            await self._do(here, session, step)
            self._check(session)
        return []

    def between_lives(self) -> None:
        """What the API was asked by a server that is gone."""
        self.fake.release()
        self._forget_unused()

    def _check(self, session: Session) -> None:
        prompts = [item for item in items(session) if isinstance(item, UserItem)]
        assert sorted(prompt.text for prompt in prompts) == sorted(self.said)
        gauge = session.snapshot().gauge
        assert sum(category.tokens for category in gauge.categories) == gauge.used

    async def _do(self, here: Stage, session: Session, step: Step) -> None:
        path = f"f{step.number}.txt"
        match step.what:
            case "answer":
                await self._say(here, session, [Think("Well."), Say(f"Answer {step.number}.")])
            case "think and read":
                await self._say(here, session, [Think("Look."), RedactedThink(), Call("read_file", {"path": path})], Say("Seen."))
            case "read in parallel":
                both = [Think("Both."), Say("I look."), Call("read_file", {"path": path}), Call("list_files", {})]
                await self._say(here, session, both, [Think("So."), Say("Seen both.")])
            case "unknown tool":
                await self._say(here, session, Call("fly", {"to": "moon"}), Say("I cannot."))
            case "cancelled":
                before = len(answers(session))
                await self._begin(
                    here, session, Reply((Think("Hm."), Say("One two three four five six")), chunk_size=4, interruption=HoldsAfter(3))
                )
                await here.watcher.until(lambda: len(answers(session)) > before)
                session.cancel()
                await here.idle(session)
                self.fake.release()
            case "broken stream":
                await self._say(here, session, Reply((Say("One two three four"),), chunk_size=4, interruption=ErrorAfter(2)))
            case "refused by the API":
                await self._say(here, session, Fail(400, "invalid_request_error", "not now"))
            case "too long":
                too_long = Fail(400, "invalid_request_error", "prompt is too long: 50000 tokens > 40000 maximum")
                await self._say(here, session, too_long, Say("Now it fits."))
            case "window full":
                await self._say(here, session, Reply((Say("Half a"),), stop_reason="model_context_window_exceeded"), Say("sentence."))
            case "steered":
                held = Reply((Call("read_file", {"path": path}),), interruption=HoldsAfter(1))
                await self._begin(here, session, held, Say("Both."))
                await self.fake.until_held()
                self.said.append("By the way")
                await session.prompt("By the way", steer=True)
                self.fake.release()
                await here.idle(session)
            case "edit":
                path_ = self.folder / path
                here.editor.texts[path_] = f"edited {step.number}\n"
                here.sessions.document_changed(path_, "changed", 1)
                await here.idle(session)
            case "compact":
                session.compact("the units")
                await here.idle(session)
            case "compact without the API":
                self.fake.enqueue_summaries(Reply((), stop_reason="refusal"))
                session.compact()
                await here.idle(session)
            case "compact in vain":
                await self._compact_in_vain(here, session)
            case "compact by digest":
                self.fake.add_rules(Rule(_asks_for_record, Fail(400, "invalid_request_error", "not now"), times=1))
                session.compact()
                await here.idle(session)
            case _:
                await self._try(here, session, step.what)
        self._forget_unused()

    async def _compact_in_vain(self, here: Stage, session: Session) -> None:
        """Where no transcript can be written no compaction is made, and the context is what it was."""
        transcripts = self.folder / ".ullage" / "transcripts"
        aside = transcripts.with_name("transcripts-aside")
        if transcripts.exists():
            transcripts.rename(aside)
        transcripts.write_text("in the way")
        await session.learn_model()  # else the gauge may learn the window in between
        before = session.snapshot().gauge
        made = len([card for card in compactions(session) if card.status == "completed"])
        session.compact()
        await here.idle(session)
        after = [card for card in compactions(session) if card.status == "completed"]
        if len(after) == made:  # where clearing old results is enough, there is no summary and no transcript
            assert replace(session.snapshot().gauge, cost=before.cost, cache_hit_rate=before.cache_hit_rate) == before
        transcripts.unlink()
        if aside.exists():
            aside.rename(transcripts)

    async def _try(self, here: Stage, session: Session, what: str) -> None:
        """What may not be possible at the moment."""
        try:
            if what == "undo":
                session.history.undo()
            elif what == "redo":
                session.history.redo()
            elif what == "continue":
                self.fake.enqueue(Say("On it goes."))
                session.resume()
        except SessionError:
            return
        await here.idle(session)

    async def _begin(self, here: Stage, session: Session, *replies: Any) -> None:
        self.fake.enqueue(*replies)
        text = f"Prompt {len(self.said)}"
        self.said.append(text)
        await session.prompt(text)

    async def _say(self, here: Stage, session: Session, *replies: Any) -> None:
        await self._begin(here, session, *replies)
        await here.idle(session)

    def _forget_unused(self) -> None:
        """Replies that no call came for (a turn that ended early) must not answer the next prompt."""
        self.fake.state.script.drop_queued()


def answers(session: Session) -> list[AssistantItem]:
    return [item for item in items(session) if isinstance(item, AssistantItem)]


def _asks_for_record(body: dict[str, Any]) -> bool:
    last = body["messages"][-1]["content"][-1]
    return last["type"] == "text" and "=== RECORD ===" in last["text"]


def test_compactions_do_come_by_themselves_in_such_sessions() -> None:
    async def enough() -> int:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary).resolve() / "project"
            folder.mkdir()
            for number in range(6):
                (folder / f"f{number}.txt").write_text("".join(f"{number} {line} tank {line * 7919 % 1009}\n" for line in range(150)))
            async with FakeApi(windows={MODEL: WINDOW}) as fake, stage(folder, fake=fake) as here:
                await Story(fake, folder).go_on(here, [Step("think and read", n % 6) for n in range(12)])
                return len(compactions(await here.sessions.open(None)))

    assert asyncio.run(enough()) >= 1
