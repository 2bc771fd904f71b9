"""The wire types of PROTOCOL.md and the names of its methods. `client-extension/src/protocol.ts` mirrors the methods,
`protocol/sessions.ts` there the types.

Required fields have no default; optional ones default to None and are then left out. Names become camelCase on the wire. `messages.py` says
which method carries which type, and writes and reads these. `convert.py` makes them from a session's values.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import attrs

from ullage.lsp import changes as file_changes
from ullage.lsp import history
from ullage.lsp.items import Gauge, Id, Item, ModelInfo, PlanEntry, Retry, SessionState, TurnCost

PROTOCOL_VERSION = 1

NEW = "ullage/session/new"
LIST = "ullage/session/list"
OPEN = "ullage/session/open"
SNAPSHOT = "ullage/session/snapshot"
ITEMS = "ullage/session/items"
FORK = "ullage/session/fork"
RENAME = "ullage/session/rename"
DELETE = "ullage/session/delete"
CLOSE = "ullage/session/close"
LOOKED = "ullage/session/looked"
LEAVE_RUNNING = "ullage/session/leaveRunning"
STOP_COMMAND = "ullage/session/stopCommand"
COMMAND_OUTPUT = "ullage/session/commandOutput"
OPEN_PORT = "ullage/session/openPort"
WORKTREE = "ullage/session/worktree"
BRING_BACK = "ullage/session/bringBack"
TAKE_BACK = "ullage/session/takeBack"
REMOVE_WORKTREE = "ullage/session/removeWorktree"
PROMPT = "ullage/session/prompt"
UNQUEUE = "ullage/session/unqueue"
CANCEL = "ullage/session/cancel"
CONTINUE = "ullage/session/continue"
COMPACT = "ullage/session/compact"
POSTPONE_COMPACTION = "ullage/session/postponeCompaction"
UNDO_COMPACTION = "ullage/session/undoCompaction"
REDO_COMPACTION = "ullage/session/redoCompaction"
PREVIEW_COMPACTION = "ullage/session/previewCompaction"
PIN = "ullage/session/pin"
EXCLUDE = "ullage/session/exclude"
CLEAR_RESULT = "ullage/session/clearResult"
EPOCHS = "ullage/session/epochs"
EPOCH_FATES = "ullage/session/epochFates"
CONTEXT = "ullage/session/context"
CHANGES = "ullage/session/changes"
VERSION_TEXT = "ullage/session/versionText"
KEEP_CHANGES = "ullage/session/keepChanges"
UNDO_CHANGES = "ullage/session/undoChanges"
CHECKPOINTS = "ullage/session/checkpoints"
PREVIEW_RESTORE = "ullage/session/previewRestore"
RESTORE = "ullage/session/restore"
SEARCH = "ullage/workspace/search"
IMPORT = "ullage/workspace/import"
IMPORTABLE = "ullage/workspace/importable"
OTHERS = "ullage/workspace/others"
OTHERS_LOOK = "ullage/workspace/lookAtOther"
OTHERS_GO_ON = "ullage/workspace/goOnWithOther"
SET_MODEL = "ullage/session/setModel"
EXPORT = "ullage/session/export"
SET_MODE = "ullage/session/setMode"
SET_EFFORT = "ullage/session/setEffort"
COMMIT_MESSAGE = "ullage/session/commitMessage"
INSTRUCTIONS = "ullage/session/instructions"
DECIDE_HOOK = "ullage/session/decideHook"
RESPOND = "ullage/permission/respond"
ANSWER = "ullage/question/respond"
ALLOWED = "ullage/permission/list"
FORGET = "ullage/permission/forget"
ALLOW = "ullage/permission/allow"
CHECK = "ullage/permission/check"
MODELS = "ullage/model/list"
TRY_MODEL = "ullage/model/try"
COMMANDS = "ullage/command/list"
UPDATE = "ullage/session/update"
LIST_CHANGED = "ullage/session/listChanged"
FIGURES = "ullage/session/figures"
DIAGNOSTICS = "ullage/editor/diagnostics"
DIRTY = "ullage/editor/dirty"
EDITOR_MODELS = "ullage/editor/models"
EDITOR_MODELS_CHANGED = "ullage/editor/modelsChanged"
CHAT = "ullage/editor/chat"
CHAT_PARTS = "ullage/editor/chatParts"
COUNT_TOKENS = "ullage/editor/countTokens"
MCP_LIST = "ullage/mcp/list"
MCP_TURN = "ullage/mcp/turn"
MCP_RESTART = "ullage/mcp/restart"
MCP_LOG = "ullage/mcp/log"
MCP_SIGN_IN = "ullage/mcp/signIn"
MCP_SIGN_OUT = "ullage/mcp/signOut"
MCP_CHANGED = "ullage/mcp/changed"
READ_SECRET = "ullage/secret/read"  # noqa: S105 - a method
KEEP_SECRET = "ullage/secret/keep"  # noqa: S105 - a method

REQUEST_FAILED = -32050
"""The code of every error that a session answers with; `data.reason` says which."""


ModeId: TypeAlias = Literal["ask", "plan", "act"]


# Params and results


@attrs.frozen
class Nothing:
    """`{}`"""


@attrs.frozen
class SessionParams:
    """Params of all requests that name a session and nothing else."""

    session_id: Id


@attrs.frozen
class OpenParams:
    """Params of `open`; without an id the most recent session is meant."""

    session_id: Id | None = None


@attrs.frozen
class GivenAnswer:
    """What the user gave to one question: the options that they chose, and their own words. With neither they left it out."""

    option_ids: list[Id] | None = None
    text: str | None = None


@attrs.frozen
class AnswerParams:
    """Params of `ullage/question/respond`: one answer to each question, in their order; without `answers` all are skipped."""

    session_id: Id
    tool_call_id: Id
    question_id: Id
    answers: list[GivenAnswer] | None = None


@attrs.frozen
class ItemsParams:
    """Params of `items`: those before an item, at most `limit`."""

    session_id: Id
    before: Id
    limit: int


@attrs.frozen
class ItemsResult:
    """Result of `items`, oldest first; `earlier` says how many precede them."""

    items: list[Item]
    earlier: int


@attrs.frozen
class ForkParams:
    """Params of `fork`: up to and with an item, or before a prompt; without an item all that was said."""

    session_id: Id
    item_id: Id | None = None


@attrs.frozen
class RenameParams:
    """Params of `rename`."""

    session_id: Id
    title: str


@attrs.frozen
class LineRange:
    """The first and the last line, counted from 1."""

    first: int
    last: int


@attrs.frozen
class FileAttachment:
    """A file or a folder that is put into a prompt, or an open document that was never saved (`untitled:`)."""

    uri: str
    lines: LineRange | None = None


@attrs.frozen
class TextAttachment:
    """A text that is in no file; `name` says where it is from."""

    name: str
    text: str


@attrs.frozen
class ProblemsAttachment:
    """The editor's problems, put into a prompt."""


