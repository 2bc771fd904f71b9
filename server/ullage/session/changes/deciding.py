"""Keeping and undoing changes of the agent: what is written into the files, and what is logged of it.

An undo is written through the editor where the file is open there, and only while the text is the one that was looked at. So nothing is
lost that somebody typed meanwhile. What an undo replaces is kept as a version first, and it is noted which files are about to be changed
(`Versions.begin`): of a crash in the midst of it the log tells at the next start.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ullage.context.change_entries import ChangedFile, FilesChanged, FileVersion, Reviewed, ReviewedTogether
from ullage.context.changes.hunks import OpenHunk, carried, open_text
from ullage.context.changes.review import Baseline, CarriedText, OpenChange
from ullage.context.entries import Entry
from ullage.session.changes.looking import NO_VERSION, FileUnderReview, Looking, Side
from ullage.session.changes.shown import DecidedFile
from ullage.session.conversation import Conversation
from ullage.session.surroundings import Surroundings
from ullage.store.versions import UNDOING, Begun, Packed, pack
from ullage.workspace.files import ChangedMeanwhile, Content, EditorChanged, EditorRefused, Put
from ullage.workspace.folders import OutsideWorkspace
from ullage.workspace.text_file import MAXIMUM_BYTES, NotEncodable, bytes_of, text_sha256

EDITED = "You changed these lines since, so they are yours: change them back by hand"
SOME_EDITED = "Lines that you changed since stay as they are"
CHANGED_MEANWHILE = "The file was changed at this very moment. Try again"
EDITOR_REFUSED = "The editor did not take the change, so nothing was written"
NOTHING_LEFT = "Nothing is left of it in this file"


_Left: TypeAlias = tuple[FileVersion | None, FileVersion | None]
"""The baseline and the agent's version once a change was undone."""


@dataclass(frozen=True, slots=True)
class Undo:
    """Changes of a file that are to be taken back: all of them, or one hunk. `left` gives what is open after that; None if nothing was open
    before."""

    looked: FileUnderReview
    hunk: OpenHunk | None
    left: Callable[[], Awaitable[_Left | None]]
    turn_id: str = ""
    """The id of the turn whose changes these are; empty if they are not those of one turn."""


@dataclass(frozen=True, slots=True)
class _Writing:
    """What an undo writes: the bytes `after` (None: the file is deleted), or, in the editor, `text`. `hunks` is how many are undone,
    `stays` whether some are not."""

    undo: Undo
    after: Content | None
    text: str | None
    hunks: int
    stays: bool


