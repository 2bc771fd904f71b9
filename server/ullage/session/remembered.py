"""What the user always allows: remembered in their own state, or until the process ends where no folder is open."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from ullage.store.user_state import UserState
from ullage.tools.permission import Allowed, patterns_of
from ullage.tools.tool import PermissionNeed


class RememberedInWorkspace:
    """Approvals of one workspace folder; shared by all windows on it."""

    def __init__(self, state: UserState, workspace: Path) -> None:
        self._state = state
        self._workspace = workspace

    def allows(self, need: PermissionNeed) -> bool:
        """Whether it was allowed once and for all, in this window or another."""
        return Allowed(self._state.patterns(self._workspace, need.action)).covers(need)

    def allow(self, need: PermissionNeed) -> None:
        """From now on. Raises `StoreFailed`."""
        for pattern in patterns_of(need):
            self._state.add_pattern(self._workspace, need.action, pattern)


class RememberedForNow:
    """Approvals where there is no workspace folder to remember them for."""

    def __init__(self) -> None:
        self._patterns: dict[str, set[str]] = {}

    def allows(self, need: PermissionNeed) -> bool:
        """Whether it was allowed since the process began."""
        known: Collection[str] = self._patterns.get(need.action, ())
        return Allowed(known).covers(need)

    def allow(self, need: PermissionNeed) -> None:
        """From now on."""
        self._patterns.setdefault(need.action, set()).update(patterns_of(need))
