"""What is allowed without a question in one session: its own rules, those of the workspace and of everywhere, and the way of asking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ullage.session.errors import SessionError
from ullage.session.permissions.rules_kept import SessionRules
from ullage.session.surroundings import Surroundings
from ullage.tools.permission import digest_for_rule
from ullage.tools.rules.covering import (
    AskFor,
    Decision,
    Judging,
    PermissionRule,
    RuleScope,
    check_rule,
    covers_tool,
    held_by,
    tools_of,
)
from ullage.tools.rules.reading import ReadRules
from ullage.tools.tool import PermissionNeed

BY_ANSWER_ONLY = "A sub-agent is allowed where it is asked about, with its file as it is then. A rule that you write can only refuse it"
OTHER_FILES = "It does not count now: a file that it names has changed since. You are asked again"
OTHER_TOOL = "It does not count now: the description of this tool or the configuration of its server has changed since. You are asked again"
TOOL_NOT_KNOWN = "It is not known now what `{pattern}` would allow. Start that MCP server first, and look at the names of its tools"


@dataclass(frozen=True, slots=True)
class WayOfAsking:
    """The way of asking that the user `wanted`, and the one that is `in_force`."""

    wanted: AskFor
    in_force: AskFor
    no_sandbox: str = ""
    """Why no sandbox confines commands, in words that follow "because"; empty if one does."""


def way_of_asking(around: Surroundings) -> WayOfAsking:
    """The way of asking that the user wants, and the one in force. Without a sandbox that works, nothing is left to it."""
    wanted, missing = around.settings.ask_for, around.sandbox_missing()
    return WayOfAsking(wanted, "notHarmless" if wanted == "outsideSandbox" and missing else wanted, missing)


class SessionPermits:
    """Decides about the calls of one session."""

    def __init__(self, around: Surroundings, own: SessionRules) -> None:
        self._around = around
        self.own = own

    def rules(self) -> Sequence[PermissionRule]:
        """All rules that hold in the session: its own, those of the workspace and of everywhere."""
        return (*self.own.rules(), *self._around.remembered.rules())

    def judging(self, more: Sequence[PermissionRule] = ()) -> Judging:
        """What decisions go by now, with `more` rules beside those in force."""
        return Judging((*self.rules(), *more), way_of_asking(self._around).in_force, self.digest)

    def decide(self, need: PermissionNeed) -> Decision:
        """The decision about one call. For another thread: it may look at files."""
        return self.judging().decide(need)

    def has_lapsed(self, need: PermissionNeed) -> bool:
        """Whether a rule allowed a call as it was, and what it names has changed since. For another thread."""
        return self.judging().has_lapsed(need)

    def why_lapsed(self, rule: PermissionRule) -> str:
        """Why a rule does not count now, in words for the user; empty if it does, or nobody knows. For another thread."""
        if rule.refuses or rule.action not in ("command", "mcp"):
            return ""
        now = self._held_by(rule, None)
        if now is None or now == rule.files:
            return ""
        return OTHER_TOOL if rule.action == "mcp" else OTHER_FILES

    def used(self, rules: Sequence[PermissionRule]) -> None:
        """Notes that these rules allowed a call. For another thread."""
        now = self._around.clock()
        if rules:
            self.own.used(rules, now)
            self._around.remembered.used(rules, now)

    def allow(self, need: PermissionNeed) -> None:
        """Always allows what is asked for, in this workspace, by the patterns that are proposed for it. Raises `StoreFailed`."""
        for pattern in (need.parts or (need.pattern,)) if need.pattern else ():
            if need.action in ("command", "edit", "host", "mcp", "search", "agent"):
                self.add(PermissionRule(need.action, pattern, "workspace"), need)

    def add(self, rule: PermissionRule, asked: PermissionNeed | None = None) -> None:
        """Adds a rule as the user wrote it, or as they answered what was `asked`. Since when it holds, and by what, is found here. A rule
        of the same pattern is replaced. Raises `SessionError` with the reason if it cannot be a rule, `StoreFailed`."""
        rule = replace(self.as_of_now(rule, asked), since=self._around.clock())
        if rule.scope == "session":
            self.own.add(rule)
        else:
            self._around.remembered.add(rule)

    def as_of_now(self, rule: PermissionRule, asked: PermissionNeed | None = None) -> PermissionRule:
        """The rule with a digest of what it is about, as that is now, or, where it answers what was `asked`, as the user saw it. For
        another thread, too. Raises `SessionError` with the reason if it cannot be a rule."""
        wrong = check_rule(rule)
        if wrong:
            raise SessionError("invalid", wrong)
        files = "" if rule.refuses else self._held_by(rule, asked)
        if files is None:
            raise SessionError("invalid", TOOL_NOT_KNOWN.format(pattern=rule.pattern) if rule.action == "mcp" else BY_ANSWER_ONLY)
        return replace(rule, files=files)

    def _held_by(self, rule: PermissionRule, asked: PermissionNeed | None) -> str | None:
        """The digest of what a rule is about: it holds as long as that stays the same. Empty if it holds by nothing; None if that is not
        known."""
        match rule.action:
            case "command":
                return self.digest(rule.pattern)
            case "agent":
                return asked.files if asked is not None and asked.subject == rule.pattern else None
            case "mcp":
                if asked is not None and asked.action == "mcp" and covers_tool(rule.pattern, asked.subject):
                    return held_by(rule.pattern, asked) or None
                servers = self._around.servers
                return (servers.identity(*tools_of(rule.pattern)) or None) if servers is not None else None
            case _:
                return ""

    def forget(self, scope: RuleScope, action: str, pattern: str) -> None:
        """Forgets a rule: what it was about is asked about again from now on. Raises `StoreFailed`."""
        if scope == "session":
            self.own.forget(action, pattern)
        else:
            self._around.remembered.forget(scope, action, pattern)

    def forget_all(self) -> None:
        """Forgets all rules: everything is asked about again. Raises `StoreFailed`."""
        self.own.forget_all()
        self._around.remembered.forget_all()

    def reading(self) -> ReadRules:
        """The rules by which files may not be read."""
        refusing = tuple(rule for rule in self.rules() if rule.action == "read" and rule.refuses)
        return ReadRules(self._around.folders, refusing, lambda rule: self.used((rule,)))

    def shown(self, name: str) -> str:
        """The path of a file as rules are compared with it. Raises `OutsideWorkspace`."""
        return self._around.folders.show(self._around.folders.resolve(name))

    def digest(self, pattern: str) -> str:
        """A digest of the files that the pattern of a rule names, as they are now; empty if no folder is open."""
        folder = self._around.folders.first
        return "" if folder is None else digest_for_rule(pattern, folder, self._around.folders.roots)
