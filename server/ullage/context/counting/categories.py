"""Under which name the gauge counts what stands in the context, and how categories are made to add up."""

from __future__ import annotations

from collections.abc import Mapping

from ullage.context.blocks import Block, Document, Image, Text, ToolResult
from ullage.context.entries import Compaction, Entry, Notice, UserPrompt

ORDER = ("system", "rules", "tools", "summary", "files", "user", "assistant")
"""Of the categories; those of tool results follow."""
RESULTS = "tool results: "


def category_of(block: Block, source: Entry | None, tools: Mapping[str, str]) -> str:
    """The category of a block that entry `source` brought and the model did not say. `tools` are the names of the calls by id."""
    if isinstance(block, ToolResult):
        return RESULTS + tools.get(block.tool_use_id, "unknown")
    if isinstance(block, Image | Document):
        return "files"
    text = block.text if isinstance(block, Text) else ""
    if isinstance(source, UserPrompt):
        return "user" if text == source.text else "files"
    if isinstance(source, Notice):
        return {"file_changed": "files", "rules": "rules", "resume": "user"}[source.about]
    if isinstance(source, Compaction):
        restored = any(file.text == text for file in source.restored)
        return "files" if restored else "summary"
    return "user"


def scaled(categories: Mapping[str, int], used: int) -> tuple[tuple[str, int], ...]:
    """The categories in proportion, adding up to `used` by the largest remainder."""
    total = sum(categories.values())
    if not total:
        return ()
    floors = {name: tokens * used // total for name, tokens in categories.items()}
    by_remainder = sorted(categories, key=lambda name: (-(categories[name] * used % total), name))
    for name in by_remainder[: used - sum(floors.values())]:
        floors[name] += 1
    return tuple(sorted(floors.items(), key=_place))


def _place(item: tuple[str, int]) -> tuple[int, int, str]:
    name, tokens = item
    if name in ORDER:
        return ORDER.index(name), 0, name
    return len(ORDER), -tokens, name
