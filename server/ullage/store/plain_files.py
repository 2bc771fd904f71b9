"""Plain files beside the log: whole outputs, images and documents, transcripts, and what there is of a reply that still streams in.

- A clipped tool result has its whole output here.
- The bytes of an image or a document that the model was shown lie in a file that is named for their hash. The log has only that hash. The
  bytes are written before the entry that names them, and never changed. So the log stays small, and undo, a restart or another session
  that shows the same file give back the very same bytes. A file is removed only with the last session that names it
  (`workspace_store.py`). A file that a crash left without an entry stays until the folder is deleted.
- A transcript has the messages of a request as they were before a summary: one JSON Lines file for each epoch, one message a line. It is
  for people and for the agent's own tools. Ullage itself never reads it back.
- An unfinished reply is all that is left of it where the process is killed. It is no entry and nothing depends on it: what is missing or
  damaged is as if it had never been written. The log has the reply when it is whole, or was stopped; then the file goes.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from ullage.context.blocks import (
    AssistantBlock,
    Block,
    CompactionBlock,
    Document,
    Image,
    Json,
    Media,
    Message,
    RedactedThinking,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from ullage.context.redact import redact
from ullage.store import folder as ullage_folder
from ullage.store.shared_files import write_whole

_NAME_CHARACTERS = 100
"""The most characters of an id in a name; longer ids are cut: file systems end at 255 bytes."""


class ResultFiles:
    """The whole outputs of one workspace as files; without a folder they are held in memory and end with the process."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else ullage_folder.results(folder)
        self._in_memory: dict[str, str] = {}

    def save(self, tool_use_id: str, output: str) -> str | None:
        """Keeps the output; gives its absolute path (with `/`), None if there is no folder.

        A file that is there already stays: some servers give the same id twice, and the second gets a number then.
        Raises `StoreFailed`; no half file is left then.
        """
        if self._folder is None:
            self._in_memory[tool_use_id] = output
            return None
        name = safe_name(tool_use_id)
        path = self._folder / f"{name}.txt"
        for number in count(2):
            if not path.exists():
                break
            path = self._folder / f"{name}-{number}.txt"
        write_whole(path, output)
        return path.as_posix()

    def read(self, tool_use_id: str, full_output: str | None) -> str | None:
        """The output that was saved under the id, at the path that `save` gave; None if there is none (any more)."""
        if self._folder is None or full_output is None:
            return self._in_memory.get(tool_use_id)
        try:
            return _within(self._folder, full_output).read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def remove(self, full_output: str) -> None:
        """Removes the file at the path that `save` gave, for good; does nothing if it cannot be removed."""
        if self._folder is None:
            return
        try:
            _within(self._folder, full_output).unlink(missing_ok=True)
        except OSError:
            return


class PlanFiles:
    """The documents of one session's plans, which the user may edit. Without a folder there are none."""

    def __init__(self, folder: Path | None, session_id: str) -> None:
        self._folder = folder
        self._session_id = session_id

    def path(self, tool_use_id: str) -> Path | None:
        """The path of the document of that call; None without a folder."""
        return None if self._folder is None else ullage_folder.plan(self._folder, self._session_id, safe_name(tool_use_id))

    def write(self, tool_use_id: str, plan: str) -> Path | None:
        """Makes the document of that call, for its user alone; gives its path, None without a folder. Raises `StoreFailed`, and no half
        file is left then."""
        path = self.path(tool_use_id)
        if path is not None:
            write_whole(path, plan)
        return path

    def read(self, tool_use_id: str) -> str | None:
        """The text of the document of that call; None if it is gone or no text any more."""
        path = self.path(tool_use_id)
        try:
            return None if path is None else path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError):
            return None


class ProposalFiles:
    """The proposed texts of one session's edits, which the user may change until they answer. Without a folder there are none."""

    def __init__(self, folder: Path | None, session_id: str) -> None:
        self._folder = folder
        self._session_id = session_id

    def write(self, tool_use_id: str, file: str, text: str) -> Path | None:
        """Makes the document, under the file's own name, for its user alone; gives its path, None without a folder. Raises
        `StoreFailed`."""
        if self._folder is None:
            return None
        path = ullage_folder.proposal(self._folder, self._session_id, safe_name(tool_use_id), file)
        write_whole(path, text)
        return path

    def read(self, path: Path) -> str | None:
        """The text of the document; None if it is gone or no text any more."""
        try:
            return path.read_bytes().decode("utf-8-sig")
        except (OSError, UnicodeDecodeError):
            return None

    def remove(self, path: Path) -> None:
        """Removes the document for good; does nothing if it cannot be removed."""
        with suppress(OSError):
            path.unlink(missing_ok=True)
            path.parent.rmdir()


def _within(folder: Path, full_output: str) -> Path:
    """The path in our folder for what was kept. Only the name counts: a damaged log must not lead out of the folder, and the folder may
    have been another one then."""
    return folder / Path(full_output).name


