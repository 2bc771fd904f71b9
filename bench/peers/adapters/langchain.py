# pyright: basic, reportMissingImports=false
"""LangChain: `SummarizationMiddleware.before_model`, and `ContextEditingMiddleware.wrap_model_call` which only clears results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents.middleware.context_editing import ClearToolUsesEdit, ContextEditingMiddleware
from langchain.agents.middleware.summarization import SummarizationMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage
from langgraph.runtime import Runtime

from bench.peers.adapters.langchain_messages import messages_of
from bench.peers.measuring import NO_LINE, SUMMARY, Message, main

RUNTIME: Any = Runtime()


def model() -> GenericFakeChatModel:
    """A chat model that always writes the same summary."""
    return GenericFakeChatModel(messages=iter(lambda: AIMessage(SUMMARY), None))


class Summarizing:
    """Its defaults but for the trigger: the newest 20 messages stay."""

    def __init__(self) -> None:
        self._held: list[AnyMessage] = []
        self._never = SummarizationMiddleware(model(), trigger=("tokens", NO_LINE))
        self._always = SummarizationMiddleware(model(), trigger=("tokens", 1))

    def hold(self, messages: Sequence[Message]) -> int:
        """Nothing is kept but the messages."""
        self._held = messages_of(messages)
        return len(self._held)

    def prepare(self, messages: Sequence[Message]) -> list[AnyMessage]:
        """LangChain's types."""
        return messages_of(messages)

    def turn(self, new: Any) -> int:
        """Without LangGraph's reducer and checkpoint, which would come on top."""
        self._held.extend(new)
        update = self._never.before_model({"messages": self._held}, RUNTIME)
        return len(self._held) if update is None else 0

    def before_compaction(self) -> None:
        """The state is not changed by the middleware itself."""

    def compact(self) -> int:
        """The update of the state, less the entry that removes what was there."""
        update = self._always.before_model({"messages": self._held}, RUNTIME)
        return len(update["messages"]) - 1 if update else 0


class Clearing:
    """Its defaults but for the trigger: the newest 3 results stay. No summary, so a compaction leaves as many messages as there were."""

    def __init__(self) -> None:
        self._held: list[AnyMessage] = []
        self._model = model()
        self._never = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=NO_LINE)])
        self._always = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=1)])

    def hold(self, messages: Sequence[Message]) -> int:
        """Nothing is kept but the messages."""
        self._held = messages_of(messages)
        return len(self._held)

    def prepare(self, messages: Sequence[Message]) -> list[AnyMessage]:
        """LangChain's types."""
        return messages_of(messages)

    def turn(self, new: Any) -> int:
        """It copies the messages each time, so that it can edit the copies."""
        self._held.extend(new)
        return self._through(self._never, cleared=False)

    def before_compaction(self) -> None:
        """The messages held are not changed by it."""

    def compact(self) -> int:
        """The messages that were not cleared."""
        return self._through(self._always, cleared=True)

    def _through(self, middleware: ContextEditingMiddleware, *, cleared: bool) -> int:
        seen: list[AnyMessage] = []

        def handler(request: ModelRequest) -> ModelResponse:
            seen.extend(request.messages)
            return ModelResponse(result=[])

        middleware.wrap_model_call(ModelRequest(model=self._model, messages=self._held), handler)
        return sum(not each.response_metadata.get("context_editing") for each in seen) if cleared else len(seen)


if __name__ == "__main__":
    main(("langchain", "langchain-core"), {"summarization": Summarizing, "context editing": Clearing})
