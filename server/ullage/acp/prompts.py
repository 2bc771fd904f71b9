"""A prompt as a client sends it: blocks of text, images, links and texts of files. Ullage has one text, and attachments."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from acp import schema

from ullage.session.attachments import FileRef, PastedRef, Ref, TextRef
from ullage.session.errors import SessionError
from ullage.workspace.folders import Folders

LINE_MARK = "L"
"""The letter before a line in the fragment of a link: `#L10`, `#L10:20`, `#L10-20`."""


@dataclass(frozen=True, slots=True)
class PromptMention:
    """The words that stand in a prompt for something that the client sent as a block of its own."""

    text: str


def prompt_of(blocks: Iterable[Any], folders: Folders) -> tuple[str, list[Ref]]:
    """The text of a prompt, and what is attached to it. Raises `SessionError` for what no model of ours can be given."""
    text: list[str | PromptMention] = []
    refs: list[Ref] = []
    for block in blocks:
        match block:
            case schema.TextContentBlock():
                text.append(block.text)
            case schema.ImageContentBlock():
                refs.append(PastedRef(_decoded(block.data), file=_file(block.uri or "", folders)))
            case schema.ResourceContentBlock():
                ref = _within(_file(block.uri, folders), folders)
                text.append(_mention(block.uri, ref, folders))
                refs += [] if ref is None or ref in refs else [ref]
            case schema.EmbeddedResourceContentBlock():
                file = _file(block.resource.uri, folders)
                text.append(_mention(block.resource.uri, _within(file, folders), folders))
                refs.append(_embedded(block.resource, file, folders))
            case _:
                raise SessionError("invalid", f"Ullage takes no {getattr(block, 'type', 'such')} content in a prompt")
    return _joined(text), refs


def _joined(parts: Iterable[str | PromptMention]) -> str:
    """One text. A client sends what it mentions as blocks of their own, and not always with white space around them.

    Two texts in a row are two things that it says, such as a rule of its own and what the user typed: they stand on lines of their own.
    """
    text, after_mention = "", False
    for part in parts:
        words, is_mention = (part.text, True) if isinstance(part, PromptMention) else (part, False)
        touches = bool(text and words) and not (text[-1].isspace() or words[0].isspace() or words[0] in ".,;:!?)")
        between = "" if not touches else " " if is_mention or after_mention else "\n"
        text += f"{between}{words}"
        after_mention = is_mention
    return text


def path_of(uri: str) -> Path | None:
    """The file that a URI or an absolute path names, as it is named there; None if it names no file."""
    try:
        parts = urlsplit(uri)
        if "%00" in uri or "\0" in uri:
            return None
        if parts.scheme == "file" and parts.netloc in ("", "localhost"):
            return Path(url2pathname(parts.path))
        return Path(uri) if Path(uri).is_absolute() else None
    except ValueError:
        return None


def _file(uri: str, folders: Folders) -> FileRef | None:
    """The file that a URI or a path names, wherever it lies; None if it names none. A relative name is that of a file in the first
    folder."""
    path = path_of(uri.partition("#")[0])
    if path is None:
        if folders.first is None or not uri or ":" in uri:
            return None
        path = folders.first / uri.partition("#")[0]
    try:
        return FileRef(path.resolve(), _lines(uri), str(path))
    except (OSError, RuntimeError, ValueError):  # loops of links, NUL in the name
        return None


def _within(file: FileRef | None, folders: Folders) -> FileRef | None:
    return file if file is not None and folders.contains(file.path) else None


def _lines(uri: str) -> tuple[int, int] | None:
    first, _, last = uri.partition("#")[2].removeprefix(LINE_MARK).replace("-", ":").partition(":")
    last = last.removeprefix(LINE_MARK) or first
    if not (first.isdecimal() and last.isdecimal()) or not 0 < int(first) <= int(last):
        return None
    return int(first), int(last)


def _mention(uri: str, ref: FileRef | None, folders: Folders) -> PromptMention:
    return PromptMention(uri if ref is None else f"@{folders.show(ref.path)}")


def _embedded(resource: schema.TextResourceContents | schema.BlobResourceContents, file: FileRef | None, folders: Folders) -> Ref:
    """What the client sends of a file, as an attachment. It stays known as that file's: rules of the user refuse it as they refuse reading
    the file."""
    ref = _within(file, folders)
    if isinstance(resource, schema.TextResourceContents):  # as the client has it, which may not be as it is on disk
        return TextRef(resource.uri if ref is None else folders.show(ref.path), resource.text, file)
    if (resource.mime_type or "").startswith("image/"):
        return PastedRef(_decoded(resource.blob), file=file)
    if ref is not None:
        return ref
    raise SessionError("invalid", f"{resource.uri} cannot be attached: it is no text, no image and no file of the workspace")


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:
        raise SessionError("invalid", "An image of the prompt is no base64") from None