@attrs.frozen
class PastedAttachment:
    """An image that was pasted or dropped; `data` is base64, `name` that of the file that was dropped."""

    data: str
    name: str | None = None


@attrs.frozen
class PageAttachment:
    """A page of the web, which the server fetches once, now."""

    url: str


@attrs.frozen
class ResourceAttachment:
    """A resource of an MCP server, which is read when the prompt comes."""

    server: str
    uri: str


AttachmentRef: TypeAlias = FileAttachment | TextAttachment | ProblemsAttachment | PastedAttachment | PageAttachment | ResourceAttachment
ATTACHMENT_KINDS: dict[type[Any], str] = {
    FileAttachment: "file",
    TextAttachment: "text",
    ProblemsAttachment: "problems",
    PastedAttachment: "pasted",
    PageAttachment: "page",
    ResourceAttachment: "resource",
}


@attrs.frozen
class PromptParams:
    """Params of `prompt`."""

    session_id: Id
    text: str
    attachments: list[AttachmentRef] | None = None
    delivery: Literal["queue", "steer"] | None = None


@attrs.frozen
class CommandDone:
    """A prompt was a command, and was carried out; `session_id` is a session that it made."""

    name: str
    session_id: str | None = None


@attrs.frozen
class PromptResult:
    """Result of `prompt`: the id of its item."""

    prompt_id: Id
    command: CommandDone | None = None


@attrs.frozen
class CommandInput:
    """What can follow the name of a command."""

    hint: str


@attrs.frozen
class AvailableCommand:
    """A command that can be sent as a prompt, `/name`."""

    name: str
    description: str
    input: CommandInput | None = None
    source: str | None = None
    """The file of the project that it stands in; none where it is Ullage's own."""


