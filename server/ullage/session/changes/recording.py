"""Recording what each call of a tool changes in the workspace: the versions of files before and after it.

- Of an edit (`edit_file`, `write_file`) it is the file that was allowed, as the user sees it: of an open document the text in the editor.
- Of a command it is what a scan finds after it that was not so before it (`scanning.py`), without the files that the user saved meanwhile.
  A command that is known to only read is not scanned.

The content before is durable before the call runs. What changed goes into the entry of its result, in the same write. So a result that is
in the log tells of all that was changed. Of a call without a result the store still knows that it was begun (`Versions.begun`).

Nothing of this stops a call: what cannot be recorded is named in the entry, with the reason, as what cannot be gone back to.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ullage.context.change_entries import ChangedFile, FilesChanged, FileVersion, Uncovered
from ullage.context.entries import Logged, ToolReturned, files_changed
from ullage.session.changes.scanning import IGNORED, LARGEST_BYTES, ORDINARY, TOO_LARGE, NotScanned, Scan
from ullage.session.conversation import Conversation
from ullage.session.long_work import Background, to_its_end
from ullage.session.surroundings import Surroundings
from ullage.session.timeline.items import NoticeItem, new_id
from ullage.store.errors import StoreFailed
from ullage.store.versions import GOING_BACK, UNDOING, Begun
from ullage.tools.tool import PermissionNeed, ToolKind
from ullage.workspace.ignore import IgnoreRules
from ullage.workspace.text_file import FileTooLarge, NotEncodable

WHOLE_WORKSPACE = "./"
"""The path of what is not covered where a command was run and nothing could be looked through."""

CANNOT = "A change of this call cannot be taken back by Ullage: {}."
LOST = "The copies of earlier versions of files could not be read. They lie in {}. What was changed before now cannot be taken back."

CUT_OFF_SEARCHED = 200
"""Entries at the end of a log that are looked through for the result of a call that was cut off: it is in the last turn."""


@dataclass(slots=True)
class CallChanges:
    """What one call changed; known when it has ended."""

    tool_use_id: str
    files: tuple[ChangedFile, ...] = ()
    uncovered: tuple[Uncovered, ...] = ()


@dataclass(slots=True)
class _Before:
    """The scan that the changes of a running command are told against: that before the command, or a later one if what changed by then is
    told already."""

    scan: Scan


class NotCovered(Exception):
    """A file that cannot be gone back to; `str()` says why."""


class Recording:
    """Records what the calls of one session change."""

    def __init__(self, conversation: Conversation, surroundings: Surroundings) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._logged: list[str] = []
        """Calls whose notes are no longer needed; these are deleted with the next note that is written."""
        self._ahead: asyncio.Task[None] | None = None
        self._told = set[str]()
        self._commands = set[str]()
        """The ids of the commands whose changes are not logged yet."""
        self._background = Background()
        self._going_on = dict[str, _Before]()
        """The commands that run, by the id of their call."""

    @asynccontextmanager
    async def around(self, changes: CallChanges, kind: ToolKind, allowed: PermissionNeed | None) -> AsyncGenerator[None]:
        """Stands around the run of one call, and fills in `changes` at its end.

        If the call is stopped, they go into an entry of their own, since its result says only that it was stopped.
        """
        async with self._around(changes, kind, allowed):
            yield
        self._tell(changes)

    @asynccontextmanager
    async def _around(self, changes: CallChanges, kind: ToolKind, allowed: PermissionNeed | None) -> AsyncGenerator[None]:
        if kind == "execute" and (allowed is None or not allowed.harmless):
            recording = self._command(changes)
        elif kind == "edit" and allowed is not None and allowed.target is not None:
            recording = self._edit(changes, allowed.target)
        else:
            yield
            return
        try:
            async with recording:
                yield
        except asyncio.CancelledError:
            if changes.files or changes.uncovered:
                self._conversation.append_or_owe(FilesChanged(changes.files, changes.tool_use_id, changes.uncovered))
            self.logged(changes.tool_use_id)
            raise

    def ended_later(self, changes: CallChanges) -> None:
        """Logs, in an entry of its own, what a command changed that went on after its call and has ended now. Others worked meanwhile, and
        nobody can tell whose each change is."""
        if changes.files or changes.uncovered:
            files = tuple(replace(each, shared=True) for each in changes.files)
            self._conversation.append_or_owe(FilesChanged(files, changes.tool_use_id, changes.uncovered))
        self.logged(changes.tool_use_id)

    def for_result(self, changes: CallChanges) -> CallChanges:
        """The changes that go into the entry of the call's result: all of them."""
        return changes

    def ahead(self, kind: ToolKind) -> None:
        """Begins the first scan if a command is about to be asked for: in a large workspace it takes seconds."""
        if kind == "execute" and self._ahead is None:
            self._ahead = asyncio.create_task(asyncio.to_thread(self._surroundings.scanner.ahead))

    def _tell(self, changes: CallChanges) -> None:
        """Says in the conversation what is wrong where something cannot be taken back; each reason once."""
        aside = self._surroundings.versions.set_aside
        said = {LOST.format(aside)} if aside is not None else set[str]()
        said |= {CANNOT.format(each.why) for each in changes.uncovered if each.why not in ORDINARY}
        for text in sorted(said - self._told):
            self._told.add(text)
            self._conversation.timeline.put(NoticeItem(new_id("n"), self._conversation.clock(), "warning", text))

    def logged(self, tool_use_id: str) -> None:
        """Tells that the log has what that call changed, so that its note is no longer needed."""
        self._logged.append(tool_use_id)
        self._surroundings.scanner.logged(tool_use_id)
        if tool_use_id in self._commands:  # other windows go by it
            self._commands.discard(tool_use_id)
            self._background.keep(self._forget_logged())

    async def close(self) -> None:
        """Waits for what is under way, and deletes the notes of what is in the log."""
        if self._ahead is not None:
            await asyncio.wait({self._ahead})
        await self._background.close()
        await self._forget_logged()

    async def _forget_logged(self) -> None:
        ended, self._logged = self._logged, []
        if ended:
            with suppress(StoreFailed):  # they are looked at again at the next start
                await asyncio.to_thread(self._surroundings.versions.ended, self._conversation.session_id, ended)

    # Edits

    @asynccontextmanager
    async def _edit(self, changes: CallChanges, target: Path) -> AsyncGenerator[None]:
        path = self._surroundings.folders.show(target)
        try:
            before = await self._version(target, changes.tool_use_id)
        except NotCovered as why:
            changes.uncovered = (Uncovered(path, str(why)),)
            yield
            return

        async def compare() -> None:
            try:
                after = await self._version(target)
            except NotCovered as why:
                changes.uncovered = (Uncovered(path, str(why)),)
            else:
                changes.files = (ChangedFile(path, before, after),) if after != before else ()

        try:
            yield
        finally:
            self._surroundings.written.note(target)
            await to_its_end(compare())

    async def _version(self, path: Path, begun: str | None = None) -> FileVersion | None:
        """Keeps the file as it is now, and gives that version; None if there is no file. With the id of a call in `begun` it is noted, too,
        that this call begins. Raises `NotCovered`."""
        around = self._surroundings
        if await asyncio.to_thread(self._ignores, path):
            raise NotCovered(IGNORED)
        try:
            content = await around.files.content(path, LARGEST_BYTES)
        except FileTooLarge:
            raise NotCovered(TOO_LARGE) from None
        except (OSError, NotEncodable) as error:
            raise NotCovered(f"it cannot be read: {getattr(error, 'strerror', None) or error}") from error

        def keep() -> FileVersion | None:
            version = None if content is None else around.versions.keep(content.data, executable=content.executable)
            if begun is not None:
                self._begin(Begun(self._conversation.session_id, begun, str(path), version))
            return version

        try:
            return await asyncio.to_thread(keep)
        except StoreFailed as error:
            raise NotCovered(str(error).removesuffix(".")) from error

    def _ignores(self, path: Path) -> bool:
        return IgnoreRules(self._surroundings.folders.roots).ignores(path, is_folder=False)

    # Commands

    @asynccontextmanager
    async def _command(self, changes: CallChanges) -> AsyncGenerator[None]:
        around = self._surroundings

        def look() -> Scan:
            begun = Begun(self._conversation.session_id, changes.tool_use_id)
            return around.scanner.before(changes.tool_use_id, lambda: self._begin(begun))

        def compare() -> None:
            try:
                found = around.scanner.after(changes.tool_use_id, before.scan, frozenset(written))
                around.versions.name(_versions_in(found.files))
            except (NotScanned, StoreFailed) as error:
                changes.uncovered = (_nothing_of(error),)
            else:
                changes.files, changes.uncovered = found.files, found.uncovered
                for each in self._going_on.values():  # a change that is told of one call is not told of another
                    each.scan = around.scanner.newest

        self._commands.add(changes.tool_use_id)
        with around.written.watch() as written:
            try:
                before = _Before(await asyncio.to_thread(look))
            except NotScanned as error:
                changes.uncovered = (_nothing_of(error),)
                yield
                return
            self._going_on[changes.tool_use_id] = before
            try:
                yield
            finally:
                del self._going_on[changes.tool_use_id]
                await to_its_end(asyncio.to_thread(compare))

    def _begin(self, begun: Begun) -> None:
        self._surroundings.scanner.begun_here.add(begun.tool_use_id)
        ended, self._logged = self._logged, []
        if ended:
            self._surroundings.versions.ended(begun.session_id, ended)
        self._surroundings.versions.begin(begun)

    # After a crash

    async def record_cut_off(self) -> None:
        """Logs what calls changed that never came to their end, since the process was killed.

        What was changed from then to now is taken for theirs: nobody can tell it apart.
        """
        session_id, versions = self._conversation.session_id, self._surroundings.versions
        try:
            begun = await asyncio.to_thread(versions.begun, session_id)
            done = _told_of(self._conversation.entries[-CUT_OFF_SEARCHED:]) if begun else frozenset[str]()
            for each in begun:
                calls = each.tool_use_id not in done and each.tool_use_id not in self._surroundings.scanner.begun_here
                if calls and not _is_by_user(each):
                    await self._log_cut_off(each)
            await self._log_by_user([each for each in begun if _is_by_user(each)])
            if begun:
                await asyncio.to_thread(versions.ended, session_id)
        except StoreFailed:  # it is found out at the next start
            return

    async def _log_by_user(self, begun: Sequence[Begun]) -> None:
        """Logs the files that were written before a crash while the user went back, or took changes back."""
        if not begun:
            return
        newest = next((found for each in reversed(self._conversation.entries) if (found := files_changed(each.entry)) is not None), None)
        written: list[ChangedFile] = []
        for each in begun:
            with suppress(NotCovered):
                written += await self._changed_since(each)
        if not written or (newest is not None and newest.tool_use_id is None and set(written) <= set(newest.files)):
            return
        id = begun[0].tool_use_id
        gone_back_to = id.removeprefix(GOING_BACK) if id.startswith(GOING_BACK) else ""
        self._conversation.append(FilesChanged(tuple(written), None, gone_back_to=gone_back_to))

    async def _changed_since(self, begun: Begun) -> tuple[ChangedFile, ...]:
        where = Path(begun.path or "")
        after = await self._version(where)
        return () if after == begun.before else (ChangedFile(self._surroundings.folders.show(where), begun.before, after),)

    async def _log_cut_off(self, begun: Begun) -> None:
        changes = CallChanges(begun.tool_use_id)
        if begun.path is None:
            await asyncio.to_thread(self._look_after_crash, changes)
        else:
            try:
                changes.files = await self._changed_since(begun)
            except NotCovered as why:
                changes.uncovered = (Uncovered(self._surroundings.folders.show(Path(begun.path)), str(why)),)
        if changes.files or changes.uncovered:
            self._conversation.append(FilesChanged(changes.files, begun.tool_use_id, changes.uncovered))

    def _look_after_crash(self, changes: CallChanges) -> None:
        try:
            found = self._surroundings.scanner.since_last_run()
        except NotScanned as error:
            changes.uncovered = (_nothing_of(error),)
            return
        self._surroundings.versions.name(_versions_in(found.files))
        changes.files, changes.uncovered = found.files, found.uncovered


