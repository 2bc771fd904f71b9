"""The wire of PROTOCOL.md: the names of its methods here, the types that they carry in the files of this folder.

`client-extension/src/protocol.ts` mirrors the names, and `src/protocol/` there the types, in files of the same names.

Required fields have no default; optional ones default to None and are then left out. Names become camelCase on the wire. `messages.py` says
which method carries which type, and writes and reads these. `convert.py` makes them from a session's values.
"""

from __future__ import annotations

import attrs

from ullage.lsp.protocol.items import Id

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


@attrs.frozen
class Nothing:
    """An empty object, `{}`."""


@attrs.frozen
class SessionParams:
    """Params of all requests that name a session and nothing else."""

    session_id: Id
