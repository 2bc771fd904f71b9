"""Under which names clouds have Claude, and what they charge beside Anthropic's own price.

Windows and limits are those of `known_models.py`; the factors stand in `prices.json`, with their date and source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from ullage.models.known_models import card_from_table, expected_card, price_list
from ullage.models.model import ModelCard

_BEDROCK = re.compile(r"(?:(?P<where>[a-z][a-z-]*)\.)?anthropic\.(?P<model>claude-[a-z0-9-]+?)(?:-v\d+)?(?::\d+)?")
"""An id such as `us.anthropic.claude-sonnet-4-5-20250929-v1:0`: a profile of inference across regions, or without `us.` the model in one
region."""

COMPACTING = frozenset(
    {
        *("claude-fable-5-1", "claude-opus-5-5", "claude-opus-5", "claude-sonnet-5-5", "claude-sonnet-5", "claude-haiku-5-5"),
        *("claude-opus-4-8", "claude-opus-4-7", "claude-opus-4-6", "claude-sonnet-4-6"),
    }
)
"""Models whose summaries the API writes on Google Cloud (Anthropic's pages on compaction, 2026-09-30: beta there, and not on Bedrock)."""


def bedrock_id(name: str) -> str:
    """The id under which a model is asked. Anthropic's own name stands for its profile in all regions, which every current model has."""
    if not name.startswith("claude-"):
        return name
    return f"global.anthropic.{name}-v1" if name == "claude-opus-4-6" else f"global.anthropic.{name}"


def bedrock_card(name: str, region: str) -> ModelCard:
    """The card of a model of Bedrock, by its id, its profile or the end of an ARN."""
    found = _BEDROCK.fullmatch(bedrock_id(name).rpartition("/")[2])
    if found is None:
        return expected_card(name, anthropic=True)
    where = found["where"] or ("us-gov" if region.startswith("us-gov-") else "global")
    return _card(name, found["model"], price_list().clouds["bedrock"], where)


def foundation_model(name: str) -> str:
    """The id of the model itself, whatever regions it is asked in. Counting is asked of it alone."""
    name = bedrock_id(name)
    found = _BEDROCK.fullmatch(name.rpartition("/")[2])
    return name if found is None or not found["where"] else name.rpartition("/")[2].removeprefix(f"{found['where']}.")


def vertex_card(name: str, region: str) -> ModelCard:
    """The card of a model of Vertex, whose version stands behind an `@`."""
    plain = name.partition("@")[0]
    card = _card(name, plain, price_list().clouds["vertex"], region)
    return replace(card, compacts=plain in COMPACTING)


def _card(name: str, plain: str, factors: Mapping[str, float], where: str) -> ModelCard:
    known = card_from_table(plain)
    if known is None:
        return expected_card(name, anthropic=True)
    factor = factors.get(where, factors["others"])
    return replace(known, name=name, prices=known.prices.times(factor) if known.prices else None)