class Deciding:
    """Keeps and undoes changes of the agent in one session. `notice` is told which files an undo changed."""

    def __init__(self, conversation: Conversation, surroundings: Surroundings, looking: Looking, notice: Callable[[str], None]) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._looking = looking
        self._notice = notice
        self._unkept: list[Packed] = []
        """Contents that the next entry names; they are kept right before it is logged."""

    # What is kept

    async def keep(self, looked: FileUnderReview, hunk: OpenHunk | None = None) -> Reviewed:
        """The decision that accepts all changes of the file, or one hunk. `log_kept` logs it."""
        agents, texts = looked.settled.agents, looked.texts
        baseline, kept = agents, 1 if texts is None else len(texts.hunks)
        if hunk is not None and texts is not None:
            kept, text = 1, texts.keep([hunk.id])
            if text != looked.agents.words:
                baseline = await self._version(text, looked.baseline, looked.agents)
        return Reviewed(looked.change.path, baseline, agents, "kept", kept)

    async def keep_turn(self, turn_id: str, file: ChangedFile, open_now: FileUnderReview | None) -> Reviewed | None:
        """The decision that accepts what a turn changed in the file, as far as it is open; None if nothing of the file is open. `log_kept`
        logs it. Raises `StoreFailed`."""
        if open_now is None:
            return None
        baseline, agents = open_now.settled.baseline, open_now.settled.agents
        texts = await self._texts(file)
        words = open_now.baseline.words
        if baseline == file.before or agents == file.after == baseline:
            baseline = file.after
        elif texts is not None and words is not None:
            text = await asyncio.to_thread(carried, texts[1], texts[0], words)
            baseline = agents if text == open_now.agents.words else await self._version(text, open_now.baseline, open_now.agents)
        else:
            baseline = agents
        return Reviewed(file.path, await self._as_version(baseline, open_now.agents), agents, "kept", 1, turn_id)

    async def log_kept(self, kept: Sequence[Reviewed]) -> None:
        """Logs decisions that accept changes. Raises `StoreFailed`, and nothing is kept then."""
        await self._log([], kept)

    # What is undone

    def undo(self, looked: FileUnderReview, hunk: OpenHunk | None = None) -> Undo:
        """What is to be taken back of the file: all changes, or one hunk. `undo_all` does it."""

        async def left() -> _Left:
            baseline = looked.settled.baseline
            if looked.texts is not None:
                text = looked.texts.undo(None if hunk is None else [hunk.id])[1]
                if text != looked.baseline.words:
                    made = await self._version(text, looked.agents, looked.baseline)
                    return await self._as_version(baseline, looked.agents), made
            version = await self._as_version(baseline, looked.agents)
            return version, version

        return Undo(looked, hunk, left)

    async def undo_turn(self, turn_id: str, file: ChangedFile, open_now: FileUnderReview | None) -> Undo | None:
        """What is to be taken back of a turn's changes in the file; what came before and after them stays. `undo_all` does it. None if
        nothing is left of them. Raises `StoreFailed`."""
        looked = await self._looking.look(OpenChange(file.path, file.before, file.after))
        if looked is None:
            return None

        async def left() -> _Left | None:
            if open_now is None:
                return None
            baseline, agents = open_now.settled.baseline, open_now.settled.agents
            texts, made = await self._texts(file), open_now.agents.words
            if agents == file.after:
                agents = file.before
            elif texts is not None and made is not None:
                text = (await asyncio.to_thread(open_text, texts[0], texts[1], made)).undo()[0]
                agents = await self._version(text, open_now.agents, open_now.baseline)
            version = await self._as_version(baseline, open_now.agents)
            return version, agents

        return Undo(looked, None, left, turn_id)

    async def undo_all(self, undos: Sequence[Undo]) -> list[DecidedFile]:
        """Takes these changes back, and gives what came of each file. All is in the log when this returns. Raises `StoreFailed`."""
        refused = [(each, _refusal(each)) for each in undos]
        decided = [DecidedFile(each.looked.change.path, "conflict", why) for each, why in refused if why]
        writings = [self._writing(each) for each, why in refused if not why]
        if not writings:
            return decided
        before = await asyncio.to_thread(self._note, writings)
        raised = await self._write([each for each in writings if each.text is None])
        changed: list[ChangedFile] = []
        reviewed: list[Reviewed] = []
        for each, known in zip(writings, before, strict=True):
            error = raised[each.undo.looked.where] if each.text is None else await self._write_text(each)
            path = each.undo.looked.change.path
            if error is not None:
                decided.append(DecidedFile(path, "conflict", _in_words(error)))
                continue
            self._surroundings.written.note(each.undo.looked.where)  # else it would pass for the change of a command that runs
            after = each.after if each.text is None else await self._surroundings.files.content(each.undo.looked.where, MAXIMUM_BYTES)
            changed.append(ChangedFile(path, known, None if after is None else await self._keep(after)))
            left = await each.undo.left()
            if left is not None:
                reviewed.append(Reviewed(path, *left, verdict="undone", hunks=each.hunks, turn_id="" if each.stays else each.undo.turn_id))
            decided.append(DecidedFile(path, "done", SOME_EDITED if each.stays else ""))
        await self._log(changed, reviewed)
        await asyncio.to_thread(self._surroundings.versions.ended, self._conversation.session_id, [UNDOING])
        return decided

    async def _log(self, changed: Sequence[ChangedFile], reviewed: Sequence[Reviewed]) -> None:
        packed, self._unkept = self._unkept, []
        if packed:
            await asyncio.to_thread(self._surroundings.versions.keep_packed, packed, named=True)
        entries: list[Entry] = [FilesChanged(tuple(changed), None)] if changed else []
        if reviewed:
            entries.append(ReviewedTogether(tuple(reviewed)) if len(reviewed) > 1 else reviewed[0])
        if entries:
            self._conversation.append_all(entries)
        for each in changed:
            self._notice(each.path)

    async def _texts(self, file: ChangedFile) -> tuple[str, str] | None:
        def read() -> list[str | None]:
            return ["" if each is None else self._looking.text(each) for each in (file.before, file.after)]

        before, after = await asyncio.to_thread(read)
        return None if before is None or after is None else (before, after)

    # What is written

    def _writing(self, undo: Undo) -> _Writing:
        looked, hunk = undo.looked, undo.hunk
        texts = looked.texts
        is_whole = texts is None or hunk is None or len(texts.hunks) == 1
        is_shown = self._surroundings.editor.open_text(looked.where) is not None
        if texts is None or (is_whole and looked.is_as_agent_left_it and (_needs_bytes(looked) or not is_shown)):
            # what an editor still shows of a file that is gone is not written
            return _Writing(undo, _content_of(looked), None, 1 if texts is None else len(texts.hunks), stays=False)
        taken = [each for each in texts.hunks if not each.edited] if hunk is None else [hunk]
        text = texts.undo([each.id for each in taken])[0]
        return _Writing(undo, None, text, len(taken), stays=hunk is None and len(taken) < len(texts.hunks))

    def _note(self, writings: Sequence[_Writing]) -> list[FileVersion | None]:
        """Keeps what the files hold now, and notes that they are about to be changed. Gives the version of each; None where there is no
        file."""
        versions = self._surroundings.versions
        looked = [each.undo.looked for each in writings]
        packed = [None if each.now is None else pack(each.now.data) for each in looked]
        versions.keep_packed([each for each in packed if each is not None], named=True)
        before = [
            None if made is None or each.now is None else FileVersion(made.sha256, made.size, each.now.executable)
            for each, made in zip(looked, packed, strict=True)
        ]
        session_id = self._conversation.session_id
        versions.begin(*(Begun(session_id, UNDOING, str(each.where), known) for each, known in zip(looked, before, strict=True)))
        return before

    async def _write(self, writings: Sequence[_Writing]) -> dict[Path, Exception | None]:
        puts = [Put(each.undo.looked.where, each.after, each.undo.looked.now) for each in writings]
        raised = await self._surroundings.files.put_all(puts)
        return {each.path: error for each, error in zip(puts, raised, strict=True)}

    async def _write_text(self, writing: _Writing) -> Exception | None:
        looked = writing.undo.looked
        now = "" if looked.now_text is None else looked.now_text.text
        try:
            await self._surroundings.files.write(looked.where, writing.text or "", text_sha256(now))
        except (ChangedMeanwhile, EditorRefused, EditorChanged, OSError, NotEncodable, OutsideWorkspace) as error:
            return error
        return None

    async def _keep(self, content: Content) -> FileVersion:
        packed = await asyncio.to_thread(pack, content.data)
        self._unkept.append(packed)
        return FileVersion(packed.sha256, packed.size, content.executable)

    async def _as_version(self, baseline: Baseline, like: Side) -> FileVersion | None:
        return await self._version(baseline.text, like) if isinstance(baseline, CarriedText) else baseline

    async def _version(self, text: str, *like: Side) -> FileVersion:
        """Keeps a text as a version, with the encoding and the line ends of the first of these sides that is a text."""
        known = next((side.text for side in like if side.text is not None), None)
        return await self._keep(Content(bytes_of(text, known)))


