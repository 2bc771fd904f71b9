"""Rules files: where projects keep them for their agents, in which format, and when each is in force. Finding and reading them.

`PLACES` is the table. A file may be in force from the start, with files that it names by patterns, where the agent finds that it fits the
work, or only by hand. A text that stands in two of these files is told once. Which rules the model was told of: `in_force.py`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias

from ullage.context.quoting import in_a_line
from ullage.session.instructions.globs import fits
from ullage.session.instructions.heads import Head, read_head
from ullage.tools.rules.reading import ReadRules
from ullage.workspace.folders import OWN_FOLDER, Folders, OutsideWorkspace
from ullage.workspace.ignore import ALWAYS_IGNORED
from ullage.workspace.text_file import FileTooLarge, NotText, read_text, text_sha256

RULES_CHARACTERS = 40_000
"""A longer rules file is cut, and says so: rules are in every request."""

MOST_FILES = 100
"""Most rules files of one folder: more are passed over, since no model would follow what they say together."""

MOST_DEEP = 4
"""How many folders deep such a place is looked into."""

MOST_LOOKED_AT = 2_000
"""Most names that are looked at below one place: a skill may bring a whole package along, and all of this is looked at before each
prompt."""

MOST_BYTES = 1_000_000
"""Bytes of the largest rules file, skill or command: it counts in every request or in one prompt, and fits neither from far below that
on."""

MOST_IMPORTS = 100
"""Most imports that one file may name; a text with more is no list of rules."""

IMPORTS_DEEP = 5
"""How many hops imports are followed, from a file to one that it imports, and on. Claude Code documents the same."""

DESCRIPTION_CHARACTERS = 500
"""Most characters of a description in the list of rules that the agent may read; one line of it stands in every request."""


@dataclass(frozen=True, slots=True)
class Always:
    """Rules that are in force from the start, or from when the agent touches a file in their folder."""


@dataclass(frozen=True, slots=True)
class ForFiles:
    """Rules that come into force once the agent touches a file that fits one of the patterns. These start from the folder of the rules."""

    patterns: tuple[str, ...]

    def fits(self, path: str) -> bool:
        """Whether a path below that folder (with `/`) fits."""
        return fits(self.patterns, path)


@dataclass(frozen=True, slots=True)
class OnRequest:
    """Rules of which the agent knows what they are about; it reads them where that fits the work."""

    description: str


@dataclass(frozen=True, slots=True)
class ByHand:
    """Rules that are in force only where the user names the file."""


When: TypeAlias = Always | ForFiles | OnRequest | ByHand


@dataclass(frozen=True, slots=True)
class RulesFile:
    """One file with rules."""

    path: Path
    """The path of the file, with its links resolved."""
    shown: str
    """The path as the model and the user know it."""
    base: Path
    """The folder that the rules are about. Their patterns start there."""
    when: When
    text: str
    """What the model is told of the file; empty if it cannot be read or says what another one says."""
    trouble: str = ""
    """What is wrong with the file, in words for the user; empty if nothing is."""
    source: str = ""
    """The path of the file that imports it, as it is shown; empty if none does."""
    own: bool = False
    """Whether the user keeps it in their home folder."""

    @property
    def told(self) -> str:
        """The rules as the model is told of them."""
        about = f" for {', '.join(f'`{each}`' for each in self.when.patterns)}" if isinstance(self.when, ForFiles) else ""
        whose = "Rules of the user, for all workspaces" if self.own else "Rules of this workspace"
        return f"{whose}{in_a_line(about)}, from {in_a_line(self.shown)}:\n\n{self.text}"


Style: TypeAlias = Literal["plain", "imports", "paths", "cursor", "apply_to"]
"""How a head is read: not at all; not at all, and `@path` imports; `paths`; `globs`, `alwaysApply`, `description`; `applyTo`."""


@dataclass(frozen=True, slots=True)
class RulesPlace:
    """A file with rules below a folder, or, with an `ending`, a folder whose files of that ending are rules."""

    name: str
    style: Style = "plain"
    ending: str = ""
    below: bool = False
    """Whether the place counts in every folder of the workspace, and not only in the workspace folders themselves."""


PLACES: Sequence[RulesPlace] = (
    RulesPlace("AGENTS.md", below=True),  # agents.md
    RulesPlace("CLAUDE.md", "imports", below=True),  # Claude Code, for this and the next three
    RulesPlace(".claude/CLAUDE.md", "imports", below=True),
    RulesPlace("CLAUDE.local.md", "imports", below=True),
    RulesPlace(".claude/rules", "paths", ".md"),
    RulesPlace(".cursorrules"),  # Cursor; its older format
    RulesPlace(".cursor/rules", "cursor", ".mdc", below=True),
    RulesPlace(".clinerules"),  # Cline: a file, or a folder
    RulesPlace(".clinerules", "paths", ".md"),
    RulesPlace(".github/copilot-instructions.md"),  # GitHub Copilot and VS Code
    RulesPlace(".github/instructions", "apply_to", ".instructions.md"),
)
"""The places of rules, in the order in which these are told. Each format is that of its makers' documents in November 2026."""

