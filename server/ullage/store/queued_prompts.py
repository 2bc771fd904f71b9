"""The prompts of a session that wait, as rows of the log. Statements alone; `prompt_queue.py` makes transactions of them."""

from __future__ import annotations

import json
import re
import sqlite3
from typing import Any

from ullage.context.entries import UserPrompt
from ullage.store.encode import DamagedEntry, decode_prompt, encode_prompt
from ullage.store.errors import StoreFailed
from ullage.store.rows import PromptRow, prompt_sum

DAMAGED = "[This prompt was damaged while it waited. What could be read of it follows; look it over before you send it again.]\n\n"
"""Before the text of one that is no longer what the user wrote."""


def row_of(session_id: str, prompt: UserPrompt) -> PromptRow:
    """The prompt as a row."""
    prompt_id, of_session, body = prompt.id.encode(), session_id.encode(), encode_prompt(prompt).encode()
    return PromptRow(prompt_id, of_session, body, prompt_sum(prompt_id, of_session, body))


def add(connection: sqlite3.Connection, row: PromptRow) -> None:
    """Puts it at the end of the session's queue."""
    connection.execute(
        "INSERT INTO queued_prompt (id, session_id, body, sum) VALUES (CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), ?)",
        (row.id, row.session_id, row.body, row.sum),
    )


def waiting(connection: sqlite3.Connection, session_id: str) -> list[PromptRow]:
    """Those of the session, first come first."""
    rows = connection.execute(
        "SELECT CAST(id AS BLOB), CAST(session_id AS BLOB), CAST(body AS BLOB), sum FROM queued_prompt "
        "WHERE session_id = ? ORDER BY position",
        (session_id,),
    )
    return [PromptRow(*row) for row in rows]


def take(connection: sqlite3.Connection, session_id: str, prompt_id: str) -> UserPrompt:
    """Takes the prompt out of the queue. Raises `StoreFailed` where it does not wait, or is damaged and so not what the user wrote."""
    prompt = found(next((row for row in waiting(connection, session_id) if row.id == prompt_id.encode()), None), prompt_id)
    connection.execute("DELETE FROM queued_prompt WHERE id = ?", (prompt_id,))
    return prompt


def found(row: PromptRow | None, prompt_id: str) -> UserPrompt:
    """The prompt in a row. Raises `StoreFailed` where there is none, or it is not what the user wrote."""
    if row is None:
        raise StoreFailed(f"No prompt {prompt_id} waits in this session")
    try:
        return _whole(row)
    except DamagedEntry as error:
        raise StoreFailed(
            "This prompt was damaged while it waited, so it is not sent. Take it back, and send again what you meant."
        ) from error


def readable(row: PromptRow) -> tuple[UserPrompt, bool]:
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
