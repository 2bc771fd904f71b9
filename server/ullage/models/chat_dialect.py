"""What one server of Chat Completions takes of the wire: the usual at first, then what its refusals taught.

Servers that are called compatible differ in what they refuse, and none of them says so before. So nothing is guessed from their names. A
refusal that names a part of the request is believed once: the request goes out again without that part.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

ReasoningField: TypeAlias = Literal["reasoning_content", "reasoning"]
REASONING: tuple[ReasoningField, ...] = ("reasoning_content", "reasoning")
"""The names under which servers send what a model thinks (`PLAIN_THINKING`, in this order). DeepSeek, vLLM and llama.cpp have the first;
OpenRouter, Ollama and newer vLLM the second."""

_MEDIA = re.compile(r"\b(images?|image_url|multimodal|mmproj|only text|vision)\b", re.IGNORECASE)
_MOST_OUTPUT = re.compile(r"at most (\d{2,9}) (?:completion|output) tokens|max_tokens.{0,40}?(?:<=|less than or equal to) (\d{2,9})")


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a server takes of the wire. `limit` is how it calls the longest reply; `most_output` is what it allows of that (tokens), None if
    that is not known."""

    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    most_output: int | None = None
    usage: bool = True
    """Whether it takes `stream_options`, without which most servers do not count a streamed reply."""
    effort: bool = True
    reasoning: bool = True
    """Whether what the model thought goes back to it."""
    images: bool = True


def taught(dialect: Dialect, refusal: str, *, shows: bool) -> Dialect | None:
    """The dialect without what a refusal names; None if it names nothing that can be left out.

    `shows` is whether the request showed images.
    """
    said = refusal.lower()
    most = _MOST_OUTPUT.search(said)
    if most is not None and dialect.most_output is None:
        return replace(dialect, most_output=int(most[1] or most[2]))
    if "max_completion_tokens" in said or "max_tokens" in said:
        # OpenAI names both: "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        if dialect.limit == "max_tokens" and "max_completion_tokens" in said:
            return replace(dialect, limit="max_completion_tokens")
        if dialect.limit == "max_completion_tokens" and "instead" not in said:
            return replace(dialect, limit="max_tokens")
    if dialect.usage and ("stream_options" in said or "include_usage" in said):
        return replace(dialect, usage=False)
    if dialect.effort and "reasoning_effort" in said:
        return replace(dialect, effort=False)
    if dialect.reasoning and "reasoning_effort" not in said and any(name in said for name in REASONING):
        return replace(dialect, reasoning=False)
    if dialect.images and shows and _MEDIA.search(said):
        return replace(dialect, images=False)
    return None
