"""What a user puts into a prompt: files as the editor has them, whole or some lines, folders, images and PDFs, the editor's problems, pages
of the web, and texts that are in no file, such as what a terminal shows.

And the shelf from which tools and attachments show images: what the model of one session can still be shown, and where the bytes of it go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from ullage.context.blocks import Media, Message
from ullage.context.commit_prompt import diff_without
from ullage.context.counting.media import Weight, shown_in, weight_of
from ullage.context.entries import NO_FILE, Attachment
from ullage.context.quoting import visible_line
from ullage.mcp_servers.servers import Servers
from ullage.models.model import ModelCard
from ullage.session.errors import SessionError
from ullage.session.server_offers import attached_resource
from ullage.store.errors import StoreFailed
from ullage.store.plain_files import MediaFiles, shown_path
from ullage.tools.media import MediaShelf, NotShown, Sight, show, show_bytes
from ullage.tools.rules.covering import PermissionRule
from ullage.tools.rules.reading import ReadRules
from ullage.workspace.files import NEW_DOCUMENT, Diagnostic, Editor, WorkspaceFiles
from ullage.workspace.folders import Folders, OutsideWorkspace
from ullage.workspace.ignore import IgnoreRules, walk_files
from ullage.workspace.media_file import DamagedMedia
from ullage.workspace.text_file import FileTooLarge, NotText
from ullage.workspace.web_page import NotFetched, Page, fetch_page

ATTACHED_CHARACTERS = 30_000
"""A longer file is cut, as a tool result would be; the agent can read the rest."""

PROBLEMS_NAME = "problems"
"""The name that the editor's problems have among the attachments."""

PASTED_NAME = "pasted image"
"""The name that a pasted image has among the attachments."""

LISTED_FILES = 300
"""Most files that are listed of an attached folder. The agent can list the rest."""

PROBLEMS = 100
"""Most problems that are put into a prompt."""


@dataclass(frozen=True, slots=True)
class FileRef:
    """A file of the workspace, or a folder, its links resolved.

    `lines` are the first and the last line (from 1) where only these are meant. `given` is how it was named: a rule may be about a link.
    """

    path: Path
    lines: tuple[int, int] | None = None
    given: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class TextRef:
    """A text that is in no file, or the text of `file` as the editor has it, wherever that lies. `name` says where it is from
    (`terminal`)."""

    name: str
    text: str
    file: FileRef | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class NewDocumentRef:
    """An open document that was never saved, so that no file has its text."""

    uri: str


@dataclass(frozen=True, slots=True)
class ProblemsRef:
    """All problems that the editor knows of."""


@dataclass(frozen=True, slots=True)
class PastedRef:
    """An image that was pasted or dropped and is in no file of the workspace, or the image in `file` as the editor has it, wherever that
    lies. `name` is the name of the dropped file; None if the image was pasted."""

    data: bytes
    name: str | None = None
    file: FileRef | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class PageRef:
    """A page of the web, by the address that the user typed."""

    url: str


@dataclass(frozen=True, slots=True)
class ResourceRef:
    """A resource of an MCP server."""

    server: str
    uri: str


Ref: TypeAlias = FileRef | TextRef | NewDocumentRef | ProblemsRef | PastedRef | PageRef | ResourceRef

FetchPage: TypeAlias = Callable[[str], Awaitable[Page]]
"""Fetches a page of the web by its address. Raises `NotFetched`."""


