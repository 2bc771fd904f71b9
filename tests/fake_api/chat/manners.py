"""In what servers of this wire differ. The default is OpenAI's own, with reasoning as DeepSeek and vLLM send it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Manners:
    """How one server behaves."""

    counts: Literal["asked", "never"] = "asked"
    """Whether it reports usage where `stream_options` ask for it."""
    caches: bool = True
    """Whether it keeps prefixes, and says so in `prompt_tokens_details`."""
    reasoning: Literal["reasoning_content", "reasoning"] = "reasoning_content"
    """Under which name it sends thinking, and takes it back."""
    seals: bool = False
    """Whether thinking comes with signatures in `reasoning_details`, as OpenRouter has them, which must come back unchanged."""
    reads_at_most: int | None = None
    """Tokens: what is longer is cut without a word, as Ollama does it."""
    refuses: frozenset[str] = frozenset()
    """Parameters of the request and fields of messages that it does not know."""
    takes_tools: bool = True
    takes_images: bool = True
    calls_stop: Literal["tool_calls", "stop"] = "tool_calls"
    """The reason to stop where a tool is called."""
    tells_window: bool = True
    """Whether its list of models has windows (`max_model_len`, as vLLM)."""
    streams: bool = True
