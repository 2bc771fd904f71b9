"""Ids of calls that nothing else in the session has.

A model chooses the ids of its calls, and may give one twice: then the card would show one call and the approval go to another, and a
result could stand at the wrong one. So an id that something in the timeline has, or could get, is replaced before the call is shown or
logged. What is logged is what goes back to the API, with results under the same id.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from ullage.context.blocks import AssistantBlock, ToolUse
from ullage.models.model import Reply
from ullage.session.identifiers import new_id

_USABLE = re.compile(r"(?!n\d+\Z)[A-Za-z0-9_-]{1,128}")
"""Such as the API takes, and none as notices get (`items.py`): those can be foreseen."""


class CallIds:
    """The ids of the calls of one reply, by their place in it. `is_taken` says of an id whether something in the session has it."""

    def __init__(self, is_taken: Callable[[str], bool]) -> None:
        self._is_taken = is_taken
        self._ids: dict[int, str] = {}
        self._given: set[str] = set()

    def of(self, index: int, given: str) -> str:
        """The id of the call that stands at that place, where the model gave it this one. The same at each asking."""
        if index not in self._ids:
            usable = _USABLE.fullmatch(given) is not None and not self._is_taken(given) and given not in self._given
            self._ids[index] = given if usable else new_id("toolu_")
            self._given.add(self._ids[index])
        return self._ids[index]

    def given_to(self, reply: Reply) -> Reply:
        """The reply with these ids."""
        blocks: list[AssistantBlock] = [
            replace(block, id=self.of(index, block.id)) if isinstance(block, ToolUse) else block for index, block in enumerate(reply.blocks)
        ]
        return replace(reply, blocks=tuple(blocks))
