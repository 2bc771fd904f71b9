"""Random sessions with everything that happens to them, over a real socket: the strict fake must take every request.

It signs thinking over all that stands before it, so it also judges that nothing replayed has lost its prefix.
"""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.deep import many
from tests.fake_api import Call, ErrorAfter, Fail, FakeApi, HoldsAfter, RedactedThink, Reply, Rule, Say, Think
from tests.fake_api.chat import FakeChat
from tests.fake_api.json_values import blocks_of
from tests.unit.session.harness import MODEL, Stage, all_is_counted, but_for_the_guess, compactions, items, kept_of, stage
from ullage.context.blocks import Text
from ullage.context.compaction import economy
from ullage.context.compaction.economy import Economy
from ullage.context.entries import Forked
from ullage.context.view.projection import Projection
from ullage.session.errors import SessionError
from ullage.session.history.history import EXCLUDED_BEFORE
from ullage.session.session import Session
from ullage.session.settings import Settings
from ullage.session.timeline.items import AssistantItem, ToolCallItem, UserItem

WINDOW = 40_000
"""Small, so that compactions come by themselves too."""
OTHER_MODEL, SMALLER_WINDOW = "claude-sonnet-5", 34_000
POLICIES = ("ullage", "claude-code", "three-layer", "opencode", "sink-window", "none")
ECONOMIES: tuple[Economy, ...] = ("cheapest", "balanced", "fullest")


@dataclass(frozen=True)
class Step:
    """One thing that happens."""

    what: str
    number: int = 0


step = st.builds(
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
            "there and back",
            "undo an earlier one",
            "undo to fit",
            "redo an earlier one",
            "pin",
            "unpin",
            "pin a file",
            "exclude",
            "exclude what was done",
            "exclude a file",
            "preview",
            "preview while it answers",
            "cold cache",
            "economy",
            "policy",
            "model",
            "forked",
            "forked at work",
        ]
    ),
    st.integers(0, 5),
)
steps = st.lists(step, min_size=3, max_size=14)


Wire = Literal["messages", "messages with compaction", "chat"]


