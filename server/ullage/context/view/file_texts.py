"""The texts of files in prompts, notices and compactions: what is left of an entry without some of them, and they alone.

A result is taken out as a whole; of that `taken_out.py` knows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TypeVar

from ullage.context.entries import Attachment, Compaction, Entry, Notice, RestoredFile, UserPrompt

TAKEN_OUT = "taken out by the user"
"""The note of a file that would have been read again."""

_Entry = TypeVar("_Entry", bound=Entry)


def excluded_file(path: str) -> str:
    """What stands where the text of the file was."""
    return f"[The user took the file {' '.join(path.split())} out of the conversation.]"


def files_shown(entry: Entry) -> Iterator[str]:
    """The paths of the files whose texts stand in a prompt, a notice or a compaction."""
    match entry:
        case UserPrompt():
            yield from (each.name for each in entry.attachments)
        case Notice():
            yield from (each.path for each in entry.touched)
        case Compaction():
            yield from (each.path for each in entry.restored)
        case _:
            return


def without_texts(entry: _Entry, paths: Collection[str]) -> _Entry:
    """The entry with a line that says so in the place of each of these files' texts; itself where it has none of them."""
    if not paths or not any(path in paths for path in files_shown(entry)):
        return entry
    match entry:
        case UserPrompt(attachments=attachments):
            left = tuple(Attachment(each.name, excluded_file(each.name)) if each.name in paths else each for each in attachments)
            return replace(entry, attachments=left)
        case Notice(touched=touched):
            gone = dict.fromkeys(excluded_file(each.path) for each in touched if each.path in paths)
            return replace(entry, text="\n".join(gone), touched=())
        case Compaction(restored=restored):
            return replace(entry, restored=tuple(_left_out(each) if each.path in paths else each for each in restored))
        case _:
            return entry


def texts_alone(entry: _Entry, paths: Collection[str]) -> _Entry:
    """The entry with nothing but the texts of these files."""
    match entry:
        case UserPrompt(attachments=attachments):
            return replace(entry, text="", attachments=tuple(each for each in attachments if each.name in paths))
        case Compaction(restored=restored):
            return replace(entry, restored=tuple(each for each in restored if each.path in paths))
        case _:
            return entry


def _left_out(file: RestoredFile) -> RestoredFile:
    return RestoredFile(file.path, excluded_file(file.path), TAKEN_OUT, "", whole=False)
