"""The form in which parts of a request are compared: what the model reads, without cache marks and without the freedom of notation."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from tests.fake_api.json_values import JsonObject, blocks_of


def canonical_block(block: JsonObject) -> JsonObject:
    """A block or tool without cache marks (section 2.6: moving them changes nothing); a result's string as one text block.

    The order of keys is kept: section 2.1 says that it matters in `tool_use.input`.
    """
    plain = {key: value for key, value in block.items() if key != "cache_control" and value is not None}
    if plain.get("type") == "tool_result":
        plain["content"] = [canonical_block(part) for part in blocks_of(plain.get("content"))]
        plain["is_error"] = bool(plain.get("is_error"))
        return {key: plain[key] for key in ("type", "tool_use_id", "content", "is_error")}
    if plain.get("type") == "tool_use":
        return {key: plain[key] for key in ("type", "id", "name", "input")}
    return plain


def digest(*parts: Any) -> str:
    """A short hash of JSON values in order."""
    text = json.dumps(parts, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def system_digest(body: JsonObject) -> str:
    """A hash of the system prompt."""
    return digest([canonical_block(block) for block in blocks_of(body.get("system"))])


def tools_digest(tools: list[JsonObject]) -> str:
    """A hash of the tools in the prompt; deferred ones are not in it (section 2.6: adding one is valid)."""
    return digest([canonical_block(tool) for tool in tools if not tool.get("defer_loading")])
