"""Random sessions, lived over the strict fake and replayed from their own log: what is done in them, and that both compact the same."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import strategies as st

from tests.fake_api import Call, Fail, Reply, Say, Think
from tests.unit.replay.simulating.exact_api import exact_api
from tests.unit.session.harness import MODEL, Stage, calls, items, kept_of, stage
from tests.unit.session.test_every_policy import TOLD, summaries
from tests.unit.session.test_next_compaction import small
from ullage.context.blocks import Block, Json
from ullage.context.compaction.decide import WINDOW_EXCEEDED
from ullage.context.compaction.economy import NONE_YET, Economy, Refetched
from ullage.context.compaction_entries import Compaction, Trigger
from ullage.context.entries import (
    AssistantReply,
    Clipped,
    EntryPinned,
    FilePinned,
    FileTouch,
    Logged,
    Notice,
    Prelude,
    ToolReturned,
    TurnEnded,
    UserPrompt,
)
from ullage.context.policy import Policy
from ullage.context.view.projection import Projection
from ullage.recorded.readers.own_log import read
from ullage.replay.measuring.runs import Places
from ullage.replay.simulating import means, simulation
from ullage.replay.simulating.outcome import StandIn
from ullage.replay.simulating.prepared import PreparedSession, ReplaySettings
from ullage.session.compacting import controller as controlling
from ullage.session.compacting.controller import CompactionController
from ullage.session.compacting.saving import KeptRefetches
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.settings import Settings as LiveSettings
from ullage.session.timeline.items import ToolCallItem, UserItem
from ullage.session.turns.turn import Turn
from ullage.store.log_store import LogStore

WINDOW = 40_000
TOO_LONG = "prompt is too long"
FACTS = "\n".join(f"<fact>{line}</fact>" for line in TOLD.splitlines())
RECORDED = (Prelude, UserPrompt, AssistantReply, ToolReturned, Notice, TurnEnded, Clipped, EntryPinned, FilePinned)
"""The entries that a replay takes from a log."""

CHANGING = ("edit", "write")
WORK = ("read", "read both", "edit", "write", "long prompt")
SMALL_WORK = ("chat", "chat", "look", "look", "read", "edit", "write")
"""Work that fills a window so slowly that one compacts to save before it is full."""
REFUSED, FILLED = "refused", "filled"
PIN, PIN_FILE = "pin", "pin file"
UNDO, REDO, EXCLUDE, EXCLUDE_FILE = "undo", "redo", "exclude", "exclude file"
BY_HAND = (UNDO, REDO, EXCLUDE, EXCLUDE_FILE)
"""What the user does with the past, before the pause or after it."""
CLICK, CLICK_IN_TURN, BY_MODEL = "click", "click in turn", "by model"
"""Compactions that somebody asks for: the user before the turn or while the model answers, the model by its tool."""
FOCUS = "tank_1_7 and the valves"
PAUSES = (40.0, 40.0, 100.0, 250.0, 290.0, 400.0, 4_000.0)
"""Seconds until a prompt comes. Short of 240 the cache is warm; from then on it cools; after 300 it is cold."""


@dataclass(frozen=True)
class Doing:
    """A turn: what is done, which files and how much of it, and how long the user lets it wait."""

    what: str
    number: int
    pause: float = 40.0

    @property
    def focus(self) -> str:
        """What a compaction is to favour that is asked for."""
        return FOCUS if self.number % 3 == 0 else ""


@dataclass(frozen=True)
class Click:
    """A click in a running turn, after so many replies."""

    focus: str
    replies_before: int


Ask: TypeAlias = Callable[[Turn], Awaitable[AssistantReply]]


def doings(*work: str) -> st.SearchStrategy[list[Doing]]:
    """Sessions of that work."""
    return st.lists(st.builds(Doing, st.sampled_from(work), st.integers(0, 9), st.sampled_from(PAUSES)), min_size=8, max_size=20)


@dataclass(frozen=True)
class Made:
    """A compaction without what another process may have otherwise: ids, what was paid, what the user is told of ways that failed."""

    after: int
    """How many entries there were that a replay takes."""
    entry: Compaction


def made_in(entries: Sequence[Logged]) -> list[Made]:
    """The compactions of a log that a reply follows, in order. A call that was held has none, so a replay does not come to it."""
    found: list[Made] = []
    before = replied = 0
    for logged in entries:
        if isinstance(logged.entry, Compaction):
            again = logged.entry.fetched_again and replace(logged.entry.fetched_again, compaction_id="")
            same = replace(logged.entry, id="", usage=None, cost=None, through=0, counts=None, skipped=(), fetched_again=again)
            found.append(Made(before, same))
        else:
            before += isinstance(logged.entry, RECORDED)
            replied = before if isinstance(logged.entry, AssistantReply) else replied
    return [made for made in found if made.after < replied]


def shown(view: Projection) -> list[tuple[str, tuple[Block, ...]]]:
    """The messages of the next request."""
    return [(message.role, message.blocks) for message in view.complete_messages]


@dataclass
class Waiting:
    """What is to be done at a time. `cancel` as of a timer."""

    at: float
    then: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


class Clock:
    """Time that passes only where the test says so."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0
        self._waiting: list[Waiting] = []

    def __call__(self) -> float:
        return self.now

    def later(self, seconds: float, then: Callable[[], None]) -> Waiting:
        waiting = Waiting(self.now + seconds, then)
        self._waiting.append(waiting)
        return waiting

    def next_before(self, end: float) -> Waiting | None:
        """What is due first; it is then that time."""
        due = min((each for each in self._waiting if not each.cancelled and each.at < end), key=lambda each: each.at, default=None)
        if due is not None:
            self._waiting.remove(due)
            self.now = max(self.now, due.at)
        return due


