"""What is allowed without a question in one session: its own rules, those of the workspace and of everywhere, and the way of asking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ullage.session.errors import SessionError
from ullage.session.permissions.rules_kept import SessionRules
from ullage.session.surroundings import Surroundings
from ullage.tools.permission import digest_for_rule
from ullage.tools.rules.covering import AskFor, Decision, Judging, Rule, RuleScope, check_rule
from ullage.tools.rules.reading import ReadRules
from ullage.tools.tool import PermissionNeed

BY_ANSWER_ONLY = "A sub-agent is allowed where it is asked about, with its file as it is then. A rule that you write can only refuse it"


@dataclass(frozen=True, slots=True)
class WayOfAsking:
    """What the user wants to be asked about, and what they are asked about."""

    wanted: AskFor
    in_force: AskFor
    no_sandbox: str = ""
    """Why no sandbox confines commands, in words that follow "because"; empty where one does."""


def way_of_asking(around: Surroundings) -> WayOfAsking:
    """What is asked about. Without a sandbox that works, nothing is left to it."""
    wanted, missing = around.settings.ask_for, around.sandbox_missing()
    return WayOfAsking(wanted, "notHarmless" if wanted == "outsideSandbox" and missing else wanted, missing)


class SessionPermits:
    """Decides about the calls of one session."""

    def __init__(self, around: Surroundings, own: SessionRules) -> None:
        self._around = around
        self.own = own

    def rules(self) -> Sequence[Rule]:
        """All that hold here: of the session, the workspace and everywhere."""
        return (*self.own.rules(), *self._around.remembered.rules())

    def judging(self, more: Sequence[Rule] = ()) -> Judging:
        """What decisions go by; with `more` rules."""
        return Judging((*self.rules(), *more), way_of_asking(self._around).in_force, self.digest)

    def decide(self, need: PermissionNeed) -> Decision:
        """About one call. For another thread: it may look at files."""
        return self.judging().decide(need)

    def had_other_files(self, need: PermissionNeed) -> bool:
        """Whether a rule allowed it with other files than there are now. For another thread."""
        return self.judging().had_other_files(need)

    def used(self, rules: Sequence[Rule]) -> None:
        """Notes that they allowed a call. For another thread."""
        now = self._around.clock()
        if rules:
            self.own.used(rules, now)
            self._around.remembered.used(rules, now)

    def allow(self, need: PermissionNeed) -> None:
        """Always, in this workspace, as it is proposed. Raises `StoreFailed`."""
        for pattern in (need.parts or (need.pattern,)) if need.pattern else ():
            if need.action in ("command", "edit", "host", "mcp", "search"):
                self.add(Rule(need.action, pattern, "workspace"))
            elif need.action == "agent":
                self.add(Rule(need.action, pattern, "workspace", files=need.files))

    def add(self, rule: Rule) -> None:
        """A rule as the user wrote it; since when it holds, and with which files, is found here. One of the same pattern is replaced.
        Raises `SessionError` with the reason where it cannot be one, `StoreFailed`."""
        wrong = check_rule(rule)
        if wrong:
            raise SessionError("invalid", wrong)
        if rule.action == "agent" and not rule.refuses and not rule.files:
            raise SessionError("invalid", BY_ANSWER_ONLY)
        if rule.action != "agent":
            rule = replace(rule, files=self.digest(rule.pattern) if rule.action == "command" and not rule.refuses else "")
        rule = replace(rule, since=self._around.clock())
        if rule.scope == "session":
            self.own.add(rule)
        else:
            self._around.remembered.add(rule)

    def forget(self, scope: RuleScope, action: str, pattern: str) -> None:
        """It is asked again from now on. Raises `StoreFailed`."""
        if scope == "session":
            self.own.forget(action, pattern)
        else:
            self._around.remembered.forget(scope, action, pattern)

    def forget_all(self) -> None:
        """Everything is asked again. Raises `StoreFailed`."""
        self.own.forget_all()
        self._around.remembered.forget_all()

    def reading(self) -> ReadRules:
        """Which files may not be read."""
        refusing = tuple(rule for rule in self.rules() if rule.action == "read" and rule.refuses)
        return ReadRules(self._around.folders, refusing, lambda rule: self.used((rule,)))

    def shown(self, name: str) -> str:
        """A file by its path as rules are compared with it. Raises `OutsideWorkspace`."""
        return self._around.folders.show(self._around.folders.resolve(name))

    def digest(self, pattern: str) -> str:
        """Of the files that the pattern of a rule names, as they are now."""
        folder = self._around.folders.first
        return "" if folder is None else digest_for_rule(pattern, folder, self._around.folders.roots)
