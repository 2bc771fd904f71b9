"""The wire types of permissions: rules, what is asked about, and answers. See PROTOCOL.md, "Permissions"."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import attrs

from ullage.lsp.protocol.items import AtMost, Id

RuleAction: TypeAlias = Literal["command", "edit", "host", "read", "mcp", "agent", "search"]
RuleScope: TypeAlias = Literal["session", "workspace", "everywhere"]
AskFor: TypeAlias = Literal["everything", "notHarmless", "outsideSandbox"]
Pattern: TypeAlias = Annotated[str, AtMost(20_000)]


@attrs.frozen
class NewRule:
    """A rule as the user wrote it; it allows what it is about, or `refuses` it."""

    action: RuleAction
    pattern: Pattern
    scope: RuleScope
    refuses: bool | None = None


@attrs.frozen
class RespondParams:
    """Params of `ullage/permission/respond`; `permission_id` is of the question that was shown, `reason` is the user's, for a refusal."""

    session_id: Id
    tool_call_id: Id
    permission_id: Id
    option_id: Id
    reason: str | None = None
    rules: list[NewRule] | None = None


@attrs.frozen
class ListParams:
    """Params of `ullage/permission/list`; without a session, rules of one session are left out."""

    session_id: Id | None = None


@attrs.frozen
class Allowed:
    """Something that the user always allows, or always `refuses`. `name` and `explanation` are for them, with backticks around what is
    literal. Unix seconds."""

    action: str
    pattern: str
    name: str
    scope: RuleScope
    explanation: str
    used: int
    since: float | None = None
    last_used: float | None = None
    warning: str | None = None
    refuses: bool | None = None


@attrs.frozen
class Asking:
    """The setting of what the user wants to be asked about, the one that is in force, and why no sandbox confines commands, if none
    does."""

    wanted: AskFor
    in_force: AskFor
    no_sandbox: str | None = None


@attrs.frozen
class AllowedResult:
    """Result of `ullage/permission/list`."""

    allowed: list[Allowed]
    asking: Asking


@attrs.frozen
class ForgetParams:
    """Params of `ullage/permission/forget`; without action and pattern all rules are forgotten."""

    action: str | None = None
    pattern: str | None = None
    scope: RuleScope | None = None
    session_id: Id | None = None


@attrs.frozen
class AllowParams:
    """Params of `ullage/permission/allow`; `replaces` is a rule that the new one stands for."""

    session_id: Id
    rule: NewRule
    replaces: NewRule | None = None


@attrs.frozen
class CheckParams:
    """Params of `ullage/permission/check`."""

    session_id: Id
    rule: NewRule


@attrs.frozen
class PastCall:
    """A call that the agent made before: how often, when last (Unix seconds), and whether it would be allowed, or refused."""

    text: str
    times: int
    at: float
    allowed: bool
    refused: bool | None = None


@attrs.frozen
class CheckResult:
    """Result of `ullage/permission/check`; with a `problem` the text cannot be a rule."""

    matches: list[PastCall]
    matched: int
    of: int
    problem: str | None = None
    explanation: str | None = None
    warning: str | None = None