HOME_PLACES: Sequence[RulesPlace] = (
    RulesPlace(f"{OWN_FOLDER}/AGENTS.md"),
    RulesPlace(".codex/AGENTS.md"),  # Codex
    RulesPlace(".claude/CLAUDE.md", "imports"),  # Claude Code, for this and the next
    RulesPlace(".claude/rules", "paths", ".md"),
)
"""The places of the user's own rules in their home folder, in the order in which these are told."""

_EVERYTHING = frozenset({"*", "**", "**/*", "."})
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_IMPORT = re.compile(r"(?<![\w`])@((?:\\ |[^\s\\`,;:!?()\[\]<>\"'])+)")


def rules_in(folder: Path, folders: Folders, may_not_be_read: ReadRules) -> list[RulesFile]:
    """The rules files of one folder, in the order in which they are told. Below the workspace's own folders fewer places count."""
    reading = _Reading(folder, folders, may_not_be_read)
    for place in PLACES:
        if place.below or folder in folders.roots:
            reading.take(place)
    return reading.found


def rules_at_home(folders: Folders, may_not_be_read: ReadRules) -> list[RulesFile]:
    """The user's own rules files, in the order in which they are told. Their patterns start from the first workspace folder."""
    if folders.home is None or folders.first is None:
        return []
    reading = _Reading(folders.home.path, folders.home, may_not_be_read, about=folders.first)
    for place in HOME_PLACES:
        reading.take(place)
    return reading.found


def folders_of(path: Path) -> frozenset[Path]:
    """The folders whose rules a file would be part of, by where it stands; mostly none."""
    return frozenset(folder for place in PLACES for folder in _folders_by(place, path))


def _folders_by(place: RulesPlace, path: Path) -> Iterator[Path]:
    parts = Path(place.name).parts
    starts = [path] if not place.ending else list(path.parents) if path.name.endswith(place.ending) else []
    for start in starts:
        if start.parts[-len(parts) :] == parts:
            yield start.parents[len(parts) - 1]


def files_below(folder: Path, ending: str) -> Sequence[Path]:
    """The files of an ending in a folder and those below, by name, `MOST_FILES` at most; links to folders are not followed."""
    found: list[Path] = []
    room = MOST_LOOKED_AT

    def look(into: Path, deep: int) -> None:
        nonlocal room
        try:
            with os.scandir(into) as listing:
                entries = sorted(islice(listing, room), key=lambda each: each.name)
        except OSError:
            return
        room -= len(entries)
        for entry in entries:
            if len(found) >= MOST_FILES:
                return
            is_folder = os.path.isdir(entry.path)  # noqa: PTH112 - wherever a link leads to, this raises nothing
            if entry.name.endswith(ending) and not is_folder:
                found.append(Path(entry.path))
            elif deep < MOST_DEEP and is_folder and not entry.is_symlink() and entry.name not in ALWAYS_IGNORED:
                look(Path(entry.path), deep + 1)

    if not folder.is_symlink():
        look(folder, 0)
    return found


def read_instructions(path: Path) -> str:
    """The text of a rules file, a skill or a command. Raises what `read_text` raises."""
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise FileTooLarge(f"it has {size:,} bytes, and {MOST_BYTES:,} are the most")
    return read_text(path).text