@attrs.frozen
class CommandsParams:
    """Params of `ullage/command/list`. With a session its project's commands and skills are listed, too."""

    session_id: Id | None = None


@attrs.frozen
class CommandsResult:
    """Result of `ullage/command/list`."""

    commands: list[AvailableCommand]


@attrs.frozen
class UnqueueParams:
    """Params of `unqueue`."""

    session_id: Id
    prompt_id: Id


@attrs.frozen
class UnqueueResult:
    """Result of `unqueue`: what was attached to the prompt, as far as it can be attached again."""

    attachments: list[AttachmentRef]


@attrs.frozen
class CompactParams:
    """Params of `compact`; `focus` says what the summary should favour."""

    session_id: Id
    focus: str | None = None


@attrs.frozen
class PostponeParams:
    """Params of `postponeCompaction`: for how long nothing is compacted to save; `none` takes that back."""

    session_id: Id
    until: Literal["turn", "session", "none"]


@attrs.frozen
class CompactionParams:
    """Params of `undoCompaction` and `redoCompaction`; without an id the newest is meant.

    `fit`: where the conversation would then be larger than the window, old tool results are cleared and messages cut from its middle so
    that it is not.
    """

    session_id: Id
    compaction_id: Id | None = None
    fit: bool | None = None


@attrs.frozen
class CompactionResult:
    """Result of the requests that make, undo or redo a compaction."""

    compaction_id: Id


@attrs.frozen
class SetModelParams:
    """Params of `setModel`."""

    session_id: Id
    model: str


@attrs.frozen
class SetEffortParams:
    """Params of `setEffort`; `default` leaves it to the model."""

    session_id: Id
    effort: Literal["default", "low", "medium", "high", "xhigh", "max"]


@attrs.frozen
class ExportParams:
    """Params of `export`."""

    session_id: Id
    format: Literal["markdown", "jsonl"]


@attrs.frozen
class ExportResult:
    """Result of `export`: the whole session as one text."""

    text: str


@attrs.frozen
class CommitMessageParams:
    """Params of `commitMessage`: a diff as git writes it, the URIs of new files, and messages of earlier commits, the newest first."""

    session_id: Id
    diff: str
    new_files: list[str] | None = None
    recent: list[str] | None = None


@attrs.frozen
class CommitMessageResult:
    """Result of `commitMessage`."""

    text: str


@attrs.frozen
class SetModeParams:
    """Params of `setMode`."""

    session_id: Id
    mode_id: ModeId


@attrs.frozen
class NewParams:
    """Params of `new`: with `worktree`, the agent works in a worktree of git that is made for the session."""

    worktree: bool | None = None


@attrs.frozen
class Worktree:
    """Where the agent of a session works, if that is not the workspace folder. `path` is absolute."""

    path: str
    branch: str


@attrs.frozen
class WorktreeFile:
    """A file that is different in a worktree, and what bringing it back would do to the one in the workspace folder."""

    path: str
    uri: str
    home_uri: str
    action: Literal["write", "create", "delete", "join", "same"]
    conflict: str | None = None


@attrs.frozen
class WorktreeResult:
    """Result of `worktree`. `commits` are those of its branch, `more` says that there are more files than are given,
    `brought` how many files were brought last and can be taken back."""

    worktree: Worktree
    files: list[WorktreeFile]
    commits: int
    more: bool | None = None
    brought: int | None = None


@attrs.frozen
class BringBackParams:
    """Params of `bringBack`: all files, or those `paths`."""

    session_id: Id
    paths: list[str] | None = None


@attrs.frozen
class RemoveWorktreeResult:
    """Result of `removeWorktree`: the branch that stays, since it has commits."""

    branch: str | None = None


@attrs.frozen
class SessionFigures:
    """What the list says of a session beside its title."""

    status: Literal["idle", "working", "waiting", "done", "failed", "interrupted"]
    used: int | None = None
    threshold: int | None = None
    cost: float | None = None
    files: int | None = None
    added: int | None = None
    removed: int | None = None
    running: int | None = None


@attrs.frozen
class FiguresParams:
    """`figures`: what the list says of a session that is open here is this now."""

    session_id: str
    figures: SessionFigures


