"""What belongs to the user and not to a workspace: approvals, where the web is on, confirmed addresses, learned ratios.

One small JSON file outside all workspaces, so that no repository can bring its own approvals along. Several windows may
use it: it is read again before each change, and changed whole.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from platformdirs import user_state_path

from ullage.context.counting.tokens import HIGHEST_RATIO, LOWEST_RATIO
from ullage.store.errors import StoreFailed
from ullage.store.shared_files import HeldElsewhere, SystemLock, write_whole

RatioOf: TypeAlias = Literal["ratios", "counted_ratios"]
"""What a learned ratio corrects: estimates by kind of text, or what a tokenizer counts."""

EVERYWHERE = "*"
"""Stands in the place of a workspace folder, whose path is absolute, for what holds everywhere."""


@dataclass(frozen=True, slots=True)
class KeptRule:
    """One thing that the user always allows, as it is kept. Times are Unix seconds."""

    action: str
    pattern: str
    since: float
    files: str = ""
    used: int = 0
    last_used: float | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The action and the pattern, which tell the rule from others of its place."""
        return self.action, self.pattern


_LOCK_SECONDS = 5.0
"""How long to wait for another window's change, which takes milliseconds."""


class UserState:
    """The state in one folder: the client's `stateFolder`, or the system's place for it where None is given.

    A file that cannot be read counts as empty, and is set aside before the next change.
    """

    def __init__(self, folder: Path | None) -> None:
        folder = user_state_path("ullage") if folder is None else folder
        self.folder = folder
        """The folder of the state. Nobody but the server writes there."""
        self._path = folder / "state.json"
        self._lock_path = folder / "state.lock"

    def early_approvals(self, workspace: Path) -> dict[str, tuple[str, ...]]:
        """The patterns that versions before rules kept as always allowed in that workspace folder, by kind of action."""
        kept = _section(_section(self._read(), "approvals"), str(workspace))
        return {action: tuple(_strings(patterns)) for action, patterns in sorted(kept.items())}

    def rules(self, workspace: Path | None) -> list[KeptRule]:
        """The rules of what the user always allows in that workspace folder; None: everywhere. What cannot be read is left out."""
        return _rules(_section(self._read(), "rules").get(_place(workspace)))

    def add_rule(self, workspace: Path | None, rule: KeptRule, instead_of: Collection[str] = ()) -> None:
        """Keeps one rule more, in all windows. One of the same pattern whose action is the same, or one of `instead_of`, gives way to it.
        Raises `StoreFailed`, and nothing has changed then."""
        with self._changing() as state:
            _forget(state, workspace, {rule.action, *instead_of}, rule.pattern)
            _make_section(state, "rules")[_place(workspace)].append(asdict(rule))

    def forget_rule(self, workspace: Path | None, actions: Collection[str], pattern: str) -> None:
        """Takes back the rules with one of these actions and that pattern, in all windows. Raises `StoreFailed`, and nothing has changed
        then."""
        with self._changing() as state:
            _forget(state, workspace, actions, pattern)

    def forget_rules(self, workspace: Path | None) -> None:
        """Takes back all rules of that workspace folder, or those that hold everywhere. Raises `StoreFailed`."""
        with self._changing() as state:
            _make_section(state, "rules").pop(_place(workspace), None)
            _make_section(state, "approvals").pop(_place(workspace), None)

    def count_use(self, workspace: Path | None, keys: Collection[tuple[str, str]], at: float) -> None:
        """Notes that these rules were used at that time (Unix seconds). Raises `StoreFailed`."""
        with self._changing() as state:
            rules, place = _make_section(state, "rules"), _place(workspace)
            rules[place] = [
                asdict(replace(known, used=known.used + 1, last_used=at) if known.key in keys else known)
                for known in _rules(rules.get(place))
            ]

    def hook_decisions(self, workspace: Path) -> dict[str, str]:
        """What the user decided about each hook of that workspace folder, by its digest."""
        kept = _section(_section(self._read(), "hooks"), str(workspace))
        return {digest: runs for digest, runs in kept.items() if isinstance(runs, str)}

    def decide_hook(self, workspace: Path, digest: str, runs: str | None) -> None:
        """Keeps what the user decided about a hook, from now on in all windows; with None they are asked again. Raises `StoreFailed`."""
        with self._changing() as state:
            decided = _make_section(_make_section(state, "hooks"), str(workspace))
            decided.pop(digest, None)
            if runs is not None:
                decided[digest] = runs

    def web_is_on(self, workspace: Path) -> bool:
        """Whether the user lets the agent read the web in that workspace folder."""
        return str(workspace) in _strings(self._read().get("web"))

    def turn_web(self, workspace: Path, *, on: bool) -> None:
        """Turns the reading of the web on or off in that workspace folder, from now on in all windows. Raises `StoreFailed`."""
        with self._changing() as state:
            others = {*_strings(state.get("web"))} - {str(workspace)}
            state["web"] = sorted({*others, str(workspace)} if on else others)

    def mcp_choices(self, workspace: Path) -> dict[str, tuple[str, bool]]:
        """What the user chose for each MCP server in that workspace folder, by its name: the fingerprint of a configuration, and whether it
        is on."""
        kept = _section(_section(self._read(), "mcp"), str(workspace))
        found = {name: (_section(kept, name).get("fingerprint"), _section(kept, name).get("on")) for name in kept}
        return {name: (print_, on) for name, (print_, on) in found.items() if isinstance(print_, str) and isinstance(on, bool)}

    def choose_mcp(self, workspace: Path, name: str, fingerprint: str, on: bool) -> None:
        """Keeps whether an MCP server with that configuration is on, from now on in all windows. Raises `StoreFailed`."""
        with self._changing() as state:
            chosen = _make_section(_make_section(state, "mcp"), str(workspace))
            chosen[name] = {"fingerprint": fingerprint, "on": on}

    def is_confirmed_address(self, address: str) -> bool:
        """Whether the user wants the model to be asked at the address although only the environment names it."""
        return address in _strings(self._read().get("addresses"))

    def confirm_address(self, address: str) -> None:
        """Keeps that the user wants the model to be asked at that address, from now on in all windows. Raises `StoreFailed`."""
        with self._changing() as state:
            state["addresses"] = sorted({*_strings(state.get("addresses")), address})

    def ratio(self, model: str, of: RatioOf = "ratios") -> float | None:
        """How many real tokens one token is for that model, as estimated or counted; None if nothing was learned yet, or what is kept
        cannot be right."""
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


