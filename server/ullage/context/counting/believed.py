"""Whether what a reply reports to have used can be, by what its request and its text are estimated at.

`models/plausible.py` holds it against the bytes of the request before it is logged. This is for logs of versions that took everything, and
the narrower of the two: one absurd number would make the context full for ever.
"""

from __future__ import annotations

from ullage.context.blocks import Usage

MOST = 20_000_000
"""Tokens of one call. The largest window that any model was announced with is 10 million."""
TIMES = 4
"""The estimate is within 15 % for Claude's newer tokenizer, others count less; base64 in a text of another kind is four times as much."""
BESIDE = 20_000
"""Tokens that are let pass in any case: what an endpoint adds to a request, thinking that is not shown of a reply."""
HIDDEN = 128_000
"""Tokens of thinking that a reply may have had and does not show: the longest output of any model."""


def can_be(usage: Usage) -> bool:
    """Whether any call can have used that, whatever was sent."""
    least = min(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_5m_tokens, usage.cache_write_1h_tokens)
    return least >= 0 and usage.context_tokens <= MOST


def is_believed(usage: Usage, sent: int, received: int) -> bool:
    """`sent` and `received` are the estimates of the request and of the reply (tokens)."""
    return can_be(usage) and usage.total_input_tokens <= TIMES * sent + BESIDE and usage.output_tokens <= TIMES * received + BESIDE + HIDDEN
