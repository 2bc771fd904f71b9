"""Putting back what the agent needs after a summary: files that are likely to be needed, the task list, rules, how to go on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import AssistantReply, Compaction, Logged, RestoredFile, ToolReturned
from ullage.context.evidence import likely
from ullage.context.moves.excluded import files_out
from ullage.context.policy import RestoreNumbers
from ullage.context.quoting import in_a_line
from ullage.context.restore import FileEdit, choose, resume_text, take
from ullage.context.view.projection import Projection
from ullage.context.view.seen import touches_in_view, whole_in_view
from ullage.session.compacting.signs import gathered
from ullage.session.conversation import Conversation
from ullage.session.prelude import RulesInForce
from ullage.session.surroundings import Surroundings
from ullage.tools.tool import PlanEntry
from ullage.workspace.folders import OutsideWorkspace
from ullage.workspace.reads import FileReads
from ullage.workspace.text_file import NotText, TooLarge

CONSIDERED = 20
"""Files that are looked at, the likeliest first, until as many as wanted are read again."""


class Restoring:
    """Restores for one session; keeps its `reads` true to what is in view."""

    def __init__(self, conversation: Conversation, surroundings: Surroundings, reads: FileReads, rules: RulesInForce) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._reads = reads
        self._rules = rules

    async def files(self, after: Projection, numbers: RestoreNumbers) -> tuple[RestoredFile, ...]:
        """The files that are likely to be needed, as they are now, unsaved text included, that `after` does not hold whole already."""
        in_view = whole_in_view(after)
        lines = {edit.path: edit.line for edit in self._surroundings.recent.latest()}
        edits = await self._edits()
        edited = {edit.path for edit in edits}
        budget = numbers.total_tokens
        restored: list[RestoredFile] = []
        for path in await self._candidates(numbers, edits):
            if len(restored) == numbers.files:
                break
            known = await self._text_of(path)
            if known is None:
                continue
            text, sha256 = known
            if text is None and path not in edited:  # it is gone, and was only read: nothing to know about it
                continue
            if text is not None and in_view.get(path) == sha256:
                continue
            line = lines.get(path)
            file = take(path, text, [line] if line else [], numbers, budget, sha256)
            budget -= estimate_text(file.text)
            restored.append(file)
        return tuple(restored)

    async def _candidates(self, numbers: RestoreNumbers, edits: Sequence[FileEdit]) -> Sequence[str]:
        """The likeliest first; more than are read again where some of them are in view already. None that the user took out."""
        out = files_out(self._conversation.projection)
        if numbers.by == "last edited":
            return choose([edit for edit in edits if edit.path not in out], numbers)
        entries = self._conversation.entries
        pinned = sorted(self._conversation.projection.pins.paths)
        found = likely((sign for sign in await gathered(entries, self._surroundings) if sign.path not in out), CONSIDERED)
        return tuple(path for path in dict.fromkeys((*pinned, *found)) if path not in out)

    async def renewed(self, path: str) -> RestoredFile | None:
        """A file that the newest compaction read again, as it is now; None for any other, and once the model has answered since.

        The user may have gone on typing in it: what was read again is then not what they mean.
        """
        known = await self._text_of(path) if path in just_restored(self._conversation.entries) else None
        if known is None or known[0] is None:
            return None
        text, sha256 = known
        numbers = self._surroundings.policy.restore or RestoreNumbers()
        line = next((edit.line for edit in self._surroundings.recent.latest() if edit.path == path), None)
        return take(path, text, [line] if line else [], numbers, numbers.file_tokens, sha256)

    async def _edits(self) -> list[FileEdit]:
        """Edits seen since the server started, and those of the agent that only the log still knows (read in another thread)."""
        logged = await asyncio.to_thread(logged_edits, self._conversation.entries)
        seen = [FileEdit(edit.path, edit.at, edit.by) for edit in self._surroundings.recent.latest()]
        known = {edit.path for edit in seen}
        return seen + [edit for edit in logged if edit.path not in known]

    async def _text_of(self, path: str) -> tuple[str | None, str] | None:
        """Text and hash; a text of None where the file is gone; None where it is no text that could be shown."""
        try:
            current = await self._surroundings.files.read(self._surroundings.folders.resolve(path))
        except FileNotFoundError:
            return None, ""
        except (OSError, OutsideWorkspace, NotText, TooLarge):
            return None
        return current.text, current.sha256

    def resume(self, *, at_work: bool) -> str:
        """The task list, nested rules that were in force, and how to go on."""
        todo = "\n".join(_todo_line(entry) for entry in self._conversation.timeline.plan)
        rules = self._rules.nested()
        return "\n\n".join(part for part in (rules, resume_text(todo, rules_changed=False, at_work=at_work)) if part)

    def after(self, entry: Compaction) -> None:
        """The compaction is in force: what is no longer in view counts as unseen."""
        self._reads.keep_only(touches_in_view(self._conversation.projection))


def just_restored(entries: Sequence[Logged]) -> frozenset[str]:
    """The files that a compaction read again to which the model has not answered yet."""
    for logged in reversed(entries):
        if isinstance(logged.entry, Compaction) and logged.entry.trigger != "upkeep":
            return frozenset(file.path for file in logged.entry.restored)
        if isinstance(logged.entry, AssistantReply):
            break
    return frozenset()


def logged_edits(entries: Sequence[Logged]) -> list[FileEdit]:
    """The agent's edits as the log has them, newest first, one a file."""
    edits: dict[str, FileEdit] = {}
    for logged in reversed(entries):
        if isinstance(logged.entry, ToolReturned):
            for touch in logged.entry.touched:
                if touch.kind != "read":
                    edits.setdefault(touch.path, FileEdit(touch.path, logged.at, "agent"))
    return list(edits.values())


def _todo_line(entry: PlanEntry) -> str:
    mark = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}[entry.status]
    return f"- {mark} {in_a_line(entry.content)}"
