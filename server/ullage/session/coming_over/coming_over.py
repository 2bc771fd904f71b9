"""Coming over with one's work: sessions of other programs listed, looked at, and gone on with as sessions of this workspace.

Nothing is read before the user asks for the list. The list reads beginnings of files alone, and no file of another program is ever written.
A front end names a session by an id that the list gave it, or a file that the user chose.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ullage.context.blocks import Json
from ullage.context.compaction.gathering import threshold_in_force
from ullage.context.counting.tokens import estimate_message
from ullage.context.entries import CameOver, Logged
from ullage.context.view.projection import project
from ullage.models.model import Model, ModelCard
from ullage.recorded.heads import FoundSession, heads_of, is_of, may_be_of
from ullage.recorded.places import Candidate, Home, candidates, home_of_this_user
from ullage.recorded.readers import NotATranscript, sessions_in
from ullage.recorded.readers.opencode import read_one
from ullage.recorded.transcript import Transcript
from ullage.session.coming_over.continuing import Origin, log_of
from ullage.session.coming_over.course import Course, Leavings, sweep
from ullage.session.coming_over.looking import SessionOutline, told_of
from ullage.session.coming_over.pictures import Pictures
from ullage.session.errors import SessionError, refusing
from ullage.session.long_work import patiently, uncollected
from ullage.session.session import Session
from ullage.session.surroundings import Surroundings
from ullage.store.statements import SessionRecord
from ullage.tools.registry import TOOL_NAMES

MOST_LISTED = 200
MOST_HEADS = 3_000
"""Files whose beginnings are read for one list."""
LARGEST_FILE = 2_000_000_000
"""Bytes of the largest file that is read."""

READING = "Reading the session"
TAKING = "Taking the session over"

OF_NOBODY = "its file is damaged, or of no program whose sessions Ullage reads"
BUSY = "its file is damaged, or is being written just now. Try again in a moment"

PROGRAMS = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "cline": "Cline",
    "opencode": "OpenCode",
    "gemini-cli": "Gemini CLI",
    "pi": "pi",
}
"""The names of the programs as people know them, by the names that their readers have."""


@dataclass(frozen=True, slots=True)
class OtherAgentSession:
    """A listed session of another program. `id` names it here until the server ends; `is_here`: its agent worked in this workspace."""

    id: str
    found: FoundSession
    is_here: bool


@dataclass(frozen=True, slots=True)
class ListedSessions:
    """The sessions of other programs, last changed first. `more`: there are others, which are not listed."""

    sessions: tuple[OtherAgentSession, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class OtherAgentPreview:
    """What the user sees of such a session before they go on with it. `tokens` are estimated for the model in use, with system prompt and
    tools where these are known."""

    listed: OtherAgentSession
    told: SessionOutline
    tokens: int
    threshold: int


class ComingOver:
    """The sessions of other programs, for one workspace."""

    def __init__(
        self,
        around: Surroundings,
        model: Callable[[], Model],
        fixed: Callable[[], int],
        open_session: Callable[[str], Awaitable[Session]],
        list_changed: Callable[[], None],
        home: Callable[[], Home] = home_of_this_user,
    ) -> None:
        """`model` is the one that a new session gets, `fixed` what system prompt, rules and tools take (tokens), as far as that is known;
        `open_session` opens a session of this workspace."""
        self._around = around
        self._model = model
        self._fixed = fixed
        self._open = open_session
        self._list_changed = list_changed
        self.home = home
        self._listed: dict[str, OtherAgentSession] = {}

    async def listed(self, *, everywhere: bool = False) -> ListedSessions:
        """The sessions of this workspace's folders, or, `everywhere`, all of them."""
        found = await asyncio.to_thread(self._find, everywhere)
        self._listed.update((each.id, each) for each in found.sessions)
        return found

    def _find(self, everywhere: bool) -> ListedSessions:
        self._sweep()
        folders = self._around.folders.roots
        wanted = [each for each in candidates(self.home()) if everywhere or may_be_of(each, folders)]
        found = [head for each in wanted[:MOST_HEADS] for head in heads_of(each) if everywhere or is_of(head, folders)]
        found.sort(key=lambda each: -each.updated_at)
        sessions = tuple(self._named(each) for each in found[:MOST_LISTED])
        return ListedSessions(sessions, len(found) > MOST_LISTED or len(wanted) > MOST_HEADS)

    def _named(self, found: FoundSession) -> OtherAgentSession:
        name = hashlib.sha256(f"{found.path}\0{found.within}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return OtherAgentSession(name, found, is_of(found, self._around.folders.roots))

    def _sweep(self) -> None:
        store = self._around.store
        sweep(self._around.store_folder, lambda id: any(each.id == id for each in store.sessions()), store.shown_media)

    async def chosen(self, file: Path) -> OtherAgentSession:
        """Lists the session in a file that the user chose, wherever it lies. Raises `SessionError`."""
        with Course(self._around.show_progress, READING) as course:
            listed = await asyncio.to_thread(self._chosen, file, course)
        self._listed[listed.id] = listed
        return listed

    def _chosen(self, file: Path, course: Course) -> OtherAgentSession:
        transcript = _read_file(file, lambda value: value, file.name, course)
        about = file.stat()
        program = transcript.source
        heads = heads_of(Candidate(program, file, about.st_mtime, about.st_size)) if program in ("claude-code", "codex", "cline") else []
        blank = FoundSession("claude-code", file, "", file.name, transcript.project, "", about.st_mtime, about.st_size)
        return self._named(heads[0] if heads else blank)

    async def look(self, id: str) -> OtherAgentPreview:
        """What that session was, what its compactions had lost, and how full it would be here. With a long one the progress is shown, and
        the user can stop it. Raises `SessionError`."""
        listed = self._of(id)
        card = await self._model().card()
        with uncollected(), Course(self._around.show_progress, READING) as course:
            return await asyncio.to_thread(self._looked, listed, card, course)

    def _looked(self, listed: OtherAgentSession, card: ModelCard, course: Course) -> OtherAgentPreview:
        pictures = Pictures(lambda data, media: None)
        course.part(0.0, 0.45)
        transcript = _read(listed.found, pictures, course)
        course.part(0.45, 0.5)
        origin = self._origin(listed, transcript)
        log = log_of(transcript, origin, pictures, TOOL_NAMES, lambda id, text: "", self._around.clock(), course.at)
        told = told_of(transcript)
        course.part(0.5, 1.0)
        return OtherAgentPreview(listed, told, *self._sizes(log, card, course))

    def _sizes(self, log: Sequence[Logged], card: ModelCard, course: Course) -> tuple[int, int]:
        settings, policy = self._around.settings, self._around.policy
        messages, estimated = project(log).messages, 0
        for number, message in enumerate(messages):
            course.at(number / len(messages))
            estimated += estimate_message(message)
        long_prompt = card.prices.long_prompt if card.prices is not None else None
        full = threshold_in_force(policy, card.window, settings.economy, long_prompt, settings.threshold_cap)
        return self._around.calibration(card).apply(estimated) + self._fixed(), full

    async def go_on(self, id: str) -> Session:
        """Makes and opens a session of this workspace with all that was said in that one. With a long one the progress is shown; if the
        user stops it, nothing of it stays. Raises `SessionError`."""
        listed = self._of(id)
        with refusing(), uncollected(), Course(self._around.show_progress, TAKING) as course:
            record = await patiently(lambda: asyncio.to_thread(self._taken, listed, course))
        session = await self._open(record.id)
        self._list_changed()
        await session.learn_model()  # else its window is only supposed
        session.make_room()
        return session

    def _taken(self, listed: OtherAgentSession, course: Course) -> SessionRecord:
        around, id, taken = self._around, secrets.token_hex(8), False
        leavings = Leavings(around.store_folder, id, around.media, around.outputs)
        try:
            pictures = Pictures(leavings.keep_picture)
            course.part(0.0, 0.6)
            transcript = _read(listed.found, pictures, course)
            now = around.clock()
            course.part(0.6, 0.7)
            log = log_of(transcript, self._origin(listed, transcript), pictures, TOOL_NAMES, leavings.keep_output, now, course.at)
            record = SessionRecord(id, listed.found.title, log[0].at, now)
            course.part(0.7, 1.0)
            around.store.take_in_beside_others(record, log, course.at)
            taken = True
        finally:
            leavings.settle(around.store.shown_media, taken=taken)
        return record

    def _origin(self, listed: OtherAgentSession, transcript: Transcript) -> Origin:
        found = listed.found
        program = PROGRAMS.get(transcript.source, transcript.source)
        about = CameOver(program, found.version, transcript.session_id, found.title, str(found.path))
        return Origin(about, listed.is_here)

    def _of(self, id: str) -> OtherAgentSession:
        if id not in self._listed:
            raise SessionError("unknown_session", "This session is not in the list any more. Open the list again")
        return self._listed[id]


def _read(found: FoundSession, pictures: Pictures, course: Course) -> Transcript:
    """The session as its file has it now. Raises `SessionError`."""
    if not found.within:
        return _read_file(found.path, pictures.taken_out, found.title, course)
    try:
        _check_size(found.path, found.title)
        transcript = read_one(found.path, found.within)
    except NotATranscript:
        raise _unreadable(found.title, BUSY) from None
    except OSError as error:
        raise _unreadable(found.title, error.strerror or str(error)) from error
    if transcript is None:
        raise _unreadable(found.title, "it is not in its file any more")
    return _with_words(transcript, found.title)


def _read_file(file: Path, each: Callable[[Mapping[str, Json]], Mapping[str, Json]], title: str, course: Course) -> Transcript:
    try:
        size = _check_size(file, title)
        transcript = next(sessions_in(file, each, lambda position: course.at(position / max(size, 1))), None)
    except NotATranscript:
        raise _unreadable(title, OF_NOBODY) from None
    except (OSError, MemoryError) as error:
        raise _unreadable(title, (error.strerror if isinstance(error, OSError) else "") or type(error).__name__) from error
    if transcript is None or transcript.source == "ullage":
        raise _unreadable(title, OF_NOBODY)
    return _with_words(transcript, title)


def _check_size(file: Path, title: str) -> int:
    """How many bytes the file has. Raises `SessionError` if it is gone or has too many."""
    if not file.is_file():
        raise _unreadable(title, "its file is gone")
    size = file.stat().st_size
    if size > LARGEST_FILE:
        raise _unreadable(title, f"its file has {size:,} bytes, and no more than {LARGEST_FILE:,} are read")
    return size


def _with_words(transcript: Transcript, title: str) -> Transcript:
    if not transcript.entries and not any(each.told for each in transcript.compactions):
        raise _unreadable(title, "nothing is said in it")
    return transcript


def _unreadable(title: str, why: str) -> SessionError:
    return SessionError("invalid", f"The session “{title}” cannot be read: {why}")
