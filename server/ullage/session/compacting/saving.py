"""What is known of the next compaction beside the log: what the user wants, what it would free, what others have taught.

For some time the user may want none that is made to save (`Postponing`). What one would save is weighed in
`context/compaction/economy.py`, over what `gathering.py` read there.

The gauge asks after every entry how many tokens would be freed (`LeftOver`). So nothing is planned for that, and no message is read. What
would really be done, message by message, is told by a preview (`forecast` in `context/compaction/making.py`). After that the gauge goes by
what it said.

What compactions brought about, and in which files the agent missed something, is kept for the workspace (`KeptRefetches`). Each session
keeps that of its own compactions, under a key of its own, and reads that of the others once, when it is opened. So what is decided in it
does not depend on what goes on in another window meanwhile.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Protocol

from ullage.context.blocks import Json
from ullage.context.compaction.decide import Fullness, Postponed
from ullage.context.compaction.economy import NONE_YET, Refetched
from ullage.context.compaction.restore import in_room
from ullage.context.compaction.undoing import left_by_newest
from ullage.context.compaction_entries import FetchedAgain
from ullage.context.counting.categories import RESULTS
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy
from ullage.context.view.epoch import EpochKey
from ullage.context.view.projection import Projection
from ullage.store.errors import StoreFailed
from ullage.store.session_list import REFETCHED

FIXED = ("system", "rules", "tools")
"""The categories of what no compaction takes away."""

FILES = ("files", f"{RESULTS}read_file")
"""The categories that hold texts of files, the likely ones to be read again."""

PROGRAM_SUMMARY_TOKENS = 2_400
"""What a program summary takes ..."""
PROGRAM_SUMMARY_SHARE = 0.04
"""... or this share of the messages. From 125 places in recorded sessions: medians of 1,500 tokens at 10,000 of messages, 1,700 at 36,000,
2,200 at 70,000 and 3,600 at 120,000."""
USUALLY_RESTORED_TOKENS = 19_000
"""What restored files take, by the median of 76 places in recorded sessions ..."""
USUALLY_RESTORED_SHARE = 0.8
"""... or this share of the files in view."""


class Postponing:
    """Keeps for how long the user wants nothing compacted to save."""

    def __init__(self) -> None:
        self.until: Postponed = "none"
        self._turn_began = False

    def ask(self, until: Postponed) -> None:
        """Notes for how long the user wants that; `none` takes it back."""
        self.until, self._turn_began = until, False

    def turn_begins(self) -> None:
        """Tells that a turn begins: a postponement for the turn that was asked for before is for this one."""
        self._turn_began = True

    def turn_ended(self) -> None:
        """Ends a postponement for the turn, if it was asked for before the turn began."""
        if self.until == "turn" and self._turn_began:
            self.until = "none"
        self._turn_began = False


class LeftOver:
    """Guesses how much a compaction would leave in one session."""

    def __init__(self) -> None:
        self._key: EpochKey | None = None
        self._off = 0
        """How far the guess was from what a preview said under that key (tokens)."""

    def foretold(self, key: EpochKey, full: Fullness, policy: Policy, left: int) -> None:
        """Takes from a preview that `left` tokens would stay of what there is, so that guesses under that key go by it."""
        self._key, self._off = key, left - _guess(full, policy)

    def would_free(self, full: Fullness, policy: Policy, projection: Projection) -> int:
        """About how many tokens a compaction now would free."""
        used = full.counted.used
        if projection.key == self._key:
            return max(0, used - _guess(full, policy) - self._off)
        if used <= left_by_newest(projection):
            return 0  # nothing came since
        return max(0, used - _guess(full, policy))


def _guess(full: Fullness, policy: Policy) -> int:
    """About how many tokens a compaction leaves: what is fixed, the tail, a usual program summary and the files that are usually read
    again."""
    policy = ULLAGE if policy.never else policy  # asked, that compacts by Ullage's own engine
    used, categories = full.counted.used, dict(full.counted.categories)
    fixed = sum(categories.get(name, 0) for name in FIXED)
    record = min(PROGRAM_SUMMARY_TOKENS, int(PROGRAM_SUMMARY_SHARE * max(0, used - fixed)))
    in_view = sum(categories.get(name, 0) for name in FILES)
    left = fixed + min(policy.tail_tokens, used // 4) + record
    if policy.restore is None:
        return left
    room = in_room(policy.restore, full.threshold - left, full.window - left).total_tokens
    return left + min(USUALLY_RESTORED_TOKENS, int(USUALLY_RESTORED_SHARE * in_view), room)


logger = logging.getLogger(__name__)

MOST_FILES = 50
"""Most files that are kept of one session: those that were missed most often."""


class Values(Protocol):
    """Values that are remembered for the workspace. Raises `StoreFailed`."""

    def remember(self, key: str, value: Json) -> None:
        """Keeps a value in place of what was there."""
        ...

    def recalled_all(self, prefix: str) -> dict[str, Json]:
        """The values whose keys begin with that prefix, by the rest of the key."""
        ...


class KeptRefetches:
    """What compactions of the workspace brought about, as one session keeps it. It reads that of the other sessions once, when it is
    opened, and `keep` writes its own."""

    def __init__(self, values: Values, session_id: str) -> None:
        self._values = values
        self._key = REFETCHED + session_id
        try:
            known = values.recalled_all(REFETCHED)
        except StoreFailed as error:
            logger.warning("what compactions brought about before is not known: %s", error)
            known = {}
        self._kept = known.pop(session_id, None)
        rows = [_row(value) for value in known.values()]
        self.elsewhere: Refetched = sum((refetched for refetched, _ in rows), NONE_YET)
        """What the compactions of the other sessions had brought about when this one was opened."""
        self.missed: frozenset[str] = frozenset(path for _, files in rows for path in files)
        """The files that were read again there, though they had been read before the compaction."""

    def keep(self, refetched: Refetched, all_fetched_again: Iterable[FetchedAgain]) -> None:
        """Keeps what the compactions of this session have brought about by now. What cannot be written now is with the next change."""
        files = Counter(path for each in all_fetched_again for path in each.files)
        value: Json = {
            "compactions": refetched.compactions,
            "tokens": refetched.tokens,
            "calls": refetched.calls,
            "files": dict(files.most_common(MOST_FILES)),
        }
        if value == self._kept or not refetched.compactions:
            return
        try:
            self._values.remember(self._key, value)
            self._kept = value
        except StoreFailed as error:
            logger.warning("what compactions brought about could not be kept: %s", error)


def _row(value: Json) -> tuple[Refetched, Iterable[str]]:
    """The figures and the files that one session kept. A value that another version wrote, or that something is wrong with, tells
    nothing."""
    if not isinstance(value, Mapping):
        return NONE_YET, ()
    figures = [value.get(name) for name in ("compactions", "tokens", "calls")]
    files = value.get("files")
    counts = [each for each in figures if isinstance(each, int) and each >= 0]
    return Refetched(*counts) if len(counts) == len(figures) else NONE_YET, files if isinstance(files, Mapping) else ()
