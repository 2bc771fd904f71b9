"""A recorded session, whatever wrote it, as the same entries that a session of Ullage's own has.

The readers make it (`readers/`); what a policy would have made of it, what it cost and what was needed later are asked of it
elsewhere. Nothing here reads a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ullage.context.blocks import Usage
from ullage.context.compaction_entries import FetchedAgain, Trigger
from ullage.context.entries import AssistantReply, Entry, EntryPinned, FilePinned, Logged, Prelude, TurnEnded, UserPrompt

Source: TypeAlias = Literal["claude-code", "codex", "ullage", "opencode", "gemini-cli", "cline", "pi"]
"""The program that wrote the transcript."""


@dataclass(frozen=True, slots=True)
class RecordedCompaction:
    """A compaction that really happened. `after_seq` is the last entry before it; 0 if it came first.

    `summary` is the text that took the place of what was before (empty if the transcript does not say), `tokens_before` what the program
    counted then, `at` Unix seconds. Where it is `sealed` only the provider can read what took that place; `summary` then is what stayed
    beside it: the user's messages.
    """

    after_seq: int
    summary: str
    automatic: bool | None
    tokens_before: int | None
    at: float | None
    sealed: bool = False
    usage: Usage | None = None
    """Tokens of the call that wrote the summary, zero if no model did; None if the transcript does not tell."""
    trigger: Trigger | None = None
    """Why it was made; None if the transcript does not tell more than `automatic`."""
    focus: str = ""
    """What the summary was to favour, in the words of whoever asked for it; empty if nothing."""
    saves: float | None = None
    """About how many dollars it saves, as was announced; None of a compaction that was not made to save."""
    by_program: bool = False
    """Whether no model wrote its summary: where it was made to save, since the cache was cold; else since models were not asked, or
    failed."""
    policy: str = ""
    """The policy that made it; empty if the transcript does not tell."""
    id: str = ""
    """The id by which the user's undo and redo name it; empty if the transcript has none."""
    planned_after: int | None = None
    """The last entry when it was planned, which for a draft that was made ahead lies before `after_seq`. None if the transcript does not
    tell."""
    fetched_again: FetchedAgain | None = None
    """What the agent got again after it, as the program counted that; None if the transcript does not tell."""

    @property
    def reactive(self) -> bool:
        """Whether the transcript tells that the API had refused the request as too long, or that a reply had filled the window."""
        return self.trigger == "reactive"

    @property
    def told(self) -> str:
        """The summary that was recorded; empty if none was, or none that can be read."""
        return "" if self.sealed else self.summary


@dataclass(frozen=True, slots=True)
class RecordedExclusion:
    """The user took the entry `seq` out of the conversation, or, where `seq` is 0, the text of the file `path`. `id`, `after_seq` and `at`
    are as in `RecordedCompaction`."""

    id: str
    after_seq: int
    at: float
    seq: int
    path: str = ""


@dataclass(frozen=True, slots=True)
class RecordedReversal:
    """The user undid the compaction or exclusion `of`, or took such an undo back (`redo`).

    A redo may have made an entry of its own, without what it would have done to pinned entries. `id` is that entry's id, else the same as
    `of`.
    """

    id: str
    of: str
    after_seq: int
    at: float
    redo: bool


ByHand: TypeAlias = RecordedExclusion | RecordedReversal
"""Changes that the user made by hand to what the model sees."""


@dataclass(frozen=True, slots=True)
class RecordedAside:
    """An entry that changes nothing but the numbers of those after it: a compaction that failed, say, or what was spent in vain."""

    after_seq: int
    at: float
    entry: Entry


Happening: TypeAlias = RecordedCompaction | ByHand | RecordedAside


@dataclass(frozen=True, slots=True)
class Repair:
    """A kind of flaw that was mended while reading, and how often."""

    what: str
    count: int


@dataclass(frozen=True, slots=True)
class Transcript:
    """One recorded session.

    `entries` are prompts, replies (with true usage where it was recorded) and tool results, in order, seqs from 1 without gaps,
    and what else the model read where it was recorded: preludes, notices, clips; and what the user pinned. Compactions are not among them:
    `compactions` are those that are in force at the end.
    `Logged.at` is 0.0 where no time was recorded. Side chains (sub-agents) are transcripts of their own, with the id of the
    session that they belong to before a `/`. Those of a large session are in a file, and an entry is another object each time that it is
    asked for.
    """

    session_id: str
    source: Source
    entries: Sequence[Logged]
    compactions: tuple[RecordedCompaction, ...]
    repairs: tuple[Repair, ...]
    notes: tuple[str, ...]
    """What could not be read, and what follows from it for the figures; for the user."""
    estimated_outputs: frozenset[int] = frozenset()
    """The seqs of replies whose `output_tokens` is our estimate, since the transcript never says how many there were in the end."""
    project: str = ""
    """The folder in which the agent worked, or another name of the project; empty if the record does not tell."""
    history: tuple[Happening, ...] = ()
    """All compactions in their order, also those that were undone, and what the user did by hand between them. Empty if `compactions` are
    all that is known."""
    media_tokens: Mapping[int, int] = field(default_factory=dict[int, int])
    """Tokens of images and documents, by the seq of the entry that has only words for them. They follow the published formula, without any
    ratio."""

    @property
    def happened(self) -> tuple[Happening, ...]:
        """The `history`, or the compactions in their order where only these are known."""
        return self.history or tuple(sorted(self.compactions, key=lambda each: each.after_seq))

    @property
    def replies(self) -> tuple[AssistantReply, ...]:
        """The model's replies, in order."""
        return tuple(logged.entry for logged in self.entries if isinstance(logged.entry, AssistantReply))

    def is_at_work_after(self, seq: int) -> bool:
        """Whether the model goes on by itself after that entry, as far as the entries tell. If not, the user speaks next."""
        told = (each.entry for each in reversed(self.entries[:seq]) if not isinstance(each.entry, _ASIDE))
        before = next(told, None)
        after = next((each.entry for each in self.entries[seq:] if not isinstance(each.entry, _ASIDE)), None)
        if isinstance(before, TurnEnded) or (isinstance(after, UserPrompt) and not after.steering):
            return False
        return not (isinstance(before, AssistantReply) and isinstance(after, TurnEnded))


_ASIDE = EntryPinned | FilePinned | Prelude
"""Entries that do not tell whose turn it is."""
