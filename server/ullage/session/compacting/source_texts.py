"""The source texts of the workspace, for engines that look at more than the conversation (a map of the repository)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from ullage.context.symbols.grammars import language_of
from ullage.workspace.folders import Folders, OutsideWorkspace
from ullage.workspace.ignore import IgnoreRules
from ullage.workspace.text_file import NotText, TooLarge, read_text
from ullage.workspace.walk import walk_files

MOST_FILES = 5_000
MOST_CHARACTERS = 20_000_000
"""Of all together: what a map of a few thousand tokens is made from need not be more than a large repository."""


async def source_texts(folders: Folders) -> Mapping[str, str]:
    """By path as the tools show it, without what is ignored, is no text or is in no known language. They are read in another thread."""
    return await asyncio.to_thread(_read, folders)


def _read(folders: Folders) -> Mapping[str, str]:
    texts: dict[str, str] = {}
    left = MOST_CHARACTERS
    rules = IgnoreRules(folders.roots)
    for root in folders.roots:
        for path in walk_files(root, rules.below(root)):
            if language_of(path.name) is None:
                continue
            try:
                text = read_text(folders.resolve(str(path))).text
            except (OSError, OutsideWorkspace, NotText, TooLarge):
                continue
            left -= len(text)
            if left < 0 or len(texts) == MOST_FILES:
                return texts
            texts[folders.show(path)] = text
    return texts
