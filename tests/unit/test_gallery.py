"""The pictures of docs/gallery.md: each that is named is there, none is left over, and all together are small."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
MOST_BYTES = 3_000_000
"""Of all pictures: a clone has to carry them for ever."""


def test_the_pictures_are_those_that_are_named() -> None:
    named = re.findall(r"!\[[^\]]+\]\(gallery/([^)]+)\)", (DOCS / "gallery.md").read_text("utf-8"))
    assert sorted(named) == sorted(path.name for path in (DOCS / "gallery").iterdir())
    assert named != []


def test_the_pictures_are_small() -> None:
    assert sum(path.stat().st_size for path in (DOCS / "gallery").iterdir()) < MOST_BYTES
