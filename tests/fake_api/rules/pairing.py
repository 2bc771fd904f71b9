"""Tool calls and their results: each call answered at once and once, no result without a call (section 2.7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile

from tests.fake_api.conversation import PlacedBlock, placed_blocks
from tests.fake_api.json_values import JsonObject
from tests.fake_api.refused import invalid


@dataclass(frozen=True, slots=True)
class _Turn:
    """Neighbouring messages of the same role, which the API merges (section 2.7)."""

    role: str
    blocks: list[PlacedBlock]


def check_pairing(body: JsonObject) -> None:
    """Raises `Refused` where a tool call and its result do not stand together."""
    turns = _turns(placed_blocks(body))
    _check_unique_ids(turns)
    calls: list[PlacedBlock] = []
    for turn in turns:
        if turn.role == "assistant":
            _check_answered(calls, [])
            calls = [b for b in turn.blocks if b.block.get("type") == "tool_use"]
        elif turn.role == "user":
            _check_answered(calls, turn.blocks)
            _check_results(calls, turn.blocks)
            calls = []
    _check_answered(calls, [])


def _turns(blocks: Iterable[PlacedBlock]) -> list[_Turn]:
    turns: list[_Turn] = []
    for block in blocks:
        if not turns or turns[-1].role != block.role:
            turns.append(_Turn(block.role, []))
        turns[-1].blocks.append(block)
    return turns


def _check_unique_ids(turns: list[_Turn]) -> None:
    # Section 2.7: "`tool_use` ids must be unique".
    seen: set[str] = set()
    for turn in turns:
        for placed in turn.blocks:
            if placed.block.get("type") != "tool_use":
                continue
            id = str(placed.block.get("id"))
            if id in seen:
                raise invalid(f"messages.{placed.message}.content.{placed.index}: `tool_use` ids must be unique")
            seen.add(id)


def _check_answered(calls: list[PlacedBlock], answer: list[PlacedBlock]) -> None:
    # Section 2.7: results come first in the next message, text after them; a result behind a text is as good as none.
    leading = {
        str(placed.block.get("tool_use_id")) for placed in takewhile(lambda placed: placed.block.get("type") == "tool_result", answer)
    }
    missing = [call for call in calls if str(call.block.get("id")) not in leading]
    if missing:
        ids = ", ".join(str(call.block.get("id")) for call in missing)
        raise invalid(
            f"messages.{missing[0].message}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}."
            " Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        )


def _check_results(calls: list[PlacedBlock], answer: list[PlacedBlock]) -> None:
    # Section 2.7: no orphaned result. That a call has one result only is the API's own wording of uniqueness.
    expected = {str(call.block.get("id")) for call in calls}
    seen: set[str] = set()
    for placed in answer:
        if placed.block.get("type") != "tool_result":
            continue
        id = str(placed.block.get("tool_use_id"))
        if id not in expected:
            raise invalid(
                f"{placed.path}: unexpected `tool_use_id` found in `tool_result` blocks: {id}."
                " Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
        if id in seen:
            raise invalid(f"{placed.path}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}")
        seen.add(id)