@attrs.frozen
class SessionSummary:
    """A session in the list. `updated_at` is Unix seconds; `open_elsewhere`: another window has it open."""

    session_id: str
    title: str
    updated_at: float
    state: SessionState
    foreign: bool | None = None
    open_elsewhere: bool | None = None
    figures: SessionFigures | None = None
    worktree: Worktree | None = None


@attrs.frozen
class ListResult:
    """Result of `list`, newest first."""

    sessions: list[SessionSummary]


@attrs.frozen
class ImportParams:
    """Params of `import`: with `mine` the user says that the sessions are theirs; `from_gone` is the path of a folder that is gone."""

    mine: bool = False
    from_gone: str | None = None


@attrs.frozen
class BroughtSession:
    """A session in `.ullage` of the workspace; `waiting` are prompts that were not sent."""

    title: str
    updated_at: float
    entries: int
    waiting: int


@attrs.frozen
class GoneFolder:
    """A folder that is gone, and of which sessions are kept."""

    folder: str
    sessions: int
    updated_at: float


@attrs.frozen
class ImportableResult:
    """Result of `importable`; `tracked`: git tracks what lies in `.ullage`, so it came with the repository."""

    brought: list[BroughtSession]
    tracked: bool
    gone: list[GoneFolder]


@attrs.frozen
class ImportResult:
    """Result of `import`: how many sessions came, entries of them that could not be read, and why others could not come."""

    sessions: int
    unreadable: int
    failures: list[str]


@attrs.frozen
class SessionMode:
    """A mode that can be chosen."""

    id: ModeId
    name: str
    description: str


@attrs.frozen
class SessionModes:
    """What the agent may do, and what it could be allowed."""

    current_mode_id: ModeId
    available_modes: list[SessionMode]


@attrs.frozen
class ForkOrigin:
    """The session that a fork comes from, with its title of then."""

    session_id: str
    title: str


@attrs.frozen
class NewestTurn:
    """The turn in whose midst the items of a snapshot begin."""

    prompt_id: str
    turn_cost: TurnCost | None = None


@attrs.frozen
class RunningCommand:
    """A command that goes on in the background, or has ended and the model does not know yet. Times are Unix seconds."""

    id: str
    tool_call_id: str
    command: str
    began: float
    last_line: str | None = None
    ports: list[int] | None = None
    end: Literal["exited", "killed", "late", "stopped", "failed"] | None = None
    ended_at: float | None = None
    exit_code: int | None = None
    failed: bool | None = None


@attrs.frozen
class LeaveRunningParams:
    """Params of `leaveRunning`: the call whose command is to go on."""

    session_id: Id
    tool_call_id: Id


@attrs.frozen
class CommandParams:
    """Params of `stopCommand` and `commandOutput`."""

    session_id: Id
    command_id: Id


@attrs.frozen
class CommandOutputResult:
    """Result of `commandOutput`: the newest of what the command said."""

    text: str


@attrs.frozen
class OpenPortParams:
    """Params of `openPort`: a port on which the command listens in its sandbox."""

    session_id: Id
    command_id: Id
    port: int


@attrs.frozen
class OpenPortResult:
    """Result of `openPort`: the port of this machine's loopback address that leads there."""

    port: int


@attrs.frozen
class Snapshot:
    """All that a panel needs to draw a session."""

    session_id: str
    seq: int
    title: str
    state: SessionState
    items: list[Item]
    earlier: int
    plan: list[PlanEntry]
    gauge: Gauge
    model: ModelInfo
    retry: Retry | None = None
    pins: history.Pins | None = None
    modes: SessionModes | None = None
    forked_from: ForkOrigin | None = None
    store_folder: str | None = None
    foreign: bool | None = None
    changes: file_changes.OpenChanges | None = None
    turn: NewestTurn | None = None
    worktree: Worktree | None = None
    agent_of: str | None = None
    running: list[RunningCommand] | None = None


@attrs.frozen
class ForkPrompt:
    """The prompt that a session was forked before."""

    text: str
    attachments: list[AttachmentRef]


@attrs.frozen
class ForkResult:
    """Result of `fork`; `prompt` is that of the item where that is one, to be sent in another way."""

    snapshot: Snapshot
    prompt: ForkPrompt | None = None


@attrs.frozen
class RestoreResult:
    """Result of `restore`: what became of each file, and the fork where the conversation was gone back, too."""

    files: list[file_changes.DecidedFile]
    fork: ForkResult | None = None


