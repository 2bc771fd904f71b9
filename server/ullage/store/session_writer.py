"""Writing to sessions, each of which one process writes, in transactions that are on disk when the call returns: entries, and prompts.

Where another program has the log locked, what is written waits beside it, on disk, too (`waiting.py`). The numbers of the entries go on
meanwhile: only the process that claimed a session gives any.

The queue of prompts of each session is in the log, too. So a prompt that was sent is not lost, whatever ends before its turn begins.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from ullage.context.entries import Entry, Logged, UserPrompt
from ullage.store import folder as ullage_folder
from ullage.store.encode import DamagedEntry, decode_prompt, encode_prompt
from ullage.store.errors import ForeignSession, SessionInUse, StoreBusy, StoreFailed
from ullage.store.log_file import LogFile
from ullage.store.origins import is_foreign
from ullage.store.other_windows import Claims
from ullage.store.schema import PromptRow, prompt_sum
from ullage.store.statements import add_after, last_given, last_in_file, numbered, row_of
from ullage.store.waiting import SideFiles, Waiting, WaitingRows, take_in

_T = TypeVar("_T")


class SessionWriter:
    """Writes in the sessions of one log, and keeps what has to wait for it."""

    def __init__(self, file: LogFile, folder: Path | None) -> None:
        self._file = file
        self.claims = Claims(folder)
        self.beside = SideFiles(None, file.tell)
        self.written: Callable[[str], None] = lambda session_id: None
        """Called, in any thread, when something of a session was written."""
        self._last_seq: dict[str, int] = {}
        self._to_be_released: set[str] = set()
        place = None if folder is None else ullage_folder.waiting(folder)
        self._waits = WaitingRows(place, self._take_in, self._taken_in, lambda text: file.tell(text))

    def claim(self, session_id: str) -> None:
        """Makes this process the one that writes the session. Raises `SessionInUse` if another one is."""
        self._to_be_released.discard(session_id)
        if self.claims.take(session_id):
            self._waits.claimed(session_id)

    def release(self, session_id: str) -> None:
        """Lets another process write the session; where something of it still waits for the log, as soon as that is in it."""
        if self._waits.of(session_id):
            self._to_be_released.add(session_id)
            return
        self._last_seq.pop(session_id, None)
        self.claims.give_back(session_id)

    def stop_waiting(self) -> None:
        """Stops the writing of what waits. It stays in its file, for whoever claims the session next."""
        self._waits.close()

    def release_all(self) -> None:
        """Lets go of all sessions."""
        for session_id in self.claims:
            self.release(session_id)

    def take_in_all(self) -> None:
        """Takes into the log what a process that ended wrote while the log was locked."""
        for session_id in (each for each in self._waits.left_behind() if each not in self.claims):
            with suppress(StoreFailed):  # another window writes the session, or it was deleted
                self.claim(session_id)
                self.release(session_id)

    def waiting_of(self, session_id: str) -> Waiting:
        """What waits of that session to be written into the log."""
        return self._waits.of(session_id)

    def forget_waiting(self, session_id: str) -> None:
        """Forgets what waits of a session that was deleted."""
        self._waits.forget(session_id)

    def stands_at(self, session_id: str, seq: int) -> None:
        """Notes that the session was read, or made, up to that seq: who finds another one there has written since."""
        self._last_seq[session_id] = seq

    def append(self, session_id: str, entries: Sequence[Entry], at: float) -> list[Logged]:
        """Adds entries at the end, all or none. Raises `SessionInUse`, `UnknownSession`."""

        def wait(last: int) -> tuple[Waiting, list[Logged]]:
            logged = numbered(last, entries, at)
            return Waiting(entries=[row_of(session_id, each) for each in logged]), logged

        return self.write(
            session_id, "save what was said", lambda connection, last: add_after(connection, session_id, last, entries, at), wait
        )

    def write(
        self, session_id: str, action: str, work: Callable[[sqlite3.Connection, int], _T], wait: Callable[[int], tuple[Waiting, _T]]
    ) -> _T:
        """Makes a transaction on one session, whose writer this process becomes; `work` gets the last seq before it. Where another program
        has the log locked, what `wait` makes of the same is kept until it is free. Gives what either gives."""
        if is_foreign(session_id):
            raise ForeignSession(session_id)

        def change(connection: sqlite3.Connection) -> tuple[_T, int, int]:
            last = last_given(connection, session_id)
            if self._last_seq.get(session_id, last) != last:
                raise SessionInUse(session_id)  # written since we loaded it
            done = work(connection, last)
            return done, last, max(last, last_in_file(connection, session_id))

        self.claim(session_id)
        if not self._waits.of(session_id):
            try:
                done, last, reached = self._file.change(action, change)
            except StoreBusy:
                if session_id not in self._last_seq or not self._waits.can_wait:
                    raise
            else:
                self._has_come_to(session_id, reached)
                self.beside.add(session_id, lambda: wait(last)[0])
                self.written(session_id)
                return done
        last = self._last_seq[session_id]
        waiting, done = wait(last)
        self._waits.keep(session_id, waiting)
        self._last_seq[session_id] = last + len(waiting.entries)
        self.written(session_id)
        return done

    def change_now(self, session_id: str, action: str, work: Callable[[sqlite3.Connection], _T]) -> _T | None:
        """Makes a transaction that needs no seq, and gives what `work` gives. None if something of the session waits, or the log is locked
        and this process writes the session: then the change has to wait, too (`keep`)."""
        if self._waits.of(session_id):
            return None
        try:
            done = self._file.change(action, work)
        except StoreBusy:
            if session_id not in self.claims or not self._waits.can_wait:
                raise
            return None
        self.written(session_id)
        return done

    def keep(self, session_id: str, waiting: Waiting) -> None:
        """Lets these rows of a session wait for the log; they are on disk when it returns. Raises `StoreFailed`."""
        self._waits.keep(session_id, waiting)
        self.written(session_id)

    def _has_come_to(self, session_id: str, reached: int) -> None:
        if self._last_seq.get(session_id) != reached:
            self._last_seq[session_id] = reached
            self._file.last_rows.logged(session_id, reached)

    def _take_in(self, session_id: str, waiting: Waiting) -> None:
        self._file.change("save what was said", lambda connection: take_in(connection, session_id, waiting))
        if waiting.entries:
            self._file.last_rows.logged(session_id, waiting.entries[-1].seq)
        for row in waiting.still_queued(()):
            self._file.last_rows.queued(session_id, row.id.decode())

    def _taken_in(self, session_id: str) -> None:
        if session_id in self._to_be_released:
            self._to_be_released.discard(session_id)
            self.release(session_id)


# The queue of prompts. The statements stand below: others read and fill queues, too.

DAMAGED = "[This prompt was damaged while it waited. What could be read of it follows; look it over before you send it again.]\n\n"
"""Stands before the text of a prompt that is no longer what the user wrote."""


class StoredQueues:
    """The queues of prompts of the sessions of one log."""

    def __init__(self, file: LogFile, writer: SessionWriter) -> None:
        self._file = file
        self._writer = writer
        self._seen: dict[str, PromptRow] = {}
        """The prompts that this process saw waiting: under a lock they cannot be read."""

    def add(self, session_id: str, prompt: UserPrompt) -> None:
        """Puts a prompt at the end of the session's queue."""
        row = prompt_row(session_id, prompt)
        self._seen[prompt.id] = row

        def add(connection: sqlite3.Connection, _: int) -> bool:
            add_prompt(connection, row)
            return True

        is_in_the_log = self._writer.write(session_id, "queue the prompt", add, lambda _: (Waiting(prompts=[row]), False))
        if is_in_the_log:
            self._file.last_rows.queued(session_id, prompt.id)

    def of(self, session_id: str) -> list[UserPrompt]:
        """The prompts of the session that wait, first come first. Of a damaged one there is what can be read of it, behind a word that it
        is damaged; it cannot be started."""
        rows = self._file.read("read the queue", lambda connection: waiting_prompts(connection, session_id))
        rows = self._writer.waiting_of(session_id).still_queued(rows)
        self._seen.update((row.id.decode("utf-8", "replace"), row) for row in rows)
        return [readable_prompt(row)[0] for row in rows]

    def take_back(self, prompt_id: str) -> bool:
        """Takes a prompt out of its queue; False if it does not wait (any more)."""
        statement = "DELETE FROM queued_prompt WHERE id = ?"
        row = self._seen.get(prompt_id)
        session_id = "" if row is None else row.session_id.decode("utf-8", "replace")
        self._file.last_rows.left(prompt_id)  # before it is gone: it would be looked for
        was_there = self._writer.change_now(
            session_id, "take the prompt back", lambda connection: connection.execute(statement, (prompt_id,)).rowcount > 0
        )
        if was_there is not None:
            self._writer.beside.add(session_id, lambda: Waiting(left=[prompt_id]))
            return was_there
        if self._seen.pop(prompt_id, None) is None:
            return False
        self._writer.keep(session_id, Waiting(left=[prompt_id]))
        return True

    def start(self, session_id: str, prompt_id: str, at: float) -> Logged:
        """Moves a prompt from the queue to the end of the log, at once or not at all."""

        def move(connection: sqlite3.Connection, last: int) -> Logged:
            prompt = take_prompt(connection, session_id, prompt_id)
            return add_after(connection, session_id, last, (prompt,), at)[0]

        def wait(last: int) -> tuple[Waiting, Logged]:
            logged = numbered(last, (prompt_in(self._seen.get(prompt_id), prompt_id),), at)[0]
            return Waiting(entries=[row_of(session_id, logged)], left=[prompt_id]), logged

        logged = self._writer.write(session_id, "start the prompt", move, wait)
        self._seen.pop(prompt_id, None)
        self._file.last_rows.left(prompt_id)
        return logged


