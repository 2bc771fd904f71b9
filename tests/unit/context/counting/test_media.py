"""Tokens of images and documents."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.pictures import DOCUMENT, IMAGE, pdf
from ullage.context.blocks import Media
from ullage.context.counting.media import (
    LIMITS,
    LIMITS_BEFORE,
    PDF_PAGE_TOKENS,
    ImageLimits,
    image_tokens,
    in_words,
    media_tokens,
    pdf_pages,
    pdf_tokens,
)

sides = st.integers(1, 20_000)
limits = st.sampled_from([LIMITS, LIMITS_BEFORE])


@pytest.mark.parametrize(
    ("width", "height", "limits", "expected"),
    [
        (28, 28, LIMITS, 1),
        (29, 28, LIMITS, 2),
        (1, 1, LIMITS, 1),
        (1_000, 1_000, LIMITS, 1_296),
        (1_000, 1_000, LIMITS_BEFORE, 1_296),
        (1_920, 1_080, LIMITS, 69 * 39),
        (1_920, 1_080, LIMITS_BEFORE, 56 * 32),  # over what such a model takes: see the next
        (8_000, 8_000, LIMITS, 4_784),
        (8_000, 8_000, LIMITS_BEFORE, 1_568),
        (8_000, 100, LIMITS_BEFORE, 56),
        (100, 8_000, LIMITS, 92 * 2),
    ],
)
def test_images(width: int, height: int, limits: ImageLimits, expected: int):
    assert image_tokens(width, height, limits) == min(expected, limits.tokens)


@given(sides, sides, limits)
def test_an_image_takes_something_but_no_more_than_the_most_and_the_same_on_its_side(width: int, height: int, limits: ImageLimits):
    tokens = image_tokens(width, height, limits)
    assert 1 <= tokens <= limits.tokens
    assert tokens == image_tokens(height, width, limits)


@pytest.mark.parametrize(
    ("raw", "pages"),
    [
        (b"%PDF-1.4\n1 0 obj << /Type /Pages /Kids [2 0 R 3 0 R] /Count 2 >>", 2),
        (b"%PDF-1.4\n<< /Type /Pages /Count 12 >> << /Type /Pages /Count 7 >> << /Type/Page >>", 12),
        (b"%PDF-1.4\n<< /Type /Page >> << /Type/Page/Parent 1 0 R >> << /Type /PageLabel >>", 2),
        (b"%PDF-1.6\n5 0 obj <</Linearized 1/L 90000/O 7/E 1000/N 31/T 800>> endobj << /Type /Page >>", 31),
        (pdf(12, packed=True), 12),
        (pdf(12, packed=True)[:80], None),
        (b"%PDF-1.6\n<</Type /ObjStm>>stream\nnot compressed at all", None),
        (b"%PDF-1.6\nall of it is compressed", None),
        (b"%PDF-1.6\n<< /Type /Pages /Count 0 >>", None),
        (b"GIF89a /Type /Page", None),
        (b"", None),
    ],
)
def test_pages(raw: bytes, pages: int | None):
    assert pdf_pages(raw) == pages


@pytest.mark.parametrize(
    ("media", "tokens", "words"),
    [
        (replace(IMAGE, width=800, height=600), 29 * 22, "image, 800 × 600"),
        (replace(IMAGE, width=1_920, height=1_080), 69 * 39, "image, 1,920 × 1,080"),
        (replace(DOCUMENT, pages=1), PDF_PAGE_TOKENS, "PDF, 1 page"),
        (replace(DOCUMENT, pages=7), 7 * PDF_PAGE_TOKENS, "PDF, 7 pages"),
    ],
)
def test_what_is_shown_counts_and_has_a_name(media: Media, tokens: int, words: str):
    assert media_tokens(media) == tokens
    assert in_words(media) == words


@pytest.mark.parametrize("wrong", [{"sha256": "../../etc/passwd"}, {"media_type": "image/svg+xml"}, {"width": 0}, {"size": -1}])
def test_what_could_be_no_image_is_none(wrong: Any):
    with pytest.raises(ValueError, match=r"takes no|no SHA-256|without size"):
        replace(IMAGE, **wrong)


def test_documents():
    assert 1_500 <= PDF_PAGE_TOKENS <= 3_000
    assert pdf_tokens(12) == 12 * PDF_PAGE_TOKENS
