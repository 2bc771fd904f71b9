"""What the agent gets back after a summary: how much of each file, and how to go on.

The same live and in replay. `evidence.py` says which files are likely to be needed. `Choosing` says which text it
wants next and is given that. Where texts come from (the disk, a transcript) does not matter here: nothing is read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape

from ullage.context.compaction.evidence import instructs
from ullage.context.compaction.outline import in_parts, newest_parts, outline, parts
from ullage.context.compaction.seen import SeenText, bare_lines, runs, texts_in
from ullage.context.compaction_entries import DELETED, NO_ROOM, ONLY_NAME, RestoredFile
from ullage.context.counting.tokens import estimate_text
from ullage.context.policy import RestoreOptions
from ullage.context.quoting import in_a_line
from ullage.context.view.fates import whole_in_view
from ullage.context.view.projection import Projection

FRAME_TOKENS = 60
"""Tokens for the tags around a file and the words between its parts, which together take a little more than one by one."""
OUTLINE_SHARE = 0.08
"""Share of the room of a file that is not shown whole which its outline gets. The text itself is needed more often than an overview of the
rest."""
SMALL_FILE = 2_000
"""Tokens. A file of so many is shown whole, though the model has seen only a part of it."""
SEEN_RUN, VIEW_RUN = 3, 5
"""Lines in a row that must match for lines to count as seen by the model, and to count as standing in view."""
INSTRUCTIONS_TOKENS = 6_000
"""Tokens, at most, of one file that says how to work. Several of them would else leave no room for the work itself."""
NEAR_EDIT = 8
"""Lines on each side of the newest edit that count as just seen."""
WORTH_A_GAP = 10
"""Lines in a row that stand in view already and so are left out. Fewer are shown again: a text with holes is harder to read."""
RESERVED = 600
"""Tokens that a long file leaves for each of the others that are told of, so that it does not take the place of all. With half of that two
names in a hundred that are needed were lost, with twice as much one part in a hundred of the text."""
MOST_OFF = 3.0
"""Real tokens for one that is estimated, at most, that files read again may turn out to have without filling the window. Columns of numbers
have up to 1.9 by the tokenizers that we know."""
SMALLEST_ROOM = 200
"""Tokens. In fewer than these no part of a long file is worth showing."""

_CLOSING_TAG = re.compile(r"<(?=\s*/\s*file\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FileNow:
    """A file as it is now. `text` is None if it is gone, `sha256` is None if its version is not known."""

    text: str | None
    sha256: str | None = None
    near_line: int = 0
    """The line that was edited last, counted from 1; 0 if none was, or it is not known."""


class Choosing:
    """Chooses the files to be read again after one compaction, and what of them.

    `seen` is what the model saw before it, each text with its seq, `after` the view that it leaves, `edited` has the files that are known
    to have been edited.
    """

    def __init__(
        self,
        seen: Iterable[tuple[int, str]],
        after: Projection,
        candidates: Sequence[str],
        edited: Collection[str],
        options: RestoreOptions,
    ) -> None:
        self._whole_in_view = whole_in_view(after)
        self._seen, self._in_view = SeenText(seen, SEEN_RUN), SeenText(texts_in(after), VIEW_RUN)
        self._left = list(reversed(candidates))
        self._edited = edited
        self._options = options
        self._budget = options.total_tokens
        self.files: tuple[RestoredFile, ...] = ()
        """The files that were chosen so far."""

    def wants(self) -> str | None:
        """The path of the file that is to be given next; None if enough files were chosen or none is left."""
        taken, options = len(self.files), self._options
        if taken >= options.files and (taken >= options.files + options.more_files or self._budget < FRAME_TOKENS + SMALLEST_ROOM):
            return None
        return self._left[-1] if self._left else None

    def give(self, now: FileNow | None) -> None:
        """Takes the file that was wanted. `now` is None if it has no text that could be shown, or nothing is known of it."""
        path = self._left.pop()
        if now is None or (now.text is None and path not in self._edited):  # it is gone, and was only read: nothing to tell of it
            return
        if now.text is not None and now.sha256 is not None and self._whole_in_view.get(path) == now.sha256:
            return
        lines = looked_at(now.text or "", now.near_line, self._seen, self._in_view)
        if now.text and all(lines.in_view):
            return
        file = take(path, now.text, lines, self._options, self._budget_for(now.text or ""), now.sha256 or "")
        self._budget -= estimate_text(file.text)
        self.files += (file,)

    def _budget_for(self, text: str) -> int:
        """Tokens that this text may take: a long one leaves something for the files after it."""
        if estimate_text(text) <= SMALL_FILE:
            return self._budget
        to_come = max(0, min(self._options.files - len(self.files) - 1, len(self._left)))
        return max(self._budget // 2, self._budget - RESERVED * to_come)


@dataclass(frozen=True, slots=True)
class LookedAt:
    """How the model knows the lines of a file. `seen` tells for each line when it was shown last: the larger, the later; 0 if never, or if
    it is `in_view`. A line is in view if it stands, with many others, in a message that stays.

    `edited`: whether the newest lines are those around an edit.
    """

    seen: Sequence[int] = ()
    in_view: Sequence[bool] = ()
    edited: bool = False

    @property
    def is_mostly_seen(self) -> bool:
        """Whether the model has seen at least half of the lines."""
        return 2 * sum(1 for when in self.seen if when) >= len(self.seen)


def looked_at(text: str, near_line: int, seen: SeenText, in_view: SeenText | None = None) -> LookedAt:
    """What the model has seen of a file, and what of that stands `in_view`. `near_line` is the line that was edited last, 0 if none was."""
    lines = bare_lines(text)
    last = seen.last(lines)
    if near_line:
        newest = max(last) + 1
        for line in range(max(0, near_line - 1 - NEAR_EDIT), min(len(lines), near_line + NEAR_EDIT)):
            last[line] = newest
    stands = [bool(when) for when in in_view.last(lines)] if in_view is not None else [False] * len(lines)
    for start, end in runs(stands):
        if end - start < min(WORTH_A_GAP, len(lines)):
            stands[start:end] = [False] * (end - start)
    return LookedAt([0 if stand else when for when, stand in zip(last, stands, strict=True)], stands, bool(near_line))


def in_room(options: RestoreOptions, free: int, left: float, ratio: float = 1.0) -> RestoreOptions:
    """The options, with less for files where little room is left. `free` are the tokens below the threshold before any file is read again,
    `left` those below the line where calls are held.

    Files are measured by the estimate, so what is free is, too: by `ratio`, which is learned, and in no case by less than `MOST_OFF` says.
    """
    most = left / max(MOST_OFF, ratio)
    if options.room_share is not None:
        most = min(most, options.room_share * free / max(1.0, ratio))
    return replace(options, total_tokens=min(options.total_tokens, max(0, int(most))))


def take(path: str, text: str | None, lines: LookedAt, options: RestoreOptions, budget: int, sha256: str = "") -> RestoredFile:
    """What the model gets of one file, in about `budget` tokens and never more than `options.file_tokens`.

    The whole text where it fits and is small or was mostly seen. Else the parts that were seen last, or the beginning where none was, and
    an outline of the rest; else only its name. What stands in view in long stretches is left out. `text` is None if the file is gone.
    `sha256` is of the whole text.
    """
    if text is None:
        return RestoredFile(path, _empty(path, "deleted or renamed since"), DELETED, sha256, whole=False)
    room = min(options.file_tokens, budget, INSTRUCTIONS_TOKENS if instructs(path) else budget) - FRAME_TOKENS
    size = estimate_text(text)
    if size <= room and (size <= SMALL_FILE or lines.is_mostly_seen or not any(lines.seen)):
        if not any(lines.in_view):
            return RestoredFile(path, _framed(path, "read again now, whole", text), "whole", sha256)
        note = "read again now; the lines that are left out stand above, as they are"
        return RestoredFile(
            path, _framed(path, note, in_parts(text, lines.in_view)), "without what is in view already", sha256, whole=False
        )
    if room < SMALLEST_ROOM:
        return RestoredFile(
            path, _empty(path, "not read again, there is no room; read it where it is needed"), NO_ROOM, sha256, whole=False
        )
    for_text = int(room * (1 - OUTLINE_SHARE))
    near, shown = newest_parts(text, lines.seen, for_text) if any(lines.seen) else (parts(text, (), for_text), frozenset[int]())
    found = outline(path, text, min(int(room * OUTLINE_SHARE), room - estimate_text(near)), shown)
    inside = "\n\n".join(part for part in (f"outline of the rest, with line numbers:\n{found}" if found else "", near) if part)
    what = _shown_of_it(bool(found), bool(near), lines)
    note = f"read again now, {text.count(chr(10)) + 1:,} lines: {what}; read the rest where it is needed"
    return RestoredFile(path, _framed(path, note, inside), what, sha256, whole=False)


def resume_text(todo: str, *, at_work: bool) -> str:
    """The text that tells the model how to go on after a compaction. `todo` is the task list as Markdown, empty if there is none."""
    lines: list[str] = []
    if todo.strip():
        lines += ["The task list as it stands:", todo.strip(), ""]
    lines.append("The messages before this point gave way to the summary above, to make room.")
    if at_work:
        lines.append("You were at work: go on from where the summary and the messages after it end, without commenting on this.")
    else:
        lines.append("Nothing is to be done because of this: the user speaks next.")
    return "\n".join(lines)


def _shown_of_it(outlined: bool, in_part: bool, lines: LookedAt) -> str:
    """The words for what is shown of a file that is too long to be shown whole."""
    seen = "the parts seen and edited last" if lines.edited else "the parts seen last"
    part = seen if any(lines.seen) else "the beginning"
    return " and ".join(each for each in (in_part and part, outlined and "an outline") if each) or ONLY_NAME


def _framed(path: str, note: str, text: str) -> str:
    """The text of a file between tags that nothing inside it can close."""
    inside = _CLOSING_TAG.sub("&lt;", text)
    return f'<file path="{escape(in_a_line(path))}" note="{escape(note)}">\n{inside}\n</file>'


def _empty(path: str, note: str) -> str:
    return f'<file path="{escape(in_a_line(path))}" note="{escape(note)}" />'