async def attach(
    ref: Ref,
    read_rules: ReadRules,
    files: WorkspaceFiles,
    editor: Editor,
    shelf: MediaShelf,
    fetch: FetchPage = fetch_page,
    servers: Servers | None = None,
) -> Attachment:
    """Gives what the model reads of what a reference names. Raises `SessionError` for what cannot be attached."""
    folders = files.folders
    if isinstance(ref, PageRef):
        return await _page(ref.url, fetch)
    if isinstance(ref, ResourceRef):
        return await attached_resource(ref.server, ref.uri, servers, shelf)
    if isinstance(ref, ProblemsRef):
        problems = await editor.diagnostics(None)
        problems = None if problems is None else [each for each in problems if read_rules.refusing(each.path) is None]
        return Attachment(PROBLEMS_NAME, problems_text(problems, folders))
    if isinstance(ref, PastedRef):
        await _check_file(ref.file, read_rules)
        await _check(read_rules.refusing_text(ref.name or ""), ref.name or "", read_rules)
        return await _pasted(ref, shelf)
    if isinstance(ref, NewDocumentRef):
        return _new_document(ref.uri, editor)
    if isinstance(ref, TextRef):
        await _check_file(ref.file, read_rules)
        await _check(read_rules.refusing_text(ref.name), ref.name, read_rules)
        return Attachment(f"{NO_FILE}{ref.name}", _cut(diff_without(ref.text, read_rules.refuses_in_diff), "text"))
    name = folders.show(ref.path)
    try:
        path = folders.resolve(str(ref.path))
        await _check_file(FileRef(path, given=ref.given or str(ref.path)), read_rules)
        if await asyncio.to_thread(path.is_dir):
            return Attachment(f"{name.rstrip('/')}/", await asyncio.to_thread(_listing, path, folders, read_rules))
        shown = await show(path, shelf)
        if shown is not None:
            return Attachment(name, shown.words, shown.media)
        text = (await files.read(path)).text
    except FileNotFoundError:
        raise SessionError("invalid", f"{name} cannot be attached: there is no such file") from None
    except (OutsideWorkspace, NotText, DamagedMedia, NotShown, StoreFailed, FileTooLarge, OSError) as error:
        raise SessionError("invalid", f"{name} cannot be attached: {error}") from error
    return Attachment(name, _cut(text)) if ref.lines is None else _some_lines(name, text, ref.lines)


async def _check_file(file: FileRef | None, read_rules: ReadRules) -> None:
    """Raises `SessionError` if a rule refuses reading the file: its text is not to reach the model, whoever has it already. None: there is
    no file to check."""
    if file is not None:
        await _check(read_rules.refusing(file.path, file.given), read_rules.folders.show(file.path), read_rules)


async def _check(rule: PermissionRule | None, name: str, read_rules: ReadRules) -> None:
    if rule is not None:
        await asyncio.to_thread(read_rules.used, rule)
        raise SessionError("invalid", f"{name} cannot be attached: your rule `{rule.pattern}` refuses to have it read")


def _some_lines(name: str, text: str, lines: tuple[int, int]) -> Attachment:
    """The attachment with these lines of a file (the first and the last, from 1) and their numbers, so that the agent knows where they
    stand. Raises `SessionError` if the file has fewer."""
    all_lines = text.split("\n")
    first, last = lines[0], min(lines[1], len(all_lines))
    if not 1 <= first <= last:
        raise SessionError("invalid", f"{name} cannot be attached: it has no lines {lines[0]} to {lines[1]}")
    shown = "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(all_lines[first - 1 : last], first))
    return Attachment(name, _cut(shown), lines=(first, last))


def _listing(folder: Path, folders: Folders, read_rules: ReadRules) -> str:
    """The files in a folder that are not ignored and may be read, by path."""
    met = (path for path in walk_files(folder, IgnoreRules(folders.roots)) if read_rules.refusing(path) is None)
    found = list(islice(met, LISTED_FILES + 1))
    names = [folders.show(path) for path in found[:LISTED_FILES]]
    more = ["... and more; list_files shows the rest"] if len(found) > LISTED_FILES else []
    return "\n".join([*names, *more]) or "(no files)"


def _new_document(uri: str, editor: Editor) -> Attachment:
    text = editor.new_text(uri)
    if text is None:
        raise SessionError("invalid", f"{uri} cannot be attached: no document of that name is open in the editor, or it is too long")
    return Attachment(uri, _cut(text))


