"""The entries of the append-only log: everything that ever happened in a session, in order.

An entry is never changed or removed. What the model sees is computed from the entries (`view/`); what the user sees
is computed from them too (`session/timeline/timeline.py`). How they are written to disk is known in `store/`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ullage.context.blocks import AssistantBlock, CompactionBlock, Media, SystemPart, ToolSpec, Usage

Trigger: TypeAlias = Literal["manual", "threshold", "idle", "reactive", "tool", "upkeep", "economy"]
"""Why a compaction was made: the user asked, the threshold was reached, while editing, the API refused, the model asked, the policy does
it before every call, compacting costs less than carrying on."""

Rung: TypeAlias = Literal["moves", "api", "model", "digest", "tail"]
"""What wrote the summary: nothing was summarised (cheap moves sufficed), the API itself, the model, the program, or only a tail stayed."""

Outcome: TypeAlias = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "interrupted", "error"]
"""How a turn ended: the Agent Client Protocol's stop reasons, and a crash or an error."""

Action: TypeAlias = Literal["continue", "set_key", "settings", "choose_model", "none"]
"""What a user can do about a notice from where it stands."""

TouchKind: TypeAlias = Literal["read", "edited", "created", "deleted"]


@dataclass(frozen=True, slots=True)
class Prelude:
    """What stands before the messages of every request: system prompt, rules and tools.

    Logged when first used and again whenever it changes, since a change invalidates the cache and all thinking.
    """

    system: tuple[SystemPart, ...]
    tools: tuple[ToolSpec, ...]


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file (or the editor's problems) that the user put into a prompt with `@`. `text` is what the model reads.

    With `media` it is an image or a PDF, and `text` says what it is.
    """

    name: str
    text: str
    media: Media | None = None


@dataclass(frozen=True, slots=True)
class UserPrompt:
    """What the user typed. `steering` marks one that was given to a running turn at its next boundary."""

    id: str
    text: str
    attachments: tuple[Attachment, ...] = ()
    steering: bool = False


@dataclass(frozen=True, slots=True)
class AssistantReply:
    """One reply of the model. `usage` is None where none was reported (a reply cut off by a cancel)."""

    id: str
    blocks: tuple[AssistantBlock, ...]
    model: str
    stop_reason: str
    usage: Usage | None
    cost: float | None = None
    """Dollars of the call, at the prices of the day; None where they are not known."""
    dropped_thinking: int = 0
    """How many thinking blocks of its request the API dropped, since it took what stood before them for changed."""
    began: tuple[float, ...] = ()
    """When each block began to come (Unix seconds); empty where that is not known: then the entry's own time stands for all."""


@dataclass(frozen=True, slots=True)
class FileTouch:
    """What a tool did to a file. `sha256` is of the file's text after it (hex; empty where it was deleted)."""

    path: str
    """Relative to the workspace folder where it is inside one, with `/`."""
    kind: TouchKind
    sha256: str
    partial: bool = False
    """True where a read gave only a part of the text."""


@dataclass(frozen=True, slots=True)
class FileDiff:
    """An edit as the user is shown it: the texts before and after, whole lines around the change."""

    path: str
    old_text: str
    new_text: str


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """A tool's result as the model gets it, already clipped.

    `full_output` is the path of the whole output where it was clipped, `characters` its length before that.
    """

    tool_use_id: str
    tool: str
    content: str
    is_error: bool
    characters: int
    full_output: str | None = None
    touched: tuple[FileTouch, ...] = ()
    diff: FileDiff | None = None
    refusal: str | None = None
    """What the user said when they refused the call (may be empty), which then did not run; None where they did not."""
    names_left_out: tuple[str, ...] = ()
    """Names and paths that stand only in the part that was clipped away."""
    media: tuple[Media, ...] = ()
    """Images and documents that the model is shown with it; none where it is an error. Their bytes lie in the store."""
    began: float | None = None
    """When the call began to run (Unix seconds), after any approval; None where it did not, or where nobody knows."""
    line: int | None = None
    """Where an edit begins (from 1), in the file that it touched."""


@dataclass(frozen=True, slots=True)
class Clipped:
    """A result that is shortened further before it is first sent, since all results of its message are too long together.

    Logged after the last result of a message and before any request holds it; `seq` is the entry of that `ToolReturned`.
    """

    seq: int
    content: str
    full_output: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the program tells the model: appended to the next user message, never inserted before."""

    about: Literal["file_changed", "rules", "resume"]
    text: str
    touched: tuple[FileTouch, ...] = ()
    """The files whose texts stand in it."""


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
    """Every message up to and with entry `last_seq` gives way to `text`, the handoff, which stands for `messages` of them.

    `acknowledgement` is what the assistant is shown to have answered to it (some systems have it so); empty where nothing.
    `carried` are the seqs of entries that stay, after the handoff, although they are covered: what the user pinned.
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
        """All of the summary that can be read."""
        return self.text if self.block is None else f"{self.block.content}\n\n{self.text}"


NO_ROOM, DELETED, ONLY_NAME = "no room", "deleted", "only its name"
NOT_READ = frozenset({NO_ROOM, DELETED, ONLY_NAME})
"""What `RestoredFile.note` says of a file of which nothing was read."""


@dataclass(frozen=True, slots=True)
class RestoredFile:
    """A file that was read again. `text` is what the model gets; `note` says in a few words how it was taken.

    `sha256` is of the file's whole text; `whole` is False where the model gets only a part of it.
    """

    path: str
    text: str
    note: str
    sha256: str
    whole: bool = True

    @property
    def is_read(self) -> bool:
        """Whether the model sees any of it; else it is only told the name, and `note` says why."""
        return self.note not in NOT_READ


@dataclass(frozen=True, slots=True)
class FileTakenOut:
    """A file whose text the user took out of entries `seqs`, which stay but for that: prompts that it was attached to, notices of what it
    is now, compactions that read it again. `path` as in a `FileTouch`."""

    path: str
    seqs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MessageCounts:
    """How many messages, as a user counts them (`view/fates.py`), a compaction took out of the model's view, and how."""

    summarised: int
    cleared: int
    snipped: int


@dataclass(frozen=True, slots=True)
class Compaction:
    """All edits of one compaction, at once: an epoch boundary. Deletes nothing.

    The edits speak of entries up to and with `through`, the last one when it was planned; entries logged between then
    and now stay as they are. `restored` and `resume` stand where this entry stands, after those.
    Tokens are as counted when it was made (`estimated_after` is always an estimate).
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
    """What the summary call itself used; None where no model was called."""
    cost: float | None = None
    """Dollars of that call, at the prices of the day; None where no model was called or its prices are not known."""
    skipped: tuple[str, ...] = ()
    """Rungs that were tried first and why each did not work, in words for the user."""
    counts: MessageCounts | None = None
    """As it was made; None where nobody counted (replay, older logs)."""
    without_files: tuple[FileTakenOut, ...] = ()
    """Files that the user took out; the results that show them are among `cleared`."""
    saves: float | None = None
    """Of one that was made before the threshold to save: about how many dollars, as was announced; None of any other."""

    @property
    def message_counts(self) -> MessageCounts:
        """The same, by what the edits speak of where nobody counted."""
        if self.counts is not None:
            return self.counts
        snipped = self.snipped.last_seq - self.snipped.first_seq + 1 if self.snipped else 0
        return MessageCounts(self.summarised.messages if self.summarised else 0, len(self.cleared), snipped)


@dataclass(frozen=True, slots=True)
class CompactionUndone:
    """From here on the view is computed as if that compaction had not been."""

    compaction_id: str


@dataclass(frozen=True, slots=True)
class CompactionRedone:
    """Takes back a `CompactionUndone`."""

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
    """Of its summary."""
    marker: str = ""
    """Of its snip."""
    resume: str = ""
    without_files: tuple[FileTakenOut, ...] = ()


@dataclass(frozen=True, slots=True)
class EntryPinned:
    """The user wants no compaction to touch entry `seq` (a prompt, a reply, a tool result), or, not `pinned`, no longer wants it."""

    seq: int
    pinned: bool


@dataclass(frozen=True, slots=True)
class FilePinned:
    """The same of a file, whose newest text no compaction shall touch. `path` as in a `FileTouch`."""

    path: str
    pinned: bool


@dataclass(frozen=True, slots=True)
class CompactionFailed:
    """A compaction that did not come about. Changes nothing in the view; shown to the user, counted by the breaker.

    `reason` is for the user. Sizes are tokens.
    """

    id: str
    trigger: Trigger
    reason: str
    cancelled: bool = False
    """Whether it was stopped, or there was nothing to compact: nothing went wrong."""
    tokens_before: int = 0
    focus: str = ""


@dataclass(frozen=True, slots=True)
class SpentInVain:
    """Calls for a summary that came to nothing: a draft that was thrown away, a compaction that did not come about.

    Changes nothing in the view; counts in what the session costs.
    """

    usage: Usage
    cost: float | None = None
    """Dollars, at the prices of the day; None where they are not known."""


@dataclass(frozen=True, slots=True)
class SizeStated:
    """What the endpoint said that the request up to entry `through` takes: it counted it, or refused it as too long.

    Logged where nothing was answered to it, so that no usage tells the size. Changes nothing in the view: without it the gauge would only
    estimate that size after a restart.
    """

    through: int
    model: str
    """The name by which it was asked for."""
    tokens: int


@dataclass(frozen=True, slots=True)
class Forked:
    """Up to here the log is that of another session, entry by entry under the same seqs: this one was forked from it.

    Changes nothing in the view. What the entries before it cost was spent there, not here.
    """

    session_id: str
    title: str
    """As it was called then."""
    used_at: float = 0.0
    """When its newest entry was logged (Unix seconds): so long the prompt cache has had what is common."""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The end of a turn. `message` is for the user: what went wrong and what to do; empty where all went well.

    `action` names what the panel offers beside the message.
    """

    outcome: Outcome
    message: str = ""
    action: Action = "none"


Entry: TypeAlias = (
    Prelude
    | UserPrompt
    | AssistantReply
    | ToolReturned
    | Clipped
    | Notice
    | Compaction
    | CompactionUndone
    | CompactionRedone
    | CompactionFailed
    | Reworded
    | SpentInVain
    | SizeStated
    | EntryPinned
    | FilePinned
    | Forked
    | TurnEnded
)


@dataclass(frozen=True, slots=True)
class Logged:
    """An entry in its place: `seq` counts from 1 in each session without gaps, `at` is Unix seconds."""

    seq: int
    at: float
    entry: Entry


def media_in(entry: Entry) -> tuple[Media, ...]:
    """The images and documents that an entry brings."""
    match entry:
        case ToolReturned():
            return entry.media
        case UserPrompt():
            return tuple(attachment.media for attachment in entry.attachments if attachment.media is not None)
        case _:
            return ()
