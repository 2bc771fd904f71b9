"""Whether the Messages API (version 2026-10-21) would take a request: a pure function of the body.

What needs memory is elsewhere: signatures of replayed thinking in `thinking.py`, the window in `counting.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tests.fake_api.catalogue import MODELS, ModelFacts
from tests.fake_api.json_values import JsonObject
from tests.fake_api.refused import Refused
from tests.fake_api.rules.pairing import check_pairing

__all__ = ["Refused", "validate_request"]


def validate_request(
    body: JsonObject,
    *,
    betas: Collection[str] = (),
    models: Mapping[str, ModelFacts] = MODELS,
) -> None:
    """Raises `Refused` with status, type and words of the real API for the first rule that `body` breaks.

    `betas` are the values of the `anthropic-beta` header.
    """
    check_pairing(body)
