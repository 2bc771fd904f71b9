"""Sessions on their way between the log of this machine and the team's store, with what their entries speak of.

What is there already is passed over, so what was cut off is gone on with by doing it again. What comes from the store was written by
members of the workspace: their words count as the user's own, but names of files are looked at before they become any here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ullage.context.blocks import Media
from ullage.context.entries import Clipped, Entry, Notice, ToolReturned, media_in, versions_in
from ullage.store import folder as ullage_folder
from ullage.store.encode import DamagedEntry, decode
from ullage.store.errors import StoreFailed
from ullage.store.origins import is_foreign, is_id
from ullage.store.plain_files import MediaFiles, ResultFiles, file_name
from ullage.store.schema import EntryRow
from ullage.store.search_file import passages
from ullage.store.session_rows import Heads, SessionRows
from ullage.store.shared_files import write_whole
from ullage.store.team.postgres import digest_of
from ullage.store.team.store import Batch, IndexedWords, Spoken, TeamStore
from ullage.store.versions import Versions, pack

PAGE_ROWS = 200

PAGE_BYTES = 4_000_000
"""The bytes of entries that are sent at once."""

SAID_BYTES = 200_000
"""The bytes of entries whose words are sent at once: some hundredths of a second for the index there."""

SAID_CHARACTERS = 200_000
"""How many characters of an entry can be found by their words in the team's store."""

_FILE = re.compile(r"[A-Za-z0-9_-]{1,150}\.(txt|png|jpeg|gif|webp|pdf)")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Diverged(StoreFailed):
    """The session has other entries here than there, under the same numbers."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"Session {session_id} went on here and in the team's store, each in its own way")
        self.session_id = session_id


@dataclass(frozen=True, slots=True)
class Here:
    """What this machine keeps of a workspace."""

    rows: SessionRows
    results: ResultFiles
    media: MediaFiles
    versions: Versions
    folder: Path | None


def can_go(session_id: str) -> bool:
    """Whether a session goes into the team's store: one that somebody else may have written does not."""
    return is_id(session_id) and not is_foreign(session_id)


@dataclass(frozen=True, slots=True)
class Sent:
    """How far a session has come. Rows that are damaged here are left out, so the last one there may be an earlier one."""

    there: int
    """The last seq that is in the store."""
    through: int
    """The seq up to which all that is whole here is in the store."""
    heads: Heads | None = None
    """What goes along with the session, where that is in the store, too; None if there is no such session here."""


def send(
    here: Here,
    team: TeamStore,
    session_id: str,
    after: int,
    acknowledged: Callable[[Sent], None] = lambda sent: None,
    heads: Heads | None = None,
) -> Sent:
    """Adds to the store what is here behind seq `after`, which is the last one there, and with the last of it what goes along with the
    session, unless that is as in `heads`. This process holds the session's lease.

    The last entries and what goes along are of one moment. So a prompt that no longer waits is an entry that goes along or went before."""
    looked_at = after
    while True:
        rows, now = here.rows.after_and_heads(session_id, looked_at, PAGE_ROWS)
        page = list(_first_of(rows, PAGE_BYTES))
        is_last = len(page) == len(rows) < PAGE_ROWS
        news = now if is_last and now is not None and not _is_the_same(now, heads) else None
        whole = [row for row in page if row.is_whole]
        if whole:
            team.append(session_id, after, _batch(here, team, whole), news)
            after = whole[-1].seq
        elif news is not None:
            team.put_heads(news)
        if page:
            looked_at = page[-1].seq
            acknowledged(Sent(after, looked_at))
        if is_last:
            return Sent(after, looked_at, now)


def _is_the_same(now: Heads, before: Heads | None) -> bool:
    """Whether the heads are the same, but for the time, which the entries tell."""
    return before is not None and (now.session.title, now.values, now.prompts) == (before.session.title, before.values, before.prompts)


def _first_of(rows: Sequence[EntryRow], most: int) -> Iterator[EntryRow]:
    size = 0
    for row in rows:
        if size and size + len(row.body) > most:
            return
        size += len(row.body)
        yield row


def _batch(here: Here, team: TeamStore, rows: Sequence[EntryRow]) -> Batch:
    bytes_of: dict[Spoken, Callable[[], bytes | None]] = {}
    for row in rows:
        try:
            entry = decode(row.body)
        except DamagedEntry:  # of a later version of Ullage: it goes along as it is
            continue
        bytes_of |= _spoken(here, entry)
    for each in team.missing(list(bytes_of)):
        data = bytes_of[each]()
        if data is not None:
            team.attach(each, data)
    return Batch(rows, list(bytes_of))


