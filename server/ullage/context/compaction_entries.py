"""The entries of the log that tell of compactions: what one did, that it was undone or redone, and what it cost where it came to nothing.

A compaction deletes nothing. Its edits speak of entries by their seqs, and the view is computed from the entries and the edits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ullage.context.blocks import CompactionBlock, Usage

Trigger: TypeAlias = Literal["manual", "threshold", "idle", "reactive", "tool", "upkeep", "economy"]
"""Why a compaction was made: the user asked, the threshold was reached, while editing, the API refused, the model asked, the policy does it
before every call, compacting costs less than carrying on."""

ASKED_FOR: tuple[Trigger, ...] = ("manual", "tool")
"""The triggers of compactions that the user or the model asked for."""

BY_THE_USER = "user"
"""The name that stands for the policy where the user takes something out by hand."""

Rung: TypeAlias = Literal["moves", "api", "model", "digest", "tail"]
"""What wrote the summary: nothing was summarised (cheap moves sufficed), the API itself, the model, the program, or only a tail stayed."""


@dataclass(frozen=True, slots=True)
class Cleared:
    """An old tool result whose text becomes `placeholder`. `seq` is the entry of that `ToolReturned`."""

    seq: int
    placeholder: str


@dataclass(frozen=True, slots=True)
class Snipped:
    """A middle range of entries (both ends included) that gives way to `marker`.

    `carried` are the seqs of entries in it that stay, after the marker: what the user pinned.
    """

    first_seq: int
    last_seq: int
    marker: str
    carried: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Summarised:
    """Every message up to and with entry `last_seq` gives way to `text`, the summary, which stands for `messages` of them.

    `acknowledgement` is what the assistant is shown to have answered to it (some systems have it so); empty if nothing.
    `carried` are the seqs of entries that stay, after the summary, although they are covered: what the user pinned.
    With `block` the API wrote the summary: the block takes their place, `text` completes it and stands where the compaction stands,
    so that the turns that were kept follow the block directly.
    """

    last_seq: int
    text: str
    messages: int = 0
    acknowledgement: str = ""
    carried: tuple[int, ...] = ()
    block: CompactionBlock | None = None

    @property
    def words(self) -> str:
        """All parts of the summary that can be read, as one text."""
        return self.text if self.block is None else f"{self.block.content}\n\n{self.text}"


NO_ROOM, DELETED, ONLY_NAME = "no room", "deleted", "only its name"


NOT_READ = frozenset({NO_ROOM, DELETED, ONLY_NAME})
"""The values of `RestoredFile.note` for files of which nothing was read."""


@dataclass(frozen=True, slots=True)
class RestoredFile:
    """A file that was read again. `text` is what the model gets; `note` says in a few words how it was taken.

    `sha256` is of the file's whole text; `whole` is False if the model gets only a part of it.
    """

    path: str
    text: str
    note: str
    sha256: str
    whole: bool = True

    @property
    def is_read(self) -> bool:
        """Whether the model sees any of the file's text. If not, it is told only the name, and `note` says why."""
        return self.note not in NOT_READ


@dataclass(frozen=True, slots=True)
class FileTakenOut:
    """A file whose text the user took out of the entries `seqs`. The rest of these entries stays: prompts that it was attached to, notices
    of its new content, compactions that read it again. `path` is as in a `FileTouch`."""

    path: str
    seqs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MessageCounts:
    """How many messages, as a user counts them (`view/fates.py`), a compaction took out of the model's view, and how."""

    summarised: int
    cleared: int
    snipped: int


@dataclass(frozen=True, slots=True)
class FetchedAgain:
    """What the agent got again from its tools after a compaction, though that had taken it out of view (`compaction/forgotten.py`)."""

    compaction_id: str
    files: tuple[str, ...]
    """The files that the text stands in, as far as the results name any; the one with the most of it first."""
    characters: int
    tokens: int
    """Tokens of that text, as the gauge counts them."""
    results: int
    """The number of results that held little else: the agent would not have asked for them."""
    messages: int
    """The number of messages that were sent meanwhile; 0 if nothing could come again."""
    cost: float | None = None
    """Dollars for that many uncached input tokens, at the prices of the day; None if these are not known."""


@dataclass(frozen=True, slots=True)
class Held:
    """The number of things that were used, and of those among them that were in view."""

    in_view: int = 0
    used: int = 0