@pytest.mark.deep
@pytest.mark.parametrize("wire", get_args(Wire))
@given(happenings=steps)
@settings(max_examples=many(9, deep=2_000), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_api_takes_every_request_and_no_prompt_is_lost(happenings: list[Step], wire: Wire) -> None:
    asyncio.run(live(happenings, wire))


def fake_of(wire: Wire) -> FakeApi:
    """The fake of that wire, with small windows."""
    windows = {MODEL: WINDOW, OTHER_MODEL: SMALLER_WINDOW}
    return FakeChat(windows=windows) if wire == "chat" else FakeApi(windows=windows, compaction=wire == "messages with compaction")


async def live(happenings: list[Step], wire: Wire) -> None:
    """With compaction the API writes summaries of its own, and refuses thinking that does not fit its blocks."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve() / "project"
        folder.mkdir()
        for number in range(6):
            (folder / f"f{number}.txt").write_text("".join(f"{number} {line} tank {line * 7919 % 1009}\n" for line in range(150)))
        async with fake_of(wire) as fake:
            story = Story(fake, folder, Settings(economy="fullest", provider="openai" if wire == "chat" else "auto"))
            with patch.multiple(economy, SMALLEST_GAIN=2_000, USUAL_LEFT=4_000, SUMMARY_OUTPUT_TOKENS=100):
                while happenings:
                    async with stage(folder, fake=fake, settings=story.settings) as here:
                        happenings = await story.go_on(here, happenings)
                    story.between_lives()
            refused = [record.error for record in fake.requests if record.status == 400 and record.error not in story.expected]
            assert refused == []


class Story:
    """What happens to one session, over several lives of the server."""

    def __init__(self, fake: FakeApi, folder: Path, settings: Settings) -> None:
        self.fake = fake
        self.folder = folder
        self.said: list[str] = []
        self.settings = settings
        self.pinned: dict[str, str] = {}
        self.excluded: dict[str, str] = {}
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
        if gauge.measure == "usage":
            assert sum(category.tokens for category in gauge.categories) == gauge.used
        assert all(text in texts_in_view(session) for text in self.pinned.values())
        projection = session._conversation.projection  # noqa: SLF001
        assert [*projection.complete_messages] == [*Projection(projection.entries).complete_messages]
        in_force = {each.id for each in projection.active}
        for exclusion, text in self.excluded.items():
            if exclusion in in_force:
                assert not any(text in shown for shown in texts_in_view(session))

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
                self.said.append(f"By the way, {len(self.said)}.")
                await session.prompt(self.said[-1], steer=True)
                self.fake.release()
                await here.idle(session)
            case "edit":
                path_ = self.folder / path
                here.editor.texts[path_] = f"edited {step.number}\n"
                here.sessions.document_changed(path_, "changed", 1)
                await here.idle(session)
            case "compact":
                with suppress(SessionError):  # nothing was said yet
                    session.compact("the units")
                await here.idle(session)
            case "compact without the API":
                self.fake.enqueue_summaries(Reply((), stop_reason="refusal"))
                with suppress(SessionError):  # nothing was said yet
                    session.compact()
                await here.idle(session)
            case "compact in vain":
                await self._compact_in_vain(here, session)
            case "compact by digest":
                self.fake.add_rules(Rule(_asks_for_record, Fail(400, "invalid_request_error", "not now"), times=1))
                with suppress(SessionError):  # nothing was said yet
                    session.compact()
                await here.idle(session)
            case "there and back":
                await self._there_and_back(here, session)
            case "pin":
                self._pin(session, step.number)
            case "unpin":
                for item_id in session.snapshot().pins.item_ids[-1:]:
                    session.history.pin_item(item_id, pinned=False)
                    self.pinned.pop(item_id, None)
            case "pin a file":
                session.history.pin_file(path, pinned=True)
            case "exclude":
                await self._exclude(session, step.number)
            case "exclude a file":
                with suppress(SessionError):
                    await session.history.exclude_file(path)
            case "exclude what was done":
                for item in [item for item in items(session) if not isinstance(item, UserItem)][step.number : step.number + 1]:
                    with suppress(SessionError):
                        await session.history.exclude(item.id)
            case "preview":
                await self._preview(session)
            case "preview while it answers":
                held = Reply((Think("Hm."), Call("read_file", {"path": path})), interruption=HoldsAfter(1))
                await self._begin(here, session, held, Say("Read."))
                await self.fake.until_held()
                await session.history.preview()
                self.fake.release()
                await here.idle(session)
            case "cold cache":
                with patch.object(economy, "CACHE_SECONDS", -1.0):
                    await self._say(here, session, Say("After a long while."))
            case "economy":
                self._use(here, replace(self.settings, economy=ECONOMIES[step.number % len(ECONOMIES)]))
            case "policy":
                self._use(here, replace(self.settings, policy_name=POLICIES[step.number % len(POLICIES)]))
            case "model":
                await here.sessions.models.choose(session.id, (MODEL, OTHER_MODEL)[step.number % 2])
            case "forked":
                await self._fork(here, session, step.number)
            case "forked at work":
                await self._begin(here, session, Reply((Think("Hm."), Call("read_file", {"path": path})), interruption=HoldsAfter(1)))
                await self.fake.until_held()
                await self._fork(here, session, step.number)
                session.cancel()
                await here.idle(session)
                self.fake.release()
            case _:
                await self._try(here, session, step)
        self._forget_unused()

    async def _fork(self, here: Stage, session: Session, number: int) -> None:
        """From some item, or as a whole: the fork begins with what stood there, says something, and is gone again without a trace."""
        shown: list[str | None] = [item.id for item in items(session) if isinstance(item, UserItem | AssistantItem | ToolCallItem)]
        before = [*session.entries]
        try:
            made = await here.sessions.fork(session.id, [*shown, None][-1 - number % (len(shown) + 1)])
        except SessionError as error:  # what has only streamed in
            assert error.reason == "no_such_item"
            return
        fork = made.session
        through = next(logged.seq for logged in reversed(fork.entries) if isinstance(logged.entry, Forked)) - 1
        assert [*fork.entries][:through] == before[:through]
        self.fake.enqueue([Think("Well."), Say("Otherwise.")])
        await here.say(fork, "Otherwise, if you please.")
        projection = fork._conversation.projection  # noqa: SLF001
        assert [*projection.complete_messages] == [*Projection(projection.entries).complete_messages]
        await here.sessions.delete(fork.id)
        assert [*session.entries][: len(before)] == before

    async def _compact_in_vain(self, here: Stage, session: Session) -> None:
        """Where no transcript can be written no compaction is made, and the context is what it was."""
        transcripts = kept_of(self.folder) / "transcripts"
        aside = transcripts.with_name("transcripts-aside")
        if transcripts.exists():
            transcripts.rename(aside)
        transcripts.write_text("in the way")
        await all_is_counted(session)
        before = session.snapshot().gauge
        made = len([card for card in compactions(session) if card.status == "completed"])
        with suppress(SessionError):  # nothing was said yet
            session.compact()
        await here.idle(session)
        after = [card for card in compactions(session) if card.status == "completed"]
        if len(after) == made:  # where clearing old results is enough, there is no summary and no transcript
            assert replace(session.snapshot().gauge, cost=before.cost, cache_hit_rate=before.cache_hit_rate) == before
        transcripts.unlink()
        if aside.exists():
            aside.rename(transcripts)

    def _use(self, here: Stage, chosen: Settings) -> None:
        self.settings = chosen
        here.sessions.configure(replace(here.settings, policy_name=chosen.policy_name, economy=chosen.economy))

    def _pin(self, session: Session, number: int) -> None:
        """A prompt that the model sees, which it then keeps seeing; where that is in a summary already, it may come back."""
        prompts = [item for item in items(session) if isinstance(item, UserItem)]
        for prompt in prompts[number : number + 1]:
            try:
                session.history.pin_item(prompt.id, pinned=True)
            except SessionError as error:
                assert str(error) == EXCLUDED_BEFORE
                assert not any(f"{prompt.text}\n" in shown for shown in texts_in_view(session))
                continue
            if f"{prompt.text}\n" in texts_in_view(session):
                self.pinned[prompt.id] = f"{prompt.text}\n"

    async def _exclude(self, session: Session, number: int) -> None:
        prompts = [item for item in items(session) if isinstance(item, UserItem)]
        for prompt in prompts[number : number + 1]:
            with suppress(SessionError):
                self.excluded[await session.history.exclude(prompt.id)] = f"{prompt.text}\n"
                self.pinned.pop(prompt.id, None)

    async def _preview(self, session: Session) -> None:
        await all_is_counted(session)
        while drafts := [task for task in asyncio.all_tasks() if task.get_name() == "prepare a compaction"]:
            await asyncio.wait(drafts)  # what is prepared at that moment does ask a model
        before, requests = but_for_the_guess(session), len(self.fake.requests)
        await session.history.preview("the units")
        assert but_for_the_guess(session) == before
        assert len(self.fake.requests) == requests

    async def _there_and_back(self, here: Stage, session: Session) -> None:
        """A compaction, its undo and its redo: what would be sent is then what it was."""
        conversation = session._conversation  # noqa: SLF001
        before, active = [*conversation.projection.complete_messages], conversation.projection.active
        with suppress(SessionError):  # nothing was said yet
            session.compact()
        await here.idle(session)
        made = conversation.projection.active
        if made == active:
            return
        after = [*conversation.projection.complete_messages]
        try:
            await session.history.undo(made[-1].id)
        except SessionError as error:
            assert error.reason in ("does_not_fit", "fits_only_cut", "invalid")
            return
        assert [*conversation.projection.complete_messages] == before
        await session.history.redo(made[-1].id)
        assert [*conversation.projection.complete_messages] == after

    async def _try(self, here: Stage, session: Session, step: Step) -> None:
        """What may not be possible at the moment."""
        projection = session._conversation.projection  # noqa: SLF001
        if step.what.startswith("undo"):
            self.pinned = {}  # what a compaction hid before it was pinned may be hidden again
        if step.what.startswith("redo"):  # what was taken out stays so, pinned or not
            self.pinned = {item_id: text for item_id, text in self.pinned.items() if text not in self.excluded.values()}
        try:
            if step.what == "undo":
                await session.history.undo()
            elif step.what == "undo to fit":
                await session.history.undo(fit=True)
            elif step.what == "undo an earlier one" and projection.active:
                await session.history.undo(projection.active[step.number % len(projection.active)].id)
            elif step.what == "redo":
                await session.history.redo()
            elif step.what == "redo an earlier one" and projection.undone:
                await session.history.redo(projection.undone[step.number % len(projection.undone)].id)
            elif step.what == "continue":
                self.fake.enqueue(Say("On it goes."))
                session.resume()
        except SessionError:
            return
        await here.idle(session)

    async def _begin(self, here: Stage, session: Session, *replies: Any) -> None:
        self.fake.enqueue(*replies)
        text = f"Prompt {len(self.said)}: mind gauge-{len(self.said)}."
        self.said.append(text)
        await session.prompt(text)

    async def _say(self, here: Stage, session: Session, *replies: Any) -> None:
        await self._begin(here, session, *replies)
        await here.idle(session)

    def _forget_unused(self) -> None:
        """Replies that no call came for (a turn that ended early) must not answer the next prompt."""
        self.fake.state.script.drop_queued()


def texts_in_view(session: Session) -> list[str]:
    """Each with the end of its line, so that none is the beginning of another."""
    projection = session._conversation.projection  # noqa: SLF001
    return [f"{block.text}\n" for message in projection.messages for block in message.blocks if isinstance(block, Text)]


def answers(session: Session) -> list[AssistantItem]:
    return [item for item in items(session) if isinstance(item, AssistantItem)]


def _asks_for_record(body: dict[str, Any]) -> bool:
    last = blocks_of(body["messages"][-1]["content"])[-1]
    return last["type"] == "text" and "=== RECORD ===" in last["text"]


def test_compactions_do_come_by_themselves_in_such_sessions() -> None:
    async def enough() -> int:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary).resolve() / "project"
            folder.mkdir()
            for number in range(6):
                (folder / f"f{number}.txt").write_text("".join(f"{number} {line} tank {line * 7919 % 1009}\n" for line in range(150)))
            async with FakeApi(windows={MODEL: WINDOW}) as fake, stage(folder, fake=fake) as here:
                await Story(fake, folder, Settings(economy="fullest")).go_on(here, [Step("think and read", n % 6) for n in range(24)])
                return len(compactions(await here.sessions.open(None)))

    assert asyncio.run(enough()) >= 1
