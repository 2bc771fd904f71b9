"""Keeping and undoing changes of the agent in one file: what is written into the file, and what is logged of it.

An undo is written through the editor where the file is open there, and only while the text is the one that was looked at. So nothing is
lost that somebody typed meanwhile. What an undo replaces is kept as a version first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from ullage.context.change_entries import ChangedFile, FilesChanged, FileVersion, Reviewed
from ullage.context.changes.hunks import OpenHunk, carried, open_text
from ullage.context.changes.review import Baseline, CarriedText, OpenChange
from ullage.context.entries import Entry
from ullage.session.changes.looking import NO_VERSION, Looked, Looking, Side
from ullage.session.changes.shown import Decided
from ullage.session.conversation import Conversation
from ullage.session.surroundings import Surroundings
from ullage.workspace.files import ChangedMeanwhile, Content, EditorChanged, EditorRefused
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
class _Written:
    """What an undo did to a file. `hunks` is how many were undone, `stays` whether some were not."""

    change: ChangedFile
    hunks: int
    stays: bool


class Deciding:
    """For one session. `notice` is told which files an undo changed."""

    def __init__(self, conversation: Conversation, surroundings: Surroundings, looking: Looking, notice: Callable[[str], None]) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._looking = looking
        self._notice = notice

    async def keep(self, looked: Looked, hunk: OpenHunk | None = None) -> Decided:
        """Accepts all changes of the file, or one. Raises `StoreFailed`."""
        agents, texts = looked.settled.agents, looked.texts
        baseline, kept = agents, 1 if texts is None else len(texts.hunks)
        if hunk is not None and texts is not None:
            kept, text = 1, texts.keep([hunk.id])
            if text != looked.agents.words:
                baseline = await self._version(text, looked.baseline, looked.agents)
        self._conversation.append(Reviewed(looked.change.path, baseline, agents, "kept", kept))
        return Decided(looked.change.path, "done")

    async def undo(self, looked: Looked, hunk: OpenHunk | None = None) -> Decided:
        """Takes all changes of the file back, or one. Raises `StoreFailed`."""

        async def left() -> _Left:
            baseline = looked.settled.baseline
            if looked.texts is not None:
                text = looked.texts.undo(None if hunk is None else [hunk.id])[1]
                if text != looked.baseline.words:
                    made = await self._version(text, looked.agents, looked.baseline)
                    return await self._as_version(baseline, looked.agents), made
            version = await self._as_version(baseline, looked.agents)
            return version, version

        return await self._undo(looked, hunk, left)

    # Of one turn

    async def keep_turn(self, file: ChangedFile, open_now: Looked | None) -> Decided:
        """Accepts what a turn changed in the file, as far as it is open. Raises `StoreFailed`."""
        if open_now is None:
            return Decided(file.path, "done")
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
        self._conversation.append(Reviewed(file.path, await self._as_version(baseline, open_now.agents), agents, "kept", 1))
        return Decided(file.path, "done")

    async def undo_turn(self, file: ChangedFile, open_now: Looked | None) -> Decided:
        """Takes back what a turn changed in the file; what came before and after it stays. Raises `StoreFailed`."""
        looked = await self._looking.look(OpenChange(file.path, file.before, file.after))
        if looked is None:
            return Decided(file.path, "done", NOTHING_LEFT)

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

        return await self._undo(looked, None, left)

    async def _texts(self, file: ChangedFile) -> tuple[str, str] | None:
        def read() -> list[str | None]:
            return ["" if each is None else self._looking.text(each) for each in (file.before, file.after)]

        before, after = await asyncio.to_thread(read)
        return None if before is None or after is None else (before, after)

    # What is written

    async def _undo(self, looked: Looked, hunk: OpenHunk | None, left: Callable[[], Awaitable[_Left | None]]) -> Decided:
        path, texts = looked.change.path, looked.texts
        if (hunk is not None and hunk.edited) or (texts is not None and all(each.edited for each in texts.hunks)):
            return Decided(path, "conflict", EDITED)
        if texts is None and not looked.can_undo:
            return Decided(path, "conflict", looked.note or NO_VERSION)
        try:
            written = await self._written(looked, hunk)
        except ChangedMeanwhile:
            return Decided(path, "conflict", CHANGED_MEANWHILE)
        except (EditorRefused, EditorChanged):
            return Decided(path, "conflict", EDITOR_REFUSED)
        except (OSError, NotEncodable, OutsideWorkspace) as error:
            return Decided(path, "conflict", f"It cannot be written: {getattr(error, 'strerror', None) or error}")
        entries: list[Entry] = [FilesChanged((written.change,), None)]
        versions = await left()
        if versions is not None:
            entries.append(Reviewed(path, *versions, "undone", written.hunks))
        self._conversation.append_all(entries)
        self._notice(path)
        return Decided(path, "done", SOME_EDITED if written.stays else "")

    async def _written(self, looked: Looked, hunk: OpenHunk | None) -> _Written:
        texts, files = looked.texts, self._surroundings.files
        before = None if looked.now is None else await self._kept(looked.now)
        hunks, stays = 1, False
        is_whole = texts is None or hunk is None or len(texts.hunks) == 1
        if texts is None or (is_whole and looked.is_as_agent_left_it and _needs_bytes(looked)):
            after = _content_of(looked)  # and not what an editor still shows of a file that is gone
            await files.put(looked.where, after, looked.now)
        else:
            taken = [each for each in texts.hunks if not each.edited] if hunk is None else [hunk]
            hunks, stays = len(taken), hunk is None and len(taken) < len(texts.hunks)
            text = texts.undo([each.id for each in taken])[0]
            now = "" if looked.now_text is None else looked.now_text.text
            await files.write(looked.where, text, text_sha256(now))
            after = await files.content(looked.where, MAXIMUM_BYTES)
        self._surroundings.written.note(looked.where)  # a command that runs has not done it
        changed = ChangedFile(looked.change.path, before, None if after is None else await self._kept(after))
        return _Written(changed, hunks, stays)

    async def _kept(self, content: Content) -> FileVersion:
        return await asyncio.to_thread(self._surroundings.versions.keep, content.data, executable=content.executable)

    async def _as_version(self, baseline: Baseline, like: Side) -> FileVersion | None:
        return await self._version(baseline.text, like) if isinstance(baseline, CarriedText) else baseline

    async def _version(self, text: str, *like: Side) -> FileVersion:
        """A text as a version, with the encoding and the line ends of the first of these that is a text."""
        known = next((side.text for side in like if side.text is not None), None)
        return await asyncio.to_thread(lambda: self._surroundings.versions.keep(bytes_of(text, known)))


def _needs_bytes(looked: Looked) -> bool:
    """Whether the lines alone do not bring the baseline back: the file was made, or its encoding, line ends or mode are others."""
    baseline, agents = looked.baseline.text, looked.agents.text
    version, made = looked.settled.baseline, looked.settled.agents
    if version is None or baseline is None or agents is None:
        return True
    if isinstance(version, FileVersion) and made is not None and version.executable != made.executable:
        return True
    return (baseline.encoding, baseline.newline) != (agents.encoding, agents.newline)


def _content_of(looked: Looked) -> Content | None:
    version = looked.settled.baseline
    if looked.baseline.data is None or version is None:
        return None
    if isinstance(version, CarriedText):
        return Content(bytes_of(version.text, looked.baseline.text))
    return Content(looked.baseline.data, version.executable)
