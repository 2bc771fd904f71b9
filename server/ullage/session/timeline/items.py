"""What a user sees of a session: a timeline of items, each with an id that it keeps from its first sign to the log.

The same values serve the snapshot and the live updates, which `updates.py` has. `lsp/` has their counterparts on the wire.
Ids: a prompt's own id; `<reply id>.<block index>` for text and thinking; the tool use id for a call; the compaction's id;
`n<seq>` for notices. An id that is made here is a letter for what it is, and 12 random characters.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ullage.context.compaction_entries import Checked, FetchedAgain, Rung, Trigger
from ullage.context.entries import Action, AgentRun, Answer, FileDiff
from ullage.session.timeline.turn_costs import TurnCost
from ullage.tools.rules.covering import AskedPart, Proposal
from ullage.tools.tool import AskedAction, Question, ToolKind

ToolStatus: TypeAlias = Literal["pending", "awaiting_permission", "awaiting_answer", "running", "completed", "failed", "cancelled"]
CompactionStatus: TypeAlias = Literal["in_progress", "completed", "failed", "cancelled", "undone"]
OptionKind: TypeAlias = Literal["allow_once", "allow_always", "reject_once"]


@dataclass(frozen=True, slots=True)
class ShownMedia:
    """An image or a PDF that the model was shown."""

    name: str
    """The path of the file as it was attached or read; empty if no file was read for it."""
    words: str
    """The words for it: `image, 800 × 600, 638 tokens`."""
    path: str
    """The path of the bytes that the model was shown, relative to `Snapshot.store_folder`."""


@dataclass(frozen=True, slots=True)
class UserItem:
    """A prompt. `queued` while it waits for its turn."""

    id: str
    at: float
    text: str
    attachments: tuple[str, ...]
    queued: bool
    media: tuple[ShownMedia, ...] = ()
    """The attachments that are images or PDFs."""
    steering: bool = False
    """Whether it joined the turn that ran, or waits for the next boundary of that: before all that wait for a turn of their own."""
    turn_cost: TurnCost | None = None
    """What the turn cost that began with the prompt; None until it has ended, and if it cost nothing."""


@dataclass(frozen=True, slots=True)
class AssistantItem:
    """A text block of a reply (Markdown)."""

    id: str
    at: float
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingItem:
    """A thinking block of a reply. `seconds` is how long it took; None while it lasts, and where it is not known."""

    id: str
    at: float
    text: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class PermissionOption:
    """One answer to an approval, named as the Agent Client Protocol names them."""

    option_id: str
    name: str
    kind: OptionKind


@dataclass(frozen=True, slots=True)
class ProposedText:
    """The proposed text of a file, as a document that the user may change before they accept it. Paths are absolute."""

    document: str
    path: str
    """The path of the file."""
    is_new: bool


@dataclass(frozen=True, slots=True)
class AskedParts:
    """What a call is asked about, part by part."""

    action: AskedAction
    folder: str
    """The folder in which it would happen, by the name of the workspace folder, absolute where it is outside; empty if that does not
    matter."""
    parts: tuple[AskedPart, ...]
    proposals: tuple[Proposal, ...] = ()
    """Rules that would allow it from then on, to be offered with the answer."""
    proposed: ProposedText | None = None
    outside: bool = False
    """Whether that folder is outside of the workspace folders, as a worktree is."""


Failure: TypeAlias = Literal["refused", "not_found"]
"""Why a call failed, where that is no fault of the tool: the user said no, or the file that was named is not there."""


@dataclass(frozen=True, slots=True)
class Location:
    """A file, and a line in it (from 1) where one is known."""

    path: str
    """The absolute path."""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ToolCallItem:
    """A tool call. `input` is its JSON text; `output` what the model gets (while running: the live output)."""

    id: str
    at: float
    name: str
    title: str
    tool_kind: ToolKind
    status: ToolStatus
    input: str
    output: str
    diff: FileDiff | None = None
    full_output: str | None = None
    """The path of the whole output, if `output` was clipped; None if it was not."""
    permission: tuple[PermissionOption, ...] = ()
    """The answers that are offered while the call waits for an approval; empty else."""
    permission_id: str = ""
    """The id of this very question, which an answer names; empty if nothing is asked."""
    permission_reason: str = ""
    """What is asked, in words; empty if nothing is."""
    document: str | None = None
    """While the call waits for an approval: the absolute path of the document that it is about, which the user may edit."""
    asked: AskedParts | None = None
    """What is asked about, part by part, while the call waits for an approval; else None."""
    questions: tuple[Question, ...] = ()
    """The questions of the agent while the call waits for the user's answers; else empty."""
    question_id: str = ""
    """The id of these very questions, which an answer names; empty if none are asked."""
    answers: tuple[Answer, ...] = ()
    """What the user answered."""
    media: tuple[ShownMedia, ...] = ()
    """What the model is shown with the output."""
    failure: Failure | None = None
    """Why the call failed, where that is no fault of the tool."""
    began: float | None = None
    """When the call began to run (Unix seconds); None if it did not, or where it is not known."""
    locations: tuple[Location, ...] = ()
    """The places in the workspace where the call is at work."""
    seconds: float | None = None
    """How long the call ran (seconds), without the wait for an approval; None if that is not known."""
    agent: AgentRun | None = None
    """The sub-agent that is or was at work for the call; None if there is none."""
    goes_on: str = ""
    """The id of the command that went on after the call; empty if none did."""
    doing: str = ""
    """What the sub-agent does now, in words for the user; empty if it does nothing any more."""
    cost: float | None = None
    """Dollars that the call itself cost, beside the conversation; None if it cost nothing, or nobody knows."""


@dataclass(frozen=True, slots=True)
class RestoredFileItem:
    """A file that was read again after a compaction."""

    path: str
    note: str
    is_read: bool = True
    """False if it had no room or is gone: the model is only told its name."""


@dataclass(frozen=True, slots=True)
class CompactionItem:
    """One compaction from its beginning to its only end state. Tokens as the gauge counts them."""

    id: str
    at: float
    status: CompactionStatus
    trigger: Trigger
    rung: Rung | None
    tokens_before: int
    tokens_after: int | None
    summary: str
    restored: tuple[RestoredFileItem, ...]
    cleared: int
    """How many tool results became a placeholder."""
    snipped: int
    """How many messages were cut from the middle."""
    summarised: int
    """How many messages went into the summary."""
    focus: str
    skipped: tuple[str, ...]
    """Ways that did not work, and why."""
    cost: float | None
    """Dollars of the summary call; None if they are not known."""
    error: str
    policy: str = ""
    """The name of the policy that made it; empty while that is not decided."""
    excluded_files: tuple[str, ...] = ()
    """The files that the user took out with it."""
    saves: float | None = None
    """About how many dollars it was to save, as announced, if it was made before the threshold; else None."""
    fetched_again: FetchedAgain | None = None
    """What the agent got again since the compaction; None if that is nothing, and while the compaction is undone."""
    checked: Checked | None = None
    """What the summary was checked against before it was used; None if that is nothing."""
    nearby: tuple[str, ...] = ()
    """The files that the model is told of by name, a line for each folder."""


@dataclass(frozen=True, slots=True)
class NoticeItem:
    """Something the user should know. `action` names what can be done about it from the panel."""

    id: str
    at: float
    level: Literal["info", "warning", "error"]
    text: str
    action: Action = "none"


Item: TypeAlias = UserItem | AssistantItem | ThinkingItem | ToolCallItem | CompactionItem | NoticeItem


def new_id(kind: str) -> str:
    """An id that no other thing of any session has."""
    return f"{kind}{secrets.token_hex(6)}"
