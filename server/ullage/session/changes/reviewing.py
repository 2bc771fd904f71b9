"""What the agent changed in files: listed, told whenever it is something else, kept and undone on request.

What is open is a fold over the log (`context/changes/review.py`). `looking.py` compares a file as it is now with it, `deciding.py` writes
and logs what follows.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ullage.context.change_entries import ChangedFile
from ullage.context.changes.hunks import OpenHunk
from ullage.context.changes.review import Review, TurnChanges
from ullage.context.entries import Logged
from ullage.session.changes.deciding import NOTHING_LEFT, Deciding
from ullage.session.changes.looking import FileUnderReview, Looking
from ullage.session.changes.progress import STOPPED, ManyFiles
from ullage.session.changes.shown import NOTHING_OPEN, DecidedFile, OpenChanges, OpenTurn, ShownFile, ShownTurn
from ullage.session.conversation import Conversation
from ullage.session.errors import SessionError
from ullage.session.surroundings import Surroundings
from ullage.store.errors import StoreFailed
from ullage.workspace.folders import OutsideWorkspace

logger = logging.getLogger(__name__)

MOST_FILES = 500
"""Most files that an update lists. Nobody reads through more, and a command can change thousands."""

MOST_TURNS = 200
"""Most turns that are listed: the newest ones."""

LOOK_AFTER_SECONDS = 0.3
"""How long after a change of a file its hunks are looked for again, since the user may still be typing."""

NO_SUCH_FILE = "{} has no open changes of the agent"
NO_SUCH_HUNK = "This change is no longer open, or the file was changed meanwhile"
NO_SUCH_TURN = "There is no turn {} that changed files"
NOT_IN_TURN = "{} was not changed in this turn"
WHOLE_ONLY = "Of this file only all changes together can be kept or undone"
KEEPING = "Keeping the agent's changes"
UNDOING = "Undoing the agent's changes"
NO_TEXT = "{} was no text then, or it is no longer kept"


class Reviewing:
    """The changes of one session. `tell` gets what is open whenever that has changed, `notice` the path of a file that an undo changed."""

    def __init__(
        self,
        conversation: Conversation,
        surroundings: Surroundings,
        entries: Iterable[Logged],
        tell: Callable[[OpenChanges], None],
        notice: Callable[[str], None],
    ) -> None:
        self._folders = surroundings.folders
        self._tell = tell
        self._show_progress = surroundings.show_progress
        self._looking = Looking(surroundings)
        self._deciding = Deciding(conversation, surroundings, self._looking, notice)
        self._review = Review()
        for logged in entries:
            self._review.add(logged)
        self._looked: dict[str, FileUnderReview] = {}
        self._counted: dict[ChangedFile, ShownFile | None] = {}
        self._unsure = dict.fromkeys(self._review.open)
        """Files to look at before the next update."""
        self._one_at_a_time = asyncio.Lock()
        self._following: asyncio.Task[None] | None = None
        self._told: list[ShownFile] = []
        self.shown = NOTHING_OPEN
        """The open changes as `tell` got them last."""

    # What happens around it

    def follow(self) -> None:
        """Looks at all files with open changes. To be called once the session is open."""
        if self._unsure:
            self._look(0.0)

    def logged(self, logged: Logged) -> None:
        """Takes in an entry that was logged, and looks at the files whose open changes are others by it."""
        before = dict(self._review.open)
        if self._review.add(logged):
            now = self._review.open
            self._unsure |= {path: None for path in before | now if before.get(path) is not now.get(path)}
            self._look(0.0)

    def file_changed(self, path: str) -> None:
        """Tells that a file was changed, by whomever: if it has open changes, it is looked at again."""
        if path in self._review.open:
            self._unsure[path] = None
            self._look(LOOK_AFTER_SECONDS)

    async def close(self) -> None:
        """Stops looking at files. What is being decided has ended when this returns."""
        if self._following is not None:
            self._following.cancel()
        async with self._one_at_a_time:
            pass

    def _look(self, pause: float) -> None:
        if self._following is None or self._following.done():
            self._following = asyncio.create_task(self._follow(pause))

    async def _follow(self, pause: float) -> None:
        await asyncio.sleep(pause)
        while self._unsure:
            paths, self._unsure = self._unsure, {}
            for path in paths:
                try:
                    await self._look_at(path)
                except StoreFailed as error:
                    logger.warning("the changes of %s cannot be shown: %s", path, error)
        self._show()

    async def _look_at(self, path: str) -> FileUnderReview | None:
        change = self._review.open.get(path)
        found = None if change is None else await self._looking.look(change, self._looked.get(path))
        if found is None:
            self._looked.pop(path, None)
        else:
            self._looked[path] = found
        return found

    def _show(self) -> None:
        files = [looked.shown for path in self._review.open if (looked := self._looked.get(path)) is not None]
        turns = self._open_turns()
        if files == self._told and turns == self.shown.turns:
            return
        self._told = files  # with their hunks: where only these have moved, a client that shows them asks again
        self.shown = OpenChanges(
            tuple(replace(file, hunks=()) for file in files[:MOST_FILES]),
            len(files),
            sum(file.added for file in files),
            sum(file.removed for file in files),
            turns,
        )
        self._tell(self.shown)

    def _open_turns(self) -> tuple[OpenTurn, ...]:
        counts = Counter(turn_id for path in self._looked for turn_id in self._review.open_turns(path))
        newest = [turn for turn in self._review.turns.values() if turn.turn_id in counts][-MOST_TURNS:]
        return tuple(OpenTurn(turn.turn_id, turn.title, counts[turn.turn_id]) for turn in newest)

    # What the user asks

    async def open_files(self, named: str | None = None) -> list[ShownFile]:
        """The files with open changes and their hunks; only that file, if one is named. Raises `StoreFailed`."""
        path = None if named is None else self._path(named)
        found = [await self._look_at(each) for each in list(self._review.open) if path is None or each == path]
        return [looked.shown for looked in found if looked is not None]

    async def turns(self, turn_id: str | None = None) -> list[ShownTurn]:
        """What the newest turns changed, the oldest first; only that turn, if one is named. Raises `StoreFailed`, `SessionError`."""
        newest = list(self._review.turns.values())[-MOST_TURNS:] if turn_id is None else [self._turn_of(turn_id)]
        return await asyncio.to_thread(lambda: [self._turn(each) for each in newest])

    def _turn(self, turn: TurnChanges) -> ShownTurn:
        files: list[ShownFile] = []
        for each in list(turn.files.values()):
            if each not in self._counted:
                self._counted[each] = self._looking.turn_file(each)
            shown = self._counted[each]
            if shown is not None:
                files.append(shown)
        return ShownTurn(turn.turn_id, turn.title, turn.at, tuple(files), tuple(turn.uncovered.values()))

    async def version_text(self, named: str, turn_id: str | None = None) -> str | None:
        """The text of a file before a turn; without a turn, the text to be shown beside that of now. None if there was no file.

        Raises `SessionError`, `StoreFailed`.
        """
        path = self._path(named)
        if turn_id is not None:
            file = self._turn_of(turn_id).files.get(path)
            if file is None:
                raise SessionError("invalid", NOT_IN_TURN.format(path))
            return None if file.before is None else _shown_text(path, await asyncio.to_thread(self._looking.text, file.before))
        looked = await self._look_at(path)
        if looked is None:
            raise SessionError("invalid", NO_SUCH_FILE.format(path))
        if looked.texts is not None:
            return looked.texts.left
        if looked.settled.baseline is None:
            return None
        return _shown_text(path, looked.baseline.words if looked.baseline.data is not None else None)

    # What the user decides

    async def keep(self, path: str | None = None, hunk_id: str | None = None, turn_id: str | None = None) -> list[DecidedFile]:
        """Accepts changes: all, those of a turn, of a file, or one hunk of it. Raises `SessionError`, `StoreFailed`."""
        return await self._decide(path, hunk_id, turn_id, keep=True)

    async def undo(self, path: str | None = None, hunk_id: str | None = None, turn_id: str | None = None) -> list[DecidedFile]:
        """Takes changes back: all, those of a turn, of a file, or one hunk of it. Lines that the user changed since stay as they are.
        Raises `SessionError`, `StoreFailed`."""
        return await self._decide(path, hunk_id, turn_id, keep=False)

    async def _decide(self, named: str | None, hunk_id: str | None, turn_id: str | None, *, keep: bool) -> list[DecidedFile]:
        if hunk_id is not None and (named is None or turn_id is not None):
            raise SessionError("invalid", "Name the file that the change is in, and no turn")
        path = None if named is None else self._path(named)
        async with self._one_at_a_time:
            if turn_id is not None:
                files = self._turn_of(turn_id).files
                if path is not None and path not in files:
                    raise SessionError("invalid", NOT_IN_TURN.format(path))
                chosen = [file for file in list(files.values()) if path is None or file.path == path]
                return await self._decide_turn(turn_id, chosen, keep=keep)
            if path is not None and path not in self._review.open:
                raise SessionError("invalid", NO_SUCH_FILE.format(path))
            return await self._decide_files([path] if path is not None else list(self._review.open), hunk_id, keep=keep)

    async def _decide_files(self, paths: Sequence[str], hunk_id: str | None, *, keep: bool) -> list[DecidedFile]:
        decided: list[DecidedFile] = []
        with self._many(keep=keep) as many:
            for batch in many.batches(paths):
                found = [looked for each in batch if (looked := await self._look_at(each)) is not None]
                chosen = [(looked, _hunk_of(looked, hunk_id)) for looked in found]
                decided += [missing for _, missing in chosen if isinstance(missing, DecidedFile)]
                wanted = [(looked, hunk) for looked, hunk in chosen if not isinstance(hunk, DecidedFile)]
                if keep:
                    await self._deciding.log_kept([await self._deciding.keep(*each) for each in wanted])
                    decided += [DecidedFile(looked.change.path, "done") for looked, _ in wanted]
                else:
                    decided += await self._deciding.undo_all([self._deciding.undo(*each) for each in wanted])
        return [*decided, *self._left_out(decided, paths if many.is_stopped else ())]

    async def _decide_turn(self, turn_id: str, files: Sequence[ChangedFile], *, keep: bool) -> list[DecidedFile]:
        decided: list[DecidedFile] = []
        with self._many(keep=keep) as many:
            for batch in many.batches(files):
                found = [(each, await self._look_at(each.path)) for each in batch]
                if keep:
                    kept = [await self._deciding.keep_turn(turn_id, *each) for each in found]
                    await self._deciding.log_kept([each for each in kept if each is not None])
                    decided += [DecidedFile(each.path, "done") for each in batch]
                else:
                    undos = [(each, await self._deciding.undo_turn(turn_id, each, open_now)) for each, open_now in found]
                    decided += [DecidedFile(each.path, "done", NOTHING_LEFT) for each, undo in undos if undo is None]
                    decided += await self._deciding.undo_all([undo for _, undo in undos if undo is not None])
        return [*decided, *self._left_out(decided, [each.path for each in files] if many.is_stopped else ())]

    def _many(self, *, keep: bool) -> ManyFiles:
        return ManyFiles(self._show_progress, KEEPING if keep else UNDOING)

    def _left_out(self, decided: Sequence[DecidedFile], paths: Sequence[str]) -> list[DecidedFile]:
        done = {each.path for each in decided}
        return [DecidedFile(path, "conflict", STOPPED) for path in paths if path not in done and path in self._review.open]

    def _turn_of(self, turn_id: str) -> TurnChanges:
        turn = self._review.turns.get(turn_id)
        if turn is None:
            raise SessionError("no_such_item", NO_SUCH_TURN.format(turn_id))
        return turn

    def _path(self, named: str) -> str:
        """The path of a file as the log names it."""
        if named in self._review.open:
            return named
        try:
            return self._folders.show(self._folders.resolve(named))
        except OutsideWorkspace:
            return named


def _hunk_of(looked: FileUnderReview, hunk_id: str | None) -> OpenHunk | DecidedFile | None:
    """The open hunk of that id; None without an id. If there is no such hunk, what the user is told of the file."""
    if hunk_id is None:
        return None
    hunks = () if looked.texts is None else looked.texts.hunks
    hunk = next((each for each in hunks if each.id == hunk_id), None)
    return hunk or DecidedFile(looked.change.path, "conflict", WHOLE_ONLY if looked.texts is None else NO_SUCH_HUNK)


def _shown_text(path: str, text: str | None) -> str:
    if text is None:
        raise SessionError("invalid", NO_TEXT.format(path))
    return text