class _Reading:
    """Reads the rules files of one folder. One that says the same as a file before it has no text."""

    def __init__(self, folder: Path, folders: Folders, may_not_be_read: ReadRules, about: Path | None = None) -> None:
        """With `about`, the folder is the user's home, and its rules are about that other folder."""
        self._folder = folder
        self._base = folder if about is None else about
        self._own = about is not None
        self._folders = folders
        self._may_not_be_read = may_not_be_read
        self.found: list[RulesFile] = []
        self._said: dict[str, list[RulesFile]] = {}
        """The files that said a text before, by its hash."""

    def take(self, place: RulesPlace) -> None:
        """Reads all files of a place, and what they import."""
        start = self._folder / place.name
        if not place.ending:
            if _may_be_there(start):
                self._file(start, place.style, source="", hops=0)
            return
        for path in files_below(start, place.ending):
            self._file(path, place.style, source="", hops=0)

    def _file(self, named: Path, style: Style, source: str, hops: int) -> None:
        shown = self._folders.show(named)
        try:
            path = self._folders.resolve(str(named))  # a link may lead out of the workspace
        except OutsideWorkspace:
            return
        if any(each.path == path for each in self.found) or len(self.found) >= MOST_FILES:
            return
        if self._may_not_be_read.refusing(path, str(named)) is not None:
            self._add(RulesFile(path, shown, self._base, Always(), "", "one of your rules refuses to have it read", source))
            return
        try:
            text = read_instructions(path)
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return
        except (OSError, NotText, FileTooLarge) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            self._add(RulesFile(path, shown, self._base, Always(), "", f"it cannot be read: {reason}", source))
            return
        head = Head(text) if style in ("plain", "imports") else read_head(text)
        self._add(RulesFile(path, shown, self._base, _when(head, style), head.body.strip(), head.trouble, source))
        if style == "imports" and hops < IMPORTS_DEEP:
            for name in _imports(head.body, self._folder if self._own else None):
                if _may_be_there(path.parent / name):
                    self._file(path.parent / name, style, shown, hops + 1)

    def _add(self, file: RulesFile) -> None:
        """Adds a file, without its text if that was said before, and cut if it is too long."""
        file = replace(file, own=self._own)
        said = self._said.setdefault(text_sha256(file.text), []) if file.text else []
        before = next((each for each in said if isinstance(each.when, Always) or each.when == file.when), None)
        if before is not None:
            self.found.append(replace(file, text="", trouble=f"says the same as {before.shown}"))
            return
        said.append(file)
        length = len(file.text)
        if length > RULES_CHARACTERS:
            cut = f"{file.text[:RULES_CHARACTERS]}\n[cut: the file has {length:,} characters]"
            file = replace(file, text=cut, trouble=f"only the first {RULES_CHARACTERS:,} of its {length:,} characters count")
        self.found.append(file)


def _may_be_there(path: Path) -> bool:
    """Whether a file may be there. For most places in most folders it is not, and this tells so quickly: to resolve a path takes twenty
    times as long."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True
    return True


def _when(head: Head, style: Style) -> When:
    """When the rules of a file are in force, by its head."""
    match style:
        case "plain" | "imports":
            return Always()
        case "paths" | "apply_to":
            patterns = head.items("paths" if style == "paths" else "applyTo")
            if not patterns and style == "apply_to":
                return _by_description(head)
            return Always() if not patterns or not _EVERYTHING.isdisjoint(patterns) else ForFiles(patterns)
        case "cursor":
            patterns = head.items("globs")
            if head.flag("alwaysApply") or not head.values:
                return Always()
            if patterns:
                return Always() if not _EVERYTHING.isdisjoint(patterns) else ForFiles(patterns)
            return _by_description(head)


def _by_description(head: Head) -> When:
    description = in_a_line(" ".join(head.text("description").split()))
    return OnRequest(description[:DESCRIPTION_CHARACTERS]) if description else ByHand()


def _imports(text: str, home: Path | None) -> Sequence[str]:
    """The paths that a text imports, each once: `@docs/style.md`, outside of code. A path that names no file comes to nothing later. In a
    text of the user's own, `@~/…` is in their home folder."""
    names = (match[1].replace("\\ ", " ").rstrip(".") for match in _IMPORT.finditer(_FENCED.sub(" ", text)))
    if home is not None:
        names = (str(home / name.removeprefix("~/")) if name.startswith("~/") else name for name in names)
    # the user's own files are nobody's to name from a workspace
    return list(islice(dict.fromkeys(name for name in names if name and not name.startswith("~")), MOST_IMPORTS))
