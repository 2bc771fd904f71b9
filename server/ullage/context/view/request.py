"""A request as it leaves for the model: what precedes the messages, the messages, and where the cache is marked.

Serialising it is the business of `models/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ullage.context.blocks import CompactionBlock, SystemPart, ToolSpec
from ullage.context.view.breakpoints import Breakpoint, place
from ullage.context.view.message import Message
from ullage.context.view.projection import Projection

__all__ = ["Breakpoint", "Message", "Request", "build_request", "request_so_far"]


@dataclass(frozen=True, slots=True)
class Request:
    """One request. The end of `system` always carries a cache mark; with `breakpoints` at most 4 in all."""

    system: tuple[SystemPart, ...]
    tools: tuple[ToolSpec, ...]
    messages: Sequence[Message]
    breakpoints: tuple[Breakpoint, ...]
    summarise: str | None = None
    """Not None: the API is asked for a compaction block of all messages instead of a reply, with these instructions (its own if empty)."""

    @property
    def block(self) -> CompactionBlock | None:
        """The block that the API put in the place of earlier messages."""
        first = self.messages[0].blocks[0] if self.messages else None
        return first if isinstance(first, CompactionBlock) else None


def build_request(projection: Projection) -> Request:
    """The next request. Raises `ValueError` where there is no prelude, no message, or the last word is the model's."""
    request = request_so_far(projection)
    if request.messages[-1].role != "user":
        raise ValueError("there is no request: the model has answered everything")
    return request


def request_so_far(projection: Projection) -> Request:
    """The whole conversation, for asking something about it: the last word may be the model's, a user's text must follow then.

    Raises `ValueError` where there is no prelude or no message.
    """
    prelude = projection.prelude
    if prelude is None:
        raise ValueError("there is no request: no system prompt and tools were logged")
    messages = projection.complete_messages
    if not messages:
        raise ValueError("there is no request: nobody has said anything yet")
    return Request(prelude.system, prelude.tools, messages, place(messages))
