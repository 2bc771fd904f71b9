"""What belongs to the user and not to a workspace: remembered approvals, addresses that were confirmed, learned token ratios.

One small JSON file outside all workspaces, so that no repository can bring its own approvals along. Several windows may
use it: it is read again before each change, and changed whole.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from platformdirs import user_state_path

from ullage.context.counting.tokens import HIGHEST_RATIO, LOWEST_RATIO
from ullage.store.errors import StoreFailed
from ullage.store.shared_files import HeldElsewhere, SystemLock, write_whole

RatioOf: TypeAlias = Literal["ratios", "counted_ratios"]
"""What a learned ratio corrects: estimates by kind of text, or what a tokenizer counts."""

_LOCK_SECONDS = 5.0
"""How long to wait for another window's change, which takes milliseconds."""


class UserState:
    """The state in one folder: the client's `stateFolder`, or the system's place for it where None is given.

    A file that cannot be read counts as empty, and is set aside before the next change.
    """

    def __init__(self, folder: Path | None) -> None:
        folder = user_state_path("ullage") if folder is None else folder
        self.folder = folder
        """Nobody but the server writes there."""
        self._path = folder / "state.json"
        self._lock_path = folder / "state.lock"

    def patterns(self, workspace: Path, action: str) -> frozenset[str]:
        """The patterns that are always allowed for one kind of action."""
        kept = _section(_section(self._read(), "approvals"), str(workspace))
        return frozenset(_strings(kept.get(action)))

    def add_pattern(self, workspace: Path, action: str, pattern: str) -> None:
        """Allows one more, in all windows. Raises `StoreFailed`."""
        with self._changing() as state:
            kept = _make_section(_make_section(state, "approvals"), str(workspace))
            kept[action] = sorted({*_strings(kept.get(action)), pattern})

    def approvals(self, workspace: Path) -> dict[str, tuple[str, ...]]:
        """All patterns that are always allowed there, by kind of action."""
        kept = _section(_section(self._read(), "approvals"), str(workspace))
        return {action: tuple(_strings(patterns)) for action, patterns in sorted(kept.items())}

    def forget_approval(self, workspace: Path, action: str, pattern: str) -> None:
        """Takes back one approval of that workspace folder, in all windows. Raises `StoreFailed`."""
        with self._changing() as state:
            kept = _make_section(_make_section(state, "approvals"), str(workspace))
            kept[action] = [known for known in _strings(kept.get(action)) if known != pattern]

    def forget_approvals(self, workspace: Path) -> None:
        """Takes back all approvals of that workspace folder. Raises `StoreFailed`."""
        with self._changing() as state:
            _make_section(state, "approvals").pop(str(workspace), None)

    def is_confirmed_address(self, address: str) -> bool:
        """Whether the user wants the model to be asked there although only the environment names the address."""
        return address in _strings(self._read().get("addresses"))

    def confirm_address(self, address: str) -> None:
        """From now on, in all windows. Raises `StoreFailed`."""
        with self._changing() as state:
            state["addresses"] = sorted({*_strings(state.get("addresses")), address})

    def ratio(self, model: str, of: RatioOf = "ratios") -> float | None:
        """Real tokens per token as estimated or counted for that model; None where nothing was learned yet, or what is kept cannot be."""
        value = _section(self._read(), of).get(model)
        return value if isinstance(value, float) and LOWEST_RATIO <= value <= HIGHEST_RATIO else None

    def remember_ratio(self, model: str, ratio: float, of: RatioOf = "ratios") -> None:
        """Keeps the learned ratio of a model. Raises `StoreFailed`."""
        with self._changing() as state:
            _make_section(state, of)[model] = float(ratio)

    def _read(self) -> dict[str, Any]:
        try:
            value = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return cast("dict[str, Any]", value) if isinstance(value, dict) else {}

    @contextmanager
    def _changing(self) -> Generator[dict[str, Any]]:
        try:
            lock = SystemLock(self._lock_path, _LOCK_SECONDS)
        except HeldElsewhere as error:
            raise StoreFailed(f"Cannot change {self._path}: another window holds {self._lock_path}") from error
        try:
            state = self._read()
            if not state:
                self._set_aside_unreadable()
            yield state
            write_whole(self._path, json.dumps(state, indent=1, sort_keys=True) + "\n")
        finally:
            lock.release()

    def _set_aside_unreadable(self) -> None:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        try:
            if self._path.exists():
                self._path.rename(self._path.with_name(f"{self._path.name}.damaged-{stamp}"))
        except OSError as error:
            raise StoreFailed(f"Cannot rename the damaged {self._path}: {error.strerror or error}") from error


def _section(state: dict[str, Any], name: str) -> dict[str, Any]:
    value = state.get(name)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _make_section(state: dict[str, Any], name: str) -> dict[str, Any]:
    section = _section(state, name)
    state[name] = section
    return section


def _strings(value: object) -> list[str]:
    if not isinstance(value, list):
        return []
    return [item for item in cast("list[object]", value) if isinstance(item, str)]
