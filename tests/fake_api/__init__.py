"""A strict fake of the Anthropic Messages API for tests: over a real socket, to the real SDK.

It refuses what the real API refuses, in its words, and simulates what costs money or context: token counts, the prompt cache,
signed thinking. It shares no code with the client it judges. See README.md.
"""

from __future__ import annotations

from tests.fake_api.catalogue import MODELS, ModelFacts, Prices
from tests.fake_api.record import RecordedRequest
from tests.fake_api.script import (
    Call,
    Cite,
    EndsAfter,
    ErrorAfter,
    Fail,
    Hang,
    HoldsAfter,
    Html,
    Page,
    RedactedThink,
    Reply,
    ResetConnection,
    ResetsAfter,
    Rule,
    Say,
    Script,
    Search,
    Think,
)
from tests.fake_api.server import FakeApi
from tests.fake_api.validation import Refused, validate_request

__all__ = [
    "MODELS",
    "Call",
    "Cite",
    "EndsAfter",
    "ErrorAfter",
    "Fail",
    "FakeApi",
    "Hang",
    "HoldsAfter",
    "Html",
    "ModelFacts",
    "Page",
    "Prices",
    "RecordedRequest",
    "RedactedThink",
    "Refused",
    "Reply",
    "ResetConnection",
    "ResetsAfter",
    "Rule",
    "Say",
    "Script",
    "Search",
    "Think",
    "validate_request",
]