def prompt_row(session_id: str, prompt: UserPrompt) -> PromptRow:
    """The prompt as a row, with its sum."""
    prompt_id, of_session, body = prompt.id.encode(), session_id.encode(), encode_prompt(prompt).encode()
    return PromptRow(prompt_id, of_session, body, prompt_sum(prompt_id, of_session, body))


def add_prompt(connection: sqlite3.Connection, row: PromptRow) -> None:
    """Puts the prompt at the end of its session's queue."""
    connection.execute(
        "INSERT INTO queued_prompt (id, session_id, body, sum) VALUES (CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), ?)",
        (row.id, row.session_id, row.body, row.sum),
    )


def waiting_prompts(connection: sqlite3.Connection, session_id: str) -> list[PromptRow]:
    """The prompts of the session that wait, first come first."""
    rows = connection.execute(
        "SELECT CAST(id AS BLOB), CAST(session_id AS BLOB), CAST(body AS BLOB), sum FROM queued_prompt "
        "WHERE session_id = ? ORDER BY position",
        (session_id,),
    )
    return [PromptRow(*row) for row in rows]


def take_prompt(connection: sqlite3.Connection, session_id: str, prompt_id: str) -> UserPrompt:
    """Takes the prompt out of the queue. Raises `StoreFailed` if it does not wait, or is damaged and so not what the user wrote."""
    prompt = prompt_in(next((row for row in waiting_prompts(connection, session_id) if row.id == prompt_id.encode()), None), prompt_id)
    connection.execute("DELETE FROM queued_prompt WHERE id = ?", (prompt_id,))
    return prompt


