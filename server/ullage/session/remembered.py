"""What the user always allows: remembered in their own state, or until the process ends where no folder is open."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ullage.context.visible import visible_line
from ullage.store.user_state import UserState
from ullage.tools.permission import Allowed, patterns_of, shown_approval
from ullage.tools.tool import PermissionNeed


@dataclass(frozen=True, slots=True)
class Approval:
    """One thing that is always allowed; `name` is for the user, with backticks around what is literal."""

    action: str
    pattern: str
    name: str


class RememberedInWorkspace:
    """Approvals of one workspace folder; shared by all windows on it."""

    def __init__(self, state: UserState, workspace: Path) -> None:
        self._state = state
        self._workspace = workspace

    def allows(self, need: PermissionNeed) -> bool:
        """Whether it was allowed once and for all, in this window or another."""
        return Allowed(self._state.patterns(self._workspace, need.action)).covers(need)

    def allowed_before(self, need: PermissionNeed) -> bool:
        """Whether it was allowed with other files than there are now."""
        return Allowed(self._state.patterns(self._workspace, need.action)).covered_before(need)

    def allow(self, need: PermissionNeed) -> None:
        """From now on. Raises `StoreFailed`."""
        for pattern in patterns_of(need):
            self._state.add_pattern(self._workspace, need.action, pattern)

    def approvals(self) -> Sequence[Approval]:
        """All that is always allowed, by kind of action."""
        return _approvals(self._state.approvals(self._workspace))

    def forget(self, action: str, pattern: str) -> None:
        """It is asked again from now on, in all windows. Raises `StoreFailed`."""
        self._state.forget_approval(self._workspace, action, pattern)

    def forget_all(self) -> None:
        """Everything is asked again. Raises `StoreFailed`."""
        self._state.forget_approvals(self._workspace)


class RememberedForNow:
    """Approvals where there is no workspace folder to remember them for."""

    def __init__(self) -> None:
        self._patterns: dict[str, set[str]] = {}

    def allows(self, need: PermissionNeed) -> bool:
        """Whether it was allowed since the process began."""
        known: Collection[str] = self._patterns.get(need.action, ())
        return Allowed(known).covers(need)

    def allowed_before(self, need: PermissionNeed) -> bool:
        """Whether it was allowed with other files than there are now."""
        return Allowed(self._patterns.get(need.action, ())).covered_before(need)

    def allow(self, need: PermissionNeed) -> None:
        """From now on."""
        self._patterns.setdefault(need.action, set()).update(patterns_of(need))

    def approvals(self) -> Sequence[Approval]:
        """All that was allowed since the process began."""
        return _approvals(self._patterns)

    def forget(self, action: str, pattern: str) -> None:
        """It is asked again from now on."""
        self._patterns.get(action, set()).discard(pattern)

    def forget_all(self) -> None:
        """Everything is asked again."""
        self._patterns.clear()


def _approvals(patterns: Mapping[str, Collection[str]]) -> list[Approval]:
    return [
        Approval(action, pattern, visible_line(shown_approval(action, pattern)))
        for action, known in sorted(patterns.items())
        for pattern in sorted(known)
    ]
