"""The queue of prompts of each session: in the log, so that a prompt that was sent is not lost, whatever ends before its turn begins."""

from __future__ import annotations

import sqlite3

from ullage.context.entries import Logged, UserPrompt
from ullage.store import queued_prompts
from ullage.store.adding import add_after, numbered, row_of
from ullage.store.log_file import LogFile
from ullage.store.rows import PromptRow
from ullage.store.session_writer import SessionWriter
from ullage.store.waiting import Waiting


class PromptQueue:
    """The queues of the sessions of one log."""

    def __init__(self, file: LogFile, writer: SessionWriter) -> None:
        self._file = file
        self._writer = writer
        self._seen: dict[str, PromptRow] = {}
        """The prompts that this process saw waiting: under a lock they cannot be read."""

    def add(self, session_id: str, prompt: UserPrompt) -> None:
        """Puts a prompt at the end of the session's queue."""
        row = queued_prompts.row_of(session_id, prompt)
        self._seen[prompt.id] = row

        def add(connection: sqlite3.Connection, _: int) -> bool:
            queued_prompts.add(connection, row)
            return True

        is_in_the_log = self._writer.write(session_id, "queue the prompt", add, lambda _: (Waiting(prompts=[row]), False))
        if is_in_the_log:
            self._file.last_rows.queued(session_id, prompt.id)

    def of(self, session_id: str) -> list[UserPrompt]:
        """The prompts that wait, first come first. Of a damaged one there is what can be read of it, behind a word that it is damaged; it
        cannot be started."""
        rows = self._file.read("read the queue", lambda connection: queued_prompts.waiting(connection, session_id))
        rows = self._writer.waiting_of(session_id).still_queued(rows)
        self._seen.update((row.id.decode("utf-8", "replace"), row) for row in rows)
        return [queued_prompts.readable(row)[0] for row in rows]

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
            prompt = queued_prompts.take(connection, session_id, prompt_id)
            return add_after(connection, session_id, last, (prompt,), at)[0]

        def wait(last: int) -> tuple[Waiting, Logged]:
            logged = numbered(last, (queued_prompts.found(self._seen.get(prompt_id), prompt_id),), at)[0]
            return Waiting(entries=[row_of(session_id, logged)], left=[prompt_id]), logged

        logged = self._writer.write(session_id, "start the prompt", move, wait)
        self._seen.pop(prompt_id, None)
        self._file.last_rows.left(prompt_id)
        return logged
