"""Whether a call is asked about: the rules that cover it, the way of asking, and what is left. Pure, but for the files that a rule names.

A line of commands is free only if every command of it is: by a rule, or by itself where what is harmless is not asked about. Ask and Plan
mode are asked before any of this (`session/turns/modes.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from ullage.tools.command_lines.judge import CHANGES_SHELL, LinePart
from ullage.tools.command_lines.rules import HAVE_SUBCOMMANDS, subcommands_of
from ullage.tools.rules.patterns import (
    EXACTLY,
    BadRulePattern,
    CommandPattern,
    RuleAction,
    check_pattern,
    command_pattern,
    explained,
    host_matches,
    mcp_pattern,
    path_pattern,
    warning_of,
)
from ullage.tools.rules.refusing import check_refusing, explained_refusal, is_refused
from ullage.tools.tool import PermissionNeed

RuleScope: TypeAlias = Literal["session", "workspace", "everywhere"]

AskFor: TypeAlias = Literal["everything", "notHarmless", "outsideSandbox"]
"""The setting `ullage.permissions.ask`: which calls are asked about that no rule allows. In this order: all; those that are not known to
only read; only those that leave the workspace or the sandbox."""

Standing: TypeAlias = Literal["harmless", "rule", "confined", "asked"]
"""The standing of a part of a call, in this order: it only reads; a rule allows it; the sandbox confines it; it is asked about."""

LONGEST_SHOWN = 4_000
"""How many characters of a part are sent; the card shows the whole command above."""


@dataclass(frozen=True, slots=True)
class PermissionRule:
    """One thing that the user always allows, or never does."""

    action: RuleAction
    pattern: str
    scope: RuleScope
    since: float | None = None
    """When it was made, in Unix seconds; None if an earlier version made it."""
    files: str = ""
    """A digest of what its pattern names, be it files or tools of a server: the rule holds as long as the digest is the same."""
    used: int = 0
    last_used: float | None = None
    refuses: bool = False
    """Whether it refuses what it is about. It counts before all that allows something: other rules, the way of asking, an answer."""

    @property
    def key(self) -> tuple[RuleScope, RuleAction, str]:
        """The values that tell this rule from others."""
        return self.scope, self.action, self.pattern


@dataclass(frozen=True, slots=True)
class AskedPart:
    """One part of a call: what it is, and why it is asked about or not, in words for the user."""

    text: str
    standing: Standing
    why: str
    rule: PermissionRule | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A pattern that would cover a part of the call, for the user to change."""

    action: Literal["command", "edit", "host", "mcp", "search"]
    pattern: str


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a call is free, and why."""

    free: bool
    parts: tuple[AskedPart, ...]
    proposals: tuple[Proposal, ...] = ()
    refused: PermissionRule | None = None
    """The rule that refuses it: then nobody is asked, and it does not run."""

    @property
    def rules(self) -> tuple[PermissionRule, ...]:
        """The rules that allowed parts of the call, each once."""
        return tuple(dict.fromkeys(part.rule for part in self.parts if part.rule is not None))

    @property
    def confined(self) -> bool:
        """Whether the call is free because of the sandbox alone."""
        return self.free and any(part.standing == "confined" for part in self.parts)


@dataclass(frozen=True, slots=True)
class Judging:
    """The rules and settings by which calls are decided about."""

    rules: Sequence[PermissionRule]
    ask_for: AskFor
    """The way of asking in force: `outsideSandbox` only where the sandbox works."""
    digest: Callable[[str], str]
    """Gives the digest of the files that a pattern names, as they are now."""

    def decide(self, need: PermissionNeed) -> Decision:
        """Decides about one call."""
        decision = self._allowed(need)
        refused = next((rule for rule in self.rules if rule.refuses and is_refused(rule.action, rule.pattern, need)), None)
        return decision if refused is None else replace(decision, free=False, refused=refused)

    def _allowed(self, need: PermissionNeed) -> Decision:
        match need.action:
            case "command":
                return self._command(need)
            case "edit":
                return self._edit(need)
            case "host":
                return self._hosts(need)
            case "mcp":
                return self._mcp(need)
            case "agent":
                return self._agent(need)
            case "search":
                return self._search(need)
            case "read":
                return Decision(True, (AskedPart(need.subject, "harmless", "it only reads"),))
            case _:
                return Decision(False, (AskedPart(need.description, "asked", "it is asked each time"),))

    def _command(self, need: PermissionNeed) -> Decision:
        if self.ask_for == "outsideSandbox" and need.sandboxed and not need.steers:
            parts: tuple[AskedPart, ...] = (AskedPart(_short(need.line), "confined", "it runs in the sandbox"),)
        elif need.steers:
            why = "it may change files that run programs or control tools later, so it is asked each time"
            parts = (AskedPart(_short(need.line), "asked", why),)
        else:
            parts = self._line(need)
        hosts = self._hosts(need).parts if need.hosts else ()
        free = all(part.standing != "asked" for part in (*parts, *hosts))
        return Decision(free, (*parts, *hosts), () if free else self._proposals(need, parts, hosts))

    def _line(self, need: PermissionNeed) -> tuple[AskedPart, ...]:
        exact = next((rule for rule in self._of("command") if self._is_exactly(rule, need)), None)
        if exact is not None:
            return (AskedPart(_short(need.line), "rule", "you always allow exactly this line", exact),)
        if not need.judged:
            return (AskedPart(_short(need.line), "asked", need.unfollowed),)
        return tuple(self._part(part, need) for part in need.judged)

    def _part(self, part: LinePart, need: PermissionNeed) -> AskedPart:
        text = _short(part.text)
        if part.leads:
            return AskedPart(text, "harmless", "it only goes to a folder of the workspace, for what follows")
        if self.ask_for != "everything" and part.harmless and not need.hosts:
            return AskedPart(text, "harmless", "it only reads")
        rule = next((rule for rule in self._of("command") if self._covers(rule, part, alone=len(need.judged) == 1)), None)
        if rule is not None:
            allows = f"your rule `{rule.pattern}` allows it"
            return AskedPart(
                text, "rule", f"your rule `{rule.pattern}` allows it, also in `{part.entered}`" if part.entered else allows, rule
            )
        if part.harmless:
            why = "but could connect" if need.hosts else "and you want to be asked about everything"
            return AskedPart(text, "asked", f"it only reads, {why}")
        if part.effect == "runs":
            return AskedPart(text, "asked", "it runs what this folder says: scripts, tests or hooks in it")
        return AskedPart(text, "asked", part.reason)

    def _covers(self, rule: PermissionRule, part: LinePart, *, alone: bool) -> bool:
        pattern = _command_pattern(rule.pattern)
        if pattern is None or not pattern.matches(part) or (part.words[0] in CHANGES_SHELL and part.reason and not alone):
            return False
        if part.moved and rule.files:  # its files are the workspace folder's; elsewhere other files may have their names
            return False
        return rule.files == self.digest(rule.pattern)

    def _is_exactly(self, rule: PermissionRule, need: PermissionNeed) -> bool:
        return bool(need.pattern) and rule.pattern == f"{EXACTLY}{need.line}" and rule.files == self.digest(rule.pattern)

    def has_lapsed(self, need: PermissionNeed) -> bool:
        """Whether a rule would cover the call if nothing had changed since the rule was made: files, or the tool of a server."""
        if need.action == "agent":
            return any(rule.pattern == need.subject for rule in self._of("agent")) and not self.decide(need).free
        if need.action == "mcp":
            return bool(self._about_tool(need)) and not self.decide(need).free
        as_then = replace(self, digest={rule.pattern: rule.files for rule in self.rules}.__getitem__)
        return need.action == "command" and not need.steers and not self.decide(need).free and as_then.decide(need).free

    def _edit(self, need: PermissionNeed) -> Decision:
        if not need.pattern:
            why = need.unfollowed or "it is asked each time"
            return Decision(False, (AskedPart(need.subject, "asked", why),))
        if self.ask_for == "outsideSandbox":
            return Decision(True, (AskedPart(need.subject, "confined", "it stays in the workspace"),))
        rule = next((rule for rule in self._of("edit") if covers_path(rule.pattern, need.subject)), None)
        if rule is not None:
            return Decision(True, (AskedPart(need.subject, "rule", f"your rule `{rule.pattern}` allows it", rule),))
        why = "it changes a file of the workspace"
        return Decision(False, (AskedPart(need.subject, "asked", why),), tuple(Proposal("edit", part) for part in need.parts))

    def _hosts(self, need: PermissionNeed) -> Decision:
        found: list[AskedPart] = []
        names = need.hosts or need.parts
        for host in names:
            rule = next((rule for rule in self._of("host") if covers_host(rule.pattern, host)), None)
            why = "it leaves this machine" if rule is None else f"your rule `{rule.pattern}` allows it"
            found.append(AskedPart(host, "asked" if rule is None else "rule", why, rule))
        asked = [part.text for part in found if part.standing == "asked"]
        return Decision(not asked, tuple(found), tuple(Proposal("host", host) for host in asked))

    def _mcp(self, need: PermissionNeed) -> Decision:
        """Decides about a call of a tool of an MCP server, which runs outside of the sandbox, whatever it says of itself. A rule for one
        tool holds for that tool as it was then. A rule for several tools holds for the server as it was configured then."""
        rule = next((rule for rule in self._about_tool(need) if rule.files == held_by(rule.pattern, need)), None)
        if rule is not None:
            return Decision(True, (AskedPart(need.subject, "rule", f"your rule `{rule.pattern}` allows it", rule),))
        why = f"the server says of this tool: {need.told}" if need.told else "what a server does is not seen"
        return Decision(False, (AskedPart(need.subject, "asked", why),), (Proposal("mcp", need.subject),))

    def _about_tool(self, need: PermissionNeed) -> Sequence[PermissionRule]:
        return [rule for rule in self._of("mcp") if covers_tool(rule.pattern, need.subject)]

    def _agent(self, need: PermissionNeed) -> Decision:
        """Decides about a sub-agent. A file of the project says what it is told: it is allowed as that file is, and asked about anew once
        the file is another."""
        rule = next((rule for rule in self._of("agent") if rule.pattern == need.subject and rule.files == need.files), None)
        if rule is not None:
            return Decision(True, (AskedPart(need.subject, "rule", f"your rule `{rule.pattern}` allows it", rule),))
        return Decision(False, (AskedPart(need.subject, "asked", "the project wrote what this sub-agent is told"),))

    def _search(self, need: PermissionNeed) -> Decision:
        rule = next(iter(self._of("search")), None)
        if rule is not None:
            return Decision(True, (AskedPart(need.subject, "rule", f"your rule `{rule.pattern}` allows it", rule),))
        return Decision(False, (AskedPart(need.subject, "asked", "it leaves this machine, and costs money"),), (Proposal("search", "*"),))

    def _of(self, action: RuleAction) -> Sequence[PermissionRule]:
        return [rule for rule in self.rules if rule.action == action and not rule.refuses]

    def _proposals(self, need: PermissionNeed, parts: Sequence[AskedPart], hosts: Sequence[AskedPart]) -> tuple[Proposal, ...]:
        """Rules that would make the call free, one for each part that is asked about; empty if no rule can."""
        if need.steers:
            return ()
        made = [Proposal("host", part.text) for part in hosts if part.standing == "asked"]
        asked = [judged for judged, part in zip(need.judged, parts, strict=False) if part.standing == "asked"]
        texts = [proposed(part, alone=len(need.judged) == 1) for part in asked]
        whole = f"{EXACTLY}{need.line}"
        if any(part.standing == "asked" for part in parts):
            commands = [whole] if not texts or None in texts else [text for text in texts if text is not None]
            if any(_command_pattern(text) is None for text in commands):
                return tuple(made)
            made = [*(Proposal("command", text) for text in dict.fromkeys(commands)), *made]
        return tuple(made)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _command_pattern(text: str) -> CommandPattern | None:
    try:
        return command_pattern(text)
    except BadRulePattern:
        return None


def covers_path(pattern: str, path: str) -> bool:
    """Whether a rule for edits is about that file; a pattern that cannot be read is about none."""
    try:
        return path_pattern(pattern).fullmatch(path) is not None
    except BadRulePattern:
        return False


def covers_host(pattern: str, host: str) -> bool:
    """Whether a rule for connections is about that host; a pattern that cannot be read is about none."""
    try:
        return host_matches(pattern, host)
    except BadRulePattern:
        return False


def covers_tool(pattern: str, tool: str) -> bool:
    """Whether a rule is about that tool of a server; a pattern that cannot be read is about none."""
    try:
        return mcp_pattern(pattern).fullmatch(tool) is not None
    except BadRulePattern:
        return False


def proposed(part: LinePart, *, alone: bool) -> str | None:
    """The pattern that is offered for a command: its name with any words behind it, if that is a known name or a subcommand; else its words
    as they are. None if no pattern covers it."""
    if (part.moved and not part.entered) or (part.words[0] in CHANGES_SHELL and not alone):
        return None
    words = [_written(word, glob) for word, glob in zip(part.words, part.globs, strict=True)]
    if any(word is None for word in words):
        return None
    text = " ".join(word for word in words if word is not None)
    if part.name:
        text = f"{part.name} *"
    elif part.words[0] in HAVE_SUBCOMMANDS and (length := subcommands_of(part.words)):
        text = " ".join((*part.words[: length + 1], "*"))
    pattern = _command_pattern(text)
    if pattern is None or not pattern.matches(part):
        text = " ".join(word for word in words if word is not None)
        pattern = _command_pattern(text)
    return text if pattern is not None and pattern.matches(part) else None


def _written(word: str, glob: bool) -> str | None:
    """A word as it stands in a pattern; None if it cannot stand in one."""
    if glob:
        return word.replace("?", "*")
    if word and not set(word) & set("*?'\"$`\\!#;&|<>(){}[]~^ \t\n") and not word.startswith(("=", "^")):
        return word
    if "'" not in word:
        return f"'{word}'"
    return None if set(word) & set('"$`\\!') else f'"{word}"'


def tools_of(pattern: str) -> tuple[str, str]:
    """The server and the tool that the pattern of a rule names; the tool is empty if it names several."""
    server, _, tool = pattern.partition("/")
    return server, "" if "*" in tool else tool


def held_by(pattern: str, need: PermissionNeed) -> str:
    """The digest that a rule of that pattern must have to cover this call of a tool of a server."""
    return need.files if tools_of(pattern)[1] else need.of_server


def check_rule(rule: PermissionRule) -> str:
    """Why that cannot be a rule, in words for the user; empty if it can."""
    try:
        (check_refusing if rule.refuses else check_pattern)(rule.action, rule.pattern)
    except BadRulePattern as error:
        return str(error)
    return ""


def explanation_of(rule: PermissionRule) -> str:
    """What the rule lets run, or refuses, in words for the user."""
    return explained_refusal(rule.action, rule.pattern) if rule.refuses else explained(rule.action, rule.pattern)


def warning_about(rule: PermissionRule) -> str:
    """A warning that a rule allows much; empty if it does not. A rule that refuses more than was meant shows that by itself."""
    return "" if rule.refuses else warning_of(rule.action, rule.pattern)
