"""What stands before the messages: the system prompt, the workspace's rules files, the tools. And rules met on the way.

`PreludeInUse` logs another prelude when tools or rules have changed.
"""

from __future__ import annotations

import logging
import platform
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files as package_files
from pathlib import Path

from ullage.context.blocks import SystemPart
from ullage.context.counting.tokens import Calibration
from ullage.context.entries import FileTouch, Prelude
from ullage.session.conversation import Conversation
from ullage.store.errors import StoreFailed
from ullage.tools.rules.reading import ReadRules, ReadRulesNow, none_refused
from ullage.tools.tool import Tool
from ullage.workspace.folders import Folders, OutsideWorkspace
from ullage.workspace.text_file import NotText, TooLarge, read_text

RULES_FILES = ("AGENTS.md", "CLAUDE.md")
"""The names under which projects keep rules for agents."""

RULES_CHARACTERS = 40_000
"""A longer rules file is cut, and says so: rules are in every request."""


def make_prelude(folders: Folders, tools: Mapping[str, Tool], read_rules: ReadRulesNow | None = None) -> Prelude:
    """The prelude as it would be now. Nothing in it changes by itself (no date, no open files): it is the cache's root."""
    instructions = package_files("ullage.session").joinpath("system_prompt.md").read_text("utf-8").strip()
    where = ", ".join(root.as_posix() for root in folders.roots) or "none is open"
    environment = f"Workspace folders: {where}\nSystem: {platform.system()}"
    parts = [SystemPart("system", f"{instructions}\n\n{environment}")]
    may_not_be_read = (read_rules or none_refused(folders))()
    rules = [text for root in folders.roots for text in _rules_in(root, folders, may_not_be_read)]
    if rules:
        parts.append(SystemPart("rules", "\n\n".join(rules)))
    return Prelude(tuple(parts), tuple(tool.spec for tool in tools.values()))


class RulesInForce:
    """The rules files that the agent was told of: the workspace's own from the start, those of a folder below once it is touched."""

    def __init__(self, folders: Folders, read_rules: ReadRulesNow) -> None:
        self._folders = folders
        self._read_rules = read_rules
        self._told: dict[Path, str] = {root: self._read(root) for root in folders.roots}

    def met(self, touches: Iterable[FileTouch]) -> str:
        """The rules that come into force with these touches, as text for the model; empty where there are none."""
        found: list[str] = []
        for touch in touches:
            for folder in self._below_roots(touch.path):
                if folder not in self._told:
                    self._told[folder] = self._read(folder)
                    found.append(self._told[folder])
        return "\n\n".join(text for text in found if text)

    def changed(self, name: str) -> str:
        """What to tell the model when a file was changed that may be a rules file; empty where there is nothing to tell."""
        path = self._absolute(name)
        if path is None or path.name not in RULES_FILES or path.parent not in self._told:
            return ""
        now = self._read(path.parent)
        if now == self._told[path.parent]:
            return ""
        self._told[path.parent] = now
        return f"The rules changed. From now on:\n\n{now}" if now else f"The rules of {name} no longer hold: they were removed."

    def nested(self) -> str:
        """All rules of folders below the workspace's that are in force, as they are now."""
        for folder in self._told:
            self._told[folder] = self._read(folder)
        texts = [text for folder, text in self._told.items() if folder not in self._folders.roots]
        return "\n\n".join(text for text in texts if text)

    def _below_roots(self, name: str) -> list[Path]:
        """The folders above a file, below its workspace folder, outermost first."""
        path = self._absolute(name)
        roots = self._folders.roots
        if path is None:
            return []
        return [up for up in reversed(path.parents) if any(up != root and up.is_relative_to(root) for root in roots)]

    def _absolute(self, name: str) -> Path | None:
        return self._folders.first / name if self._folders.first is not None else None

    def _read(self, folder: Path) -> str:
        return "\n\n".join(_rules_in(folder, self._folders, self._read_rules()))


def _rules_in(folder: Path, folders: Folders, may_not_be_read: ReadRules) -> list[str]:
    texts: list[str] = []
    for name in RULES_FILES:
        try:
            path = folders.resolve(str(folder / name))  # a link may lead out of the workspace
            if may_not_be_read.refusing(path, str(folder / name)) is not None:
                continue
            text = read_text(path).text.strip()
        except (OSError, OutsideWorkspace, NotText, TooLarge):
            continue
        if len(text) > RULES_CHARACTERS:
            text = f"{text[:RULES_CHARACTERS]}\n[cut: the file has {len(text):,} characters]"
        if text:
            texts.append(f"Rules of this workspace, from {folders.show(folder / name)}:\n\n{text}")
    return texts


logger = logging.getLogger(__name__)


class PreludeInUse:
    """Keeps `tools`, which others look into, and the prelude in the log to what `make_tools` and the rules files give."""

    def __init__(
        self,
        conversation: Conversation,
        folders: Folders,
        tools: dict[str, Tool],
        make_tools: Callable[[], Mapping[str, Tool]],
        read_rules: ReadRulesNow,
    ) -> None:
        self._conversation = conversation
        self._folders = folders
        self._tools = tools
        self._make_tools = make_tools
        self._read_rules = read_rules

    def use(self) -> None:
        """Logs the prelude where it is new or has changed."""
        now = self._changed()
        if now is not None:
            self._conversation.append(now)

    async def use_as_foreseen(self, calibration: Calibration) -> None:
        """The same, without holding up other work where all of a long conversation is folded and counted anew for it."""
        now = self._changed()
        if now is not None:
            await self._conversation.foresee(now, calibration)
            self.use()  # settings may have changed meanwhile

    def _changed(self) -> Prelude | None:
        """The prelude where it is not as in the log. In the middle of an epoch the rules stay as they were: changing them would cost
        the cache and all thinking."""
        now = make_prelude(self._folders, self._tools, self._read_rules)
        before = self._conversation.projection.prelude
        begun = bool(self._conversation.projection.messages)
        changed = before is None or before.tools != now.tools or before.system[:1] != now.system[:1] or (not begun and before != now)
        return now if changed else None

    def settings_changed(self) -> None:
        """The tools work by other settings from now on; the model is told of new ones with the next turn."""
        self._tools.update(self._make_tools())

    def renew_tools(self) -> None:
        """Another policy is in force: some come with tools of their own."""
        tools = self._make_tools()
        gone = self._tools.keys() - tools.keys()
        self._tools.update(tools)
        for name in gone:
            del self._tools[name]
        if self._conversation.projection.prelude is not None:
            self.use()

    def renew(self) -> None:
        """At an epoch boundary rules that changed go where rules belong."""
        now = make_prelude(self._folders, self._tools, self._read_rules)
        try:
            if now != self._conversation.projection.prelude:
                self._conversation.append(now)
        except StoreFailed as error:  # the compaction itself is logged
            logger.warning("session %s goes on with the rules as they were: %s", self._conversation.session_id, error)
