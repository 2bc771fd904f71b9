"""What the agent gets back after a summary: files that it is likely to need, the task list, rules, how to go on.

The signs that a file is in use come from everywhere: the log, recent edits, the editor, its language servers, git. Signs that take too long
to get are done without. What they weigh: `context/compaction/evidence.py`. How much of a file is shown: `restore.py` there.
"""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from ullage.context.compaction.evidence import FileEdit, Sign, SignKind, candidates, logged_edits, missed_elsewhere, signs_in
from ullage.context.compaction.restore import SEEN_RUN, Choosing, FileNow, looked_at, resume_text, take
from ullage.context.compaction.seen import SeenText, texts_in
from ullage.context.compaction_entries import Compaction, RestoredFile
from ullage.context.entries import AssistantReply, Logged
from ullage.context.policy import RestoreOptions
from ullage.context.quoting import in_a_line
from ullage.context.view.fates import touches_in_view
from ullage.context.view.projection import Projection
from ullage.context.view.quotations import files_out
from ullage.session.conversation import Conversation
from ullage.session.instructions.in_force import RulesInForce
from ullage.session.surroundings import Surroundings
from ullage.tools.rules.reading import ReadRulesNow
from ullage.tools.tool import PlanEntry
from ullage.workspace.folders import OutsideWorkspace
from ullage.workspace.git_status import uncommitted
from ullage.workspace.text_file import FileTooLarge, NotText
from ullage.workspace.touched import EditedBy, FileReads, RecentEdit

logger = logging.getLogger(__name__)

SECONDS = 1.0
"""Longest that the editor and git are waited for. A compaction that waits is felt; a few signs less are not."""

_BY: dict[EditedBy, SignKind] = {"agent": "edited", "user": "edited", "disk": "disk"}


class Restoring:
    """Restores for one session; keeps its `reads` true to what is in view."""

    def __init__(
        self,
        conversation: Conversation,
        surroundings: Surroundings,
        reads: FileReads,
        rules: RulesInForce,
        read_rules: ReadRulesNow,
        what_runs: Callable[[], str],
    ) -> None:
        """`what_runs` tells which commands go on in the background; empty if none do."""
        self._conversation = conversation
        self._surroundings = surroundings
        self._reads = reads
        self._rules = rules
        self._read_rules = read_rules
        self._what_runs = what_runs

    async def files(self, after: Projection, options: RestoreOptions, missed: Collection[str] = ()) -> tuple[RestoredFile, ...]:
        """The files that are likely to be needed, as they are now, unsaved text included, that `after` does not hold whole already.

        `missed` are those that other sessions of the workspace missed after their compactions.
        """
        edits = await self._edits()
        lines = {edit.path: edit.line for edit in edits}
        projection, last_edited = self._conversation.projection, options.by == "last edited"
        signs = [] if last_edited else await gathered(self._conversation.entries, self._surroundings)
        if signs:
            signs += signs_in(after.entries[-1:])  # what was missed since the compaction before, as the entry to be logged has it
            signs += missed_elsewhere(signs, missed)
        likely = candidates(signs, edits, options, projection.pins.paths, files_out(projection))
        edited = {edit.path for edit in edits}
        # In another thread: all that is in view is looked at, and so is each file.
        choosing = await asyncio.to_thread(Choosing, texts_in(projection.copy()), after, likely, edited, options)
        while (path := choosing.wants()) is not None:
            known = await self._text_of(path)
            await asyncio.to_thread(choosing.give, None if known is None else FileNow(*known, near_line=lines.get(path) or 0))
        return choosing.files

    async def renewed(self, path: str) -> RestoredFile | None:
        """A file that the newest compaction read again, as it is now; None for any other, and once the model has answered since.

        The user may have gone on typing in it: what was read again is then not what they mean.
        """
        known = await self._text_of(path) if path in just_restored(self._conversation.entries) else None
        if known is None or known[0] is None:
            return None
        text, sha256 = known[0], known[1]
        options = self._surroundings.policy.restore or RestoreOptions()
        line = next((edit.line for edit in self._surroundings.recent.latest() if edit.path == path), None)
        view = self._conversation.projection.copy()
        lines = await asyncio.to_thread(lambda: looked_at(text, line or 0, SeenText(texts_in(view), SEEN_RUN)))
        return take(path, text, lines, options, options.file_tokens, sha256)

    async def _edits(self) -> list[FileEdit]:
        """Edits seen since the server started, and those of the agent that only the log still knows (read in another thread)."""
        logged = await asyncio.to_thread(logged_edits, self._conversation.entries[:])
        seen = [FileEdit(edit.path, edit.at, edit.by, edit.line) for edit in self._surroundings.recent.latest()]
        known = {edit.path for edit in seen}
        return seen + [edit for edit in logged if edit.path not in known]

    async def _text_of(self, path: str) -> tuple[str | None, str] | None:
        """The text and the hash of a file; the text is None if the file is gone. None if it is no text that could be shown, or may not be
        read."""
        try:
            resolved = self._surroundings.folders.resolve(path)
            if self._read_rules().refusing(resolved, path) is not None:
                return None
            current = await self._surroundings.files.read(resolved)
        except FileNotFoundError:
            return None, ""
        except (OSError, OutsideWorkspace, NotText, FileTooLarge):
            return None
        return current.text, current.sha256

    def resume(self, *, at_work: bool) -> str:
        """The task list, nested rules that were in force, what runs in the background, and how to go on."""
        todo = "\n".join(_todo_line(entry) for entry in self._conversation.timeline.plan)
        rules = self._rules.nested()
        return "\n\n".join(part for part in (rules, self._what_runs(), resume_text(todo, at_work=at_work)) if part)

    def after(self, entry: Compaction) -> None:
        """Counts as unseen what is no longer in view, once the compaction is in force."""
        self._reads.keep_only(touches_in_view(self._conversation.projection))


