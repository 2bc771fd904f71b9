# pyright: basic, reportMissingImports=false
"""OpenHands: `View.append_event`, `prepare_llm_messages` and `LLMSummarizingCondenser`, as its agent has them.

Two variants: its token limit in force, as it is with every model whose window is known, and the number of events alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # no download; before litellm is imported
os.environ["OPENHANDS_SUPPRESS_BANNER"] = "1"

from openhands.sdk.agent.utils import prepare_llm_messages
from openhands.sdk.context.condenser import LLMSummarizingCondenser
from openhands.sdk.context.view import View
from openhands.sdk.event import ActionEvent, Condensation, LLMConvertibleEvent, MessageEvent, ObservationEvent
from openhands.sdk.llm import Message as LlmMessage
from openhands.sdk.llm import MessageToolCall, TextContent
from openhands.sdk.testing import TestLLM
from openhands.sdk.tool.schema import Observation

from bench.peers.measuring import COMPACTIONS, NO_LINE, SUMMARY, Message, main

MODEL = "gpt-4o"
"""Whose tokenizer counts: several times faster than the one that stands for Claude's models."""
KEEP_FIRST, MOST_EVENTS = 4, 80
"""The numbers of its default agent."""


class Result(Observation):
    """What a tool gave back."""


class Condensing:
    """Half of the most events stay, and the first four."""

    def __init__(self, *, counts_tokens: bool) -> None:
        said = [LlmMessage(role="assistant", content=[TextContent(text=SUMMARY)]) for _ in range(COMPACTIONS)]
        window = NO_LINE if counts_tokens else None
        self._llm = TestLLM.from_messages(said, model=MODEL if counts_tokens else "fake", max_input_tokens=window)
        self._never = LLMSummarizingCondenser(llm=self._llm, max_size=NO_LINE, keep_first=KEEP_FIRST)
        self._usual = LLMSummarizingCondenser(llm=self._llm, max_size=MOST_EVENTS, keep_first=KEEP_FIRST)
        self._view = View()
        self._before: list[LLMConvertibleEvent] = []
        self._last_calls: dict[str, ActionEvent] = {}

    def hold(self, messages: Sequence[Message]) -> int:
        """A view of all events."""
        self._view = View.from_events(self.prepare(messages))
        self._before = list(self._view.events)
        return len(LLMConvertibleEvent.events_to_messages(self._before))

    def prepare(self, messages: Sequence[Message]) -> list[Any]:
        """Its events: a reply with two calls is two of them."""
        return [event for number, message in enumerate(messages) for event in self._events(number, message)]

    def turn(self, new: Any) -> int:
        """Without its event log on disk, which would come on top."""
        for event in new:
            self._view.append_event(event)
        prepared = prepare_llm_messages(self._view, condenser=self._never, llm=self._llm)
        return 0 if isinstance(prepared, Condensation) else len(prepared)

    def before_compaction(self) -> None:
        """All events are in the view again."""
        self._view = View(events=list(self._before))

    def compact(self) -> int:
        """The condensation, and the messages of the view after it."""
        made = prepare_llm_messages(self._view, condenser=self._usual, llm=self._llm)
        if not isinstance(made, Condensation) or made.summary != SUMMARY:
            raise TypeError("there was no condensation")
        self._view.append_event(made)
        after = prepare_llm_messages(self._view, condenser=self._usual, llm=self._llm)
        return len(after) if isinstance(after, list) else 0

    def _events(self, number: int, message: Message) -> list[Any]:
        if message["role"] == "user":
            return [self._said(block) for block in message["content"]]
        texts = [TextContent(text=block["text"]) for block in message["content"] if block["type"] == "text"]
        uses = [block for block in message["content"] if block["type"] == "tool_use"]
        if not uses:
            return [MessageEvent(source="agent", llm_message=LlmMessage(role="assistant", content=list(texts)))]
        response = f"response {uses[0]['id']}"
        actions = [_action(block, response, texts if at == 0 else []) for at, block in enumerate(uses)]
        self._last_calls = {action.tool_call_id: action for action in actions}
        return actions

    def _said(self, block: Message) -> Any:
        if block["type"] == "text":
            return MessageEvent(source="user", llm_message=LlmMessage(role="user", content=[TextContent(text=block["text"])]))
        call = self._last_calls[block["tool_use_id"]]
        result = Result(content=[TextContent(text=block["content"])], is_error=bool(block.get("is_error")))
        return ObservationEvent(observation=result, action_id=call.id, tool_name=call.tool_name, tool_call_id=call.tool_call_id)


def _action(block: Message, response: str, thought: list[TextContent]) -> ActionEvent:
    call = MessageToolCall(id=block["id"], name=block["name"], arguments=json.dumps(block["input"]), origin="completion")
    return ActionEvent(
        thought=thought, action=None, tool_name=block["name"], tool_call_id=block["id"], tool_call=call, llm_response_id=response
    )


if __name__ == "__main__":
    main(
        ("openhands-sdk", "litellm"),
        {"tokens": lambda: Condensing(counts_tokens=True), "events": lambda: Condensing(counts_tokens=False)},
    )
