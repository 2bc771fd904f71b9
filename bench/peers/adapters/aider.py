# pyright: basic, reportMissingImports=false
"""aider: `ChatSummary.too_big` at each turn and `ChatSummary.summarize`. It knows no tool calls: they stand as text."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # no download; before litellm is imported

from aider.history import ChatSummary
from aider.models import Model, model_info_manager

from bench.peers.measuring import NO_LINE, SUMMARY, Message, main

MODEL = "gpt-4o"
"""Whose tokenizer counts: several times faster than the one that stands for Claude's models."""

model_info_manager._update_cache = lambda: None  # noqa: SLF001 - no download here either


class Fake(Model):
    """A model that always writes the same summary."""

    def simple_send_with_retries(self, messages: Any) -> str:
        """No call."""
        return SUMMARY


class Summarizing:
    """Its own budget for the history: a sixteenth of the window, 1,024 to 8,192 tokens."""

    def __init__(self) -> None:
        model = Fake(MODEL)
        self._held: list[dict[str, str]] = []
        self._wide = ChatSummary([model], NO_LINE)
        self._usual = ChatSummary([model], model.max_chat_history_tokens)

    def hold(self, messages: Sequence[Message]) -> int:
        """Nothing is kept but the messages."""
        self._held = self.prepare(messages)
        return len(self._held)

    def prepare(self, messages: Sequence[Message]) -> list[dict[str, str]]:
        """Plain text."""
        return [{"role": message["role"], "content": "\n".join(map(_text, message["content"]))} for message in messages]

    def turn(self, new: Any) -> int:
        """Without the count of the whole request that its coder makes twice for each call, which would come on top."""
        self._held.extend(new)
        return 0 if self._wide.too_big(self._held) else len(self._held)

    def before_compaction(self) -> None:
        """The messages held are not changed by it."""

    def compact(self) -> int:
        """As in its background thread."""
        return len(self._usual.summarize(list(self._held)))


def _text(block: Message) -> str:
    if block["type"] == "tool_use":
        return f"{block['name']} {json.dumps(block['input'])}"
    return block.get("text") or block.get("content") or ""


if __name__ == "__main__":
    main(("aider-chat", "litellm"), {"chat summary": Summarizing})
