"""The rules of a workspace, of everywhere and of a session, where they are kept, how often each was used, and whether the web is on.

They lie in the user's own state folder, never in the workspace: a repository could bring its own. Those of a session lie in the log's file,
which is there, too. Where no folder is open, rules are remembered until the process ends.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Protocol, cast, get_args

from ullage.context.blocks import Json
from ullage.store.errors import StoreFailed
from ullage.store.user_state import KeptRule, UserState, kept_rule
from ullage.tools.rules.covering import PermissionRule, RuleScope, check_rule
from ullage.tools.rules.patterns import EXACTLY, HARMLESS, RUNS, RuleAction

logger = logging.getLogger(__name__)

_NEVER = "never "
"""Stands before the action of a rule that refuses: a version that knows no such rules takes it for none, and not for one that allows."""

_AS_OF = "as of "
"""Stands before a line that was allowed with the files that it names, with their digest."""


class Remembered(Protocol):
    """The user's rules for this workspace, and for everywhere."""

    def rules(self) -> Sequence[PermissionRule]:
        """All rules for this workspace and for everywhere."""
        ...

    def add(self, rule: PermissionRule) -> None:
        """Adds a rule, which holds from now on, in all windows. Raises `StoreFailed`."""
        ...

    def forget(self, scope: RuleScope, action: str, pattern: str) -> None:
        """Forgets a rule: what it was about is asked about again from now on, in all windows. Raises `StoreFailed`."""
        ...

    def forget_all(self) -> None:
        """Forgets all rules: everything is asked about again, in all windows. Raises `StoreFailed`."""
        ...

    def used(self, rules: Sequence[PermissionRule], at: float) -> None:
        """Notes that these rules allowed a call, at that time (Unix seconds). That it cannot be noted is no reason to stop the call."""
        ...

    def web_is_on(self) -> bool:
        """Whether the user lets the agent read pages of the web in this workspace. At first it may not."""
        ...

    def turn_web(self, *, on: bool) -> None:
        """Lets the agent read pages of the web or not, from now on, in all windows. Raises `StoreFailed`."""
        ...


class RememberedInWorkspace:
    """Rules of one workspace folder and of everywhere; shared by all windows."""

    def __init__(self, state: UserState, workspace: Path) -> None:
        self._state = state
        self._workspace = workspace

    def rules(self) -> Sequence[PermissionRule]:
        """All rules, those of the workspace first. What an earlier version kept is among them."""
        here = [_rule(kept, "workspace") for kept in self._state.rules(self._workspace)]
        early = [early_rule(action, kept) for action, all_kept in self._state.early_approvals(self._workspace).items() for kept in all_kept]
        everywhere = [_rule(kept, "everywhere") for kept in self._state.rules(None)]
        found = [rule for rule in (*here, *early, *everywhere) if rule is not None]
        return sorted(found, key=lambda rule: (rule.scope == "everywhere", rule.action))

    def add(self, rule: PermissionRule) -> None:
        """Adds a rule, which holds from now on, in all windows. One of the same pattern is replaced. Raises `StoreFailed`, and nothing has
        changed then."""
        self._state.add_rule(self._place(rule.scope), _kept(rule), _both(rule.action))

    def forget(self, scope: RuleScope, action: str, pattern: str) -> None:
        """Forgets a rule: what it was about is asked about again from now on, in all windows. Raises `StoreFailed`."""
        self._state.forget_rule(self._place(scope), _both(action), pattern)

    def forget_all(self) -> None:
        """Forgets all rules: everything is asked about again, in all windows. Raises `StoreFailed`."""
        for place in (self._workspace, None):
            self._state.forget_rules(place)

    def used(self, rules: Sequence[PermissionRule], at: float) -> None:
        """Notes that these rules allowed a call, at that time (Unix seconds)."""
        for scope in ("workspace", "everywhere"):
            keys = {_kept(rule).key for rule in rules if rule.scope == scope}
            try:
                if keys:
                    self._state.count_use(self._place(scope), keys, at)
            except StoreFailed as error:
                logger.warning("the use of a rule was not noted: %s", error)

    def web_is_on(self) -> bool:
        """Whether the user lets the agent read pages of the web in this workspace."""
        return self._state.web_is_on(self._workspace)

    def turn_web(self, *, on: bool) -> None:
        """Lets the agent read pages of the web or not, from now on, in all windows. Raises `StoreFailed`."""
        self._state.turn_web(self._workspace, on=on)

    def _place(self, scope: RuleScope) -> Path | None:
        return None if scope == "everywhere" else self._workspace