@dataclass(frozen=True, slots=True)
class Checked:
    """What some of the newest messages used of what stood before them, and how much of that the compaction leaves in view without them
    (`compaction/proof.py`)."""

    messages: int
    ahead: bool
    """Whether these messages came after the draft was planned; else they are those that it keeps."""
    paths: Held
    names: Held
    hashes: Held
    characters: Held
    """Characters in results of tools that were acquired again."""
    added: int = 0
    """The number of paths, names and hashes that were put into the summary because of the check; they count as in view."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """All edits of one compaction, at once: an epoch boundary. It deletes nothing.

    The edits speak of entries up to and with `through`, the last one when it was planned; entries logged between then and now stay as they
    are. `restored`, `nearby` and `resume` stand where this entry stands, after those. Tokens are as counted when it was made
    (`estimated_after` is always an estimate).
    """

    id: str
    trigger: Trigger
    rung: Rung
    through: int
    cleared: tuple[Cleared, ...]
    snipped: Snipped | None
    summarised: Summarised | None
    restored: tuple[RestoredFile, ...]
    resume: str
    focus: str
    policy: str
    tokens_before: int
    estimated_after: int
    usage: Usage | None = None
    """Tokens that the call for the summary used; None if no model was called."""
    cost: float | None = None
    """Dollars of that call, at the prices of the day; None if no model was called or its prices are not known."""
    skipped: tuple[str, ...] = ()
    """Ways that were tried first and why each did not work, in words for the user."""
    counts: MessageCounts | None = None
    """The messages that it took out of view, counted when it was made; None if nobody counted (replay, older logs)."""
    without_files: tuple[FileTakenOut, ...] = ()
    """Files that the user took out; the results that show them are among `cleared`."""
    saves: float | None = None
    """About how many dollars it saves, as was announced; None of a compaction that was not made before the threshold to save."""
    fetched_again: FetchedAgain | None = None
    """What was fetched again after the compaction before this one; None if nobody counted, or there was none."""
    checked: Checked | None = None
    """What it was checked by before it was used; None if the policy does not check it."""
    nearby: str = ""
    """The names of files near the work that were not read again; stands after `restored`. Empty if none are told of."""

    @property
    def message_counts(self) -> MessageCounts:
        """The `counts`; where nobody counted, the numbers of entries that the edits speak of."""
        if self.counts is not None:
            return self.counts
        snipped = self.snipped.last_seq - self.snipped.first_seq + 1 if self.snipped else 0
        return MessageCounts(self.summarised.messages if self.summarised else 0, len(self.cleared), snipped)


@dataclass(frozen=True, slots=True)
class CompactionUndone:
    """The user undid a compaction: from here on the view is computed as if that had not been."""

    compaction_id: str


@dataclass(frozen=True, slots=True)
class CompactionRedone:
    """The user took back a `CompactionUndone`: that compaction is in force again."""

    compaction_id: str


@dataclass(frozen=True, slots=True)
class Reworded:
    """The texts of an earlier compaction as they read without the entries `without` (seqs) and without the texts of `without_files`, which
    the user took out after it was made.

    They stand in the place of its own as long as just these are taken out. The entry itself changes nothing: it comes before the one
    that takes out, or brings back, what it speaks of.
    """

    compaction_id: str
    without: tuple[int, ...]
    record: str = ""
    """The new text of its summary; empty if that stays."""
    marker: str = ""
    """The new marker of its snip; empty if that stays."""
    resume: str = ""
    without_files: tuple[FileTakenOut, ...] = ()
    nearby: str = ""


@dataclass(frozen=True, slots=True)
class CompactionFailed:
    """A compaction that did not come about. Changes nothing in the view; shown to the user, counted by the breaker.

    `reason` is for the user. Sizes are tokens.
    """

    id: str
    trigger: Trigger
    reason: str
    cancelled: bool = False
    """Whether it was stopped, or there was nothing to compact: then nothing went wrong."""
    tokens_before: int = 0
    focus: str = ""


@dataclass(frozen=True, slots=True)
class SpentInVain:
    """Calls for a summary that came to nothing: a draft that was thrown away, a compaction that did not come about.

    Changes nothing in the view; counts in what the session costs.
    """

    usage: Usage
    cost: float | None = None
    """Dollars, at the prices of the day; None if they are not known."""
