# pyright: basic, reportMissingImports=false
"""Hermes: the estimate and the gates of its loop before each call, and `ContextCompressor.compress`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import agent.context_compressor as module
from agent.context_compressor import ContextCompressor
from agent.model_metadata import estimate_messages_tokens_rough

from bench.peers.measuring import NO_LINE, SUMMARY, Message, main

LEAST_WINDOW = 64_000
"""Tokens; Hermes takes no smaller one."""


def _summary(**_: Any) -> Any:
    message = SimpleNamespace(content=SUMMARY, reasoning_content=None, tool_calls=None)
    return SimpleNamespace(choices=[SimpleNamespace(message=message, finish_reason="stop")], usage=None, model="fake")


def compressor(window: int) -> ContextCompressor:
    """As its agents have it, but for the model."""
    return ContextCompressor(model="fake", config_context_length=window, quiet_mode=True)


class Compressing:
    """Its defaults: half of the window (three quarters below 512,000 tokens), the first 3 and a tail by tokens stay."""

    def __init__(self) -> None:
        module.call_llm = _summary
        self._held: list[dict[str, Any]] = []
        self._wide = compressor(NO_LINE)
        self._filled = self._wide

    def hold(self, messages: Sequence[Message]) -> int:
        """Nothing is kept but the messages."""
        self._held = [{"role": "system", "content": "You are a coding agent."}, *_messages_of(messages)]
        return len(self._held)

    def prepare(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """The types of the OpenAI API."""
        return _messages_of(messages)

    def turn(self, new: Any) -> int:
        """Without the copies of all messages that its loop makes for each call, which would come on top."""
        self._held.extend(new)
        tokens = estimate_messages_tokens_rough(self._held)
        deferred = self._wide.should_defer_preflight_to_real_usage(tokens)
        cooling = self._wide.get_active_compression_failure_cooldown()
        return 0 if not deferred and not cooling and self._wide.should_compress(tokens) else len(self._held)

    def before_compaction(self) -> None:
        """A window that the history just fills."""
        tokens = estimate_messages_tokens_rough(self._held)
        self._filled = compressor(max(LEAST_WINDOW, int(tokens / 0.75)))

    def compact(self) -> int:
        """It gives new messages and leaves the old ones as they are."""
        left = self._filled.compress(self._held)
        if not any("Keep the tank from running over" in str(message.get("content")) for message in left):
            raise ValueError("the summary is not in it")
        return len(left)


def _messages_of(messages: Sequence[Message]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for message in messages:
        text = "".join(block["text"] for block in message["content"] if block["type"] == "text")
        if message["role"] == "assistant":
            reply: dict[str, Any] = {"role": "assistant", "content": text}
            calls = [_call(block) for block in message["content"] if block["type"] == "tool_use"]
            made.append({**reply, "tool_calls": calls} if calls else reply)
            continue
        results = (block for block in message["content"] if block["type"] == "tool_result")
        made += [{"role": "tool", "tool_call_id": block["tool_use_id"], "content": block["content"]} for block in results]
        if text:
            made.append({"role": "user", "content": text})
    return made


def _call(block: Message) -> dict[str, Any]:
    return {"id": block["id"], "type": "function", "function": {"name": block["name"], "arguments": json.dumps(block["input"])}}


if __name__ == "__main__":
    main(("hermes-agent",), {"compressor": Compressing})
