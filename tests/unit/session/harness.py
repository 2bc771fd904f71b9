"""Sessions as a front end has them, on a real folder, with the real SDK against the strict fake over a socket."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fake_api import FakeApi
from tests.patience import PATIENCE
from ullage.context.compaction_entries import Compaction
from ullage.context.policies.table import BUILT_IN
from ullage.context.policy import Policy
from ullage.models.anthropic_model import AnthropicModel
from ullage.models.chat_model import ChatModel
from ullage.models.choose import Provider, RefusingModel
from ullage.models.clouds.bedrock import BedrockWire
from ullage.models.clouds.places import Clouds
from ullage.models.clouds.vertex import VertexWire
from ullage.models.counting import CountText
from ullage.models.editor_models import EditorModels
from ullage.models.facts import ModelFacts
from ullage.models.known_models import card_from_table
from ullage.models.model import Effort, Model, TokenizerVersion
from ullage.models.model_card import CardAnswer, ask_anthropic
from ullage.models.retry import Patience
from ullage.models.serialise import MediaBytes
from ullage.models.wire import MessagesWire
from ullage.session.endpoint_counts import EndpointCounts
from ullage.session.models_in_use import ChooseModel
from ullage.session.session import Session
from ullage.session.sessions.sessions import Sessions
from ullage.session.settings import Settings
from ullage.session.timeline.items import CompactionItem, Item, NoticeItem, ToolCallItem
from ullage.session.timeline.updates import ItemRemoved, ItemUpdated, Snapshot, Update
from ullage.starting import Keys
from ullage.store.folder import folder_of
from ullage.tools.rules.covering import AskFor
from ullage.workspace.files import Diagnostic

if TYPE_CHECKING:
    from ullage.models.wire import Connect

MODEL = "claude-opus-5-5"


@dataclass
class OpenEditor:
    """An editor whose open documents are a dictionary."""

    texts: dict[Path, str] = field(default_factory=dict[Path, str])

    async def look(self, path: Path) -> None:
        pass

    def open_text(self, path: Path) -> str | None:
        return self.texts.get(path)

    def is_on_disk(self, path: Path, text: str) -> None:
        pass

    def new_text(self, uri: str) -> str | None:
        return None

    def open_paths(self) -> Sequence[Path]:
        return tuple(self.texts)

    async def apply_text(self, path: Path, text: str) -> bool:
        self.texts[path] = text
        return True

    async def diagnostics(self, path: Path | None) -> list[Diagnostic] | None:
        return []


class Watcher:
    """Collects what a front end is told, and waits for things to come about."""

    def __init__(self) -> None:
        self.updates: list[tuple[str, int, Update]] = []
        self.warnings: list[str] = []
        self.well: list[str] = []
        """What is well again."""
        self._changed = asyncio.Event()

    def take(self, session_id: str, seq: int, update: Update) -> None:
        self.updates.append((session_id, seq, update))
        self._changed.set()

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Waits until it holds; looks again at each update."""
        async with asyncio.timeout(PATIENCE):
            while not holds():
                self._changed.clear()
                await self._changed.wait()


@dataclass
class Stage:
    """One workspace with its sessions and the API behind them."""

    folder: Path
    fake: FakeApi
    sessions: Sessions
    watcher: Watcher
    editor: OpenEditor
    settings: Settings

    async def new(self) -> Session:
        return await self.sessions.create()

    async def idle(self, session: Session) -> None:
        """Until nothing is being done any more and nothing waits."""
        await self.watcher.until(lambda: session.state == "idle" and not session.busy)

    async def say(self, session: Session, text: str) -> None:
        """Prompts and waits for the end of the turn."""
        await session.prompt(text)
        await self.idle(session)

    def use_policy(self, name: str) -> None:
        """The user chooses another policy."""
        self.sessions.configure(replace(self.settings, policy_name=name))

    def made(self, session: Session) -> list[Compaction]:
        """The compactions of the session's log."""
        entries = session._conversation.entries  # noqa: SLF001
        return [logged.entry for logged in entries if isinstance(logged.entry, Compaction)]

    def refused(self) -> list[str | None]:
        """What the API refused as malformed."""
        return [record.error for record in self.fake.requests if record.status == 400]

    async def asked(self, session: Session) -> ToolCallItem:
        """Waits until a call needs an approval."""
        await self.watcher.until(lambda: any(call.status == "awaiting_permission" for call in calls(session)))
        return next(call for call in calls(session) if call.status == "awaiting_permission")

    async def asked_anew(self, session: Session, before: ToolCallItem) -> ToolCallItem:
        """Waits for another question than that one."""

        def found() -> list[ToolCallItem]:
            return [call for call in calls(session) if call.permission_id not in ("", before.permission_id)]

        await self.watcher.until(lambda: bool(found()))
        return found()[0]


def kept_of(folder: Path) -> Path:
    """Where a stage on that folder keeps its log."""
    return folder_of(folder, (folder.parent / f"{folder.name}-state").resolve())


def items(session: Session) -> tuple[Item, ...]:
    """Those of its snapshot, without the gauge: they are asked for at each update that a test waits for."""
    return session._conversation.timeline.newest(10_000)[0]  # noqa: SLF001


def calls(session: Session) -> list[ToolCallItem]:
    return [item for item in items(session) if isinstance(item, ToolCallItem)]


