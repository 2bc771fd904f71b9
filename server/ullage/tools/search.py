"""The `search` tool: finds a regular expression in the files of the workspace, unsaved text in the editor included.

Files are searched as `search_on_disk.py` says; matching in Python is done in a process of its own (`search_matching.py`).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from pathspec import GitIgnoreSpec

from ullage.context.blocks import Json, ToolSpec
from ullage.context.quoting import in_a_line
from ullage.processes.programs import find_program
from ullage.tools.file_tools import FILE_ERRORS, file_failure
from ullage.tools.search_matching import MATCHES, BadPattern, Found, Search, match_lines
from ullage.tools.search_on_disk import holds_ripgrep_up, search_with_python, search_with_ripgrep, too_large
from ullage.tools.tool import PermissionNeed, ToolCall, ToolKind, ToolOutcome, boolean, check_input, description, text
from ullage.workspace.editor import Editor
from ullage.workspace.folders import Folders
from ullage.workspace.ignore import IgnoreRules, is_cheap
from ullage.workspace.text_file import MAXIMUM_BYTES, normalise_newlines
from ullage.workspace.without_links import NotRegular

SHOWN_CHARACTERS = 24_000
"""No more is returned, so that the result is not clipped in the middle."""

NAMED_FILES = 5
"""Files that are named where they are too large to be searched."""

BRACES = 4
"""`{this,that}` in one glob; the choices multiply."""


class SearchFiles:
    """Searches files."""

    kind: ToolKind = "search"

    def __init__(self, folders: Folders, editor: Editor) -> None:
        self._folders = folders
        self._editor = editor
        self.spec = ToolSpec(
            "search",
            description("search"),
            {
                "type": "object",
                "properties": {
                    "pattern": {"type": "string", "minLength": 1, "description": "A regular expression, matched line by line."},
                    "path": {"type": "string", "description": "A folder or file to search in; all workspace folders if left out."},
                    "glob": {"type": "string", "description": "Only files whose path matches, such as `*.py` or `src/**/*.{ts,tsx}`."},
                    "case_sensitive": {"type": "boolean", "description": "Tell capital letters apart; not if left out."},
                },
                "required": ["pattern"],
            },
        )

    def title(self, input: Mapping[str, Json]) -> str:
        """`Search "gauge" in src`."""
        place = text(input, "path") or text(input, "glob")
        return f'Search "{text(input, "pattern")}"{f" in {place}" if place else ""}'

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """Reading is free."""
        return None

    async def run(self, call: ToolCall) -> ToolOutcome:
        """`path:line: text` for each line that matches."""
        check_input(self.spec.input_schema, call.input)
        name = text(call.input, "path")
        try:
            places = self._places(name)
        except FILE_ERRORS as error:
            return file_failure(error, name, self._folders)
        glob = text(call.input, "glob")
        try:
            wanted = _file_filter(glob, self._folders)
        except ValueError:
            return ToolOutcome(f"`{glob}` is not a usable glob. Use one such as `*.py` or `src/**/*.{{ts,tsx}}`", is_error=True)
        search = Search(
            pattern=text(call.input, "pattern"),
            case_sensitive=boolean(call.input, "case_sensitive"),
            places=places,
            wanted=lambda path: wanted(path) and not self._folders.hides(path),
            skipped=frozenset(self._editor.open_paths()),
        )
        rules = IgnoreRules(self._folders.roots)
        try:
            found = await self._find(search, rules)
        except BadPattern as error:
            return ToolOutcome(f"`{search.pattern}` is not a valid regular expression: {error}", is_error=True)
        left_out = () if found.cut_short else await asyncio.to_thread(too_large, search, rules)
        return ToolOutcome("\n".join((self._shown(found), *self._too_large(left_out))))

    def _places(self, name: str) -> tuple[Path, ...]:
        if not name:
            self._folders.resolve(".")  # says what to do where there is no folder
            return self._folders.roots
        path = self._folders.resolve(name)
        if self._editor.open_text(path) is None:
            if not path.exists():
                raise FileNotFoundError(path)
            if not path.is_dir() and not path.is_file():
                raise NotRegular(path)
        return (path,)

    async def _find(self, search: Search, rules: IgnoreRules) -> Found:
        """Open documents first, by their text in the editor; then all other files."""
        texts = {path: text for path in sorted(search.skipped) if (text := self._open_text(path, search, rules)) is not None}
        ripgrep = find_program("rg", not_in=self._folders.roots)
        if ripgrep is None or await asyncio.to_thread(holds_ripgrep_up, search, rules):
            return await search_with_python(search, rules, texts)
        in_editor = await match_lines(search, texts, ())
        found = await search_with_ripgrep(ripgrep, search, rules)
        matches = (*in_editor.matches, *found.matches)
        return Found(matches[:MATCHES], in_editor.cut_short or found.cut_short or len(matches) > MATCHES)

    def _open_text(self, path: Path, search: Search, rules: IgnoreRules) -> str | None:
        """The text of an open document that is to be searched; None where it is not."""
        open_text = self._editor.open_text(path)
        place = next((place for place in search.places if path.is_relative_to(place)), None)
        if open_text is None or place is None or not self._folders.contains(path) or not search.wanted(path):
            return None
        if path != place and rules.below(place).ignores(path, is_folder=False):
            return None
        return normalise_newlines(open_text)[0]

    def _shown(self, found: Found) -> str:
        if not found.matches:
            return (
                "No matches."
                if not found.cut_short
                else "No matches in the time there was. Search in a folder, with a glob, or for something simpler."
            )
        lines: list[str] = []
        characters = 0
        for match in found.matches:
            line = f"{in_a_line(self._folders.show(match.path))}:{match.line}: {match.text}"
            characters += len(line) + 1
            if lines and characters > SHOWN_CHARACTERS:
                break
            lines.append(line)
        if found.cut_short or len(lines) < len(found.matches):
            lines.append(f"(Only the first {len(lines)} matches. Narrow the search with path, glob or a longer pattern.)")
        return "\n".join(lines)

    def _too_large(self, paths: Sequence[Path]) -> Iterator[str]:
        if paths:
            named = ", ".join(f"`{in_a_line(self._folders.show(path))}`" for path in paths[:NAMED_FILES])
            more = f" and {len(paths) - NAMED_FILES} more" if len(paths) > NAMED_FILES else ""
            yield f"(Not searched, for they are over {MAXIMUM_BYTES:,} bytes: {named}{more}. Use bash to look into them.)"


def _file_filter(glob: str, folders: Folders) -> Callable[[Path], bool]:
    """Globs mean what they mean in a .gitignore (without a `/` they match at any depth), and know `{this,that}` besides.

    Raises `ValueError` for one that is not valid, or that could take for ever.
    """
    if not glob:
        return lambda path: True
    globs = _without_braces(glob)
    if not all(map(is_cheap, globs)):
        raise ValueError(glob)
    try:
        spec = GitIgnoreSpec.from_lines(globs)
    except re.error as error:
        raise ValueError(glob) from error
    return lambda path: spec.match_file(_below_folder(path, folders))


def _without_braces(glob: str) -> list[str]:
    """One glob for each choice. Raises `ValueError` where there are too many."""
    braces = re.search(r"\{([^{}]*)\}", glob)
    if braces is None:
        return [glob]
    if glob.count("{") > BRACES:
        raise ValueError(glob)
    start, end = glob[: braces.start()], glob[braces.end() :]
    return [each for choice in braces.group(1).split(",") for each in _without_braces(f"{start}{choice}{end}")]


def _below_folder(path: Path, folders: Folders) -> str:
    root = next((root for root in folders.roots if path.is_relative_to(root)), None)
    return path.relative_to(root).as_posix() if root is not None else path.name
