"""What a list says of other programs' sessions. It is taken from the beginning and the end of their files: no file is read whole. Nothing
in them is believed. A title is one printable line. A session without any words is not listed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from ullage.context.blocks import Json
from ullage.context.calls import one_line
from ullage.recorded.places import Candidate, Program, folder_of_claude
from ullage.recorded.readers.entries import is_of_the_program
from ullage.recorded.readers.opencode import columns_of_sessions, opened
from ullage.recorded.readers.values import JsonObject, RecordNotJson, as_list, as_object, as_seconds, as_text, parse, printable

HEAD = 256 * 1024
"""Bytes of the beginning of a file that are read."""
TAIL = 64 * 1024
"""Bytes of the end of a file that are read: Claude Code notes a title there."""
TITLE_CHARACTERS = 120
MOST_IN_A_DATABASE = 2_000
LONGEST_TEXT = 4_000
"""Characters of a text in a row of a database; a longer one is not read."""


@dataclass(frozen=True, slots=True)
class FoundSession:
    """One session of another program. `within` is its id where the file holds several; `folder` is empty if it is not told."""

    program: Program
    path: Path
    within: str
    title: str
    folder: str
    version: str
    updated_at: float
    size: int
    """Bytes of the file; 0 if it holds several."""


def heads_of(candidate: Candidate) -> list[FoundSession]:
    """The sessions in the file, as far as its beginning and its end tell. Empty if nothing is said in it or it cannot be read."""
    try:
        if candidate.path.suffix == ".db":
            return _of_database(candidate)
        found = _READ[candidate.program](candidate)
    except OSError:
        return []
    return [] if found is None else [found]


def may_be_of(candidate: Candidate, folders: Sequence[Path]) -> bool:
    """Whether the session may belong to one of these folders, as far as the place of its file tells."""
    if candidate.program != "claude-code":
        return True
    return candidate.path.parent.name in {folder_of_claude(folder) for folder in folders}


def is_of(found: FoundSession, folders: Iterable[Path]) -> bool:
    """Whether the session's agent worked in one of these folders, or below one. False if its folder is not told."""
    if not found.folder:
        return False
    here = Path(found.folder)
    return any(here == folder or folder in here.parents for folder in folders)


def _claude_code(candidate: Candidate) -> FoundSession | None:
    found, title, named, agent = _blank(candidate), "", "", False
    for value in (*_lines(candidate.path, 0), *_lines(candidate.path, TAIL)):
        agent = agent or value.get("isSidechain") is True
        found = replace(found, folder=found.folder or as_text(value.get("cwd")), version=found.version or as_text(value.get("version")))
        named = next((told for name in ("customTitle", "aiTitle", "summary") if (told := as_text(value.get(name)))), named)
        if not title and value.get("type") == "user" and value.get("isMeta") is not True and value.get("isCompactSummary") is not True:
            title = _said(as_object(value.get("message")).get("content"))
    return None if agent and not title else _titled(found, named or title)


def _codex(candidate: Candidate) -> FoundSession | None:
    found, title = _blank(candidate), ""
    for value in _lines(candidate.path, 0):
        payload = as_object(value.get("payload")) or value
        if value.get("type") in ("session_meta", "turn_context") or "cwd" in payload:
            found = replace(
                found,
                folder=found.folder or as_text(payload.get("cwd")),
                version=found.version or as_text(payload.get("cli_version")),
            )
        if not title and payload.get("type") == "message" and payload.get("role") == "user":
            title = _said(payload.get("content"))
    return _titled(found, title)


def _cline(candidate: Candidate) -> FoundSession | None:
    found, task = _blank(candidate), candidate.path.parent
    for value in _whole(task / f"{task.name}.json"):
        found = replace(found, folder=as_text(value.get("cwd")) or as_text(value.get("workspace_root")))
    title = ""
    for each in _whole(task.parent.parent / "state" / "taskHistory.json"):
        if as_text(each.get("id")) == task.name:
            title, folder = as_text(each.get("task")), as_text(each.get("cwdOnTaskInitialization"))
            found = replace(found, folder=found.folder or folder)
    return _titled(found, title or _first_task(candidate.path))


