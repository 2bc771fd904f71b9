"""The queue of prompts of each session: in the log, so that a prompt that was sent is not lost, whatever ends before its turn begins.

What is done to a queue is done in transactions of `session_writer.py`. The statements stand below: others read and fill queues, too.
"""

from __future__ import annotations

import json
import re
import sqlite3
from typing import Any

from ullage.context.entries import Logged, UserPrompt
from ullage.store.encode import DamagedEntry, decode_prompt, encode_prompt
from ullage.store.errors import StoreFailed
from ullage.store.log_file import LogFile
from ullage.store.rows import PromptRow, prompt_sum
from ullage.store.session_writer import SessionWriter
from ullage.store.statements import add_after, numbered, row_of
from ullage.store.waiting import Waiting

DAMAGED = "[This prompt was damaged while it waited. What could be read of it follows; look it over before you send it again.]\n\n"
"""Before the text of one that is no longer what the user wrote."""


class PromptQueue:
    """The queues of the sessions of one log."""

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
        """The prompts that wait, first come first. Of a damaged one there is what can be read of it, behind a word that it is damaged; it
        cannot be started."""
        rows = self._file.read("read the queue", lambda connection: waiting_prompts(connection, session_id))
        rows = self._writer.waiting_of(session_id).still_queued(rows)
        self._seen.update((row.id.decode("utf-8", "replace"), row) for row in rows)
        return [readable_prompt(row)[0] for row in rows]

    def take_back(self, prompt_id: str) -> bool:
        """Takes a prompt out of its queue; False where it does not wait (any more)."""
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
    """The prompt as a row."""
    prompt_id, of_session, body = prompt.id.encode(), session_id.encode(), encode_prompt(prompt).encode()
    return PromptRow(prompt_id, of_session, body, prompt_sum(prompt_id, of_session, body))


def add_prompt(connection: sqlite3.Connection, row: PromptRow) -> None:
    """Puts it at the end of the session's queue."""
    connection.execute(
        "INSERT INTO queued_prompt (id, session_id, body, sum) VALUES (CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), ?)",
        (row.id, row.session_id, row.body, row.sum),
    )


def waiting_prompts(connection: sqlite3.Connection, session_id: str) -> list[PromptRow]:
    """Those of the session, first come first."""
    rows = connection.execute(
        "SELECT CAST(id AS BLOB), CAST(session_id AS BLOB), CAST(body AS BLOB), sum FROM queued_prompt "
        "WHERE session_id = ? ORDER BY position",
        (session_id,),
    )
    return [PromptRow(*row) for row in rows]


def take_prompt(connection: sqlite3.Connection, session_id: str, prompt_id: str) -> UserPrompt:
    """Takes the prompt out of the queue. Raises `StoreFailed` where it does not wait, or is damaged and so not what the user wrote."""
    prompt = prompt_in(next((row for row in waiting_prompts(connection, session_id) if row.id == prompt_id.encode()), None), prompt_id)
    connection.execute("DELETE FROM queued_prompt WHERE id = ?", (prompt_id,))
    return prompt


def prompt_in(row: PromptRow | None, prompt_id: str) -> UserPrompt:
    """The prompt in a row. Raises `StoreFailed` where there is none, or it is not what the user wrote."""
    if row is None:
        raise StoreFailed(f"No prompt {prompt_id} waits in this session")
    try:
        return _whole(row)
    except DamagedEntry as error:
        raise StoreFailed(
            "This prompt was damaged while it waited, so it is not sent. Take it back, and send again what you meant."
        ) from error


def readable_prompt(row: PromptRow) -> tuple[UserPrompt, bool]:
    """The prompt, and whether it is as the user wrote it; else with what can be read of its text."""
    try:
        return _whole(row), True
    except DamagedEntry:
        return UserPrompt(row.id.decode("utf-8", "replace"), DAMAGED + _text_of(row.body)), False


def _whole(row: PromptRow) -> UserPrompt:
    if not row.is_whole:
        raise DamagedEntry("it is not what was written")
    return decode_prompt(row.body)


def _text_of(body: bytes) -> str:
    """What stands for the text of a prompt in damaged JSON."""
    readable = body.decode("utf-8", "replace")
    try:
        value: Any = json.loads(readable, strict=False)
    except ValueError:
        value = None
    if isinstance(value, dict) and isinstance(value.get("text"), str):  # pyright: ignore[reportUnknownMemberType]
        return str(value["text"])  # pyright: ignore[reportUnknownArgumentType]
    found = re.search(r'"text":"(.*?)(?:","attachments"|$)', readable, re.DOTALL)
    return (found.group(1) if found else readable).replace("\\n", "\n").replace('\\"', '"')
