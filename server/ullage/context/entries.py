"""The entries of the append-only log: everything that ever happened in a session, in order.

An entry is never changed or removed. What the model sees is computed from the entries (`view/`); what the user sees
is computed from them too (`session/timeline/timeline.py`). `store/` knows how they are written to disk.
Those that tell of compactions are in `compaction_entries.py`, those that tell of changed files in `change_entries.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ullage.context.blocks import AssistantBlock, Media, SystemPart, ToolSpec, Usage
from ullage.context.change_entries import ChangedFile, FilesChanged, FileVersion, Reviewed, ReviewedTogether, Uncovered
from ullage.context.compaction_entries import Compaction, CompactionFailed, CompactionRedone, CompactionUndone, Reworded, SpentInVain

Outcome: TypeAlias = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "interrupted", "error"]
"""How a turn ended: the Agent Client Protocol's stop reasons, and a crash or an error."""

Action: TypeAlias = Literal["continue", "set_key", "settings", "choose_model", "hooks", "none"]
"""What a user can do about a notice from where it stands."""

TouchKind: TypeAlias = Literal["read", "edited", "created", "deleted"]


@dataclass(frozen=True, slots=True)
class Prelude:
    """What stands before the messages of every request: system prompt, rules and tools.

    Logged when first used and again whenever it changes, since a change invalidates the cache and all thinking.
    """

    system: tuple[SystemPart, ...]
    tools: tuple[ToolSpec, ...]


NO_FILE = "text:"
"""The beginning of the name of an attachment whose text is in no file: no path of a workspace begins so."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file (or the editor's problems) that the user put into a prompt with `@`. `text` is what the model reads.

    With `media` it is an image or a PDF, and `text` says what it is.
    """

    name: str
    text: str
    media: Media | None = None
    lines: tuple[int, int] | None = None
    """The first and the last line (from 1), if only these were attached of a file; None: all of it."""

    @property
    def title(self) -> str:
        """The name that people and the model are shown, with the lines: `src/tank.py:10-20`."""
        if self.lines is None:
            return self.name.removeprefix(NO_FILE)
        first, last = self.lines
        return f"{self.name}:{first}" if first == last else f"{self.name}:{first}-{last}"


@dataclass(frozen=True, slots=True)
class UserPrompt:
    """A prompt that the user typed. `steering` marks one that was given to a running turn before its next call."""

    id: str
    text: str
    attachments: tuple[Attachment, ...] = ()
    steering: bool = False


@dataclass(frozen=True, slots=True)
class AssistantReply:
    """One reply of the model. `usage` is None if none was reported (a reply cut off by a cancel)."""

    id: str
    blocks: tuple[AssistantBlock, ...]
    model: str
    stop_reason: str
    usage: Usage | None
    cost: float | None = None
    """Dollars of the call, at the prices of the day; None if they are not known."""
    dropped_thinking: int = 0
    """The number of thinking blocks of its request that the API dropped, since it took what stood before them for changed."""
    began: tuple[float, ...] = ()
    """When each block began to come (Unix seconds); empty if that is not known: then the entry's own time stands for all."""
    effort: str = ""
    """The effort that the model was asked for, `default` where that was left to it; empty if that is not known."""


@dataclass(frozen=True, slots=True)
class FileTouch:
    """What a tool did to a file. `sha256` is of the file's text after it (hex; empty if it was deleted)."""

    path: str
    """The path relative to the workspace folder that it is in, else absolute; with `/`."""
    kind: TouchKind
    sha256: str
    partial: bool = False
    """Whether a read gave only a part of the text."""


@dataclass(frozen=True, slots=True)
class FileDiff:
    """An edit as the user is shown it: the texts before and after, whole lines around the change."""

    path: str
    old_text: str
    new_text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The user's answer to one question of the agent, which wrote `question` and the labels."""

    question: str
    chosen: tuple[str, ...] = ()
    """The labels of the options that the user chose."""
    text: str = ""
    """The user's own words; empty if they wrote none."""

    @property
    def words(self) -> str:
        """What the user answered: what they chose and what they wrote, without the question. Empty if that is nothing."""
        return "; ".join((*self.chosen, self.text) if self.text else self.chosen)


