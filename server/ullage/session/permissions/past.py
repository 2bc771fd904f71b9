"""What the agent asked to do in this workspace before, and which of it a rule would have covered: shown while the user writes the rule."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ullage.context.blocks import Json, ToolUse
from ullage.context.entries import AssistantReply
from ullage.context.quoting import visible_line
from ullage.session.errors import SessionError
from ullage.session.permissions.permits import SessionPermits
from ullage.store.log_store import LogStore
from ullage.store.origins import is_foreign
from ullage.tools.rules.covering import Judging, PermissionRule, explanation_of, warning_about
from ullage.tools.rules.patterns import EXACTLY, RuleAction, command_pattern, host_matches, mcp_pattern, path_pattern
from ullage.tools.rules.refusing import is_refused
from ullage.tools.tool import BadToolInput, PermissionNeed, Tool, text
from ullage.workspace.folders import OutsideWorkspace

MOST_REPLIES = 2_000
"""Most replies with calls that are read: the newest of all sessions of the workspace."""

MOST_CALLS = 500
"""Most different calls among them that are judged. Judging one takes a millisecond."""

MOST_SHOWN = 50

FRESH_SECONDS = 30.0
"""How long what was read is still used when the next key is pressed."""

SHOWN_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class PastCall:
    """One thing that the agent asked to do, and how many `times` it did."""

    need: PermissionNeed
    times: int
    at: float
    """When it was last asked for (Unix seconds)."""

    @property
    def text(self) -> str:
        """The call in one line, for the user, `SHOWN_CHARACTERS` at most."""
        called = f"{self.need.subject} {self.need.line}" if self.need.action == "mcp" else self.need.line or self.need.subject
        shown = visible_line(called)
        return shown if len(shown) <= SHOWN_CHARACTERS else f"{shown[:SHOWN_CHARACTERS]}…"


@dataclass(frozen=True, slots=True)
class PastMatch:
    """A past call that a rule is about. `allowed`: it would run without a question under it and those that there are; `refused`: one of
    them refuses it."""

    call: PastCall
    allowed: bool
    refused: bool = False


@dataclass(frozen=True, slots=True)
class CheckedRule:
    """What is known of a rule before it is saved. With a `problem`, in words for the user, it cannot be a rule."""

    problem: str = ""
    explanation: str = ""
    warning: str = ""
    matches: tuple[PastMatch, ...] = ()
    """The newest past calls that the rule is about; `matched` is how many there are."""
    matched: int = 0
    of: int = 0
    """How many past calls there are of the kind that the rule is about."""


class Tools(Protocol):
    """The tools of a session by name."""

    def __call__(self) -> Mapping[str, Tool]:
        """The tools as they are now."""
        ...


class PastCalls:
    """The past calls of a workspace as one session judges them. For another thread; one at a time."""

    def __init__(self, log: LogStore, tools: Tools, permits: SessionPermits, clock: Callable[[], float]) -> None:
        self._log = log
        self._tools = tools
        self._permits = permits
        self._clock = clock
        self._read_at = float("-inf")
        self._calls: Sequence[PastCall] = ()

    def check(self, rule: PermissionRule) -> CheckedRule:
        """What the rule would be, and which past calls it is about, the newest first. What cannot be a rule has a `problem`."""
        try:
            rule = self._permits.as_of_now(rule)
        except SessionError as error:
            return CheckedRule(str(error))
        judging = self._permits.judging((rule,))
        kind = [call for call in self._newest() if _is_of(rule.action, call.need)]
        found = [call for call in kind if is_about(rule, call.need)]
        shown = tuple(_match(judging, call) for call in _by_text(found)[:MOST_SHOWN])
        return CheckedRule("", explanation_of(rule), warning_about(rule), shown, len(found), len(kind))

    def _newest(self) -> Sequence[PastCall]:
        now = self._clock()
        if not 0 <= now - self._read_at < FRESH_SECONDS:
            self._calls, self._read_at = self._read(), now
        return self._calls

    def _read(self) -> Sequence[PastCall]:
        tools, seen = self._tools(), set[str]()
        found: dict[str, PastCall] = {}
        for session_id, logged in self._log.replies_with_calls(MOST_REPLIES):
            if is_foreign(session_id) or not isinstance(logged.entry, AssistantReply):
                continue
            for call in (block for block in logged.entry.blocks if isinstance(block, ToolUse)):
                place = f"{logged.entry.id} {call.id}"  # forks have entries in common
                key = _key(call.name, call.input)
                if place in seen or key is None:
                    continue
                seen.add(place)
                if key in found:
                    found[key] = replace(found[key], times=found[key].times + 1)
                elif len(found) < MOST_CALLS and (need := self._need(tools.get(call.name), call.input)) is not None:
                    found[key] = PastCall(need, 1, logged.at)
        return tuple(found.values())

    def _need(self, tool: Tool | None, input: Mapping[str, Json]) -> PermissionNeed | None:
        try:
            if tool is not None and tool.spec.name == "read_file":  # which is free, so that it needs nothing
                return PermissionNeed("read", "", tool.title(input), subject=self._permits.shown(text(input, "path")))
            return None if tool is None else tool.permission(input)
        except (BadToolInput, OSError, OutsideWorkspace):
            return None


def _by_text(calls: Sequence[PastCall]) -> Sequence[PastCall]:
    """The calls, of which those with the same text count as one: a file that was read and edited stands there once."""
    found: dict[str, PastCall] = {}
    for call in calls:
        known = found.get(call.text)
        found[call.text] = call if known is None else replace(known, times=known.times + call.times)
    return tuple(found.values())


def is_about(rule: PermissionRule, need: PermissionNeed) -> bool:
    """Whether the rule is about any part of the call."""
    if rule.refuses:
        return is_refused(rule.action, rule.pattern, need)
    match rule.action:
        case "command":
            pattern = command_pattern(rule.pattern)
            return rule.pattern == f"{EXACTLY}{need.line}" or any(pattern.matches(part) for part in need.judged)
        case "edit":
            return path_pattern(rule.pattern).fullmatch(need.subject) is not None
        case "host":
            return any(host_matches(rule.pattern, host) for host in _hosts(need))
        case "mcp":
            return mcp_pattern(rule.pattern).fullmatch(need.subject) is not None
        case "agent":
            return need.action == "agent" and rule.pattern == need.subject
        case "search":
            return need.action == "search"
        case "read":
            return False


def _is_of(action: RuleAction, need: PermissionNeed) -> bool:
    """Whether a call is of the kind that rules for that action are about. A rule for reading is about edits and commands, too."""
    if action == "read":
        return need.action in ("read", "edit", "command")
    return bool(_hosts(need)) if action == "host" else need.action == action


def _hosts(need: PermissionNeed) -> tuple[str, ...]:
    return need.parts if need.action == "host" else need.hosts


def _match(judging: Judging, call: PastCall) -> PastMatch:
    decision = judging.decide(call.need)
    return PastMatch(call, decision.free, decision.refused is not None)


_KINDS = {"write_file": "edit", "edit_file": "edit"}
_NAMES = {
    "bash": ("command", "network", "steering_files"),
    "write_file": ("path",),
    "edit_file": ("path",),
    "read_file": ("path",),
    "web_fetch": ("url",),
    "web_search": ("query",),
    "call_mcp_tool": ("server", "tool", "arguments"),
}
"""The names in a call's input that say what it does, by tool."""


def _key(tool: str, input: Mapping[str, Json]) -> str | None:
    names = _NAMES.get(tool)
    return None if names is None else json.dumps([_KINDS.get(tool, tool), *(input.get(name) for name in names)])