def _first_task(path: Path) -> str:
    """The user's first words, from a file that is one JSON document and may be long. Empty if they are not found."""
    with path.open("rb") as file:
        text = file.read(HEAD).decode("utf-8", "replace")
    start = text.find('"text"')
    quote = text.find('"', start + 6) if start >= 0 else -1
    end = quote + 1
    while 0 <= quote < end < len(text) and text[end] != '"':
        end += 2 if text[end] == "\\" else 1
    try:
        said = as_text(parse(text[quote : end + 1])) if quote >= 0 else ""
    except RecordNotJson:
        return ""
    for tag in ("task", "user_input", "user_message"):
        said = said.removeprefix(f"<{tag}>").partition(f"</{tag}>")[0]
    return said


def _opencode(candidate: Candidate) -> FoundSession | None:
    found = _blank(candidate)
    for value in _whole(candidate.path):
        if as_text(value.get("parentID")):
            return None
        found = replace(
            found,
            folder=as_text(value.get("directory")),
            version=as_text(value.get("version")),
            updated_at=as_seconds(as_object(value.get("time")).get("updated")) or found.updated_at,
            size=0,
        )
        return _titled(found, as_text(value.get("title")))
    return None


def _of_database(candidate: Candidate) -> list[FoundSession]:
    try:
        with closing(opened(candidate.path)) as connection:
            columns = columns_of_sessions(connection)
            if not columns.issuperset(("id", "directory")):
                return []
            names = ("id", "directory", "title", "version", "time_updated", "parent_id")
            named = [f"CASE WHEN length({name}) <= ? THEN {name} END" if name in columns else "? AND NULL" for name in names]
            query = f"SELECT {', '.join(named)} FROM session ORDER BY id DESC LIMIT ?"  # noqa: S608 - names from above
            rows = connection.execute(query, (*[LONGEST_TEXT] * len(names), MOST_IN_A_DATABASE)).fetchall()
    except sqlite3.Error:
        return []
    sessions: list[FoundSession] = []
    for id, folder, title, version, updated, parent in rows:
        if isinstance(id, str) and not parent:
            blank = replace(_blank(candidate), within=id, size=0, updated_at=as_seconds(updated) or candidate.updated_at)
            told = replace(blank, folder=folder if isinstance(folder, str) else "", version=version if isinstance(version, str) else "")
            sessions += [named for named in [_titled(told, title if isinstance(title, str) else "")] if named is not None]
    return sessions


_READ = {"claude-code": _claude_code, "codex": _codex, "cline": _cline, "opencode": _opencode}


def _blank(candidate: Candidate) -> FoundSession:
    return FoundSession(candidate.program, candidate.path, "", "", "", "", candidate.updated_at, candidate.size)


def _titled(found: FoundSession, title: str) -> FoundSession | None:
    shown = printable(one_line(title[:4_000], TITLE_CHARACTERS))
    if not shown.strip():
        return None
    return replace(found, title=shown, version=printable(found.version)[:40], folder=printable(found.folder))


def _said(content: object) -> str:
    """What the user said in a message; empty if the program wrote it."""
    if isinstance(content, str):
        texts = [content]
    elif isinstance(content, list):
        texts = [as_text(as_object(part).get("text")) for part in as_list(cast("list[Json]", content))]
    else:
        return ""
    return next((text for text in texts if text.strip() and not is_of_the_program(text)), "")


def _lines(path: Path, of_the_end: int) -> Iterator[JsonObject]:
    """The JSON objects of the first `HEAD` bytes, or of the last `of_the_end` bytes. Lines that are cut off are left out."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        start = max(0, size - of_the_end) if of_the_end else 0
        if of_the_end and size <= HEAD:
            return  # the beginning, which was read, is all of it
        file.seek(start)
        raw = file.read(of_the_end or HEAD)
    lines = raw.split(b"\n")
    whole = lines[int(start > 0) : None if len(raw) == size else -1]
    for line in whole:
        try:
            value = parse(line.decode("utf-8", "replace"))
        except RecordNotJson:
            continue
        if isinstance(value, dict):
            yield value


def _whole(path: Path) -> list[JsonObject]:
    """The objects of a small file: the elements of a list, or the one object. Empty if the file is missing or too large."""
    try:
        with path.open("rb") as file:
            raw = file.read(8 * 1024 * 1024)
        value = parse(raw.decode("utf-8", "replace"))
    except (OSError, RecordNotJson):
        return []
    return [as_object(each) for each in value] if isinstance(value, list) else [as_object(value)]
