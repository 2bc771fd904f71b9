r"""The documents that are open in the editor, found by their files and kept as the editor has them.

pygls cuts documents into lines with `str.splitlines`. That also cuts at form feeds and other characters that no editor takes for a line
end, so later edits would go to the wrong place. It also cuts and joins the whole text for each change. `DocumentText` does neither: a
change costs what it changes, however long the text is. A text is cut into lines when it is first changed. From then on a change replaces
some of these lines. The whole text is put together when somebody asks for it. Lines end with `\n`, `\r\n` or `\r` and at nothing else
(LSP 3.17, Text Documents).
"""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from lsprotocol import types
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument, Workspace

from ullage.workspace.files import NEW_DOCUMENT, content_on_disk
from ullage.workspace.text_file import FileTooLarge, NotText, normalise_newlines, text_of

LONGEST = 20_000_000
"""The most characters of a document that is kept as the editor has it. VS Code itself takes no part in editing files of that size."""

LONG = 500_000
"""The number of characters from which on a document's lines are found in another thread."""

MANY = 200
"""The number of changes in one message beyond which they are made in another thread: these take a millisecond or two."""


def path_of(uri: str) -> Path | None:
    """The file that a URI names, symbolic links resolved; None for what is no file (an untitled document, a diff)."""
    name = to_fs_path(uri)
    if name is None:
        return None
    try:
        return Path(name).resolve()
    except (OSError, RuntimeError, ValueError):  # loops of links, NUL in the name
        return None


def named_file(path: str) -> str:
    """The path that a URI names; a text that is no URI as it is. Raises `SessionError` if the URI names no file."""
    if "://" not in path:
        return path
    found = path_of(path)
    if found is None:
        from ullage.session.errors import SessionError  # what it brings along is not wanted before `initialize`

        raise SessionError("invalid", f"{path} is no file")
    return str(found)


def is_new(uri: str) -> bool:
    """Whether the URI is that of a document that was never saved."""
    return uri.startswith(NEW_DOCUMENT)


class OpenDocuments:
    """The open documents by their path, as tools know them; pygls holds them by their URI."""

    def __init__(self, workspace: Callable[[], Workspace]) -> None:
        self._workspace = workspace
        self._uris: dict[Path, str] = {}
        self._paths: dict[str, Path] = {}

    def opened(self, uri: str) -> Path | None:
        """Takes note of a document that was opened; gives its path, None if it is no file."""
        path = path_of(uri)
        if path is not None:
            self._uris[path] = uri
            self._paths[uri] = path
            document = self._workspace().text_documents.get(uri)
            if isinstance(document, EditorDocument):
                # editors that were closed with unsaved text open it again with that text
                document.is_saved = not document.is_behind(path)
        return path

    def saved(self, uri: str) -> Path | None:
        """Takes note that the text of a document is on disk; gives its path, None if it is no open file."""
        document = self._workspace().text_documents.get(uri)
        if isinstance(document, EditorDocument):
            document.is_saved = True
        return self._paths.get(uri)

    def told(self, uri: str, version: int, is_dirty: bool) -> None:
        """Takes over what the client says of that version of a document: whether it has changes that are not saved."""
        document = self._workspace().text_documents.get(uri)
        if isinstance(document, EditorDocument) and document.version == version:
            document.is_saved = not is_dirty

    def closed(self, uri: str) -> Path | None:
        """Forgets a document that was closed; gives its path, None if it is no open file."""
        path = self._paths.pop(uri, None)
        if path is not None and self._uris.get(path) == uri:
            del self._uris[path]
        return path

    def path(self, uri: str) -> Path | None:
        """The path of an open document; None if it is not open, or no file."""
        return self._paths.get(uri)

    def paths(self) -> Sequence[Path]:
        """The files of all open documents."""
        return tuple(self._uris)

    def find(self, path: Path) -> TextDocument | None:
        """The open document of a file; None if it is not open, or too long to be kept here: then the disk has its text.

        None also where nothing of it is unsaved and the disk has something else. An editor shows an older text until it has heard of a
        change on disk, which may take a second, and that of a file that is gone until somebody closes it.
        """
        uri = self._uris.get(path)
        document = None if uri is None else self._workspace().get_text_document(uri)
        if isinstance(document, EditorDocument) and (not document.is_mirrored or (document.is_saved and document.is_behind(path))):
            return None
        return document

    def new_text(self, uri: str) -> str | None:
        """The text of a document that was never saved, as the client synchronises it; None if it is not open, or too long."""
        document = self._workspace().text_documents.get(uri)
        return document.source if document is not None and is_new(uri) and is_mirrored(document) else None

    def is_too_long(self, uri: str) -> bool:
        """Whether that document is open and its text is too long to be kept here."""
        return uri in self._paths and not is_mirrored(self._workspace().get_text_document(uri))