class RememberedForNow:
    """Rules where there is no workspace folder to remember them for. They are gone when the process ends."""

    def __init__(self) -> None:
        self._rules: dict[tuple[str, str, str], PermissionRule] = {}
        self._one_changes = threading.Lock()
        """Uses are noted in other threads: without it a rule that is forgotten meanwhile would come back."""
        self._web_is_on = False

    def rules(self) -> Sequence[PermissionRule]:
        """All rules that were added since the process began."""
        return list(self._rules.values())

    def add(self, rule: PermissionRule) -> None:
        """Adds a rule, which holds from now on."""
        with self._one_changes:
            self._rules[rule.key] = rule

    def forget(self, scope: RuleScope, action: str, pattern: str) -> None:
        """Forgets a rule: what it was about is asked about again from now on."""
        with self._one_changes:
            self._rules.pop((scope, action, pattern), None)

    def forget_all(self) -> None:
        """Forgets all rules: everything is asked about again."""
        with self._one_changes:
            self._rules.clear()

    def used(self, rules: Sequence[PermissionRule], at: float) -> None:
        """Notes that these rules allowed a call, at that time (Unix seconds)."""
        with self._one_changes:
            for rule in rules:
                if rule.key in self._rules:
                    self._rules[rule.key] = _used_once_more(self._rules[rule.key], at)

    def web_is_on(self) -> bool:
        """Whether the user lets the agent read pages of the web."""
        return self._web_is_on

    def turn_web(self, *, on: bool) -> None:
        """Lets the agent read pages of the web or not, from now on."""
        self._web_is_on = on


class ValueStore(Protocol):
    """Small values that outlive the process. Raises `StoreFailed`."""

    def remember(self, key: str, value: Json) -> None:
        """Keeps the value under the key."""
        ...

    def recalled(self, key: str) -> Json:
        """The value that was kept under the key; None if nothing was."""
        ...


class SessionRules:
    """The rules of one session. A fork of it has none."""

    def __init__(self, session_id: str, store: ValueStore) -> None:
        self._key = f"rules:{session_id}"
        self._store = store
        kept = store.recalled(self._key)
        found = [kept_rule(each) for each in kept] if isinstance(kept, list) else []
        rules = [_rule(each, "session") for each in found if each is not None]
        self._rules = {rule.key: rule for rule in rules if rule is not None}
        self._one_changes = threading.Lock()
        """Uses are noted in other threads: without it a rule that is forgotten meanwhile would come back."""

    def rules(self) -> Sequence[PermissionRule]:
        """All rules of the session."""
        return list(self._rules.values())

    def add(self, rule: PermissionRule) -> None:
        """Adds a rule, which holds from now on. Raises `StoreFailed`, and nothing has changed then."""
        with self._one_changes:
            self._change({**self._rules, rule.key: rule})

    def forget(self, action: str, pattern: str) -> None:
        """Forgets a rule: what it was about is asked about again from now on. Raises `StoreFailed`."""
        with self._one_changes:
            self._change({key: rule for key, rule in self._rules.items() if key != ("session", action, pattern)})

    def forget_all(self) -> None:
        """Forgets all rules of the session: what they were about is asked about again. Raises `StoreFailed`."""
        with self._one_changes:
            self._change({})

    def used(self, rules: Sequence[PermissionRule], at: float) -> None:
        """Notes that these rules allowed a call, at that time (Unix seconds). It is kept when a rule is next changed."""
        with self._one_changes:
            for rule in rules:
                known = self._rules.get(rule.key)
                if known is not None:
                    self._rules[rule.key] = _used_once_more(known, at)

    def _change(self, rules: dict[tuple[RuleScope, RuleAction, str], PermissionRule]) -> None:
        self._store.remember(self._key, [cast("Json", asdict(_kept(rule))) for rule in rules.values()])
        self._rules = rules


def _used_once_more(rule: PermissionRule, at: float) -> PermissionRule:
    return replace(rule, used=rule.used + 1, last_used=at)


def _both(action: str) -> tuple[str, str]:
    """The action of a rule as it is kept: of one that allows, and of one that refuses."""
    return action, f"{_NEVER}{action}"


def _kept(rule: PermissionRule) -> KeptRule:
    action = f"{_NEVER}{rule.action}" if rule.refuses else rule.action
    return KeptRule(action, rule.pattern, rule.since or 0.0, rule.files, rule.used, rule.last_used)


def _rule(kept: KeptRule, scope: RuleScope) -> PermissionRule | None:
    """The rule that was kept; None if this version knows no such rule: then it allows nothing."""
    action = next((known for known in get_args(RuleAction) if known == kept.action.removeprefix(_NEVER)), None)
    if action is None:
        return None
    refuses = kept.action.startswith(_NEVER)
    rule = PermissionRule(action, kept.pattern, scope, kept.since or None, kept.files, kept.used, kept.last_used, refuses)
    return None if check_rule(rule) else rule


def early_rule(action: str, kept: str) -> PermissionRule | None:
    """The rule that an earlier version kept; None if it allows nothing today. Commands had their kind before them; those without one come
    from the first version, which told dangerous commands from others by a list of its own: they allow nothing."""
    files, pattern = "", kept
    if action == "command" and kept.startswith(_AS_OF):
        files, _, pattern = kept.removeprefix(_AS_OF).partition(" ")
    if action == "command" and not pattern.startswith((EXACTLY, HARMLESS, RUNS)):
        return None
    return _rule(KeptRule(action, pattern, 0.0, files), "workspace")
