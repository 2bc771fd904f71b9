"""Rules as they are kept, and whether they cover a call."""

from __future__ import annotations

from collections.abc import Sequence

from ullage.session.permissions.rules_kept import early_rule
from ullage.tools.command_lines.judge import Site
from ullage.tools.permission import digest_for_rule
from ullage.tools.rules.covering import AskFor, Judging, PermissionRule
from ullage.tools.rules.patterns import RuleAction
from ullage.tools.tool import PermissionNeed


def rules_for(need: PermissionNeed) -> list[PermissionRule]:
    """What is remembered where the user always allows it, as it is offered."""
    if not need.pattern or need.action not in ("command", "edit", "host"):
        return []
    return [PermissionRule(need.action, part, "workspace", files=need.files) for part in need.parts or (need.pattern,)]


def kept_early(action: RuleAction, patterns: Sequence[str]) -> list[PermissionRule]:
    """What an earlier version kept, as it is read today."""
    return [rule for rule in (early_rule(action, pattern) for pattern in patterns) if rule is not None]


def covers(rules: Sequence[PermissionRule], need: PermissionNeed, site: Site | None = None, ask_for: AskFor = "everything") -> bool:
    """Whether the call is free under these rules."""

    def digest(pattern: str) -> str:
        return "" if site is None else digest_for_rule(pattern, site.folder, site.workspaces)

    return Judging(rules, ask_for, digest).decide(need).free