def is_mirrored(document: TextDocument | None) -> bool:
    """Whether the text of that document is kept here."""
    return not isinstance(document, EditorDocument) or document.is_mirrored


class EditorWorkspace(Workspace):
    """pygls' workspace, with documents that change place by place (`EditorDocument`)."""

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> TextDocument:
        return EditorDocument(doc_uri, source, version, language_id, sync_kind=self._sync_kind, position_codec=self._position_codec)


class EditorDocument(TextDocument):
    """pygls' document, whose text changes place by place, cut into lines as the protocol says."""

    def __init__(self, uri: str, source: str | None = None, *more: Any, **options: Any) -> None:
        super().__init__(uri, None, *more, **options)
        self.text: DocumentText | None = None
        """The text of the document; None if it is not open."""
        self.is_mirrored = True
        """Whether its text is kept here; not where it is too long (`LONGEST`)."""
        self.is_saved = False
        """Whether nothing of it is unsaved, as far as is known: the text on disk is newer then, if it is another. After a change this is
        known once the client says so, or the disk is found to have the same text."""
        self._on_disk: tuple[tuple[int, ...], bool] | None = None
        """The status of the file when its text was last compared with this one, and whether it was another."""
        if source is not None:
            self.take(source)

    def take(self, text: str) -> None:
        """Puts another text in the place of the whole text."""
        self.is_mirrored = len(text) <= LONGEST
        self.text = DocumentText(text if self.is_mirrored else "", self.units)

    @property
    def units(self) -> Units:
        """The unit in which the client counts characters."""
        match self.position_codec.encoding:
            case types.PositionEncodingKind.Utf8:
                return "utf-8"
            case types.PositionEncodingKind.Utf32:
                return "utf-32"
            case _:
                return "utf-16"

    @property
    def source(self) -> str:
        """The whole text of the document."""
        return super().source if self.text is None else self.text.whole

    @property
    def lines(self) -> Sequence[str]:
        """The lines of the document with their ends."""
        return lines_of(self.source) if self.text is None else tuple(self.text.lines)

    def is_behind(self, path: Path) -> bool:
        """Whether its file has another text or is gone. Of a file that cannot be read as text that is not known: editors can do more."""
        try:
            status = path.lstat()
            now = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            if self._on_disk is not None and self._on_disk[0] == now:
                return self._on_disk[1]
            on_disk = content_on_disk(path, LONGEST)
            if on_disk is None:
                return True
            file = text_of(on_disk.data)
            is_behind = file.text != normalise_newlines(self.source)[0]
            if file.encoding == "latin-1":  # so is taken what is in none that we know
                is_behind = False
        except FileNotFoundError:
            return True
        except (OSError, FileTooLarge, NotText):
            return False
        self._on_disk = now, is_behind
        return is_behind

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        """Takes over one change of the user; costs what it changes."""
        self.is_saved = False
        self._on_disk = None
        if isinstance(change, types.TextDocumentContentChangePartial):
            if self.text is None:
                self.text = DocumentText(self.source, self.units)
            if self.is_mirrored:
                start, end = change.range.start, change.range.end
                self.text.change((start.line, start.character), (end.line, end.character), change.text)
        else:
            self.take(change.text)


Units: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]
"""The unit in which a client counts characters."""