async def _page(url: str, fetch: FetchPage) -> Attachment:
    """The attachment with the text of a page of the web, as it was when the prompt was sent. Attached again (`ref_of`) it is that text, and
    nothing is fetched. Raises `SessionError`."""
    try:
        page = await fetch(url)
    except NotFetched as error:
        raise SessionError("invalid", f"{visible_line(url)} cannot be attached: {error}") from error
    head = [f"Title: {page.title}"] if page.title else []
    if page.url != url:
        head.append(f"It led to {page.url}")
    if page.is_cut:
        head.append("[the page was longer than what was fetched]")
    return Attachment(f"{NO_FILE}{url}", "\n".join([*head, *([""] if head else []), _cut(page.text, "page")]))


def _cut(text: str, what: str = "file") -> str:
    if len(text) <= ATTACHED_CHARACTERS:
        return text
    return f"{text[:ATTACHED_CHARACTERS]}\n[cut here: the {what} has {len(text):,} characters]"


async def _pasted(ref: PastedRef, shelf: MediaShelf) -> Attachment:
    name = ref.name or PASTED_NAME
    try:
        shown = await show_bytes(ref.data, shelf)
    except (DamagedMedia, NotShown, StoreFailed, FileTooLarge) as error:
        raise SessionError("invalid", f"{name} cannot be attached: {error}") from error
    if shown is None:
        raise SessionError("invalid", f"{name} cannot be attached: it is no PNG, JPEG, GIF or WebP")
    return Attachment(f"{NO_FILE}{ref.name}" if ref.name else PASTED_NAME, shown.words, shown.media)


def ref_of(attachment: Attachment, folders: Folders) -> Ref | None:
    """The reference by which something is attached once more, as it is now; None if it cannot be."""
    if attachment.name == PROBLEMS_NAME:
        return ProblemsRef()
    if attachment.name.startswith(NEW_DOCUMENT):
        return NewDocumentRef(attachment.name)
    is_no_file = attachment.name.startswith(NO_FILE)
    if is_no_file and attachment.media is None:
        return TextRef(attachment.name.removeprefix(NO_FILE), attachment.text)
    pasted = attachment.media if is_no_file or attachment.name == PASTED_NAME else None
    try:
        if pasted is None:
            return FileRef(folders.resolve(attachment.name), attachment.lines)
        return None if folders.kept is None else FileRef(folders.resolve(str(folders.kept.folder / shown_path(pasted))))
    except OutsideWorkspace:
        return None


def problems_text(problems: list[Diagnostic] | None, folders: Folders) -> str:
    """The editor's problems as the model reads them, one line for each, `PROBLEMS` at most. None: the editor cannot tell them."""
    if problems is None:
        return "(the editor cannot tell its problems)"
    if not problems:
        return "(no problems)"
    lines = [f"{folders.show(p.path)}:{p.line}: {p.severity}: {p.message} [{p.source}]" for p in problems[:PROBLEMS]]
    more = len(problems) - PROBLEMS
    return "\n".join(lines + ([f"... and {more} more"] if more > 0 else []))


class SessionShelf:
    """Implements `ullage.tools.media.Shelf` for one session."""

    def __init__(self, files: MediaFiles, card: Callable[[], ModelCard], messages: Callable[[], Sequence[Message]]) -> None:
        self._files = files
        self._card = card
        self._messages = messages

    def sight(self) -> Sight:
        """What the model can be shown, and what images are in view already. All messages in view are looked through, so it is asked only
        where an image is about to be shown."""
        card = self._card()
        in_view = sum((weight_of(media) for message in self._messages() for media in shown_in(message)), Weight())
        return Sight(card.display_name, card.media_room, in_view, card.images, card.window)

    def keep(self, data: bytes, media: Media) -> None:
        """Keeps the bytes of an image or PDF. Raises `StoreFailed`."""
        self._files.keep(data, media)
