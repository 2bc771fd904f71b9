"""The wire types of rules, skills, commands and hooks that files declare. See PROTOCOL.md, "Instructions"."""

from __future__ import annotations

from typing import Literal, TypeAlias

import attrs

from ullage.lsp.protocol.items import Id

InstructionsKind: TypeAlias = Literal["rules", "skill", "command"]
HookRuns: TypeAlias = Literal["sandbox", "outside", "never"]


@attrs.frozen
class InstructionsFile:
    """A file with rules, a skill or a command. `name` is what a skill or a command is called by, `tokens` what it takes of every request,
    `why` whether it is in force, `problem` what is wrong with it."""

    kind: InstructionsKind
    path: str
    tokens: int
    why: str
    name: str | None = None
    problem: str | None = None
    imported_by: str | None = None


@attrs.frozen
class HookRun:
    """The last run of a hook. `tokens` is what the hook told the agent in this session, in `times` runs. `at` is in Unix seconds."""

    at: float
    seconds: float
    why: str
    failed: bool
    tokens: int
    times: int


@attrs.frozen
class ShownHook:
    """A hook that a file declares. `id` stands for this very text: an edited hook has another one. `runs` is what the user decided."""

    id: str
    event: str
    matcher: str
    command: str
    path: str
    seconds: float
    runs: HookRuns | None = None
    last: HookRun | None = None


@attrs.frozen
class PassedHook:
    """A hook that a file declares and that cannot be run."""

    event: str
    command: str
    path: str
    why: str


@attrs.frozen
class InstructionsResult:
    """Result of `ullage/session/instructions`. `reason` says why no hook runs at all, `no_sandbox` why no sandbox confines any."""

    files: list[InstructionsFile]
    hooks: list[ShownHook]
    passed: list[PassedHook]
    reason: str | None = None
    no_sandbox: str | None = None


@attrs.frozen
class DecideHookParams:
    """Params of `ullage/session/decideHook`; without `runs` the user is asked again."""

    session_id: Id
    hook_id: Id
    runs: HookRuns | None = None