class Live:
    """A session that was lived, and its workspace."""

    def __init__(self, folder: Path, window: int, elsewhere: Refetched) -> None:
        self.folder = folder / "project"
        self._elsewhere = elsewhere
        self._window = window
        self._click: Click | None = None
        self.by_hand: list[str] = []
        """The ids of what the user undid, redid and excluded."""
        self.folder.mkdir()
        self._clock = Clock()
        for number in range(4):
            lines = (f"tank_{number}_{line} = {line * 7919 % 1009}" for line in range(number * 60 + 180))
            # What is read does not tell whether the last line has an end, so none has one here.
            (self.folder / f"f{number}.py").write_text("\n".join(lines))
            (self.folder / f"s{number}.py").write_text("\n".join(f"valve_{number}_{line} = {line * 31 % 97}" for line in range(110)))

    async def live(self, policy: Policy, happenings: Sequence[Doing], economy: Economy) -> Sequence[Logged]:
        """Does all of it, one prompt after the other; gives the log."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(controlling, "later", self._clock.later)
            patch.setattr(Turn, "ask", self._with_clicks(_once_drafts_are_written(Turn.ask)))
            async with exact_api({MODEL: self._window}) as fake:
                fake.add_rules(*summaries())
                if self._elsewhere.compactions:
                    _keep(kept_of(self.folder), self._elsewhere)
                chosen = LiveSettings(policy_name=policy.name, economy=economy)
                async with stage(self.folder, settings=chosen, fake=fake, clock=self._clock) as here:
                    session = await here.new()
                    for turn, doing in enumerate(happenings):
                        if doing.what in BY_HAND and doing.number % 2:
                            await self._by_hand(session, doing)
                        await self._pause(here, session, doing.pause)
                        if doing.what in BY_HAND and not doing.number % 2:
                            await self._by_hand(session, doing)
                        await self._turn(here, session, turn, doing)
                    assert [error for error in here.refused() if error is not None and TOO_LONG not in error] == []
                    return list(session._conversation.entries)  # noqa: SLF001

    def prepared(self) -> PreparedSession:
        """Its log, to be replayed."""
        (transcript,) = read(kept_of(self.folder) / "ullage.db")
        return PreparedSession(transcript, sources={path.name: path.read_text() for path in self.folder.iterdir()})

    def _with_clicks(self, ask: Ask) -> Ask:
        """The user clicks while the model answers."""

        async def asked(turn: Turn) -> AssistantReply:
            if self._click is not None and self._click.replies_before == 0:
                turn.ask_to_compact(self._click.focus)
                self._click = None
            elif self._click is not None:
                self._click = replace(self._click, replies_before=self._click.replies_before - 1)
            return await ask(turn)

        return asked

    async def _pause(self, here: Stage, session: Session, seconds: float) -> None:
        end = self._clock.now + seconds
        while (due := self._clock.next_before(end)) is not None:
            due.then()
            await _settled(here, session)
        self._clock.now = end

    async def _by_hand(self, session: Session, doing: Doing) -> None:
        view, number = session._conversation.projection, doing.number  # noqa: SLF001
        shown = [item for item in items(session) if isinstance(item, UserItem | ToolCallItem)]
        among = [each.id for each in (view.undone if doing.what == REDO else view.active) if each.trigger != "upkeep"]
        with suppress(SessionError):  # there may be nothing to undo, or it does not fit
            if doing.what == EXCLUDE and shown:
                self.by_hand.append(await session.history.exclude(shown[number * 7 % len(shown)].id))
            elif doing.what == EXCLUDE_FILE:
                self.by_hand.append(await session.history.exclude_file(f"f{number % 4}.py"))
            elif doing.what == UNDO and among:
                self.by_hand.append(await session.history.undo(among[-1 - number % 2 * (len(among) > 1)], fit=True))
            elif doing.what == REDO and among:
                self.by_hand.append(await session.history.redo(among[-1], fit=True))

    async def _turn(self, here: Stage, session: Session, turn: int, doing: Doing) -> None:
        what, number = doing.what, doing.number
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
            "look": [Call("read_file", {"path": f"s{number % 4}.py"})],
            REFUSED: [Call("read_file", {"path": path})],
            CLICK_IN_TURN: [Call("read_file", {"path": path})],
            BY_MODEL: [Call("compact", {"focus": doing.focus} if doing.focus else {})],
        }.get(what, [])
        for call in called:
            here.fake.enqueue(Reply((Think(f"I look, {turn}."), call)))
        if what == PIN:
            shown = [item for item in items(session) if isinstance(item, UserItem | ToolCallItem)]
            with suppress(SessionError):  # what is excluded cannot be pinned
                if shown:
                    session.history.pin_item(shown[number * 7 % len(shown)].id, pinned=number % 3 > 0)
        if what == PIN_FILE and any(touch.path == path for touch in _touches(session)):  # else no transcript has its text
            session.history.pin_file(path, pinned=number % 3 > 0)
        if what == CLICK and session._conversation.projection.messages:  # noqa: SLF001
            session.compact(doing.focus)
            await _settled(here, session)
        self._click = Click(doing.focus, number % 2) if what == CLICK_IN_TURN else None
        if what == REFUSED:  # the API counts more than was estimated
            here.fake.enqueue(Fail(400, "invalid_request_error", f"{TOO_LONG}: {WINDOW + 10 * number + 1} tokens > {WINDOW} maximum"))
        if what == FILLED:
            here.fake.enqueue(Reply((Say(f"Half of round {turn}, and then"),), stop_reason=WINDOW_EXCEEDED))
        here.fake.enqueue(Reply((Think("So."), Say(f"Seen in round {turn}."))))
        await session.prompt(
            f"Go on, round {turn}. Never change the files. " + "It matters to me. " * (number * 100 if what == "long prompt" else 10)
        )
        await here.watcher.until(lambda: (session.state == "idle" and not session.busy) or bool(_asked(session)))
        for asked in _asked(session):
            self._clock.now += number % 3 * 200.0  # the user thinks about it
            session.answer_permission(asked.id, "allow_once", permission_id=asked.permission_id)
        await here.idle(session)
        await _settled(here, session)
        here.fake.state.script.drop_queued()  # a turn that was held used less


def _touches(session: Session) -> Iterator[FileTouch]:
    for logged in session.entries:
        if isinstance(logged.entry, ToolReturned):
            yield from logged.entry.touched


async def _settled(here: Stage, session: Session) -> None:
    """Until what is drafted in the background is written, and what follows from that is done."""
    await _drafted(session._controller)  # noqa: SLF001
    await here.idle(session)
    await _drafted(session._controller)  # noqa: SLF001


async def _drafted(controller: CompactionController) -> None:
    work = controller.slot._task  # noqa: SLF001
    if work is not None and not work.done():
        await asyncio.wait({work})
        await asyncio.sleep(0)  # whoever waits for it is called in the next round


def _once_drafts_are_written(ask: Ask) -> Ask:
    """A reply comes after the draft that is written beside it: in replay of these sessions writing takes no time."""

    async def asked(turn: Turn) -> AssistantReply:
        await _drafted(turn._controller)  # noqa: SLF001
        return await ask(turn)

    return asked


def _asked(session: Session) -> list[ToolCallItem]:
    return [call for call in calls(session) if call.status == "awaiting_permission"]


def as_asked(summaries: object, told: object, asked: object) -> StandIn:
    """The words of the fake's model."""
    prompt = getattr(asked, "prompt", "")
    return StandIn(FACTS if "<fact>" in prompt else TOLD, "told", 100)


