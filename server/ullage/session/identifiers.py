"""Ids of prompts, replies and compactions: a letter for what it is, and 12 random characters."""

from __future__ import annotations

import secrets


def new_id(kind: str) -> str:
    """An id that no other thing of any session has."""
    return f"{kind}{secrets.token_hex(6)}"
