"""The signs that a file is in use, gathered from everywhere: the log, recent edits, the editor, its language servers, git.

What they weigh is known in `context/evidence.py`. Signs that take too long to get are done without.
"""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from ullage.context.entries import Logged
from ullage.context.evidence import Sign, SignKind, signs_in
from ullage.session.surroundings import Surroundings
from ullage.workspace.folders import OutsideWorkspace
from ullage.workspace.git_status import uncommitted
from ullage.workspace.recent import EditedBy
from ullage.workspace.text_file import NotText, TooLarge

logger = logging.getLogger(__name__)

SECONDS = 1.0
"""Longest that the editor and git are waited for. A compaction that waits is felt; a few signs less are not."""

_BY: dict[EditedBy, SignKind] = {"agent": "edited", "user": "edited", "disk": "disk"}


async def gathered(entries: Sequence[Logged], around: Surroundings) -> list[Sign]:
    """All signs that there are now."""
    logged = await asyncio.to_thread(lambda: _by_one_name(signs_in(entries), around))
    problems, changed = await asyncio.gather(_with_problems(around), _changed_since_commit(around))
    return [
        *logged,
        *_edits(entries, around),
        *(Sign(path, "unsaved", 0) for path in await _unsaved(around)),
        *(Sign(path, "problems", 0) for path in problems),
        *(Sign(path, "uncommitted", 0) for path in changed),
    ]


def _by_one_name(signs: Iterable[Sign], around: Surroundings) -> list[Sign]:
    """Files as the tools name them: a command may name one as `./a.py`, or by its whole path, and it is still one file."""
    names: dict[str, str] = {}
    for sign in (found := list(signs)):
        if sign.path not in names:
            with suppress(OutsideWorkspace):
                names[sign.path] = around.folders.show(around.folders.resolve(sign.path))
    return [replace(sign, path=names[sign.path]) for sign in found if sign.path in names]


def _edits(entries: Sequence[Logged], around: Surroundings) -> Iterator[Sign]:
    """Edits seen since the server started; how old they are is told in entries, as everything else is."""
    for edit in around.recent.latest():
        since = len(entries) - bisect_right(entries, edit.at, key=lambda logged: logged.at)
        if edit.by != "agent":  # those of the agent are in the log
            yield Sign(edit.path, _BY[edit.by], since)


async def _unsaved(around: Surroundings) -> list[str]:
    found: list[str] = []
    for path in around.editor.open_paths():
        if not around.folders.contains(path):
            continue
        with suppress(OSError, NotText, TooLarge):
            if (await around.files.read(path)).unsaved:
                found.append(around.folders.show(path))
    return found


async def _with_problems(around: Surroundings) -> set[str]:
    try:
        async with asyncio.timeout(SECONDS):
            problems = await around.editor.diagnostics(None)
    except TimeoutError:
        logger.info("the editor did not tell its problems in time")
        return set()
    errors = (problem.path for problem in problems or () if problem.severity == "error")
    return {around.folders.show(path) for path in errors if around.folders.contains(path)}


async def _changed_since_commit(around: Surroundings) -> list[str]:
    if not around.settings.trusted:  # the repository's data is read by a library, if in a process of its own
        return []
    changed = await asyncio.gather(*(uncommitted(root, SECONDS) for root in around.folders.roots))
    return [around.folders.show(path) for paths in changed for path in paths if around.folders.contains(path)]
