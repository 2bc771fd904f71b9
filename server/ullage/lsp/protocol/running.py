"""The wire types of where a session works, and of what goes on there in the background: worktrees, commands, ports. See PROTOCOL.md."""

from __future__ import annotations

from typing import Literal

import attrs

from ullage.lsp.protocol.items import Id


@attrs.frozen
class Worktree:
    """The worktree in which the agent of a session works instead of the workspace folder. `path` is absolute."""

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
    """Result of `worktree`. `commits` is how many its branch has, `more` says that there are more files than are given, `brought` how many
    files were brought last and can be taken back."""

    worktree: Worktree
    files: list[WorktreeFile]
    commits: int
    more: bool | None = None
    brought: int | None = None


@attrs.frozen
class BringBackParams:
    """Params of `bringBack`; without `paths` all files are brought back."""

    session_id: Id
    paths: list[str] | None = None


@attrs.frozen
class RemoveWorktreeResult:
    """Result of `removeWorktree`: the branch that stays, since it has commits; absent if none stays."""

    branch: str | None = None


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
