"""What a session of another program was, and what its compactions had lost of what was needed later: for the user, before they go on.

Needed are names, paths, hashes, errors and the user's own words that stood before a compaction and were used in the sixty messages after it
(`recorded/retention.py`). Those that its summary does not hold had to come from somewhere: shown again, or known to nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ullage.context.blocks import ToolUse
from ullage.context.entries import AssistantReply, Logged, ToolReturned, UserPrompt
from ullage.recorded.readers.flaws import (
    BREAKS_OFF,
    CUT_LINE,
    DAMAGED_ARCHIVE,
    DAMAGED_ENTRY,
    LONG_LINE,
    NO_JSON,
    NO_OBJECT,
    NOT_A_FILE,
    ODD_MESSAGE,
    UNKNOWN_KIND,
)
from ullage.recorded.retention import Cut, Judged, SessionBlocks, ViewAfter, judged_after, session_facts, shown_text
from ullage.recorded.transcript import Transcript

NAMED = 12
"""How many of the things that a compaction lost are named."""
LONGEST_MEASURED = 60_000_000
"""Characters. What compactions lost in a longer session is not measured: it would take minutes."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A compaction of the other program. `at` is Unix seconds. What is None was not told.

    Of what was `needed` later, `kept` stood in its summary, `shown_again` came from tools or the user once more, `gone` from neither.
    """

    at: float | None
    automatic: bool | None
    tokens_before: int | None
    is_readable: bool
    """Whether its summary can be read: else nothing is known of what it lost."""
    needed: int = 0
    kept: int = 0
    shown_again: int = 0
    gone: int = 0
    examples: tuple[str, ...] = ()
    """Some of what its summary did not hold: paths first, then names, then the user's words."""
    characters_again: int = 0
    """Characters that tools gave again though they had stood before."""


@dataclass(frozen=True, slots=True)
class SessionOutline:
    """What another program's session came to. Times are Unix seconds; 0.0 where they are not told."""

    began_at: float
    ended_at: float
    model: str
    prompts: int
    replies: int
    calls: int
    compactions: tuple[Lost, ...]
    is_measured: bool
    """Whether what the compactions lost was measured; False if the session is too long for that."""
    missing: int
    """Places of its file that could not be read: what they said is not known."""
    unknown: int
    """Parts of kinds that no version known here writes: a newer one, perhaps. They were left out."""


_MISSING = tuple(
    flaw.what for flaw in (NO_JSON, CUT_LINE, LONG_LINE, BREAKS_OFF, NO_OBJECT, DAMAGED_ARCHIVE, NOT_A_FILE, ODD_MESSAGE, DAMAGED_ENTRY)
)


def told_of(transcript: Transcript) -> SessionOutline:
    """What a session of another program came to. That takes the longer the longer the session is, so do it in another thread."""
    entries = transcript.entries
    times = [each.at for each in entries if each.at]
    replies = transcript.replies
    is_measured = sum(_length(each) for each in entries) <= LONGEST_MEASURED
    return SessionOutline(
        min(times, default=0.0),
        max(times, default=0.0),
        next((reply.model for reply in reversed(replies) if reply.model), ""),
        sum(isinstance(each.entry, UserPrompt) for each in entries),
        len(replies),
        sum(isinstance(block, ToolUse) for reply in replies for block in reply.blocks),
        tuple(_lost(transcript, is_measured=is_measured)),
        is_measured,
        sum(each.count for each in transcript.repairs if any(word in each.what for word in _MISSING)),
        sum(each.count for each in transcript.repairs if UNKNOWN_KIND in each.what),
    )


def _lost(transcript: Transcript, *, is_measured: bool) -> Iterator[Lost]:
    if not transcript.compactions:
        return
    facts = session_facts(transcript.entries) if is_measured else None
    seen = SessionBlocks(transcript.entries) if is_measured else None
    previous = 0
    for each in transcript.compactions:
        found = Lost(each.at, each.automatic, each.tokens_before, bool(each.told))
        if facts is not None and seen is not None and each.told and each.after_seq:
            fates = tuple(judged_after(facts, Cut(each.after_seq, each.told), previous))
            again = seen.acquired((ViewAfter(each.after_seq, each.told, 0),))
            found = Lost(
                *(each.at, each.automatic, each.tokens_before, True),
                needed=len(fates),
                kept=sum(fate.fate == "in view" for fate in fates),
                shown_again=sum(fate.fate == "seen again" for fate in fates),
                gone=sum(fate.fate == "lost" for fate in fates),
                examples=_examples(fates),
                characters_again=again.gone,
            )
        previous = each.after_seq
        yield found


_FIRST = {"path": 0, "error": 1, "identifier": 2, "user message": 3, "hash": 4}


def _examples(fates: Sequence[Judged]) -> tuple[str, ...]:
    missed = [each.needed.fact for each in fates if each.fate != "in view"]
    return tuple(fact.text for fact in sorted(missed, key=lambda fact: (_FIRST[fact.kind], fact.text))[:NAMED])


def _length(logged: Logged) -> int:
    entry = logged.entry
    if isinstance(entry, AssistantReply):
        return sum(len(getattr(block, "text", "")) for block in entry.blocks)
    return len(entry.content) if isinstance(entry, ToolReturned) else len(shown_text(entry))