def _refusal(undo: Undo) -> str:
    """Why changes cannot be taken back at all, for the user; empty if they can."""
    looked, texts = undo.looked, undo.looked.texts
    if (undo.hunk is not None and undo.hunk.edited) or (texts is not None and all(each.edited for each in texts.hunks)):
        return EDITED
    return "" if texts is not None or looked.can_undo else looked.note or NO_VERSION


def _in_words(error: Exception) -> str:
    """Why a file could not be written, for the user."""
    match error:
        case ChangedMeanwhile():
            return CHANGED_MEANWHILE
        case EditorRefused() | EditorChanged():
            return EDITOR_REFUSED
        case _:
            return f"It cannot be written: {getattr(error, 'strerror', None) or error}"


def _needs_bytes(looked: FileUnderReview) -> bool:
    """Whether the lines alone do not bring the baseline back: the file was made, or its encoding, line ends or mode are others."""
    baseline, agents = looked.baseline.text, looked.agents.text
    version, made = looked.settled.baseline, looked.settled.agents
    if version is None or baseline is None or agents is None:
        return True
    if isinstance(version, FileVersion) and made is not None and version.executable != made.executable:
        return True
    return (baseline.encoding, baseline.newline) != (agents.encoding, agents.newline)


def _content_of(looked: FileUnderReview) -> Content | None:
    version = looked.settled.baseline
    if looked.baseline.data is None or version is None:
        return None
    if isinstance(version, CarriedText):
        return Content(bytes_of(version.text, looked.baseline.text))
    return Content(looked.baseline.data, version.executable)
