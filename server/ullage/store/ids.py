"""What may be the id of a session. Ids become names of files, so each is checked where it becomes one and where it comes in."""

from __future__ import annotations

import re

_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")

_FOREIGN = "foreign-"


def is_id(text: str) -> bool:
    """Whether it is letters, digits, `_` and `-`, at most 100 of them: a name in its folder on every system."""
    return _ID.fullmatch(text) is not None


def foreign_id(digest: str) -> str:
    """The id of a session that somebody else may have written, of what it holds. Only an import gives such ids, and no other ones."""
    return f"{_FOREIGN}{digest[:16]}"


def is_foreign(session_id: str) -> bool:
    """Whether somebody else may have written the session: it is read and never continued. The id says it, which every row of it has, so it
    cannot be lost, and nothing that came along can take it back."""
    return session_id.startswith(_FOREIGN)