@dataclass(frozen=True, slots=True)
class AgentRun:
    """A sub-agent that a call of `task` had at work. Tokens as the gauge of its own session counts them."""

    session_id: str
    """The id of the sub-agent's session, which has a log of its own."""
    name: str
    used: int
    """Tokens that its context held at the end."""
    threshold: int
    cost: float | None = None
    """Dollars; None if the prices are not known."""


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
    """What the user said when they refused the call, which then did not run (may be empty); None if they did not refuse."""
    names_left_out: tuple[str, ...] = ()
    """Names and paths that stand only in the part that was clipped away."""
    media: tuple[Media, ...] = ()
    """Images and documents that the model is shown with the result; empty for an error. Their bytes lie in the store."""
    began: float | None = None
    """When the call began to run (Unix seconds), after any approval; None if it did not run, or nobody knows."""
    line: int | None = None
    """The line where an edit begins (from 1), in the file that it touched; None if there is none."""
    changed: tuple[ChangedFile, ...] = ()
    """The files that the call changed, as far as that is known."""
    uncovered: tuple[Uncovered, ...] = ()
    """Files and folders that it may have changed besides, and that cannot be gone back to."""
    answers: tuple[Answer, ...] = ()
    """What the user answered, if the call asked them something. These are words of the user, which stand in `content` too."""
    agent: AgentRun | None = None
    """The sub-agent that was at work for the call; None if none was. Its cost stands in its own log, too, and nowhere else in this one."""
    goes_on: str = ""
    """The id of a command that was left running when the call was done; empty if none was."""
    cost: float | None = None
    """Dollars that the call itself cost, beside the conversation (a search of the web); None if it cost nothing, or nobody knows."""


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

    about: Literal["file_changed", "rules", "resume", "hook", "hook_standing", "command"]
    """What it is about. `hook`: what a hook of the workspace says; `hook_standing`: the same for all of the session; `command`: commands
    that go on or have ended."""
    text: str
    touched: tuple[FileTouch, ...] = ()
    """The files whose texts stand in the notice."""
    ended: tuple[str, ...] = ()
    """The ids of commands that were left running and have ended (`ToolReturned.goes_on`)."""
    full_output: str | None = None
    """The path of the whole output of the command that it tells of; None if it tells of none, or the output could not be kept."""


@dataclass(frozen=True, slots=True)
class EntryPinned:
    """The user wants no compaction to touch entry `seq` (a prompt, a reply, a tool result). With `pinned` false they no longer want
    that."""

    seq: int
    pinned: bool


@dataclass(frozen=True, slots=True)
class FilePinned:
    """The user wants no compaction to touch the newest text of a file. With `pinned` false they no longer want that. `path` is as in a
    `FileTouch`."""

    path: str
    pinned: bool


@dataclass(frozen=True, slots=True)
class SizeStated:
    """The size of the request up to entry `through`, as the endpoint stated it: it counted the request, or refused it as too long.

    Logged where nothing was answered to it, so that no usage tells the size. Changes nothing in the view: without it the gauge would only
    estimate that size after a restart.
    """

    through: int
    model: str
    """The name by which the model was asked for."""
    tokens: int


@dataclass(frozen=True, slots=True)
class Forked:
    """Up to here the log is that of another session, entry by entry under the same seqs: this session was forked from it.

    Changes nothing in the view. What the entries before it cost was spent there, not here.
    """

    session_id: str
    title: str
    """The title of the other session at that time."""
    used_at: float = 0.0
    """When the other session's newest entry was logged (Unix seconds), which is when the prompt cache last got what both have in common."""


@dataclass(frozen=True, slots=True)
class CameOver:
    """The first entry of a session that goes on with one of another program. What follows, up to the end of its last turn, was said there.

    Changes nothing in the view. None of its texts is believed: they are for the user alone.
    """

    program: str
    """The program's name as people know it: `Claude Code`."""
    version: str
    """The program's version; empty if the session does not tell."""
    session_id: str
    """The id that the program gave the session."""
    title: str
    file: str
    """The absolute path of the file that it was read from."""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The end of a turn. `message` is for the user: what went wrong and what to do; empty if all went well.

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
    | FilesChanged
    | Reviewed
    | ReviewedTogether
    | Forked
    | CameOver
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


def versions_in(entry: Entry) -> tuple[FileVersion, ...]:
    """The versions of files that an entry names."""
    if isinstance(entry, Reviewed | ReviewedTogether):
        named = tuple(version for each in reviewed(entry) for version in (each.baseline, each.agents))
    else:
        changed = files_changed(entry)
        named = () if changed is None else tuple(version for each in changed.files for version in (each.before, each.after))
    return tuple(each for each in named if each is not None)


def reviewed(entry: Entry) -> tuple[Reviewed, ...]:
    """The changes that an entry says the user kept or undid, by file; empty if it says of none."""
    match entry:
        case Reviewed():
            return (entry,)
        case ReviewedTogether():
            return entry.files
        case _:
            return ()


def files_changed(entry: Entry) -> FilesChanged | None:
    """The files that an entry says were changed, whoever changed them; None if it says of none."""
    match entry:
        case FilesChanged():
            return entry
        case ToolReturned() if entry.changed or entry.uncovered:
            return FilesChanged(entry.changed, entry.tool_use_id, entry.uncovered)
        case _:
            return None