class AgentsRecording:
    """Records what the calls of a sub-agent change. The log of its parent tells of it, under ids that no call of that log has: there the
    user reviews it, goes back over it and takes it back. The sub-agent's own log does not tell it a second time."""

    def __init__(self, parents: Recording, parent: Conversation, agent_id: str, told: Callable[[Iterable[str]], None]) -> None:
        """`told` gets the paths of files that were changed."""
        self._parents = parents
        self._parent = parent
        self._agent_id = agent_id
        self._told = told

    def _as_parents(self, changes: CallChanges) -> CallChanges:
        return replace(changes, tool_use_id=f"{self._agent_id}{_OF_AGENT}{changes.tool_use_id}")

    @asynccontextmanager
    async def around(self, changes: CallChanges, kind: ToolKind, allowed: PermissionNeed | None) -> AsyncGenerator[None]:
        """Stands around the run of one call, and fills in `changes` at its end. If the call is stopped, the parent's log tells of them at
        once."""
        parents = self._as_parents(changes)
        try:
            async with self._parents.around(parents, kind, allowed):
                yield
        finally:
            changes.files, changes.uncovered = parents.files, parents.uncovered
            self._told(each.path for each in changes.files)

    def for_result(self, changes: CallChanges) -> CallChanges:
        """The changes that go into the entry of the call's result: none, since this puts them into the parent's log."""
        if changes.files or changes.uncovered:
            parents = self._as_parents(changes)
            self._parent.append_or_owe(FilesChanged(changes.files, parents.tool_use_id, changes.uncovered))
        return CallChanges(changes.tool_use_id)

    def ended_later(self, changes: CallChanges) -> None:
        """Puts into the parent's log what a command changed that went on after its call and has ended now."""
        self._parents.ended_later(self._as_parents(changes))

    def ahead(self, kind: ToolKind) -> None:
        """Begins the first scan if a command is about to be asked for."""
        self._parents.ahead(kind)

    def logged(self, tool_use_id: str) -> None:
        """Tells that the parent's log has what that call changed."""
        self._parents.logged(self._as_parents(CallChanges(tool_use_id)).tool_use_id)


