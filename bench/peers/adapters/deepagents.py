# pyright: basic, reportMissingImports=false
"""deepagents: the middleware that `create_summarization_middleware` makes, as its agents have it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deepagents.backends.protocol import BackendProtocol, EditResult, FileDownloadResponse, WriteResult
from deepagents.middleware.summarization import create_summarization_middleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.messages.utils import count_tokens_approximately

from bench.peers.adapters.langchain_messages import messages_of
from bench.peers.measuring import NO_LINE, SUMMARY, Message, main


class Memory(BackendProtocol):
    """Takes the history that is set aside, without a disk."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """What was written, if anything was."""
        found = [(path, self.files.get(path)) for path in paths]
        return [
            FileDownloadResponse(path=path, content=text.encode() if text is not None else None, error=None if text else "file_not_found")
            for path, text in found
        ]

    def write(self, file_path: str, content: str) -> WriteResult:
        """Keeps the text."""
        self.files[file_path] = content
        return WriteResult(path=file_path)

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        """Keeps the new text."""
        self.files[file_path] = new_string
        return EditResult(path=file_path, occurrences=1)


class Summarizing:
    """Summary at 85 % of the window, 10 % of it stay; long arguments are cut at 85 % too."""

    def __init__(self) -> None:
        self._held: list[AnyMessage] = []
        self._wide = self._make(NO_LINE)
        self._filled = self._wide

    def _make(self, window: int) -> tuple[Any, Any, Memory]:
        model = GenericFakeChatModel(messages=iter(lambda: AIMessage(SUMMARY), None), profile={"max_input_tokens": window})
        backend = Memory()
        return model, create_summarization_middleware(model, backend), backend

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
        return self._through(*self._wide[:2])

    def before_compaction(self) -> None:
        """A window that the history just fills, and nothing set aside yet."""
        self._filled = self._make(int(count_tokens_approximately(self._held, use_usage_metadata_scaling=True)))

    def compact(self) -> int:
        """With the history set aside in memory."""
        left = self._through(*self._filled[:2])
        if not self._filled[2].files:
            raise ValueError("the history was not set aside")
        return left

    def _through(self, model: Any, middleware: Any) -> int:
        seen: list[AnyMessage] = []

        def handler(request: ModelRequest) -> ModelResponse:
            seen.extend(request.messages)
            return ModelResponse(result=[])

        middleware.wrap_model_call(ModelRequest(model=model, messages=self._held, state={"messages": self._held}), handler)
        return len(seen)


if __name__ == "__main__":
    main(("deepagents", "langchain-core"), {"summarization": Summarizing})
