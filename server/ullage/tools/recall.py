"""The `recall` tool: gets back what the conversation no longer shows.

Searching and opening the log is the business of `store/`, which implements `Recall`; here it only becomes text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from ullage.context.blocks import Json, Media, ToolSpec
from ullage.context.quoting import in_a_line, quoted
from ullage.tools.media import MediaShelf, NotShown, check
from ullage.tools.tool import BadToolInput, PermissionNeed, ToolCall, ToolKind, ToolOutcome, check_input, description, integer, text


@dataclass(frozen=True, slots=True)
class RecallHit:
    """One place where the searched words stand. `seq` is the log entry in session `session_id`; `at` is Unix seconds."""

    session_id: str
    seq: int
    at: float
    what: str
    """The kind of the entry, in words: `user`, `assistant`, `result of bash` ..."""
    excerpt: str
    """The words with a little text around them (plain text, one paragraph)."""
    tool_use_id: str | None = None
    """The id that `Recall.result` takes, for a tool result; else None."""
    current: bool = True
    """Whether the hit is in this session. In another one of this workspace, its seq cannot be opened by range."""


class Recall(Protocol):
    """All that was ever said or returned in this workspace, as one session may look at it."""

    async def search(self, words: str, limit: int, agent: str | None = None) -> Sequence[RecallHit]:
        """The best matches first, at most `limit`, from all sessions of the workspace, or from what that sub-agent saw."""
        ...

    async def result(self, tool_use_id: str) -> str | None:
        """The whole result of a tool call, unclipped; None if there is no call with that id."""
        ...

    async def media(self, tool_use_id: str) -> Sequence[Media]:
        """The images and documents that a call of this session gave; empty if it gave none."""
        ...

    async def range(self, first_seq: int, last_seq: int, agent: str | None = None) -> str:
        """The entries of this session, or of that sub-agent, from `first_seq` to `last_seq` (both included) as text; empty if there
        are none."""
        ...

    async def report(self, agent: str) -> str | None:
        """The whole report of that sub-agent, which it said last, and which entries it has; None if there is no such sub-agent."""
        ...


FOUND = 10
"""How many hits are told at once; the model would read past more."""


NO_AGENT = "There is no sub-agent {!r}. Its report names its id."


class RecallTool:
    """Searches and opens the log for the model."""

    kind: ToolKind = "read"

    def __init__(self, recall: Recall, shelf: MediaShelf | None = None) -> None:
        self._recall = recall
        self._shelf = shelf
        self.spec = ToolSpec(
            "recall",
            description("recall"),
            {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "minLength": 1, "description": "Words to search for."},
                    "tool_use_id": {"type": "string", "minLength": 1, "description": "The tool call whose whole result is wanted."},
                    "from": {"type": "integer", "minimum": 1, "description": "The first entry of a range of this session."},
                    "to": {"type": "integer", "minimum": 1, "description": "The last entry of that range."},
                    "agent": {"type": "string", "minLength": 1, "description": "A sub-agent, by the id in its report."},
                },
                "required": [],
            },
        )

    def title(self, input: Mapping[str, Json]) -> str:
        """The title of a call: `Recall "gauge"`."""
        if "agent" in input and not input.keys() & {"query", "from"}:
            return "Recall the report of a sub-agent"
        if "query" in input:
            return f'Recall "{text(input, "query")}"'
        if "tool_use_id" in input:
            return f"Recall result {text(input, 'tool_use_id')}"
        return f"Recall entries {integer(input, 'from', 1)} to {integer(input, 'to', 1)}" if "from" in input else "Recall"

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """Always None: reading is free."""
        return None

    async def run(self, call: ToolCall) -> ToolOutcome:
        """The hits, a whole result, or a range of entries as text. Raises `BadToolInput`."""
        check_input(self.spec.input_schema, call.input)
        agent = text(call.input, "agent") or None
        ways = [way for way in ("query", "tool_use_id", "from") if way in call.input]
        match ways:
            case ["query"]:
                return await self._search(text(call.input, "query"), agent)
            case ["tool_use_id"]:
                return await self._open(text(call.input, "tool_use_id"))
            case ["from"]:
                first = integer(call.input, "from", 1)
                return await self._expand(first, integer(call.input, "to", first), agent)
            case [] if agent is not None:
                found = await self._recall.report(agent)
                return ToolOutcome(found or NO_AGENT.format(agent), is_error=found is None)
            case _:
                raise BadToolInput("Give exactly one of `query`, `tool_use_id`, or `from` with `to`")

    async def _search(self, words: str, agent: str | None) -> ToolOutcome:
        hits = await self._recall.search(words, FOUND, agent)
        if not hits and agent is not None:
            return ToolOutcome("Nothing that this sub-agent saw or said has these words. Try fewer or other ones.")
        if not hits:
            return ToolOutcome("Nothing that was said or returned in this workspace has these words. Try fewer or other ones.")
        return ToolOutcome("\n\n".join(map(_shown, hits)))

    async def _open(self, tool_use_id: str) -> ToolOutcome:
        found = await self._recall.result(tool_use_id)
        if found is None:
            return ToolOutcome(f"There is no result of a tool call {tool_use_id}. Search with `query` to find its id.", is_error=True)
        if self._shelf is None:
            return ToolOutcome(found or "(The result was empty.)")
        media = await self._recall.media(tool_use_id)
        try:
            for each in media:
                check(each, self._shelf.sight())
        except NotShown as error:
            return ToolOutcome(f"{found}\n({error})")
        return ToolOutcome(found or "(The result was empty.)", media=tuple(media))

    async def _expand(self, first: int, last: int, agent: str | None) -> ToolOutcome:
        if last < first:
            raise BadToolInput(f"`to` ({last}) is before `from` ({first})")
        found = await self._recall.range(first, last, agent)
        if agent is not None:
            return ToolOutcome(found or f"The sub-agent {agent} has no entries {first} to {last}", is_error=not found)
        return ToolOutcome(found or f"This session has no entries {first} to {last}", is_error=not found)


def _shown(hit: RecallHit) -> str:
    when = datetime.fromtimestamp(hit.at, tz=UTC).strftime("%Y-%m-%d %H:%M UTC")
    place = f"entry {hit.seq}" if hit.current else f"another session, entry {hit.seq}"
    result = f", tool_use_id {hit.tool_use_id}" if hit.tool_use_id is not None else ""
    return f"[{in_a_line(hit.what)}, {when}, {place}{result}]\n{quoted(hit.excerpt)}"