_OF_AGENT = "/"
"""Between the id of a sub-agent and that of its call. No model can give a call such an id (`valid_id`)."""


def is_of_agent(tool_use_id: str, agent_id: str) -> bool:
    """Whether a change that the log of a session tells of was made by that sub-agent of it."""
    return tool_use_id.startswith(f"{agent_id}{_OF_AGENT}")


def _is_by_user(begun: Begun) -> bool:
    return begun.tool_use_id == UNDOING or begun.tool_use_id.startswith(GOING_BACK)


def _told_of(entries: Iterable[Logged]) -> frozenset[str]:
    """The ids of the calls whose changes are in the log. A result that only says of a call that it was cut off does not count: it has no
    time at which the call began."""
    found = set[str]()
    for each in entries:
        match each.entry:
            case FilesChanged(tool_use_id=str(tool_use_id)):
                found.add(tool_use_id)
            case ToolReturned(goes_on="") as returned if returned.began is not None:
                found.add(returned.tool_use_id)
            case _:
                pass
    return frozenset(found)


def _versions_in(files: Iterable[ChangedFile]) -> list[FileVersion | None]:
    return [version for each in files for version in (each.before, each.after)]


def _nothing_of(error: Exception) -> Uncovered:
    return Uncovered(WHOLE_WORKSPACE, str(error).removesuffix("."))