def _forget(state: dict[str, Any], workspace: Path | None, actions: Collection[str], pattern: str) -> None:
    """Takes the rules with one of these actions and that pattern out of the state, also those of earlier versions."""
    rules, place = _make_section(state, "rules"), _place(workspace)
    gone = {(action, pattern) for action in actions}
    rules[place] = [asdict(known) for known in _rules(rules.get(place)) if known.key not in gone]
    early = _section(_section(state, "approvals"), place)
    for action in early.keys() & actions:
        early[action] = [known for known in _strings(early[action]) if known != pattern and not _is_as_of(known, pattern)]


def _is_as_of(known: str, pattern: str) -> bool:
    """Whether a kept approval is that pattern with the digest of the files that it names."""
    return known.startswith("as of ") and known.removeprefix("as of ").partition(" ")[2] == pattern


def _place(workspace: Path | None) -> str:
    return EVERYWHERE if workspace is None else str(workspace)


def _rules(value: object) -> list[KeptRule]:
    found = [kept_rule(each) for each in cast("list[object]", value)] if isinstance(value, list) else []
    return [rule for rule in found if rule is not None]


def kept_rule(value: object) -> KeptRule | None:
    """The rule in a value as it was kept; None if it is no rule."""
    kept = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    action, pattern, files, since = kept.get("action"), kept.get("pattern"), kept.get("files", ""), kept.get("since")
    used, last = kept.get("used", 0), kept.get("last_used")
    if not (isinstance(action, str) and isinstance(pattern, str) and isinstance(files, str) and isinstance(since, int | float)):
        return None
    return KeptRule(action, pattern, since, files, used if isinstance(used, int) else 0, last if isinstance(last, int | float) else None)


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
