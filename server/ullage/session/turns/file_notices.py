"""What the model is told, before the next call, of files and rules that have changed since it saw them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ullage.context.compaction_entries import RestoredFile
from ullage.context.entries import FileTouch, Notice
from ullage.context.quoting import in_a_line
from ullage.session.compacting.restoring import Restoring
from ullage.session.instructions.in_force import RulesInForce
from ullage.session.surroundings import Surroundings
from ullage.workspace.folders import OutsideWorkspace
from ullage.workspace.text_file import FileTooLarge, NotText
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
        """Tells that a file was changed, by whomever."""
        self._suspects[path] = None

    async def take(self) -> tuple[Notice, ...]:
        """The notices of what the model has to be told now; empty if nothing that it saw is different. They count as told."""
        suspects, self._suspects = list(self._suspects), {}
        rules = self._rules.changed(suspects)
        changed, renewed = await self._differing(suspects)
        for path, (sha256, _) in changed.items():
            self._reads.tell(path, sha256)
        for file in renewed:
            self._reads.saw(_touch(file))
        return tuple(_told(rules, changed, renewed))

    async def coming(self) -> tuple[Notice, ...]:
        """The notices that `take` would give now. They do not count as told."""
        suspects = list(self._suspects)
        return tuple(_told(self._rules.changing(suspects), *await self._differing(suspects)))

    async def _differing(self, suspects: Iterable[str]) -> tuple[dict[str, tuple[str, str]], list[RestoredFile]]:
        """The files that the agent saw and that are others now, by path, each with its hash and a word about what became of it; and those
        of them that were read again just before."""
        changed = {path: now for path in suspects if (now := await self._now_where_changed(path)) is not None}
        return changed, [file for path, (_, how) in changed.items() if how and (file := await self._restoring.renewed(path)) is not None]

    async def _now_where_changed(self, path: str) -> tuple[str, str] | None:
        """The hash of a file that the agent saw with another text than it was told of last, and a word about it; the word is empty if the
        file is back at the text that the agent saw. None for any other file."""
        if path not in self._reads.paths():
            return None
        sha256, how = await self._now(path)
        news = self._reads.news_of(path, sha256)
        return None if news is None else (sha256, how if news == "changed" else "")

    async def _now(self, path: str) -> tuple[str, str]:
        try:
            current = await self._surroundings.files.read(self._surroundings.folders.resolve(path))
        except FileNotFoundError:
            return "", "was deleted or renamed"
        except (OSError, OutsideWorkspace, NotText, FileTooLarge):
            return "", "can no longer be read as text"
        return current.sha256, "has unsaved changes in the editor" if current.unsaved else "has another text on disk"


def _touch(file: RestoredFile) -> FileTouch:
    return FileTouch(file.path, "read", file.sha256, not file.whole)


def _told(rules: Iterable[str], changed: Mapping[str, tuple[str, str]], renewed: Sequence[RestoredFile]) -> Iterator[Notice]:
    yield from (Notice("rules", text) for text in rules)
    yield from (Notice("file_changed", f"{RENEWED}\n{file.text}", (_touch(file),)) for file in renewed)
    again = {file.path for file in renewed}
    lines = [f"- {in_a_line(path)} {how}" for path, (_, how) in changed.items() if how and path not in again]
    if lines:
        yield Notice("file_changed", "\n".join((CHANGED, *lines)))