@attrs.frozen
class DiagnosticsParams:
    """Params of `ullage/editor/diagnostics`; without a URI all files are meant."""

    uri: str | None = None


@attrs.frozen
class DirtyParams:
    """Params of `ullage/editor/dirty`: whether that version of an open document has changes that are not saved."""

    uri: str
    version: int
    is_dirty: bool


@attrs.frozen
class Problem:
    """One problem as the editor's language servers report it. `line` counts from 1."""

    uri: str
    line: int
    severity: Literal["error", "warning", "information", "hint"]
    source: str
    message: str


@attrs.frozen
class DiagnosticsResult:
    """Result of `ullage/editor/diagnostics`."""

    problems: list[Problem]


# Updates


@attrs.frozen
class ModelsParams:
    """Params of `ullage/model/list`; with an address that one is asked, without the key, as that provider is (Anthropic by default). With
    the provider `editor` the editor's own are listed, whatever is set."""

    address: str | None = None
    provider: Literal["anthropic", "openai", "editor"] | None = None


@attrs.frozen
class TryModelParams:
    """Params of `ullage/model/try`; with an address that one is asked, as with `ullage/model/list`."""

    model: str
    address: str | None = None
    provider: Literal["anthropic", "openai"] | None = None


@attrs.frozen
class ModelPrices:
    """Dollars per million tokens."""

    input: float
    output: float


@attrs.frozen
class OfferedModel:
    """A model that an endpoint offers; `window` is in tokens."""

    name: str
    display_name: str
    window: int | None = None
    prices: ModelPrices | None = None


@attrs.frozen
class ModelsResult:
    """Result of `ullage/model/list`."""

    models: list[OfferedModel]


@attrs.frozen
class ItemUpdate:
    """An item came, or replaces the one with the same id."""

    item: Item


@attrs.frozen
class AppendUpdate:
    """More text at the end of a field of an item."""

    item_id: str
    field: Literal["text", "output", "input"]
    text: str


@attrs.frozen
class RemoveUpdate:
    """An item is gone."""

    item_id: str


@attrs.frozen
class EndedTurn:
    """A turn that is over: of which prompt, and why."""

    prompt_id: str
    stop_reason: Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"]


@attrs.frozen
class StateUpdate:
    """What the session does now; `ended` is the turn that ended just before."""

    state: SessionState
    retry: Retry | None = None
    ended: EndedTurn | None = None


@attrs.frozen
class GaugeUpdate:
    """The gauge now."""

    gauge: Gauge


@attrs.frozen
class PlanUpdate:
    """The task list now."""

    entries: list[PlanEntry]


@attrs.frozen
class TitleUpdate:
    """The title now."""

    title: str


@attrs.frozen
class ModelUpdate:
    """Which model answers now."""

    model: ModelInfo


@attrs.frozen
class PinsUpdate:
    """What is pinned now."""

    pins: history.Pins


@attrs.frozen
class ChangesUpdate:
    """What the agent changed and the user has neither kept nor undone."""

    changes: file_changes.OpenChanges


@attrs.frozen
class ModeUpdate:
    """Which mode is in force now."""

    current_mode_id: ModeId


@attrs.frozen
class RunningUpdate:
    """What runs in the background now."""

    commands: list[RunningCommand]


Update: TypeAlias = (
    ItemUpdate
    | AppendUpdate
    | RemoveUpdate
    | StateUpdate
    | GaugeUpdate
    | PlanUpdate
    | TitleUpdate
    | ModelUpdate
    | PinsUpdate
    | ChangesUpdate
    | ModeUpdate
    | RunningUpdate
)
UPDATE_KINDS: dict[type[Any], str] = {
    ItemUpdate: "item",
    AppendUpdate: "append",
    RemoveUpdate: "remove",
    StateUpdate: "state",
    GaugeUpdate: "gauge",
    PlanUpdate: "plan",
    TitleUpdate: "title",
    ModelUpdate: "model",
    PinsUpdate: "pins",
    ChangesUpdate: "changes",
    ModeUpdate: "mode",
    RunningUpdate: "running",
}


@attrs.frozen
class UpdateParams:
    """Params of `update`. `seq` counts on from the snapshot."""

    session_id: str
    seq: int
    update: Update