def just_restored(entries: Sequence[Logged]) -> frozenset[str]:
    """The files that a compaction read again to which the model has not answered yet."""
    for logged in reversed(entries):
        if isinstance(logged.entry, Compaction) and logged.entry.trigger != "upkeep":
            return frozenset(file.path for file in logged.entry.restored)
        if isinstance(logged.entry, AssistantReply):
            break
    return frozenset()


def _todo_line(entry: PlanEntry) -> str:
    mark = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}[entry.status]
    return f"- {mark} {in_a_line(entry.content)}"


async def gathered(entries: Sequence[Logged], around: Surroundings) -> list[Sign]:
    """All signs that there are now that a file is in use."""
    entries, seen = entries[:], [*around.recent.latest()]
    logged = await asyncio.to_thread(lambda: [*_by_one_name(signs_in(entries), around), *_edits(entries, seen)])
    problems, changed = await asyncio.gather(_with_problems(around), _changed_since_commit(around))
    return [
        *logged,
        *(Sign(path, "unsaved", 0) for path in await _unsaved(around)),
        *(Sign(path, "problems", 0) for path in problems),
        *(Sign(path, "uncommitted", 0) for path in changed),
    ]


def _by_one_name(signs: Iterable[Sign], around: Surroundings) -> list[Sign]:
    """The signs with their files named as the tools name them: a command may name one as `./a.py`, or by its whole path, and it is still
    one file. Files outside the workspace are left out."""
    names: dict[str, str] = {}
    for sign in (found := list(signs)):
        if sign.path not in names:
            with suppress(OutsideWorkspace):
                names[sign.path] = around.folders.show(around.folders.resolve(sign.path))
    return [replace(sign, path=names[sign.path]) for sign in found if sign.path in names]


def _edits(entries: Sequence[Logged], seen: Iterable[RecentEdit]) -> Iterator[Sign]:
    """The signs of edits, but those of the agent, that were seen since the server started. How old they are is told in entries, as
    everything else is."""
    for edit in seen:
        since = len(entries) - bisect_right(entries, edit.at, key=lambda logged: logged.at)
        if edit.by != "agent":  # those of the agent are in the log
            yield Sign(edit.path, _BY[edit.by], since)


async def _unsaved(around: Surroundings) -> list[str]:
    found: list[str] = []
    for path in around.editor.open_paths():
        if not around.folders.contains(path):
            continue
        with suppress(OSError, NotText, FileTooLarge):
            if (await around.files.read(path)).unsaved:
                found.append(around.folders.show(path))
    return found


async def _with_problems(around: Surroundings) -> set[str]:
    try:
        async with asyncio.timeout(SECONDS):
            problems = await around.editor.diagnostics(None)
    except TimeoutError:
        logger.info("the editor did not tell its problems in time")
        return set()
    errors = (problem.path for problem in problems or () if problem.severity == "error")
    return {around.folders.show(path) for path in errors if around.folders.contains(path)}


async def _changed_since_commit(around: Surroundings) -> list[str]:
    if not around.settings.trusted:  # the repository's data is read by a library, if in a process of its own
        return []
    changed = await asyncio.gather(*(uncommitted(root, SECONDS) for root in around.folders.roots))
    return [around.folders.show(path) for paths in changed for path in paths if around.folders.contains(path)]