def say(here: Here, team: TeamStore, session_id: str, through: int) -> None:
    """Lets the entries up to that seq, which are in the store, be found by their words. What can be found already is passed over."""
    after = team.said_through(session_id)
    while after < through and (rows := here.rows.after(session_id, after, PAGE_ROWS)):
        page = [row for row in _first_of(rows, SAID_BYTES) if row.seq <= through]
        last = page[-1].seq if page else through
        said = [each for row in page if row.is_whole for each in _said(here, row)]
        if not team.say(session_id, after, last, said):
            return  # another machine does it
        after = last


def _said(here: Here, row: EntryRow) -> Iterator[IndexedWords]:
    try:
        entry = decode(row.body)
    except DamagedEntry:  # of a later version of Ullage
        return
    left = SAID_CHARACTERS
    for passage in passages(entry, here.results):
        if left <= 0:
            return
        yield IndexedWords(row.seq, passage.what, passage.tool_use_id, passage.text[:left])
        left -= len(passage.text)


def _spoken(here: Here, entry: Entry) -> dict[Spoken, Callable[[], bytes | None]]:
    found: dict[Spoken, Callable[[], bytes | None]] = {}
    for media in media_in(entry):
        found[Spoken("media", file_name(media))] = _media(here, media)
    for version in versions_in(entry):
        found[Spoken("version", version.sha256)] = _version(here, version.sha256)
    if isinstance(entry, ToolReturned | Clipped | Notice) and entry.full_output is not None:
        found[Spoken("result", Path(entry.full_output).name)] = _result(here, entry.full_output)
    return {each: read for each, read in found.items() if _is_name(each)}


def _media(here: Here, media: Media) -> Callable[[], bytes | None]:
    return lambda: here.media.read(media)


def _version(here: Here, name: str) -> Callable[[], bytes | None]:
    return lambda: here.versions.read(name)


def _result(here: Here, path: str) -> Callable[[], bytes | None]:
    def read() -> bytes | None:
        text = here.results.read("", path)
        return None if text is None else text.encode("utf-8", "replace")

    return read


def _is_name(spoken: Spoken) -> bool:
    return (_SHA256 if spoken.kind == "version" else _FILE).fullmatch(spoken.name) is not None


def fetch(here: Here, team: TeamStore, session_id: str) -> int:
    """Adds here what the store has beyond the session here; gives the last seq that is there. The session is claimed here. Raises
    `Diverged`, and has changed nothing then."""
    heads = team.heads(session_id)
    if heads is None:
        return 0
    reached = common(here, team, session_id)
    last = reached
    while rows := team.since(session_id, last, PAGE_ROWS):
        here.rows.put(heads, rows)
        last = rows[-1].seq
    if last == reached:
        here.rows.put(heads, ())
    for each in team.spoken_of(session_id) if last else ():
        _keep(here, team, each)
    return last


def common(here: Here, team: TeamStore, session_id: str) -> int:
    """The last seq of those that are both here and in the store. Raises `Diverged` if the entries are not the same up to it."""
    mine = [row for row in _all(here, session_id) if row.is_whole]
    if not mine:
        return 0
    count, theirs = team.digest(session_id, mine[-1].seq)
    if digest_of(mine) == (count, theirs):
        return mine[-1].seq
    if count > len(mine) or digest_of(mine[:count]) != (count, theirs):
        raise Diverged(session_id)
    return mine[count - 1].seq if count else 0


def is_same(here: Here, team: TeamStore, session_id: str) -> bool:
    """Whether all of the session that can be read here is in the store, by count and hash, and nothing else is."""
    mine = [row for row in _all(here, session_id) if row.is_whole]
    return digest_of(mine) == team.digest(session_id, 1 << 62)


def _all(here: Here, session_id: str) -> Iterator[EntryRow]:
    after = 0
    while rows := here.rows.after(session_id, after, PAGE_ROWS):
        yield from rows
        after = rows[-1].seq


def _keep(here: Here, team: TeamStore, spoken: Spoken) -> None:
    """Fetches an image, an output or a version that is not here yet. Content that does not match its name is not taken."""
    if here.folder is None or not _is_name(spoken):
        return
    if spoken.kind == "version":
        if here.versions.standing(spoken.name) == "unknown":
            data = team.attached(spoken)
            if data is not None and sha256(data).hexdigest() == spoken.name:
                with suppress(StoreFailed):  # no room: the session can be read without it
                    here.versions.keep_packed((pack(data),), named=True)
        return
    folder = ullage_folder.media(here.folder) if spoken.kind == "media" else ullage_folder.results(here.folder)
    path = folder / spoken.name
    if path.exists():
        return
    data = team.attached(spoken)
    if data is not None and (spoken.kind == "result" or sha256(data).hexdigest() == path.stem):
        write_whole(path, data)