def _keep(folder: Path, elsewhere: Refetched) -> None:
    """As another session of the workspace would have."""
    folder.mkdir(parents=True, exist_ok=True)
    store = LogStore.open(folder)
    KeptRefetches(store, "another").keep(elsewhere, ())
    store.close()


def check(
    policy: Policy,
    happenings: Sequence[Doing],
    economy: Economy = "fullest",
    *,
    at: Places = "policy",
    window: int = WINDOW,
    elsewhere: Refetched = NONE_YET,
    by_hand: list[str] | None = None,
) -> list[Compaction]:
    """The same live and in replay; gives the compactions. `elsewhere` is what those of other sessions of the workspace brought about.
    `by_hand` gets the ids of what the user excluded, undid and redid.

    An engine that reads the repository would find later files in replay, so for it nothing is changed.
    """
    if policy.engine.wants_files:
        happenings = [replace(doing, what="read") if doing.what in CHANGING else doing for doing in happenings]
    with tempfile.TemporaryDirectory() as temporary, pytest.MonkeyPatch.context() as patch, small():
        lived = Live(Path(temporary).resolve(), window, elsewhere)
        entries = asyncio.run(lived.live(policy, happenings, economy))
        if by_hand is not None:
            by_hand += lived.by_hand
        patch.setattr(means, "stand_in", as_asked)
        chosen = ReplaySettings(at=at, window=window, economy=economy, elsewhere=elsewhere, writing_seconds=0.0)
        again = simulation.carry(lived.prepared(), policy, chosen)
        live = made_in(entries)
        assert made_in(again.entries) == live
        if not any(isinstance(logged.entry, TurnEnded) and logged.entry.outcome == "error" for logged in entries):
            assert shown(again) == shown(Projection(entries))
        return [made.entry for made in live]


def triggers(made: Sequence[Compaction]) -> list[Trigger]:
    """Why they were made."""
    return [each.trigger for each in made]


def worked(pauses: Sequence[float] = (40.0,)) -> list[Doing]:
    """Some of everything, with these pauses one after the other."""
    work = ("read", "edit", "read both", "write")
    return [
        Doing(work[turn // 2 % 4] if turn % 2 else "long prompt", turn if turn % 2 else 9, pauses[turn % len(pauses)]) for turn in range(18)
    ]


REVERSED = (
    (Doing(UNDO, 2),),
    (Doing(UNDO, 1), Doing(REDO, 0)),
    (Doing(UNDO, 2), Doing("read", 2), Doing(PIN, 3), Doing(REDO, 2)),
    (Doing(EXCLUDE, 1), Doing(UNDO, 2), Doing(REDO, 2)),
    (Doing(EXCLUDE_FILE, 1), Doing("read", 1), Doing(EXCLUDE_FILE, 2), Doing(UNDO, 2)),
)
