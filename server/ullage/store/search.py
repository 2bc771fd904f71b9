"""Full text search over everything that was said or returned in the sessions of one workspace.

The index is a file of its own that can be thrown away at any time: it is made again from the log, bit by bit, before a
search. So it is, whatever is found to be wrong with it. Calls may take long after much was logged (about 0.1 s a million characters),
so make them from another thread.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from ullage.context.entries import ToolReturned
from ullage.store import folder as ullage_folder
from ullage.store.database import TEMPORARY, failing_clearly, is_damage
from ullage.store.elsewhere import EntryHit
from ullage.store.log_store import LogStore
from ullage.store.origins import Holders, Lineage, is_foreign, origin_of
from ullage.store.plain_files import ResultFiles
from ullage.store.search_file import OutOfSight, made_anew, note_telling, open_index, passages, telling_places
from ullage.store.statements import LoggedRow

_BATCH = 2_000
_BATCH_BYTES = 1_000_000
"""The most rows of the log that go into the index at once, and their bytes: a tenth of a second. Between two batches the index is free for
others."""

_MOST_WORDS = 24
"""How many different words are looked for; of more, the longest. What a hundred words cost grows faster than they do."""

_LONGEST_WORD = 200
"""The most characters of a word that is looked for; of a longer word its beginning is."""

_EXCERPT_WORDS = 24
_EXCERPT_CHARACTERS = 200
_EXCERPT_LEAD = 60
"""How many characters an excerpt has before the first word."""
_LOOKED_THROUGH = 10
"""How many times as many hits as are wanted are looked through for those that hold the words exactly."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Found:
    """A hit with the whole passage."""

    hit: EntryHit
    text: str


