"""The `message` object that a reply begins with."""

from __future__ import annotations

import secrets

from tests.fake_api.accepted import Accepted
from tests.fake_api.json_values import JsonObject
from tests.fake_api.record import RecordedRequest


def reply_message(record: RecordedRequest, accepted: Accepted) -> JsonObject:
    """The message as `message_start` shows it: no content yet, the input counted."""
    message: JsonObject = {
        "id": f"msg_fake_{record.number:06d}_{secrets.token_hex(4)}",
        "type": "message",
        "role": "assistant",
        "model": accepted.model.id,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": accepted.plan.usage.as_json(1),
    }
    if accepted.transformations is not None:
        message["input_transformations"] = list(accepted.transformations)
    return message
