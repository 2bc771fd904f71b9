"""Telling the model that a file or a rule changed under it: appended before the next model call, once for each new text."""

from __future__ import annotations

from ullage.context.entries import FileTouch, Notice, RestoredFile
from ullage.context.quoting import in_a_line
from ullage.session.compacting.restoring import Restoring
from ullage.session.prelude import RulesInForce
from ullage.session.surroundings import Surroundings
from ullage.workspace.folders import OutsideWorkspace
from ullage.workspace.text_file import NotText, TooLarge
from ullage.workspace.touched import FileReads

CHANGED = "Changed since you last saw it (read again before you rely on it or edit it):"


RENEWED = "Changed once more since it was read again; now it is:"


class FileNotices:
    """Collects which files may have changed since the agent of one session read them."""

    def __init__(self, surroundings: Surroundings, reads: FileReads, rules: RulesInForce, restoring: Restoring) -> None:
        self._surroundings = surroundings
        self._reads = reads
        self._rules = rules
        self._restoring = restoring
        self._suspects: dict[str, None] = {}

    def changed(self, path: str) -> None:
        """A file was changed, by whomever."""
        self._suspects[path] = None

    async def take(self) -> tuple[Notice, ...]:
        """What the model has to be told now; empty where nothing that it saw is different."""
        suspects, self._suspects = list(self._suspects), {}
        rules = [text for path in suspects if (text := self._rules.changed(path))]
        changed = {path: how for path in suspects if (how := await self._how_changed(path))}
        renewed = [file for path in changed if (file := await self._restoring.renewed(path)) is not None]
        for file in renewed:
            del changed[file.path]
        notices = [Notice("rules", text) for text in rules]
        notices += [self._renewed(file) for file in renewed]
        if changed:
            lines = (f"- {in_a_line(path)} {how}" for path, how in changed.items())
            notices.append(Notice("file_changed", "\n".join((CHANGED, *lines))))
        return tuple(notices)

    def _renewed(self, file: RestoredFile) -> Notice:
        touch = FileTouch(file.path, "read", file.sha256, not file.whole)
        self._reads.saw(touch)
        return Notice("file_changed", f"{RENEWED}\n{file.text}", (touch,))

    async def _how_changed(self, path: str) -> str:
        """What became of a file that the agent saw; empty where it is as the agent knows it, or was told already."""
        if path not in self._reads.paths():
            return ""
        sha256, how = await self._now(path)
        return how if self._reads.newly_changed(path, sha256) else ""

    async def _now(self, path: str) -> tuple[str, str]:
        try:
            current = await self._surroundings.files.read(self._surroundings.folders.resolve(path))
        except FileNotFoundError:
            return "", "was deleted or renamed"
        except (OSError, OutsideWorkspace, NotText, TooLarge):
            return "", "can no longer be read as text"
        return current.sha256, "has unsaved changes in the editor" if current.unsaved else "has another text on disk"
