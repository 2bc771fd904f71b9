"""What a patch in the form of `apply_patch` (Codex) does to the texts of files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

PATCH_START = "*** Begin Patch"

_HEAD = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$")


@dataclass(frozen=True, slots=True)
class Change:
    """One place of a file. `old` of None: the whole file is `new`."""

    path: str
    old: str | None
    new: str


def changes_in(patch: str) -> Iterator[Change]:
    """The changes in their order; what is deleted is not among them."""
    kind, path = "", ""
    old: list[str] = []
    new: list[str] = []
    for line in [*patch.split("\n"), "*** End Patch"]:
        if line.startswith(("@@", "*** ")):
            if new or old:
                yield Change(path, None if kind == "Add" else "\n".join(old), "\n".join(new))
            old, new = [], []
            head = _HEAD.match(line)
            if head is not None:
                kind, path = head.group(1), head.group(2).strip()
        elif kind == "Add" and line.startswith("+"):
            new.append(line[1:])
        elif kind == "Update" and line[:1] in (" ", "-", "+"):
            if line[0] != "+":
                old.append(line[1:])
            if line[0] != "-":
                new.append(line[1:])
