"""How many tokens images and documents take, by what Anthropic publishes; no tokenizer and no ratio has a part in it.

An image is scaled down to what the model takes and then costs a token for each 28 by 28 pixels (anthropic-api.md 2.7). A page of a PDF
is shown to the model as an image and as text: 1,500 to 3,000 tokens by the documentation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil

PIXELS_PER_TOKEN_EDGE = 28


@dataclass(frozen=True, slots=True)
class ImageLimits:
    """What a model takes of an image: it is scaled down to `edge` pixels on its longer side, and costs `tokens` at most."""

    edge: int
    tokens: int


LIMITS = ImageLimits(2_576, 4_784)
"""Of models from Opus 4.7 on."""
LIMITS_BEFORE = ImageLimits(1_568, 1_568)
"""Of models up to 4.6."""

PDF_PAGE_TOKENS = 2_300
"""A page of prose: others measured 2,347 on Opus and Sonnet 5.5 and 2,115 on Haiku 4.5, where the image alone takes 1,600."""


def image_tokens(width: int, height: int, limits: ImageLimits) -> int:
    """Tokens of an image of that many pixels; at least 1."""
    scale = min(1.0, limits.edge / max(width, height, 1))
    across, down = (max(1, ceil(round(pixels * scale) / PIXELS_PER_TOKEN_EDGE)) for pixels in (width, height))
    return min(across * down, limits.tokens)


def pdf_tokens(pages: int) -> int:
    """Tokens of a PDF with that many pages."""
    return pages * PDF_PAGE_TOKENS


_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_PAGES = re.compile(rb"/Count\s+(\d{1,6})\b")
_LINEARISED = re.compile(rb"/Linearized\b[^>]{0,400}?/N\s+(\d{1,6})\b", re.DOTALL)


def pdf_pages(raw: bytes) -> int | None:
    """How many pages a PDF has, as far as it says so uncompressed; None where it does not, or is none."""
    if not raw.startswith(b"%PDF-"):
        return None
    linearised = _LINEARISED.search(raw, 0, 2_048)
    if linearised is not None:
        return int(linearised[1]) or None
    return max([int(count) for count in _PAGES.findall(raw)] or [0]) or len(_PAGE.findall(raw)) or None
