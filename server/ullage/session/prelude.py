"""What stands before the messages: the system prompt, the workspace's rules files, the tools. And rules met on the way."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from importlib.resources import files as package_files
from pathlib import Path

from ullage.context.blocks import SystemPart
from ullage.context.entries import FileTouch, Prelude
from ullage.tools.tool import Tool
from ullage.workspace.folders import Folders, OutsideWorkspace
from ullage.workspace.text_file import NotText, TooLarge, read_text

RULES_FILES = ("AGENTS.md", "CLAUDE.md")
"""The names under which projects keep rules for agents."""

RULES_CHARACTERS = 40_000
"""A longer rules file is cut, and says so: rules are in every request."""


def make_prelude(folders: Folders, tools: Mapping[str, Tool]) -> Prelude:
    """The prelude as it would be now. Nothing in it changes by itself (no date, no open files): it is the cache's root."""
    instructions = package_files("ullage.session").joinpath("system_prompt.md").read_text("utf-8").strip()
    where = ", ".join(root.as_posix() for root in folders.roots) or "none is open"
    environment = f"Workspace folders: {where}\nSystem: {platform.system()}"
    parts = [SystemPart("system", f"{instructions}\n\n{environment}")]
    rules = [text for root in folders.roots for text in _rules_in(root, folders)]
    if rules:
        parts.append(SystemPart("rules", "\n\n".join(rules)))
    return Prelude(tuple(parts), tuple(tool.spec for tool in tools.values()))


class RulesInForce:
    """The rules files that the agent was told of: the workspace's own from the start, those of a folder below once it is touched."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
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
        return "\n\n".join(_rules_in(folder, self._folders))


def _rules_in(folder: Path, folders: Folders) -> list[str]:
    texts: list[str] = []
    for name in RULES_FILES:
        try:
            text = read_text(folders.resolve(str(folder / name))).text.strip()  # a link may lead out of the workspace
        except (OSError, OutsideWorkspace, NotText, TooLarge):
            continue
        if len(text) > RULES_CHARACTERS:
            text = f"{text[:RULES_CHARACTERS]}\n[cut: the file has {len(text):,} characters]"
        if text:
            texts.append(f"Rules of this workspace, from {folders.show(folder / name)}:\n\n{text}")
    return texts