def compactions(session: Session) -> list[CompactionItem]:
    return [item for item in items(session) if isinstance(item, CompactionItem)]


def notices(session: Session) -> list[NoticeItem]:
    return [item for item in items(session) if isinstance(item, NoticeItem)]


def counts_of(session: Session) -> EndpointCounts:
    """What the endpoint is asked to count, in the background."""
    return session._endpoint_counts  # noqa: SLF001


async def all_is_counted(session: Session) -> None:
    """Until the gauge learns nothing more by itself: neither the window nor what the endpoint counts."""
    await session.learn_model()
    await counts_of(session).settled()


def but_for_the_guess(session: Session) -> Snapshot:
    """What a front end sees, without what a compaction would free: a preview knows that better than the guess before it."""
    snapshot = session.snapshot()
    return replace(snapshot, seq=0, gauge=replace(snapshot.gauge, frees=0, frees_cost=None))


def rebuilt(watcher: Watcher, session: Session) -> list[Item]:
    """The items as a panel has them that took every update since the session was made."""
    shown: dict[str, Item] = {}
    for session_id, _, update in watcher.updates:
        if session_id != session.id:
            continue
        if isinstance(update, ItemUpdated):
            shown[update.item.id] = update.item
        elif isinstance(update, ItemRemoved):
            del shown[update.item_id]
    return list(shown.values())


@asynccontextmanager
async def stage(
    folder: Path | None,
    *,
    settings: Settings | None = None,
    window: int = 200_000,
    fake: FakeApi | None = None,
    editor: OpenEditor | None = None,
    extra: Sequence[Policy] = (),
    compaction: bool = False,
    find_tokenizer: Callable[[TokenizerVersion], CountText | None] = lambda version: None,
    base_url: str = "",
    patience: Patience | None = None,
    remembered_session: str | None = None,
    clock: Callable[[], float] = time.time,
    ask_for: AskFor = "everything",
) -> AsyncGenerator[Stage]:
    """A workspace in `folder` whose model has that window. With `fake`, an API that is running already; `extra` are installed policies.

    `ask_for`: of all ways of asking the one in which each call can be answered.

    `base_url` is what stands before the API, if anything does, `patience` how long a reply is waited for.

    `compaction`: the API writes summaries of its own. No tokenizer counts unless one is named, on every Python.
    """
    if fake is None:
        async with FakeApi(windows={MODEL: window}, compaction=compaction) as own:
            async with stage(
                folder,
                settings=settings,
                fake=own,
                editor=editor,
                extra=extra,
                find_tokenizer=find_tokenizer,
                patience=patience,
                remembered_session=remembered_session,
                clock=clock,
                ask_for=ask_for,
            ) as made:
                yield made
            async with asyncio.timeout(PATIENCE):  # a connection that nobody frees is found where it was made
                await own.until_left()
        return
    watcher = Watcher()
    opened = editor or OpenEditor()
    base = replace(settings or Settings(), model_name=MODEL, base_url=base_url or fake.base_url, bash_sandbox="off", ask_for=ask_for)
    state = folder.parent / f"{folder.name}-state" if folder else None
    base = replace(base, store_location=str(state or ""))
    sessions = Sessions(
        (folder,) if folder else (),
        opened,
        base,
        Keys(own="test-key"),
        state,
        watcher.take,
        lambda: None,
        watcher.warn,
        choose=_at_once(patience),
        find_policies=lambda: {**BUILT_IN, **{policy.name: policy for policy in extra}},
        find_tokenizer=find_tokenizer,
        remembered_session=remembered_session,
        clock=clock,
        on_well=watcher.well.append,
    )
    await sessions.start()
    try:
        yield Stage(folder or Path(), fake, sessions, watcher, opened, base)
    finally:
        await sessions.close()


class _FewQuestions(MessagesWire):
    """Asks the Models API alone where it tells of a model that is known: nothing else that could be asked then counts, and the two other
    questions of each session would take these tests half a minute. `tests/unit/models/test_model_card.py` has all of the questions."""

    async def ask(self, connect: Connect) -> CardAnswer:
        told = await ask_anthropic(connect, self.endpoint.model) if card_from_table(self.endpoint.model) else None
        return told if told is not None and told.card.source == "Models API" else await super().ask(connect)


def _at_once(patience: Patience | None) -> ChooseModel:
    """Makes the real model client, whose retries do not wait."""

    async def no_wait(seconds: float) -> None:
        pass

    def choose(
        *,
        provider: Provider,
        name: str,
        effort: Effort | None,
        base_url: str,
        api_key: str | None,
        media: MediaBytes,
        facts: ModelFacts | None,
        clouds: Clouds,
        is_confirmed: Callable[[str], bool],
        editor: EditorModels,
        fault: str,
    ) -> Model:
        if fault:
            return RefusingModel(name, fault)
        if provider in ("bedrock", "vertex"):
            wire = BedrockWire(name, clouds, api_key) if provider == "bedrock" else VertexWire(name, clouds)
            return AnthropicModel(name, wire=wire, effort=effort, media=media, patience=patience, sleep=no_wait)
        if provider == "openai":
            return ChatModel(name, api_key=api_key, effort=effort, base_url=base_url, media=media, patience=patience, sleep=no_wait)
        wire = _FewQuestions(name, base_url, api_key)
        return AnthropicModel(name, wire=wire, effort=effort, mismatch="error", media=media, patience=patience, sleep=no_wait)

    return choose
