"""The pictures of docs/gallery.md and of other documents: what is named is there, nothing is left over, and all are small."""

from __future__ import annotations

import re
from pathlib import Path

from PIL import Image

DOCS = Path(__file__).parents[2] / "docs"
MOST_BYTES = 3_000_000
"""Of all pictures: a clone has to carry them for ever."""


def test_the_pictures_are_those_that_are_named() -> None:
    named = re.findall(r"!\[[^\]]+\]\(gallery/([^)]+)\)", (DOCS / "gallery.md").read_text("utf-8"))
    assert sorted(named) == sorted(path.name for path in (DOCS / "gallery").iterdir())
    assert named != []


def test_the_pictures_are_small() -> None:
    assert sum(path.stat().st_size for path in (DOCS / "gallery").iterdir()) < MOST_BYTES


def test_the_other_pictures_are_those_that_documents_name() -> None:
    texts = [path.read_text("utf-8") for path in (*DOCS.rglob("*.md"), *DOCS.parent.glob("*.md"))]
    named = {name for text in texts for name in re.findall(r"!\[[^\]]+\]\((?:docs/)?images/([^)]+)\)", text)}
    assert named == {path.name for path in (DOCS / "images").iterdir()}
    assert sum(path.stat().st_size for path in (DOCS / "images").iterdir()) < MOST_BYTES / 2


def test_the_tour_moves_and_begins_again() -> None:
    path = DOCS / "images" / "tour.webp"
    assert path.stat().st_size < 1_000_000
    with Image.open(path) as film:
        frames, loop = getattr(film, "n_frames", 1), film.info["loop"]
    assert (frames > 5, loop) == (True, 0)