def prompt_in(row: PromptRow | None, prompt_id: str) -> UserPrompt:
    """The prompt in a row. Raises `StoreFailed` if there is none, or it is not what the user wrote."""
    if row is None:
        raise StoreFailed(f"No prompt {prompt_id} waits in this session")
    try:
        return _whole(row)
    except DamagedEntry as error:
        raise StoreFailed(
            "This prompt was damaged while it waited, so it is not sent. Take it back, and send again what you meant."
        ) from error


def readable_prompt(row: PromptRow) -> tuple[UserPrompt, bool]:
    """The prompt, and whether it is as the user wrote it; if not, it has what can be read of its text."""
    try:
        return _whole(row), True
    except DamagedEntry:
        return UserPrompt(row.id.decode("utf-8", "replace"), DAMAGED + _text_of(row.body)), False


def _whole(row: PromptRow) -> UserPrompt:
    if not row.is_whole:
        raise DamagedEntry("it is not what was written")
    return decode_prompt(row.body)


def _text_of(body: bytes) -> str:
    """The text that can be read of a prompt in damaged JSON."""
    readable = body.decode("utf-8", "replace")
    try:
        value: Any = json.loads(readable, strict=False)
    except ValueError:
        value = None
    if isinstance(value, dict) and isinstance(value.get("text"), str):  # pyright: ignore[reportUnknownMemberType]
        return str(value["text"])  # pyright: ignore[reportUnknownArgumentType]
    found = re.search(r'"text":"(.*?)(?:","attachments"|$)', readable, re.DOTALL)
    return (found.group(1) if found else readable).replace("\\n", "\n").replace('\\"', '"')
