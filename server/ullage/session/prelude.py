"""What stands before the messages: the system prompt, the workspace's rules files, the tools. And rules met on the way."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from importlib.resources import files as package_files
from pathlib import Path

from ullage.context.blocks import SystemPart
from ullage.context.entries import FileTouch, Prelude
from ullage.tools.tool import Tool
from ullage.workspace.folders import Folders
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


class NestedRules:
    """Rules files of folders below the workspace's: they come into force when the agent first touches such a folder."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._in_force: dict[Path, str] = {}

    def met(self, touches: Iterable[FileTouch]) -> str:
        """The rules that come into force with these touches, as text for the model; empty where there are none."""
        found: list[str] = []
        for touch in touches:
            for folder in self._between(touch.path):
                if folder not in self._in_force:
                    text = "\n\n".join(_rules_in(folder, self._folders))
                    self._in_force[folder] = text
                    found.append(text)
        return "\n\n".join(text for text in found if text)

    def text(self) -> str:
        """All nested rules in force, read again."""
        self._in_force = {folder: "\n\n".join(_rules_in(folder, self._folders)) for folder in self._in_force}
        return "\n\n".join(text for text in self._in_force.values() if text)

    def _between(self, path: str) -> list[Path]:
        """The folders above a file, below its workspace folder, outermost first."""
        first = self._folders.first
        if first is None:
            return []
        absolute = first / path
        return [
            parent
            for parent in reversed(absolute.parents)
            if any(parent != root and parent.is_relative_to(root) for root in self._folders.roots)
        ]


def _rules_in(folder: Path, folders: Folders) -> list[str]:
    texts: list[str] = []
    for name in RULES_FILES:
        try:
            text = read_text(folder / name).text.strip()
        except (OSError, NotText, TooLarge):
            continue
        if len(text) > RULES_CHARACTERS:
            text = f"{text[:RULES_CHARACTERS]}\n[cut: the file has {len(text):,} characters]"
        if text:
            texts.append(f"Rules of this workspace, from {folders.show(folder / name)}:\n\n{text}")
    return texts
