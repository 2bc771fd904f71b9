"""The `message` object that a reply begins with."""

from __future__ import annotations

import secrets

from tests.fake_api.accepted import Accepted
from tests.fake_api.json_values import JsonObject
from tests.fake_api.record import RecordedRequest
from tests.fake_api.reply_events import Outgoing
from tests.fake_api.script import asks_for_compaction
from tests.fake_api.usage import InputUsage, with_found

NOTHING = InputUsage(0)


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
        "usage": NOTHING.as_json(0) if asks_for_compaction(accepted.body) else accepted.plan.usage.as_json(1),
    }
    if accepted.transformations is not None:
        message["input_transformations"] = list(accepted.transformations)
    return message


def reported_usage(accepted: Accepted, outgoing: Outgoing) -> JsonObject:
    """The `usage` of a reply that is over. Section 2.4: what a compaction used stands in `iterations` alone."""
    usage = with_found(accepted.plan.usage, outgoing.searched_tokens)
    used = usage.as_json(outgoing.output_tokens, outgoing.thinking_tokens)
    if outgoing.searches:
        used["server_tool_use"] = {"web_search_requests": outgoing.searches, "web_fetch_requests": 0}
    if not asks_for_compaction(accepted.body):
        return used
    counted = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation")
    return {**NOTHING.as_json(0), "iterations": [{"type": "compaction", **{name: used[name] for name in counted}}]}
