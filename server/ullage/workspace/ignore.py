"""What is left alone when folders are walked or watched: git's ignore rules, and folders that never hold the user's own text.

Walking itself is in `walk.py`. The user's global git ignore file is not read: it is about tools, not about the project.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pathspec import GitIgnoreSpec

from ullage.workspace.folders import OWN_FOLDER
from ullage.workspace.text_file import TEMPORARY_PREFIX

ALWAYS_IGNORED = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        OWN_FOLDER,
        "node_modules",
        ".venv",
        "__pycache__",
        ".hypothesis",
        ".mypy_cache",
        ".nox",
        ".pytest_cache",
        ".ruff_cache",
        ".tox",
    }
)
"""Names of folders that are ignored wherever they are, with or without git."""

RULES_FILE = ".gitignore"


class IgnoreRules:
    """The rules of the folders `roots` and of the git repository around each; without roots, only `ALWAYS_IGNORED`.

    Rules files are read when first needed and kept until `forget`.
    """

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = tuple(roots)
        self._tops = {root: _git_top(root) or root for root in roots}
        self._rules: dict[Path, GitIgnoreSpec | None] = {}

    def ignores(self, path: Path, *, is_folder: bool) -> bool:
        """Whether an absolute path, or a folder on the way to it from its root, is ignored."""
        root = self._root_of(path)
        if root is None:
            return self.ignores_child(path, is_folder=is_folder)
        parents = [parent for parent in path.parents if parent != root and parent.is_relative_to(root)]
        return any(self.ignores_child(parent, is_folder=True) for parent in reversed(parents)) or (
            path != root and self.ignores_child(path, is_folder=is_folder)
        )

    def ignores_child(self, path: Path, *, is_folder: bool) -> bool:
        """The same where the folder of `path` is known not to be ignored, as when walking from the top."""
        if path.name in ALWAYS_IGNORED if is_folder else path.name.startswith(TEMPORARY_PREFIX):
            return True
        for folder, rules in self._rules_above(path):
            name = path.relative_to(folder).as_posix()
            ignored = rules.check_file(f"{name}/" if is_folder else name).include
            if ignored is not None:
                return ignored
        return False

    def below(self, start: Path) -> IgnoreRules:
        """The rules for a walk from `start`: where that is itself ignored and was named all the same, git's do not count."""
        return IgnoreRules(()) if self.ignores(start, is_folder=True) else self

    def forget(self) -> None:
        """Reads rules files anew when next needed; to be called when one changed."""
        self._rules.clear()

    def _root_of(self, path: Path) -> Path | None:
        return next((root for root in self._roots if path.is_relative_to(root)), None)

    def _rules_above(self, path: Path) -> Iterator[tuple[Path, GitIgnoreSpec]]:
        """Innermost first, as git lets the nearest rule decide; the repository's own exclude file comes last."""
        root = self._root_of(path)
        if root is None:
            return
        top = self._tops[root]
        for folder in path.parents:
            rules = self._read(folder / RULES_FILE)
            if rules is not None:
                yield folder, rules
            if folder == top:
                break
        exclude = self._read(top / ".git" / "info" / "exclude")
        if exclude is not None:
            yield top, exclude

    def _read(self, file: Path) -> GitIgnoreSpec | None:
        if file not in self._rules:
            self._rules[file] = _parse(file)
        return self._rules[file]


def _parse(file: Path) -> GitIgnoreSpec | None:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:  # one line that git would pass over must not turn the others off
        return GitIgnoreSpec.from_lines([line for line in lines if _is_valid(line)])


def _is_valid(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def _git_top(folder: Path) -> Path | None:
    return next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), None)
