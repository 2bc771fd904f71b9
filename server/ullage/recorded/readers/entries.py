"""What all readers need to make entries.

Entries are numbered from 1 as they are found. A call says which files it read or changed, as far as its input tells. A text under the
user's role may have been written by the program instead. In place of images and documents stand words that say how large they are and how
many tokens they take.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ullage.context.blocks import AssistantBlock, Text, Thinking, ToolUse
from ullage.context.counting.media import LIMITS, LIMITS_BEFORE, image_tokens, pdf_pages, pdf_tokens
from ullage.context.entries import AssistantReply, Entry, FileTouch, Logged, Notice, ToolReturned, TouchKind, UserPrompt
from ullage.recorded.readers.flaws import NO_TIME, FlawTally
from ullage.recorded.readers.values import as_list, as_text
from ullage.store.set_aside import EntriesAside

MOST_IN_MEMORY = 16_000_000
"""Characters of a session that are held in memory; the rest goes to a file. The work on it takes about six bytes for each."""


class RecordedLog:
    """Entries in order. `estimated_outputs` are the seqs of replies whose output the reader estimated, `media_tokens` what images and
    documents take, by the seq of the entry that has only words for them."""

    def __init__(self, tally: FlawTally) -> None:
        self.estimated_outputs: set[int] = set()
        self.media_tokens: dict[int, int] = {}
        self._entries: list[Logged] | EntriesAside = []
        self._characters = 0
        """Characters of all texts that were added."""
        self._tally = tally

    @property
    def length(self) -> int:
        """The number of entries, which is the seq of the last one."""
        return len(self._entries)

    @property
    def entries(self) -> Sequence[Logged]:
        """All entries. Those of a long log lie in a file, from which they are read page by page."""
        return tuple(self._entries) if isinstance(self._entries, list) else self._entries

    def add(self, entry: Entry, at: float, media_tokens: int = 0) -> int:
        """Adds an entry at the end; gives its seq. `at` is 0.0 where its time is not known."""
        self._tally.count(NO_TIME, int(at == 0.0))
        self._entries.append(Logged(self.length + 1, at, entry))
        self._characters += _characters(entry)
        if self._characters > MOST_IN_MEMORY and isinstance(self._entries, list):
            self._entries = EntriesAside(self._entries)
        if media_tokens:
            self.media_tokens[self.length] = media_tokens
        return self.length

    def take_back_from(self, starts: Callable[[Entry], bool], number: int) -> int:
        """Takes back everything from the `number`-th last entry for which `starts` holds, or from the first such entry where there are
        fewer; gives how many of them were taken back."""
        places = [index for index, logged in enumerate(self._entries) if starts(logged.entry)]
        taken = places[-number:] if number > 0 else []
        if taken:
            kept = self._entries[: taken[0]]
            self._entries = kept if isinstance(kept, list) else EntriesAside(kept)
            self.estimated_outputs = {seq for seq in self.estimated_outputs if seq <= self.length}
            self.media_tokens = {seq: tokens for seq, tokens in self.media_tokens.items() if seq <= self.length}
        return len(taken)


def _characters(entry: Entry) -> int:
    """Characters of the parts of an entry that may be long; 0 for kinds of entries that are always short."""
    match entry:
        case AssistantReply():
            return sum(map(_of_block, entry.blocks))
        case ToolReturned():
            return len(entry.content)
        case UserPrompt() | Notice():
            return len(entry.text)
        case _:
            return 0


def _of_block(block: AssistantBlock) -> int:
    match block:
        case Text():
            return len(block.text)
        case ToolUse():
            return sum(len(value) if isinstance(value, str) else 0 for value in block.input.values())
        case Thinking():
            return len(block.thinking) + len(block.signature)
        case _:
            return 0


_FILE_TOOLS: dict[str, TouchKind] = {
    # Claude Code
    "Read": "read",
    "NotebookRead": "read",
    "Edit": "edited",
    "MultiEdit": "edited",
    "NotebookEdit": "edited",
    "Write": "edited",
    # OpenCode, pi
    "read": "read",
    "edit": "edited",
    "multiedit": "edited",
    "write": "edited",
    # Gemini CLI, Cline
    "read_file": "read",
    "replace": "edited",
    "write_file": "edited",
    "replace_in_file": "edited",
    "write_to_file": "edited",
    "read_files": "read",
    "editor": "edited",
}
_PATH_KEYS = ("file_path", "notebook_path", "filePath", "path", "absolute_path")
"""The names of a path in a tool's input: Claude Code and Gemini CLI; notebooks; OpenCode; Cline and pi; Gemini CLI before 0.20."""
_PATCH_HEADS: dict[str, TouchKind] = {"Add": "created", "Update": "edited", "Delete": "deleted"}
PATCH_START = "*** Begin Patch"
PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
"""A file in a patch of Codex (`apply_patch`): what is done to it, and its path."""
_MOVED = re.compile(r"^\*\*\* Move to: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FileOnDisk:
    """What the program noted, beside a result, of the file that the call was about."""

    kind: TouchKind
    sha256: str
    """The hash of the whole text (hex); empty if that text is not noted."""
    partial: bool


def touched_by_call(call: ToolUse, found: FileOnDisk | None, folder: str) -> tuple[FileTouch, ...]:
    """The file that a call of a file tool was about. `found` is what was noted beside its result.

    `sha256` is empty if the transcript does not hold the file's whole text.
    """
    kind, input = _FILE_TOOLS.get(call.name), call.input
    files = as_list(input.get("files"))
    if len(files) == 1 and isinstance(files[0], dict):
        input = files[0]
    path = next((path for key in _PATH_KEYS if (path := as_text(input.get(key)))), "")
    if kind is None or not path:
        return ()
    if found is None:
        is_part = kind == "read" and bool(any(input.get(name) for name in ("offset", "limit", "start_line", "end_line")))
        return (FileTouch(relative(path, folder), kind, "", is_part),)
    return (FileTouch(relative(path, folder), found.kind, found.sha256, found.partial),)


def touched_by_patch(patch: str, folder: str) -> tuple[FileTouch, ...]:
    """The files that a patch in the form of `apply_patch` changes; a renamed one under its new name too."""
    changed = [FileTouch(relative(path.strip(), folder), _PATCH_HEADS[head], "") for head, path in PATCHED.findall(patch)]
    moved = [FileTouch(relative(path.strip(), folder), "created", "") for path in _MOVED.findall(patch)]
    return (*changed, *moved)


def patches_in(call: ToolUse) -> str:
    """The patch that a call of Codex applies, also by way of a shell; empty if there is none."""
    command = call.input.get("command")
    texts = (call.input.get("input"), call.input.get("cmd"), command, *as_list(command))
    return next((as_text(text) for text in texts if PATCH_START in as_text(text)), "")


def relative(path: str, folder: str) -> str:
    """The path relative to `folder` if it lies in it, else the path itself; with `/` in either case."""
    shown = path.replace("\\", "/")
    root = folder.replace("\\", "/").rstrip("/") + "/"
    return shown.removeprefix(root) if folder else shown


_STARTS = (
    "[Request interrupted by user",
    "<local-command-",
    "<command-name>",
    "<command-message>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<agent-notification>",
    "<system-reminder>",
    "<user-prompt-submit-hook>",
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<skill>",
    "<permissions instructions>",
    "<subagent_notification>",
    "<collaboration_mode>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
)
"""Beginnings of texts that Claude Code or Codex wrote under the user's role."""


def is_of_the_program(text: str) -> bool:
    """Whether a text under the user's role was written by the program."""
    return text.lstrip().startswith(_STARTS)


# Images and documents

IMAGES_NOTE = "Images are counted by their size, not by the words in their place"
"""What the user is told of a transcript with images."""

_HEAD_CHARACTERS = 400_000
"""Base64 characters that are decoded to find the size: a JPEG may have its colour profile and a preview before it."""

_START_OF_FRAME = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}


