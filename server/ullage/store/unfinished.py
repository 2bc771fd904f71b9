"""What there is of a reply that still streams in, beside the log: all that is left of it where the process is killed.

It is no entry and nothing depends on it: what is missing or damaged is as if it had never been written. The log has the reply when
it is whole, or was stopped; then the file goes.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ullage.context.blocks import AssistantBlock, Text, Thinking
from ullage.store import folder as ullage_folder

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Piece:
    """Some more of one block. `index` is the block's place in the reply."""

    index: int
    text: str
    is_thinking: bool = False


@dataclass(frozen=True, slots=True)
class UnfinishedReply:
    """A reply as far as it was written. `after` is the seq of the last entry when it was asked for."""

    id: str
    model: str
    after: int
    blocks: tuple[AssistantBlock, ...] = ()


class UnfinishedFile:
    """The file of one session: a line that says which reply it is, then a line for each piece. Without a path nothing is kept."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._begun = False

    def write(self, reply: UnfinishedReply, pieces: Sequence[Piece]) -> None:
        """Adds them, behind the reply's own line where they are its first. Where that fails nothing more is kept of this session."""
        if self._path is None:
            return
        try:
            lines = [[piece.index, piece.text, piece.is_thinking] for piece in pieces]
            if not self._begun:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                lines = [[reply.id, reply.model, reply.after], *lines]
            with self._path.open("ab" if self._begun else "wb", buffering=0) as file:
                file.write("".join(f"{json.dumps(line)}\n" for line in lines).encode())
            self._begun = True
        except OSError as error:
            logger.warning("a reply is not kept while it streams in: %s", error)
            self.remove()
            self._path = None

    def read(self) -> UnfinishedReply | None:
        """What a process that was killed left; None where it left nothing, or nothing that can be read."""
        try:
            lines = [] if self._path is None else self._path.read_bytes().splitlines(keepends=True)
            reply = _reply(json.loads(lines[0])) if lines else None
        except (OSError, ValueError):
            return None
        return None if reply is None else replace(reply, blocks=_blocks(lines[1:]))

    def remove(self) -> None:
        """The log has it, or nobody wants it any more."""
        self._begun = False
        if self._path is not None:
            try:
                self._path.unlink(missing_ok=True)
            except OSError as error:
                logger.warning("%s cannot be removed: %s", self._path, error)


def unfinished_file(folder: Path | None, session_id: str) -> UnfinishedFile:
    """That of the session."""
    return UnfinishedFile(None if folder is None else ullage_folder.unfinished(folder, session_id))


def _reply(line: object) -> UnfinishedReply | None:
    match line:
        case [str(reply_id), str(model), int(after)]:
            return UnfinishedReply(reply_id, model, after)
        case _:
            return None


def _blocks(lines: Sequence[bytes]) -> tuple[AssistantBlock, ...]:
    """The blocks that the lines make up, as far as these are whole."""
    texts: dict[int, list[str]] = {}
    kinds: dict[int, bool] = {}
    piece: Any
    for line in lines:
        try:
            piece = json.loads(line) if line.endswith(b"\n") else None
        except ValueError:
            break
        match piece:
            case [int(index), str(text), bool(is_thinking)]:
                texts.setdefault(index, []).append(text)
                kinds.setdefault(index, is_thinking)
            case _:
                break
    joined = {index: "".join(parts) for index, parts in sorted(texts.items())}
    return tuple(Thinking(text, "") if kinds[index] else Text(text) for index, text in joined.items())
