"""How far a conversation has been read: what a thinking block at this point would be bound to (section 2.6)."""

from __future__ import annotations

from dataclasses import dataclass

from tests.fake_api.canonical import canonical_block, digest
from tests.fake_api.json_values import JsonObject


@dataclass(slots=True)
class Reading:
    """The state at one point of one request."""

    model: str
    system: str
    tools: str
    before: str = ""
    """Hash of all blocks so far, thinking aside."""
    summarised: tuple[str, ...] = ()
    """The same hash as it was, or would have been, before the API put a compaction block in the place of messages: thinking of turns
    that were kept is bound to one of these (section 2.4)."""
    previous: str = ""
    """The id of the last thinking block; empty where there was none."""
    role: str = ""
    """Of the message that was read last."""

    def take(self, role: str, block: JsonObject) -> None:
        """Goes past a block that is no thinking. Empty text counts as nothing: it can be replied, and cannot be sent back."""
        self.role = role
        if block.get("type") == "text" and not block.get("text"):
            return
        plain = canonical_block(block)
        self.before = digest(self.before, role, plain)
        self.summarised = tuple(digest(hash, role, plain) for hash in self.summarised)