@dataclass(frozen=True, slots=True)
class MediaInWords:
    """The words in the place of an image or a document."""

    words: str
    tokens: int
    """Tokens of the image or document itself, without the words; 0 if that cannot be told."""


def shown_image(data: str, *, old_model: bool) -> MediaInWords:
    """The words and the tokens for an image in base64."""
    return shown_size(size_of(data), old_model=old_model)


def shown_size(size: tuple[int, int] | None, *, old_model: bool) -> MediaInWords:
    """The words and the tokens for an image of that width and height in pixels (None: they cannot be told)."""
    if size is None:
        return MediaInWords("[image of unknown size]", 0)
    width, height = size
    tokens = image_tokens(width, height, LIMITS_BEFORE if old_model else LIMITS)
    return MediaInWords(f"[image, {width} x {height} pixels, {tokens} tokens]", tokens)


def shown_document(data: str) -> MediaInWords:
    """The words and the tokens for a PDF in base64."""
    return shown_pages(pages_of(data))


def pages_of(data: str) -> int | None:
    """The number of pages of a PDF in base64; None if it cannot be told."""
    try:
        return pdf_pages(base64.b64decode(data))
    except (binascii.Error, ValueError):
        return None


def shown_pages(pages: int | None) -> MediaInWords:
    """The words and the tokens for a document of so many pages (None: that cannot be told)."""
    if pages is None:
        return MediaInWords("[document]", 0)
    tokens = pdf_tokens(pages)
    return MediaInWords(f"[document, {pages} pages, about {tokens} tokens]", tokens)


def size_of(data: str) -> tuple[int, int] | None:
    """Width and height in pixels of a PNG, JPEG, GIF or WebP in base64; None if it cannot be told."""
    head = data[:_HEAD_CHARACTERS]
    try:
        raw = base64.b64decode(head[: len(head) // 4 * 4])
        size = _size(raw)
    except (binascii.Error, ValueError, struct.error, IndexError):
        return None
    return size if size is not None and min(size) > 0 else None


def _size(raw: bytes) -> tuple[int, int] | None:
    if raw.startswith(b"\x89PNG"):
        width, height = struct.unpack(">II", raw[16:24])
        return width, height
    if raw.startswith(b"GIF8"):
        width, height = struct.unpack("<HH", raw[6:10])
        return width, height
    if raw.startswith(b"\xff\xd8"):
        return _jpeg_size(raw)
    if raw.startswith(b"RIFF") and raw[8:12] == b"WEBP":
        return _webp_size(raw)
    return None


def _jpeg_size(raw: bytes) -> tuple[int, int] | None:
    at = 2
    while raw[at] == 0xFF:
        marker = raw[at + 1]
        if marker in _START_OF_FRAME:
            height, width = struct.unpack(">HH", raw[at + 5 : at + 9])
            return width, height
        at += 2 + int(struct.unpack(">H", raw[at + 2 : at + 4])[0])
    return None


def _webp_size(raw: bytes) -> tuple[int, int] | None:
    kind = raw[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(raw[24:27], "little"), 1 + int.from_bytes(raw[27:30], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(raw[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = struct.unpack("<HH", raw[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None
