"""How single entries show: images, PDFs, compactions, calls that are done, the work of a policy before each call, and the session's title.

A policy may do something before every call. A card for each would flood the timeline. So one quiet line counts them, until another kind of
compaction comes. An editor can follow a call to where it is at work (`locating`, the `locations` of the Agent Client Protocol).
`timeline.py` decides where items stand.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import TypeAlias

from ullage.context.blocks import Json, Media
from ullage.context.compaction_entries import Compaction, CompactionFailed, FetchedAgain
from ullage.context.counting.media import in_words
from ullage.context.entries import AssistantReply, CameOver, Notice, ToolReturned, UserPrompt
from ullage.context.summary.nearby import lines_of
from ullage.session.timeline.items import CompactionItem, Failure, Location, NoticeItem, RestoredFileItem, ShownMedia, ToolCallItem
from ullage.store.plain_files import shown_path
from ullage.tools.file_tools import NOT_FOUND
from ullage.tools.tool import ToolKind
from ullage.workspace.folders import Folders

DROPPED_THINKING = (
    "The API left earlier thinking out of the request ({} blocks): it takes what stood before it for changed. The conversation goes on, "
    "without that thinking. Undoing the last compaction brings it back."
)

HOOK_TOLD = "A hook told the agent: {}"

HOOK_CHARACTERS = 1_000
"""Most characters of what a hook said in the line that shows it; the context view has the rest."""

FORKED = "Forked here from “{}”, which stays as it is."


CAME_OVER = (
    "Continued from “{}”, a session of {}. What was said there follows; what it cost there is not counted here. Its file stays as it is: {}"
)


def came_over(entry: CameOver) -> str:
    """The words for the user about where a session came from that another program began."""
    return CAME_OVER.format(entry.title or NEW_SESSION, f"{entry.program} {entry.version}".rstrip(), entry.file)


def of_prompt(prompt: UserPrompt) -> tuple[ShownMedia, ...]:
    """The images and PDFs that were attached to a prompt."""
    return tuple(_shown(each.title, each.text, each.media) for each in prompt.attachments if each.media is not None)


def of_result(result: ToolReturned) -> tuple[ShownMedia, ...]:
    """The images and PDFs that the model got with a result."""
    name = result.touched[0].path if len(result.touched) == 1 else ""
    return tuple(_shown(name, result.content, media) for media in result.media)


def _shown(name: str, told: str, media: Media) -> ShownMedia:
    return ShownMedia(name, _as_told(told, in_words(media)), shown_path(media))


def _as_told(told: str, words: str) -> str:
    """The words for an image as the model got them, with the tokens that it takes for that model."""
    start = told.find(words)
    return words if start < 0 else told[start:].partition("\n")[0]


@dataclass(slots=True)
class _Line:
    id: str
    at: float
    policy: str
    made: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """How many results were cleared and messages snipped, by the id of the compaction."""
    undone: set[str] = field(default_factory=set[str])

    def item(self) -> NoticeItem:
        counted = [counts for id, counts in self.made.items() if id not in self.undone]
        cleared, snipped = sum(each for each, _ in counted), sum(each for _, each in counted)
        parts = [
            "1 tool result set aside" if cleared == 1 else f"{cleared} tool results set aside" if cleared else "",
            "1 message cut from the middle" if snipped == 1 else f"{snipped} messages cut from the middle" if snipped else "",
        ]
        told = " and ".join(part for part in parts if part) or "what it set aside is back"
        return NoticeItem(self.id, self.at, "info", f"Before calls, by the policy {self.policy}: {told}")


class UpkeepLines:
    """The quiet lines of one session that count what a policy does before every call."""

    def __init__(self) -> None:
        self._current: _Line | None = None
        self._line_of: dict[str, _Line] = {}

    def made(self, entry: Compaction, at: float) -> NoticeItem:
        """The line that counts a compaction, with that one in it."""
        if self._current is None or self._current.policy != entry.policy:
            self._current = _Line(f"{entry.id}.line", at, entry.policy)
        self._current.made[entry.id] = (entry.message_counts.cleared, entry.message_counts.snipped)
        self._line_of[entry.id] = self._current
        return self._current.item()

    def end(self) -> None:
        """Ends the line, since another compaction stands in between: what comes now gets a line of its own."""
        self._current = None

    def changed(self, compaction_id: str, *, undone: bool) -> NoticeItem | None:
        """The line after an undo or a redo; None if that compaction stands in none."""
        line = self._line_of.get(compaction_id)
        if line is None:
            return None
        if undone:
            line.undone.add(compaction_id)
        else:
            line.undone.discard(compaction_id)
        return line.item()


class FetchedSince:
    """What the agent got again since each compaction of one session."""

    def __init__(self) -> None:
        self.all: dict[str, FetchedAgain] = {}
        """What came again since each compaction, by its id."""
        self._told_by: dict[str, FetchedAgain] = {}
        """What each compaction told of the one before it, by the id of the later one."""
        self._learns = True

    @property
    def as_known(self) -> FetchedSince:
        """A copy that shows a part of the log: it knows the same, and learns nothing from that."""
        other = FetchedSince()
        other.all, other._learns = self.all, False
        return other

    def since(self, compaction_id: str) -> FetchedAgain | None:
        """What came again since a compaction; None if nothing is known, or nothing came."""
        found = self.all.get(compaction_id)
        return found if found is not None and found.characters else None

    def learn(self, found: FetchedAgain) -> bool:
        """Takes in what came again since a compaction; gives whether that is new."""
        is_new = self._learns and self.all.get(found.compaction_id) != found
        if is_new:
            self.all[found.compaction_id] = found
        return is_new

    def followed(self, entry: Compaction) -> str | None:
        """Takes in what a compaction tells of the one before it; gives the id of that one if it is something new, else None."""
        found = entry.fetched_again
        if found is None:
            return None
        self._told_by[entry.id] = found
        return found.compaction_id if self.learn(found) else None

    def redone(self, compaction_id: str) -> str | None:
        """Has what came again since the compaction before that one count up to it again, since it is in force again. Gives the id of the
        one before if that is something new, else None."""
        found = self._told_by.get(compaction_id)
        return found.compaction_id if found is not None and self.learn(found) else None


def done_call(item: ToolCallItem, result: ToolReturned, at: float) -> ToolCallItem:
    """The card of a call that has its result: nothing is asked of the user any more. One that was stopped stays so."""
    return replace(
        item,
        status="cancelled" if item.status == "cancelled" else "failed" if result.is_error else "completed",
        output=result.content,
        diff=result.diff,
        full_output=result.full_output,
        media=of_result(result),
        permission=(),
        permission_id="",
        asked=None,
        permission_reason="",
        document=None,
        questions=(),
        question_id="",
        answers=result.answers,
        failure=failure_of(result),
        began=result.began,
        seconds=None if result.began is None else max(0.0, at - result.began),
        agent=result.agent,
        cost=result.cost,
        goes_on=result.goes_on,
        doing="",
    )


def failure_of(result: ToolReturned) -> Failure | None:
    """Why a call failed that was refused, or that named a file that is not there; None for any other."""
    if not result.is_error:
        return None
    return "refused" if result.refusal is not None else "not_found" if NOT_FOUND.match(result.content) else None


def thought_for(reply: AssistantReply, index: int) -> float | None:
    """Seconds from the beginning of that block to what came after it; None if that is not known."""
    if index >= len(reply.began):
        return None
    began = reply.began[index]
    return next((later - began for later in reply.began[index + 1 :] if later > began), None)


def compaction_item(entry: Compaction, at: float, fetched_again: FetchedAgain | None = None) -> CompactionItem:
    """A finished compaction, with what the agent got again since."""
    return CompactionItem(
        id=entry.id,
        at=at,
        status="completed",
        trigger=entry.trigger,
        rung=entry.rung,
        tokens_before=entry.tokens_before,
        tokens_after=entry.estimated_after,
        summary=entry.summarised.words if entry.summarised else "",
        restored=tuple(RestoredFileItem(file.path, file.note, file.is_read) for file in entry.restored),
        cleared=entry.message_counts.cleared,
        snipped=entry.message_counts.snipped,
        summarised=entry.message_counts.summarised,
        focus=entry.focus,
        skipped=entry.skipped,
        cost=entry.cost,
        error="",
        policy=entry.policy,
        excluded_files=tuple(file.path for file in entry.without_files),
        saves=entry.saves,
        fetched_again=fetched_again,
        checked=entry.checked,
        nearby=lines_of(entry.nearby),
    )


def what_a_hook_said(notice: Notice) -> str:
    """What a hook said, in words for the user."""
    said = "\n".join(line.removeprefix(">").removeprefix(" ") for line in notice.text.splitlines() if line.startswith(">"))
    cut = f"{said[:HOOK_CHARACTERS]} …" if len(said) > HOOK_CHARACTERS else said
    return HOOK_TOLD.format(cut)


def failed_compaction_item(entry: CompactionFailed, at: float) -> CompactionItem:
    """A compaction that changed nothing, and why."""
    status = "cancelled" if entry.cancelled else "failed"
    before, reason = entry.tokens_before, entry.reason
    return CompactionItem(entry.id, at, status, entry.trigger, None, before, None, "", (), 0, 0, 0, entry.focus, (), None, reason)


TITLE_CHARACTERS = 300
"""Most characters of a title: more than any list or tooltip shows; it goes into every list of sessions."""

NEW_SESSION = "New session"
"""The name of a session without a title."""

_LOOKED_AT = 10_000
"""Characters of a prompt that may be whitespace before its first word, and of a title in which the white space is counted as one."""


_FORK = re.compile(r" \(fork(?: \d+)?\)$")


def title_of(prompt: str) -> str:
    """The title that a session gets from its first prompt: the first line that says something."""
    line = next((line for line in prompt[:_LOOKED_AT].splitlines() if line.strip()), NEW_SESSION)
    return one_line(line)


def one_line(title: str) -> str:
    """The title on one line, cut at a word where it is too long."""
    line = " ".join(title[:_LOOKED_AT].split())
    if len(line) <= TITLE_CHARACTERS:
        return line
    cut = line[: TITLE_CHARACTERS - 2]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut else cut} …"


def title_of_fork(title: str, taken: Collection[str]) -> str:
    """The title of a fork: `Mend the gauge (fork)`, `Mend the gauge (fork 2)` and so on, the first that is not taken. Empty if the session
    has no title yet."""
    base = _FORK.sub("", title)
    if not base:
        return ""
    numbered = (f"{base} (fork{'' if number == 1 else f' {number}'})" for number in count(1))
    return next(each for each in numbered if each not in taken)


MOST_LOCATIONS = 50
"""Most locations of one call: a search touches files by the hundred, and nobody follows there."""


Locate: TypeAlias = Callable[[ToolKind, Mapping[str, Json], ToolReturned | None], tuple[Location, ...]]
"""Gives where a call of that kind is at work: by its input, and once it is done by its result."""


def nowhere(kind: ToolKind, input: Mapping[str, Json], result: ToolReturned | None) -> tuple[Location, ...]:
    """No location: for sessions in which nobody follows the calls."""
    return ()


def locating(folders: Folders) -> Locate:
    """Gives locations in these folders. What lies outside of them is no location: the path may be anybody's, and an editor would open
    it."""

    def locate(kind: ToolKind, input: Mapping[str, Json], result: ToolReturned | None) -> tuple[Location, ...]:
        named, line = (_text(input.get("path")), _line(input.get("offset"))) if kind in ("read", "edit", "search") else ("", None)
        if result is None or not result.touched:
            found = [(named, line)] if named else []
        else:
            found = [(path, result.line) for path in dict.fromkeys(touch.path for touch in result.touched)][:MOST_LOCATIONS]
        return tuple(Location(path, at) for name, at in found if (path := _absolute(name, folders)) is not None)

    return locate


def _absolute(name: str, folders: Folders) -> str | None:
    """The absolute path of a file; None if it lies outside of the folders. Looks at no disk: a long log has thousands."""
    if folders.first is None or "\0" in name:
        return None
    path = os.path.normpath(folders.first / name)
    return path if folders.contains(Path(path)) else None


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _line(value: Json) -> int | None:
    return value if type(value) is int and value > 0 else None
