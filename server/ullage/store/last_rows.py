"""What was written last, known outside of the database: a line for each write, in a file beside it.

A write-ahead log with one damaged frame loses its tail without a word, and a database that was emptied is as good as a new one. So it is
written down elsewhere how far each session had come, and which prompts waited. The lines are written after the transaction and without
waiting for the disk, so they are never ahead of what is durable; what is missing of them only makes them know less.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ullage.store.errors import StoreFailed
from ullage.store.shared_files import write_whole

logger = logging.getLogger(__name__)

_LONG = 1_000_000
"""The bytes from which on the file is written anew with what still holds."""


@dataclass(slots=True)
class Known:
    """What is known of the log. `last` is the last seq of each session; `waiting` the session of each prompt that waits."""

    last: dict[str, int] = field(default_factory=dict[str, int])
    waiting: dict[str, str] = field(default_factory=dict[str, str])
    deleted: set[str] = field(default_factory=set[str])
    is_kept: bool = False
    """Whether there is such a file; else nothing is known, and that says nothing."""


class LastRows:
    """The file of one log; without a path nothing is kept. No call raises: where it cannot be written less is known."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def logged(self, session_id: str, seq: int) -> None:
        """Notes that the session has come to this seq."""
        self._write([f"entry {session_id} {seq}"])

    def queued(self, session_id: str, prompt_id: str) -> None:
        """Notes that the prompt waits."""
        self._write([f"waits {session_id} {prompt_id}"])

    def left(self, prompt_id: str) -> None:
        """Notes that the prompt no longer waits."""
        self._write([f"left {prompt_id}"])

    def deleted(self, session_id: str) -> None:
        """Notes that the user deleted the session."""
        self._write([f"deleted {session_id}"])

    def read(self) -> Known:
        """What the file says is known; damaged lines are passed over."""
        known = Known()
        if self._path is None:
            return known
        try:
            data = self._path.read_bytes()
        except OSError:
            return known
        known.is_kept = True
        for line in data.split(b"\n"):
            text, _, check = line.rpartition(b" ")
            if check == _check(text):
                _take(known, text.decode("utf-8", "replace").split(" "))
        if len(data) > _LONG:
            self.renew(known.last, known.waiting, known.deleted)
        return known

    def renew(self, last: Mapping[str, int], waiting: Mapping[str, str], deleted: Iterable[str]) -> None:
        """Writes the file anew, with this and nothing else."""
        lines = [
            *(f"entry {session_id} {seq}" for session_id, seq in last.items()),
            *(f"waits {session_id} {prompt_id}" for prompt_id, session_id in waiting.items()),
            *(f"deleted {session_id}" for session_id in deleted),
        ]
        if self._path is not None:
            try:
                write_whole(self._path, b"".join(map(_line, lines)))
            except StoreFailed as error:
                logger.warning("what was written last is not known elsewhere: %s", error)

    def _write(self, lines: Iterable[str]) -> None:
        if self._path is None:
            return
        try:
            with self._path.open("ab", buffering=0) as file:
                file.write(b"".join(map(_line, lines)))
        except OSError as error:
            logger.warning("what was written last is not known elsewhere: %s", error)


def _line(text: str) -> bytes:
    data = text.encode("utf-8", "replace")
    return data + b" " + _check(data) + b"\n"


def _check(text: bytes) -> bytes:
    return b"%08x" % zlib.crc32(text)


def _take(known: Known, words: list[str]) -> None:
    match words:
        case ["entry", session_id, seq] if seq.isdecimal():
            known.last[session_id] = max(known.last.get(session_id, 0), int(seq))
            known.deleted.discard(session_id)
        case ["waits", session_id, prompt_id]:
            known.waiting[prompt_id] = session_id
        case ["left", prompt_id]:
            known.waiting.pop(prompt_id, None)
        case ["deleted", session_id]:
            known.last.pop(session_id, None)
            known.deleted.add(session_id)
        case _:
            pass