class SearchIndex:
    """The index of one workspace, in the folder that is kept for it; in memory where there is none. All calls raise `StoreFailed`."""

    def __init__(self, folder: Path | None, log: LogStore, results: ResultFiles) -> None:
        self._log = log
        self._results = results
        self._out_of_sight = OutOfSight(log)
        self._one_thread = threading.Lock()
        self._path = None if folder is None else ullage_folder.search_index(folder)
        self._connection = open_index(self._path)

    @classmethod
    def temporary(cls, log: LogStore, results: ResultFiles) -> SearchIndex:
        """An index that ends with the process, and lies in memory as far as it is small."""
        index = cls(None, log, results)
        index._connection.close()
        index._connection = made_anew(None, TEMPORARY)
        return index

    def close(self) -> None:
        """Lets go of the file."""
        self._connection.close()

    def search(
        self,
        words: str,
        limit: int,
        through_seq: int | None = None,
        preferred: str | None = None,
        hidden: Mapping[str, AbstractSet[int]] | None = None,
        *,
        foreign: bool = True,
    ) -> list[EntryHit]:
        """The entries that hold all the words (or beginnings of words), best first; those that hold any where none holds all; those that
        hold them inside other words where none does either. Nothing in `words` is an operator; of very many words the longest count.

        Entries beyond `through_seq` of their session are passed over, and those that are `hidden` (seqs by session). What forks have in
        common is found once: in the session `preferred` where it has it, else in the one in which it was first said. `foreign`: also in
        sessions that somebody else may have written.
        """
        wanted = wanted_words(words)
        if not wanted or limit < 1:
            return []
        self.catch_up()
        lineages = self._log.lineages()
        holders = Holders(lineages if foreign else _without_foreign(lineages), preferred)

        def look(connection: sqlite3.Connection) -> list[EntryHit]:
            for rows in _attempts(connection, wanted):
                hits = _first_of_each(rows, holders, limit * _LOOKED_THROUGH, through_seq, hidden or {})
                if hits:
                    return _exact_first(hits, wanted)[:limit]
            return []

        return self._use("search", look)

    def result(self, tool_use_id: str, session_id: str, hidden: Mapping[str, AbstractSet[int]] | None = None) -> str | None:
        """The whole result of a tool call, that of the session `session_id` first where several have the id. None if there is none that is
        not `hidden` (seqs by session), or none but in sessions that somebody else may have written."""
        self.catch_up()
        statement = "SELECT session_id, seq FROM result WHERE tool_use_id = ? ORDER BY rowid DESC"
        rows = self._use("find the result", lambda connection: connection.execute(statement, (tool_use_id,)).fetchall())
        holders = Holders(_without_foreign(self._log.lineages()), session_id)
        found = [(holder, seq) for origin, seq in rows if (holder := holders.of(origin, seq)) is not None]
        places = [(holder, seq) for holder, seq in found if hidden is None or seq not in hidden.get(holder, ())]
        if not places:
            return None
        where, at = max((place for place in places if place[0] == session_id), default=places[0])
        for logged in self._log.between(where, at, at):
            if isinstance(logged.entry, ToolReturned):
                whole = self._results.read(tool_use_id, logged.entry.full_output)
                return logged.entry.content if whole is None else whole
        return None

    def out_of_sight(self) -> Mapping[str, AbstractSet[int]]:
        """The seqs that `recall` is not to find, by session: those of what the user took out, and of records that may tell of it."""
        self.catch_up()
        lineages = self._log.lineages()
        return self._out_of_sight.of_all(self._use("search", lambda connection: telling_places(connection, lineages)))

    def catch_up(self) -> None:
        """Takes into the index what was logged since the last time."""

        while not self._use("update the search index", self._batch):
            pass

    def _batch(self, connection: sqlite3.Connection) -> bool:
        connection.execute("BEGIN IMMEDIATE")
        try:
            done = self._take_in_batch(connection)
            connection.execute("COMMIT")
        except BaseException:
            connection.rollback()
            raise
        return done

    def forget(self, session_id: str, lineage: Lineage = ()) -> None:
        """Removes a session that was deleted from the index, for good; what a fork of it has, or it had as a fork of one that is gone too,
        stays as long as another session has it."""
        holders = Holders(self._log.lineages())

        def remove(connection: sqlite3.Connection) -> None:
            for origin in (session_id, *(origin for origin, _ in lineage)):
                needed = holders.needed(origin)
                if needed is not None:
                    connection.execute("DELETE FROM passage WHERE session_id = ? AND seq > ?", (origin, needed))
                    connection.execute("DELETE FROM result WHERE session_id = ? AND seq > ?", (origin, needed))
                    connection.execute("DELETE FROM telling WHERE session_id = ? AND seq > ?", (origin, needed))

        self._use("forget the session", remove)

    def _take_in_batch(self, connection: sqlite3.Connection) -> bool:
        after, log = connection.execute("SELECT row, log FROM indexed").fetchone()
        if log != self._log.identity():
            if after:
                raise sqlite3.DatabaseError("it is of another log")
            connection.execute("UPDATE indexed SET log = ?", (self._log.identity(),))
        rows = self._log.rows_after(after, _BATCH, _BATCH_BYTES)
        if not rows:
            return True
        lineages = self._log.lineages()
        reached: dict[str, int] = {}
        for row in rows:
            self._take_in(connection, row, lineages.get(row.session_id, ()), reached)
        connection.executemany("INSERT OR REPLACE INTO reached VALUES (?, ?)", reached.items())
        connection.execute("UPDATE indexed SET row = ?", (rows[-1].row,))
        return False

    def _take_in(self, connection: sqlite3.Connection, row: LoggedRow, lineage: Lineage, reached: dict[str, int]) -> None:
        logged = row.logged
        if logged is None:
            return
        origin = origin_of(row.session_id, lineage, logged.seq)
        if origin not in reached:
            found = connection.execute("SELECT seq FROM reached WHERE session_id = ?", (origin,)).fetchone()
            reached[origin] = 0 if found is None else found[0]
        if logged.seq <= reached[origin]:
            return  # taken in from where it was copied
        reached[origin] = logged.seq
        connection.executemany(
            "INSERT INTO passage VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                _with_sum(_storable(found.text), origin, logged.seq, logged.at, found.what, found.tool_use_id)
                for found in passages(logged.entry, self._results)
            ],
        )
        note_telling(connection, origin, logged.seq, logged.entry)
        if isinstance(logged.entry, ToolReturned):
            connection.execute("INSERT OR REPLACE INTO result VALUES (?, ?, ?)", (logged.entry.tool_use_id, origin, logged.seq))

    def _use(self, action: str, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """What `work` makes of the index. It may be called twice: a damaged index is thrown away and made anew from the log first."""
        with self._one_thread, failing_clearly(action):
            try:
                return work(self._connection)
            except (sqlite3.Error, UnicodeDecodeError) as error:
                if not is_damage(error):
                    raise
            self._begin_anew()
            while not self._batch(self._connection):
                pass
            return work(self._connection)

    def _begin_anew(self) -> None:
        self._connection.close()
        self._connection = made_anew(self._path)


def wanted_words(words: str) -> list[str]:
    """The words that are looked for, each once, at most `_MOST_WORDS` of them."""
    different: dict[str, str] = {}
    for word in words.replace("\0", " ").split():  # SQLite ends a text at NUL
        different.setdefault(word.casefold(), word)
    longest = set(sorted(different, key=len, reverse=True)[:_MOST_WORDS])
    return [word[:_LONGEST_WORD] for folded, word in different.items() if folded in longest]


def _attempts(connection: sqlite3.Connection, wanted: list[str]) -> Iterator[Iterable[tuple[Any, ...]]]:
    phrases = [_phrase(word) for word in wanted if any(letter.isalnum() for letter in word)]
    if phrases:
        matching = (
            "SELECT session_id, seq, at, what, snippet(passage, 0, '', '', ' … ', ?), tool_use_id, text, check_sum FROM passage "
            "WHERE passage MATCH ? ORDER BY rank"
        )
        for operator in (" AND ", " OR "):
            yield connection.execute(matching, (_EXCERPT_WORDS, operator.join(phrases)))
    yield _containing(connection, wanted)


def _containing(connection: sqlite3.Connection, wanted: list[str]) -> Iterator[tuple[Any, ...]]:
    # Words inside longer words, scripts that write no spaces, and signs, none of which the index knows.
    rows = connection.execute("SELECT session_id, seq, at, what, text, tool_use_id, check_sum FROM passage ORDER BY rowid DESC")
    folded = [word.casefold() for word in wanted]
    for session_id, seq, at, what, text, tool_use_id, check in rows:
        whole = text.casefold()
        if all(word in whole for word in folded):
            start = max(0, whole.find(folded[0]) - _EXCERPT_LEAD)
            yield session_id, seq, at, what, text[start : start + _EXCERPT_CHARACTERS], tool_use_id, text, check


def _phrase(word: str) -> str:
    # In quotes nothing is an operator; the star takes longer words with this beginning too.
    return '"{}"*'.format(_storable(word).replace('"', '""'))


def _without_foreign(lineages: Mapping[str, Lineage]) -> Mapping[str, Lineage]:
    return {session_id: lineage for session_id, lineage in lineages.items() if not is_foreign(session_id)}


def _first_of_each(
    rows: Iterable[tuple[Any, ...]], holders: Holders, limit: int, through_seq: int | None, hidden: Mapping[str, AbstractSet[int]]
) -> list[_Found]:
    """The first hit of each entry; entries of deleted sessions are passed over."""
    hits: dict[tuple[str, int], _Found] = {}
    for origin, seq, at, what, excerpt, tool_use_id, text, check in rows:
        if check != _with_sum(text, origin, seq, at, what, tool_use_id)[-1]:
            raise sqlite3.DatabaseError("a passage is not what was taken in")
        is_later = through_seq is not None and seq > through_seq
        session_id = holders.of(origin, seq)
        if session_id is None or is_later or seq in hidden.get(session_id, ()):
            continue
        if (session_id, seq) not in hits:
            hits[session_id, seq] = _Found(EntryHit(session_id, seq, at, what, _one_line(excerpt), tool_use_id), text)
        if len(hits) == limit:
            break
    return list(hits.values())


def _exact_first(found: list[_Found], wanted: list[str]) -> list[EntryHit]:
    """The hits, with those first that hold each word as it was written: the index knows neither case nor underscores nor where a word
    ends."""
    whole = [re.compile(rf"(?<!\w){re.escape(word)}(?!\w)") for word in wanted]
    exact: list[EntryHit] = []
    others: list[EntryHit] = []
    for each in found:
        places = [match.start() for pattern in whole if (match := pattern.search(each.text))]
        if len(places) < len(whole):
            others.append(each.hit)
            continue
        start = max(0, min(places) - _EXCERPT_LEAD)
        is_near = max(places) - start < _EXCERPT_CHARACTERS - _EXCERPT_LEAD
        excerpt = _one_line(each.text[start : start + _EXCERPT_CHARACTERS]) if is_near else each.hit.excerpt
        exact.append(replace(each.hit, excerpt=excerpt))
    return exact + others


def _with_sum(text: str, *place: Any) -> tuple[Any, ...]:
    """A passage as it lies in the index, with its sum at the end."""
    check = blake2b(repr((text, *place)).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return (text, *place, check)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _storable(text: str) -> str:
    # Half a surrogate pair cannot be stored as UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")
