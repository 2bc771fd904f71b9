"""Which lines of a Claude Code transcript are the conversation that was continued.

Each line names the one before it. A user who goes back and says something else starts another branch. Calls that run side
by side branch too, without anything having been taken back: all lines of one reply and all results of its calls belong together.
"""

from __future__ import annotations

from collections.abc import Sequence

from ullage.replay.readers.claude_line import Line
from ullage.replay.readers.flaws import BROKEN_CHAIN, OTHER_BRANCH, Tally
from ullage.replay.readers.values import as_object, as_text


def continued(lines: Sequence[Line], tally: Tally) -> list[Line]:
    """The lines of the branch that ends last, in the order of the file."""
    chain = _chain(lines, tally)
    replies = {reply_key(lines[index]) for index in chain if lines[index].kind == "assistant"}
    of_replies = {index for index, line in enumerate(lines) if index in chain or (line.kind == "assistant" and reply_key(line) in replies)}
    calls = {id for index in of_replies for id in _ids(lines[index], "tool_use", "id")}
    kept: list[Line] = []
    kept_ids: set[str] = set()
    left_out: set[str] = set()
    for index, line in enumerate(lines):
        results = _ids(line, "tool_result", "tool_use_id")
        if index in of_replies or (results and calls.issuperset(results)) or (line.is_queued and line.parent in kept_ids):
            kept.append(line)
            kept_ids.add(line.uuid)
        elif line.kind in ("user", "assistant"):
            left_out.add(reply_key(line))
    tally.count(OTHER_BRANCH, len(left_out))
    return kept


def reply_key(line: Line) -> str:
    """What the lines of one reply have in common."""
    id = as_text(line.message.get("id")) if line.kind == "assistant" else ""
    if not id:
        return line.uuid
    return f"{id} {line.request}"


def _chain(lines: Sequence[Line], tally: Tally) -> set[int]:
    """The indexes of the last message, all that it follows from, and what the program wrote after it. A line with no known one
    before it follows the line before it."""
    places = {line.uuid: index for index, line in enumerate(lines)}
    index = max((index for index, line in enumerate(lines) if line.kind in ("user", "assistant")), default=-1)
    chain = set(range(index + 1, len(lines)))
    while index >= 0:
        chain.add(index)
        line = lines[index]
        before = places.get(line.parent, index)
        if before >= index:
            # Also where it names a later line: the chain only ever goes back, so it ends.
            tally.count(BROKEN_CHAIN, int(bool(line.parent)))
            before = index - 1
        index = before
    return chain


def _ids(line: Line, kind: str, name: str) -> list[str]:
    blocks = (as_object(block) for block in line.content)
    return [as_text(block.get(name)) for block in blocks if block.get("type") == kind]
