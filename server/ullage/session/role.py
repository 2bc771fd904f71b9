"""What a session is where it is a sub-agent's: whose, what it is told, and which tools it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ullage.context.blocks import Json


@dataclass(frozen=True, slots=True)
class Role:
    """The role of a sub-agent."""

    parent: str
    """The session that called it."""
    call_id: str
    """The call, in that session's log."""
    name: str
    """As the user and the model know it: `explore`."""
    system: str = ""
    """What it is told in place of the usual instructions; empty where it began with the view of its parent."""
    tools: frozenset[str] | None = None
    """The names of its tools; None where it has those of its parent."""


def to_json(role: Role) -> Json:
    """As a row keeps it: not what it is told, which its log has."""
    return {"parent": role.parent, "call": role.call_id, "name": role.name}


def from_json(value: Json) -> Role | None:
    """As a row has it; None where it is none."""
    if not isinstance(value, Mapping):
        return None
    texts = [value.get(name) for name in ("parent", "call", "name")]
    parent, call, name = (each if isinstance(each, str) else "" for each in texts)
    return Role(parent, call, name) if parent and call and name else None
