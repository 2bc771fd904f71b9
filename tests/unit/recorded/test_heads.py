"""What the list of other programs' sessions shows of each, from the beginning and the end of its file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ullage.recorded.heads import HEAD, TAIL, Candidate, heads_of


def line(**more: object) -> bytes:
    return json.dumps(more).encode() + b"\n"


@pytest.mark.parametrize("size", [HEAD // 2, HEAD - 10, HEAD + 10, HEAD + TAIL // 2, HEAD + TAIL - 10, HEAD + TAIL + 10, 3 * HEAD])
def test_the_last_title_that_claude_code_notes_counts_however_long_the_file_is(tmp_path: Path, size: int) -> None:
    first = line(type="user", cwd="/work", version="2.0.0", message={"role": "user", "content": "Fix the tank"})
    last = line(type="summary", summary="The tank")
    filler = line(type="user", message={"role": "user", "content": "x" * 900})
    path = tmp_path / "a.jsonl"
    path.write_bytes(first + filler * ((size - len(first) - len(last)) // len(filler)) + last)
    (found,) = heads_of(Candidate("claude-code", path, 1.0, path.stat().st_size))
    assert (found.title, found.folder) == ("The tank", "/work")