Position: TypeAlias = tuple[int, int]
"""A line and a place in it, both from 0."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")

STRETCH = 262_144
"""How many characters are cut into lines at once, in some milliseconds. Between two stretches others have their turn."""


class DocumentText:
    """A text that changes place by place. `units` are those of the positions."""

    def __init__(self, text: str, units: Units = "utf-16") -> None:
        self._units: Units = units
        self._whole: str | None = text
        self._lines: list[str] | None = None

    @property
    def whole(self) -> str:
        """The whole text, put together anew if it was changed since."""
        if self._whole is None:
            self._whole = "".join(self._lines or ())
        return self._whole

    @property
    def lines(self) -> Sequence[str]:
        """The lines with their ends, as the live list."""
        if self._lines is None:
            self._lines = _cut(self.whole)
        return self._lines

    @property
    def is_cut(self) -> bool:
        """Whether its lines are known, so that a change costs little."""
        return self._lines is not None

    def copy(self) -> DocumentText:
        """A copy that can be changed without changing this text. The text itself is not copied."""
        other = DocumentText("", self._units)
        other._whole, other._lines = self._whole, None if self._lines is None else self._lines.copy()
        return other

    def replace(self, text: str) -> None:
        """Puts another text in the place of the whole text."""
        self._whole, self._lines = text, None

    def change(self, start: Position, end: Position, text: str) -> None:
        """Puts `text` in the place of a range. What lies behind the end of a line counts as its end, as the protocol says."""
        lines = self._lines if self._lines is not None else _cut(self.whole)
        first, begins = self._place(lines, start)
        last, ends = self._place(lines, end)
        if (last, ends) < (first, begins):
            last, ends = first, begins
        before = lines[first][:begins] if first < len(lines) else ""
        after = lines[last][ends:] if last < len(lines) else ""
        if not before and first > 0:  # a line before that ends with `\\r` is one with a `\\n` that follows now
            first -= 1
            before = lines[first]
        lines[first : last + 1] = _cut(f"{before}{text}{after}")
        self._lines, self._whole = lines, None

    def _place(self, lines: Sequence[str], position: Position) -> Position:
        """The line and the index in it, in characters of Python. A position behind the text gives the place behind the last line."""
        number, character = position
        if number >= len(lines):
            return len(lines), 0
        line = lines[number]
        return number, min(index_of(line, character, self._units), len(line.rstrip("\r\n")))


def changes_a_long_one(message: Any, workspace: Workspace | None) -> bool:
    """Whether a message, as parsed, is the first change of a long document: its lines are found first, in another thread."""
    text = _changed_by(message, workspace)
    return text is not None and not text.is_cut and len(text.whole) > LONG


async def change_ahead(message: Any, workspace: Workspace | None) -> None:
    """Applies many changes of a document to a copy in another thread: they become one, which costs nothing, and need not be read one by
    one. Of few the document's lines are found."""
    text = _changed_by(message, workspace)
    if text is None or not isinstance(changes := message["params"].get("contentChanges"), list):
        return
    several = cast("list[Any]", changes)
    if len(several) <= MANY:
        await asyncio.to_thread(lambda: text.lines)
        return
    whole = await asyncio.to_thread(changed, text.copy(), several)
    if whole is not None:
        several[:] = [{"text": whole}]


def _changed_by(message: Any, workspace: Workspace | None) -> DocumentText | None:
    """The text of the document that a message changes; None if it changes none, or its text is not kept."""
    match message:
        case {"method": types.TEXT_DOCUMENT_DID_CHANGE, "params": {"textDocument": {"uri": str(uri)}}} if workspace is not None:
            document = workspace.get_text_document(uri)
            return document.text if isinstance(document, EditorDocument) and document.is_mirrored else None
        case _:
            return None


def changed(text: DocumentText, changes: Iterable[object]) -> str | None:
    """The whole text after several changes, as they came over the wire, one after the other; None if one is malformed. Changes `text`."""
    for each in changes:
        match each:
            case {
                "range": {  # pyrefly: ignore[not-callable] - it takes an object for a mapping whose items nobody knows
                    "start": {"line": int(first), "character": int(start)},
                    "end": {"line": int(last), "character": int(end)},
                },
                "text": str(new),  # pyrefly: ignore[not-callable]
            } if min(first, start, last, end) >= 0:
                text.change((first, start), (last, end), new)
            case {"text": str(new)} if not isinstance(each, dict) or "range" not in each:  # pyrefly: ignore[not-callable]
                text.replace(new)
            case _:
                return None
    return text.whole


def index_of(line: str, units: int, kind: Units) -> int:
    """The index of the character that begins after that many units in a line; if that is within a character, the index of the next one."""
    if kind == "utf-32" or line.isascii():
        return min(units, len(line))
    head = line[:units]  # a character takes at least one unit
    index = bisect_left(range(len(head) + 1), units, key=lambda length: _units_of(head[:length], kind))
    return min(index, len(head))


def _units_of(text: str, kind: Units) -> int:
    if kind == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def lines_of(text: str) -> tuple[str, ...]:
    """The lines of a text with their ends, as editors count them."""
    return tuple(_cut(text))


def _cut(text: str) -> list[str]:
    lines: list[str] = []
    for stretch in _stretches(text):
        lines += _LINE.findall(stretch)
    return lines


def _stretches(text: str) -> Iterable[str]:
    """The parts of a text; each ends with a `\\n`, except for the last."""
    start = 0
    while len(text) - start > STRETCH:
        end = text.find("\n", start + STRETCH) + 1
        if not end:
            break
        yield text[start:end]
        start = end
    yield text[start:]
