"""Where other programs keep their sessions on this machine: the files that may be one, without reading any of them.

The places were taken from the programs' own documentation and sources, which the readers name. All of them are looked at on every system:
what is not there gives nothing. No link is followed out of them, and nothing is written.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

Program: TypeAlias = Literal["claude-code", "codex", "cline", "opencode"]
"""The programs whose sessions are looked for."""

EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
"""The editors whose storage Cline may be in."""
REMOTE_EDITORS = (".vscode-server", ".vscode-server-insiders", ".vscodium-server", ".cursor-server", ".windsurf-server")
CLINE = "saoudrizwan.claude-dev"

MOST_FILES = 20_000
"""Files of one program; more are not even listed."""

_NOT_IN_A_FOLDERS_NAME = re.compile(r"[^A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class Home:
    """The user whose sessions are looked for: their home folder, and the environment, which may name other places."""

    folder: Path
    environment: Mapping[str, str]

    def named(self, variable: str, *usual: str) -> Path:
        """The folder that the variable names by an absolute path, else the usual one below the home folder."""
        told = self.environment.get(variable, "")
        return Path(told) if told and Path(told).is_absolute() else self.folder.joinpath(*usual)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that may be a session, or a database of them. `updated_at` is Unix seconds, `size` bytes."""

    program: Program
    path: Path
    updated_at: float
    size: int


def home_of_this_user() -> Home:
    """The home of the user who started this process, with its environment."""
    return Home(Path.home(), dict(os.environ))


def candidates(home: Home) -> list[Candidate]:
    """All files that may hold sessions of these programs, last changed first."""
    found = [*_claude_code(home), *_codex(home), *_cline(home), *_opencode(home)]
    return sorted(found, key=lambda each: -each.updated_at)


def folder_of_claude(project: Path) -> str:
    """The name that Claude Code gives to its folder for a project."""
    return _NOT_IN_A_FOLDERS_NAME.sub("-", str(project))


def _claude_code(home: Home) -> Iterator[Candidate]:
    projects = home.named("CLAUDE_CONFIG_DIR", ".claude") / "projects"
    files = (file for folder in _folders(projects) for file in _files(folder, ".jsonl") if not file.name.startswith("agent-"))
    return _as("claude-code", files)


def _codex(home: Home) -> Iterator[Candidate]:
    own = home.named("CODEX_HOME", ".codex")
    files = (file for top in ("sessions", "archived_sessions") for file in _below(own / top, 3) if file.name.startswith("rollout-"))
    return _as("codex", (file for file in files if file.name.endswith(".jsonl")))


def _cline(home: Home) -> Iterator[Candidate]:
    roots = [home.folder / ".cline" / "data"]
    settings = [
        home.named("XDG_CONFIG_HOME", ".config"),
        home.folder / "Library" / "Application Support",
        home.named("APPDATA", "AppData", "Roaming"),
    ]
    users = [top / editor / "User" for top in settings for editor in EDITORS]
    users += [home.folder / editor / "data" / "User" for editor in REMOTE_EDITORS]
    roots += [user / "globalStorage" / CLINE for user in users]
    tasks = (task / "api_conversation_history.json" for root in roots for task in _folders(root / "tasks"))
    newer = (each / f"{each.name}.messages.json" for root in roots for each in _folders(root / "sessions"))
    return _as("cline", (*tasks, *newer))


def _opencode(home: Home) -> Iterator[Candidate]:
    own = home.named("XDG_DATA_HOME", ".local", "share") / "opencode"
    databases = [file for file in _files(own, ".db") if file.name.startswith("opencode")]
    old = () if databases else (file for folder in _folders(own / "storage" / "session") for file in _files(folder, ".json"))
    return _as("opencode", (*databases, *old))


def _as(program: Program, files: Iterable[Path]) -> Iterator[Candidate]:
    seen: set[Path] = set()
    for file in files:
        if len(seen) >= MOST_FILES:
            return
        try:
            about = file.lstat()
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(about.st_mode) and about.st_size and file not in seen:
            seen.add(file)
            yield Candidate(program, file, about.st_mtime, about.st_size)


def _folders(folder: Path) -> list[Path]:
    return [Path(entry.path) for entry in _listed(folder) if entry.is_dir(follow_symlinks=False)]


def _files(folder: Path, ending: str) -> list[Path]:
    return [Path(entry.path) for entry in _listed(folder) if entry.name.endswith(ending)]


def _below(folder: Path, levels: int) -> Iterator[Path]:
    for entry in _listed(folder):
        if not entry.is_dir(follow_symlinks=False):
            yield Path(entry.path)
        elif levels:
            yield from _below(Path(entry.path), levels - 1)


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    """The entries of a folder, the last in alphabetical order first, at most `MOST_FILES`. Empty if it is not there or may not be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name, reverse=True)[:MOST_FILES]
    except OSError:
        return []
