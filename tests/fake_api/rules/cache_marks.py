"""Cache breakpoints: how many, in which order of their time to live (section 2.1). What they do is in `cache.py`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.fake_api.conversation import THINKING_TYPES, placed_blocks
from tests.fake_api.json_values import JsonObject, blocks_of, is_object, objects
from tests.fake_api.refused import invalid

_MOST_MARKS = 4


@dataclass(frozen=True, slots=True)
class _Carrier:
    """A block that may carry a mark, in the order of the prompt: tools, system, messages."""

    path: str
    block: JsonObject

    @property
    def ttl(self) -> str | None:
        """`5m` or `1h`, None where there is no mark."""
        return mark_ttl(self.block.get("cache_control"))


def mark_ttl(cache_control: object) -> str | None:
    """The time to live of a mark; `5m` where it does not say, None where there is no mark."""
    if not is_object(cache_control):
        return None
    return str(cache_control.get("ttl", "5m"))


def check_cache_marks(body: JsonObject) -> None:
    """Raises `Refused` for more than four marks, or a mark of 1 hour behind one of 5 minutes."""
    carriers = list(_carriers(body))
    marked = [(c.path, ttl) for c in carriers if (ttl := c.ttl) is not None]
    automatic = mark_ttl(body.get("cache_control"))
    if automatic is not None:
        target = automatic_target([c.block for c in carriers])
        path = carriers[target].path if target is not None else "messages"
        own = carriers[target].ttl if target is not None else None
        if own is not None and own != automatic:
            raise invalid(f"Top-level cache_control has ttl='{automatic}' but the target block already has cache_control with ttl='{own}'")
        if own is None:
            marked.append((path, automatic))
    if len(marked) > _MOST_MARKS:
        raise invalid(f"A maximum of 4 blocks with cache_control may be provided. Found {len(marked)}.")
    _check_order(marked)


def automatic_target(blocks: list[JsonObject]) -> int | None:
    """Which block the top-level `cache_control` marks: the last that may carry one."""
    for index in range(len(blocks) - 1, -1, -1):
        block = blocks[index]
        if block.get("type") in THINKING_TYPES:
            continue
        if block.get("type") == "text" and not block.get("text"):
            continue
        return index
    return None


def _check_order(marked: list[tuple[str, str]]) -> None:
    short_seen = False
    for path, ttl in marked:
        if ttl == "1h" and short_seen:
            raise invalid(
                f"{path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block."
                " Note that blocks are processed in the following order: `tools`, `system`, `messages`."
            )
        short_seen = short_seen or ttl == "5m"


def _carriers(body: JsonObject) -> Iterator[_Carrier]:
    for index, tool in enumerate(objects(body.get("tools"))):
        yield _Carrier(f"tools.{index}", tool)
    for index, block in enumerate(blocks_of(body.get("system"))):
        yield _Carrier(f"system.{index}", block)
    for placed in placed_blocks(body):
        if placed.block.get("type") == "tool_result":
            parts = objects(placed.block.get("content"))
            for index, part in enumerate(parts):
                yield _Carrier(f"{placed.path}.content.{index}", part)
        yield _Carrier(placed.path, placed.block)