def safe_name(identifier: str) -> str:
    """The identifier as a file name.

    Models choose ids: one that is more than letters, digits, `_` and `-` is changed, with a hash at its end so that no two
    become the same.
    """
    safe = re.sub(r"[^A-Za-z0-9_-]", "_", identifier)[:_NAME_CHARACTERS]
    if safe and safe == identifier:
        return safe
    digest = hashlib.sha256(identifier.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{safe}-{digest[:12]}"


class MediaFiles:
    """The images and documents of one workspace as files; without a folder they are held in memory and end with the process. For any
    thread."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else ullage_folder.media(folder)
        self._in_memory: dict[str, bytes] = {}

    def keep(self, data: bytes, media: Media) -> None:
        """Keeps the bytes; durable when it returns. Raises `StoreFailed`, and no half file is left then."""
        if self._folder is None:
            self._in_memory[media.sha256] = data
        elif self.read(media) is None:  # what is there whole is not written twice
            write_whole(self._folder / file_name(media), data)

    def read(self, media: Media) -> bytes | None:
        """The very bytes of an image or a document; None if they are gone, or others stand in their place."""
        if self._folder is None:
            return self._in_memory.get(media.sha256)
        try:
            data = (self._folder / file_name(media)).read_bytes()
        except OSError:
            return None
        return data if sha256_of(data) == media.sha256 else None

    def remove(self, media: Media) -> None:
        """Removes the file for good; does nothing if it cannot be removed."""
        self._in_memory.pop(media.sha256, None)
        if self._folder is None:
            return
        try:
            (self._folder / file_name(media)).unlink(missing_ok=True)
        except OSError:
            return


def sha256_of(data: bytes) -> str:
    """The hash by which bytes are named (hex)."""
    return hashlib.sha256(data).hexdigest()


def shown_path(media: Media) -> str:
    """The path of the file, relative to the folder that is kept for the workspace, with `/`."""
    return f"{ullage_folder.MEDIA}/{file_name(media)}"


def file_name(media: Media) -> str:
    """The name of the file: `<hash>.png`."""
    return f"{media.sha256}.{media.media_type.removeprefix('image/') if isinstance(media, Image) else 'pdf'}"


def write_transcript(folder: Path | None, session_id: str, epoch: int, messages: Sequence[Message]) -> Path | None:
    """Writes `transcripts/<session>-<epoch>.jsonl` in the folder that is kept for the workspace, secrets redacted; gives its path.

    None if there is no folder. Raises `StoreFailed`; no half file is left then.
    """
    if folder is None:
        return None
    path = ullage_folder.transcript(folder, session_id, epoch)
    write_whole(path, "".join(f"{_line(message, folder)}\n" for message in messages))
    return path


def _line(message: Message, folder: Path) -> str:
    content: list[Json] = [_block(block, folder) for block in message.blocks]
    return json.dumps({"role": message.role, "content": content}, ensure_ascii=False)


def _block(block: Block, folder: Path) -> dict[str, Json]:
    match block:
        case Text():
            return {"type": "text", "text": redact(block.text)}
        case Thinking():  # the signature is of no use to a reader
            return {"type": "thinking", "thinking": redact(block.thinking)}
        case RedactedThinking():
            return {"type": "redacted_thinking"}
        case ToolUse():
            return {
                "type": "tool_use",
                "id": block.id,
                "name": block.name,
                "input": {key: _redacted(value) for key, value in block.input.items()},
            }
        case CompactionBlock():
            return {"type": "compaction", "content": redact(block.content)}
        case Image() | Document():
            return _file_of(block, folder)
        case ToolResult():
            files: list[Json] = [_file_of(media, folder) for media in block.media]
            return {
                "type": "tool_result",
                "tool_use_id": block.tool_use_id,
                "content": redact(block.content),
                "is_error": block.is_error,
                **({"media": files} if files else {}),
            }


def _file_of(media: Media, folder: Path) -> dict[str, Json]:
    """An image or a document as the path of its file, which stays where it is."""
    kind = "image" if isinstance(media, Image) else "document"
    return {"type": kind, "file": (folder / shown_path(media)).as_posix()}


def _redacted(value: Json) -> Json:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redacted(item) for item in value]
    if isinstance(value, dict):
        return {key: _redacted(item) for key, item in value.items()}
    return value


# A reply that is not whole yet

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BlockPiece:
    """A piece of a block that streams in. `index` is the block's place in the reply."""

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
    """The file of one session's unfinished reply: a line that says which reply it is, then a line for each piece. Without a path nothing is
    kept."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._begun = False

    def write(self, reply: UnfinishedReply, pieces: Sequence[BlockPiece]) -> None:
        """Adds pieces to the file, behind the reply's own line where they are its first. Where that fails nothing more is kept of this
        session."""
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
        """The reply that a process left when it was killed; None if it left nothing, or nothing that can be read."""
        try:
            lines = [] if self._path is None else self._path.read_bytes().splitlines(keepends=True)
            reply = _reply(json.loads(lines[0])) if lines else None
        except (OSError, ValueError):
            return None
        return None if reply is None else replace(reply, blocks=_blocks(lines[1:]))

    def remove(self) -> None:
        """Removes the file: the log has the reply, or nobody wants it any more."""
        self._begun = False
        if self._path is not None:
            try:
                self._path.unlink(missing_ok=True)
            except OSError as error:
                logger.warning("%s cannot be removed: %s", self._path, error)


def unfinished_file(folder: Path | None, session_id: str) -> UnfinishedFile:
    """The file of the session's unfinished reply."""
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
