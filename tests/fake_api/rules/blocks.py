"""The shape of content blocks: which fields each type has, and that nothing else is in them.

What a reply's `model_dump()` adds is refused here where the API refuses it (section 1.3), such as `citations: null` in a thinking block.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.fake_api.json_values import is_array
from tests.fake_api.refused import invalid
from tests.fake_api.rules.shape import (
    Check,
    anything,
    array_of,
    boolean,
    check_object,
    dictionary,
    integer_from,
    matching,
    nullable,
    object_of,
    one_of,
    string,
    tagged,
)
from tests.fake_api.rules.web_search import BLOCKS as SEARCH_BLOCKS
from tests.fake_api.rules.web_search import CITATION
from tests.fake_api.rules.web_search import REQUIRED as SEARCH_REQUIRED

CACHE_CONTROL: Check = nullable(tagged({"ephemeral": {"ttl": one_of("5m", "1h")}}, {}))
"""Section 2.1: only `ephemeral`, with a time to live of 5 minutes or 1 hour."""

_ID = matching(r"^[a-zA-Z0-9_-]+$")
_IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")

_SOURCES: Mapping[str, Mapping[str, Check]] = {
    "base64": {"media_type": string, "data": string},
    "url": {"url": string},
    "file": {"file_id": string},
    "text": {"media_type": string, "data": string},
    "content": {"content": anything},
}
_SOURCE_REQUIRED = {
    **SEARCH_REQUIRED,
    "base64": ("media_type", "data"),
    "url": ("url",),
    "file": ("file_id",),
    "text": ("media_type", "data"),
    "content": ("content",),
}
_IMAGE_SOURCES: Mapping[str, Mapping[str, Check]] = {
    "base64": {"media_type": one_of(*_IMAGE_TYPES), "data": string},
    "url": {"url": string},
    "file": {"file_id": string},
}

_TEXT: Mapping[str, Check] = {
    "text": string,
    "cache_control": CACHE_CONTROL,
    "citations": nullable(array_of(CITATION)),
}
_IMAGE: Mapping[str, Check] = {
    "source": tagged(_IMAGE_SOURCES, _SOURCE_REQUIRED),
    "cache_control": CACHE_CONTROL,
    "transformations": nullable(dictionary),
}
_DOCUMENT: Mapping[str, Check] = {
    "source": tagged(_SOURCES, _SOURCE_REQUIRED),
    "cache_control": CACHE_CONTROL,
    "citations": nullable(object_of({"enabled": boolean})),
    "context": nullable(string),
    "title": nullable(string),
}
_RESULT_PARTS = tagged(
    {"text": _TEXT, "image": _IMAGE, "document": _DOCUMENT},
    {"text": ("text",), "image": ("source",), "document": ("source",)},
)


def _result_content(path: str, value: Any) -> None:
    if is_array(value):
        for index, part in enumerate(value):
            _RESULT_PARTS(f"{path}.{index}", part)
    elif not isinstance(value, str):
        raise invalid(f"{path}: Input should be a valid string or array")


_BLOCKS: Mapping[str, Mapping[str, Check]] = {
    **SEARCH_BLOCKS,
    "text": _TEXT,
    "image": _IMAGE,
    "document": _DOCUMENT,
    # Section 2.1: thinking cannot carry cache_control. It has no nullable extras either.
    "thinking": {"thinking": string, "signature": string},
    "redacted_thinking": {"data": string},
    "tool_use": {
        "id": _ID,
        "name": matching(r"^[a-zA-Z0-9_-]{1,128}$"),
        "input": dictionary,
        "cache_control": CACHE_CONTROL,
        "caller": dictionary,
        "toolset_name": nullable(string),
    },
    "tool_result": {
        "tool_use_id": _ID,
        "content": _result_content,
        "is_error": boolean,
        "cache_control": CACHE_CONTROL,
        "toolset_name": nullable(string),
    },
}
_COMPACTION: Mapping[str, Check] = {
    "content": nullable(string),
    "signature": nullable(string),
    "encrypted_content": nullable(string),
    "tool_changes": nullable(array_of(dictionary)),
    "cache_control": CACHE_CONTROL,
}
_REQUIRED = {
    "text": ("text",),
    "image": ("source",),
    "document": ("source",),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "tool_use": ("id", "name", "input"),
    "tool_result": ("tool_use_id",),
}
_BLOCK = tagged(_BLOCKS, _REQUIRED)
_BLOCK_OR_COMPACTION = tagged({**_BLOCKS, "compaction": _COMPACTION}, _REQUIRED)
"""Section 2.4: without the beta header the type is not known."""
_SYSTEM_BLOCK = tagged({"text": _TEXT}, {"text": ("text",)})


def check_system_shape(path: str, value: Any) -> None:
    """The system prompt: a string or text blocks."""
    if isinstance(value, str):
        return
    array_of(_SYSTEM_BLOCK)(path, value)


def check_message_shape(path: str, value: Any, *, compaction: bool = False) -> None:
    """A message: a role and a string or blocks, also of compaction where that is known. Roles are judged in `messages.py`."""
    check_object(
        path,
        value,
        {
            "role": string,
            "content": _content_or_compaction if compaction else _content,
            # Sections 2.1: fields of system messages, each behind a beta that the fake does not simulate.
            "output_config": object_of({"effort": one_of("low", "medium", "high", "xhigh", "max")}),
        },
        ("role", "content"),
    )


def _content(path: str, value: Any) -> None:
    if isinstance(value, str):
        return
    array_of(_BLOCK)(path, value)


def _content_or_compaction(path: str, value: Any) -> None:
    if not isinstance(value, str):
        array_of(_BLOCK_OR_COMPACTION)(path, value)


BUDGET_TOKENS: Check = integer_from(1024)
"""Section 1.3 and the SDK's own description: `thinking.budget_tokens` is at least 1,024."""
