"""How many tokens the fake says a request or a reply has. Deterministic, and its own: no client can get it by copying.

Text is counted by kind of character. The weights give about what section 3 says for the newest tokenizer
(prose 3.2 characters a token, code 2.9, compact JSON 2.0, Chinese 1.0):

    letters 0.33 · spaces 0.2 · digits, newlines and punctuation 0.6 · all else 1 token a character

Framing: 4 tokens a message, 2 a block, 8 a tool beside its JSON, and the tool prompt of the model (section 2.2).
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from copy import deepcopy
from functools import lru_cache
from math import ceil
from typing import Any

from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.json_values import JsonObject, blocks_of, is_object, objects

MESSAGE_TOKENS = 4
BLOCK_TOKENS = 2
TOOL_TOKENS = 8
_PDF_PAGE_TOKENS = 2_000
_OWN_SUMMARY_PROMPT_TOKENS = 300
_UNKNOWN_IMAGE_TOKENS = 1_568
_LETTERS = re.compile(r"[A-Za-z]+")
_SPACES = re.compile(r"[ \t]+")
_OTHER_ASCII = re.compile(r"[\x00-\x7f]+")
_PDF_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_PNG_HEAD = b"\x89PNG\r\n\x1a\n"


@lru_cache(maxsize=4096)
def count_text(text: str) -> int:
    """Tokens of a piece of text; at least 1 where there is any."""
    without_letters = _LETTERS.sub("", text)
    without_spaces = _SPACES.sub("", without_letters)
    beyond_ascii = _OTHER_ASCII.sub("", without_spaces)
    letters = len(text) - len(without_letters)
    spaces = len(without_letters) - len(without_spaces)
    other_ascii = len(without_spaces) - len(beyond_ascii)
    return ceil((letters * 33 + spaces * 20 + other_ascii * 60 + len(beyond_ascii) * 100) / 100)


def count_json(value: Any) -> int:
    """Tokens of a JSON value as compact text."""
    return count_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def count_tool(tool: JsonObject) -> int:
    """Tokens of a tool definition. The same tools come with each request, so of each name the newest one is kept with its tokens."""
    name = tool.get("name")
    known = _NEWEST_TOOLS.get(name) if isinstance(name, str) else None
    if known is not None and known[0] == tool:
        return known[1]
    tokens = TOOL_TOKENS + count_json({key: value for key, value in tool.items() if key != "cache_control"})
    if isinstance(name, str):
        _NEWEST_TOOLS[name] = (deepcopy(tool), tokens)
    return tokens


_NEWEST_TOOLS: dict[str, tuple[JsonObject, int]] = {}


def count_block(block: JsonObject, model: ModelFacts) -> int:
    """Tokens of a content block of a message or of the system prompt."""
    return BLOCK_TOKENS + _block_content(block, model)


def count_message_frame() -> int:
    """Tokens of a message beside its blocks."""
    return MESSAGE_TOKENS


def count_request(body: JsonObject, model: ModelFacts) -> int:
    """All input tokens of a request."""
    tools = objects(body.get("tools"))
    total = sum(count_tool(tool) for tool in tools)
    total += model.tool_prompt if tools else 0
    total += sum(count_block(block, model) for block in blocks_of(body.get("system")) if block.get("text"))
    for message in objects(body.get("messages")):
        total += MESSAGE_TOKENS
        total += sum(count_block(block, model) for block in blocks_of(message.get("content")))
    return total


def summary_prompt_tokens(body: JsonObject) -> int:
    """What the prompt takes that asks for a summary: the API's own (its size is assumed), or the request's instructions."""
    instructions = str(body["compaction"].get("instructions") or "").strip()
    return count_text(instructions) if instructions else _OWN_SUMMARY_PROMPT_TOKENS


def _block_content(block: JsonObject, model: ModelFacts) -> int:
    match block.get("type"):
        case "text":
            return count_text(str(block.get("text", "")))
        case "thinking" | "redacted_thinking":
            # The signature stands for thinking whose text was not shown, so it counts too.
            shown = count_text(str(block.get("thinking", "")))
            return shown + len(str(block.get("signature", block.get("data", "")))) // 8
        case "tool_use":
            return count_text(str(block.get("name", ""))) + count_json(block.get("input"))
        case "tool_result":
            content = block.get("content")
            if not content:
                return 0
            return sum(_block_content(part, model) for part in blocks_of(content))
        case "compaction":
            return count_text(str(block.get("content") or ""))
        case "web_search_tool_result":
            return search_result_tokens(block)
        case "image":
            return _image_tokens(block, model)
        case "document":
            return _document_tokens(block)
        case _:
            return count_json(block)


def search_result_tokens(block: JsonObject) -> int:
    """Section 2.8: results count as input. What is sealed counts by its length, five characters of base64 a token."""
    return sum(count_text(f"{item['title']} {item['url']}") + len(item["encrypted_content"]) // 5 for item in objects(block.get("content")))


def _image_tokens(block: JsonObject, model: ModelFacts) -> int:
    """Section 2.7: one token for each 28 by 28 pixels begun, with a cap by model. Only PNG sizes are read."""
    source = block.get("source")
    data = source.get("data") if is_object(source) else None
    size = png_size(data) if isinstance(data, str) else None
    if size is None:
        return min(_UNKNOWN_IMAGE_TOKENS, model.image_token_cap)
    width, height = size
    return min(ceil(width / 28) * ceil(height / 28), model.image_token_cap)


def _document_tokens(block: JsonObject) -> int:
    """So many tokens a page."""
    source = block.get("source")
    data = source.get("data") if is_object(source) else None
    try:
        raw = base64.b64decode(data) if isinstance(data, str) else b""
    except (binascii.Error, ValueError):
        raw = b""
    return _PDF_PAGE_TOKENS * max(pdf_pages(raw), 1)


def pdf_pages(raw: bytes) -> int:
    """The page objects of a PDF that does not pack them."""
    return len(_PDF_PAGE.findall(raw))


def png_size(data: str) -> tuple[int, int] | None:
    """Width and height in pixels of a PNG in base64, or None where it is none."""
    try:
        head = base64.b64decode(data[:64])
    except (binascii.Error, ValueError):
        return None
    if len(head) < 24 or not head.startswith(_PNG_HEAD):
        return None
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
