"""The `search` tool: finds a regular expression in the files of the workspace, unsaved text in the editor included.

On disk ripgrep searches. It is told which files to look at such that it finds what Python would. Python is slower, and its regular
expressions differ in rare corners only. Where there is no ripgrep, or where it would wait for ever for ignore rules, Python searches.
"""

from __future__ import annotations

import asyncio
import re
import stat
import time
from asyncio import IncompleteReadError, LimitOverrunError, StreamReader
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path

from pathspec import GitIgnoreSpec

from ullage.context.blocks import Json, ToolSpec
from ullage.context.quoting import in_a_line
from ullage.processes.programs import find_program
from ullage.processes.start import Asker, Running, start
from ullage.tools.file_tools import FILE_ERRORS, file_failure
from ullage.tools.rules.reading import ReadRules, ReadRulesNow, none_refused
from ullage.tools.search_matching import MATCHES, SECONDS, BadSearchPattern, FileSearch, FoundLines, MatchingLine, match_lines, shown_line
from ullage.tools.tool import PermissionNeed, ToolCall, ToolKind, ToolOutcome, boolean, check_input, description, text
from ullage.workspace.files import Editor
from ullage.workspace.folders import Folders
from ullage.workspace.ignore import ALWAYS_IGNORED, IgnoreRules, is_cheap, meet_folders, walk_files
from ullage.workspace.regular_files import NotRegular
from ullage.workspace.text_file import MAXIMUM_BYTES, normalise_newlines

SHOWN_CHARACTERS = 24_000
"""The most characters of a result, so that it is not clipped in the middle."""

NAMED_FILES = 5
"""How many files are named that are too large to be searched."""

BRACES = 4
"""How many `{this,that}` one glob may have; the choices multiply."""


class SearchFiles:
    """Searches the files of the workspace for a regular expression."""

    kind: ToolKind = "search"

    def __init__(self, folders: Folders, editor: Editor, rules: ReadRulesNow | None = None) -> None:
        self._folders = folders
        self._rules = rules or none_refused(folders)
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
        """The title of a call: `Search "gauge" in src`."""
        place = text(input, "path") or text(input, "glob")
        return f'Search "{text(input, "pattern")}"{f" in {place}" if place else ""}'

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """Always None: searching is free, if no rule refuses it (`run`)."""
        return None

    async def run(self, call: ToolCall) -> ToolOutcome:
        """The lines that match, each as `path:line: text`."""
        check_input(self.spec.input_schema, call.input)
        name = text(call.input, "path")
        try:
            places = self._places(name)
        except FILE_ERRORS as error:
            return file_failure(error, name, self._folders)
        read_rules = self._rules()
        refusing = next((rule for place in places if (rule := read_rules.refusing(place, name)) is not None), None)
        if refusing is not None:
            return await read_rules.refused(refusing)
        glob = text(call.input, "glob")
        try:
            wanted = _file_filter(glob, self._folders)
        except ValueError:
            return ToolOutcome(f"`{glob}` is not a usable glob. Use one such as `*.py` or `src/**/*.{{ts,tsx}}`", is_error=True)
        search = FileSearch(
            pattern=text(call.input, "pattern"),
            case_sensitive=boolean(call.input, "case_sensitive"),
            places=places,
            wanted=lambda path: wanted(path) and not self._folders.hides(path) and read_rules.refusing(path) is None,
            skipped=frozenset(path for path in self._editor.open_paths() if self._editor.open_text(path) is not None),
        )
        rules = IgnoreRules(self._folders.roots)
        try:
            found = await self._find(search, rules)
        except BadSearchPattern as error:
            return ToolOutcome(f"`{search.pattern}` is not a valid regular expression: {error}", is_error=True)
        left_out = () if found.cut_short else await asyncio.to_thread(too_large, search, rules)
        return ToolOutcome("\n".join((self._shown(found), *self._too_large(left_out), *_left_out_by(read_rules))))

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

    async def _find(self, search: FileSearch, rules: IgnoreRules) -> FoundLines:
        """Searches open documents first, by their text in the editor; then all other files."""
        texts = {path: text for path in sorted(search.skipped) if (text := self._open_text(path, search, rules)) is not None}
        ripgrep = find_program("rg", not_in=self._folders.roots)
        if ripgrep is None or await asyncio.to_thread(holds_ripgrep_up, search, rules):
            return await search_with_python(search, rules, texts)
        in_editor = await match_lines(search, texts, ())
        found = await search_with_ripgrep(ripgrep, search, rules)
        matches = (*in_editor.matches, *found.matches)
        return FoundLines(matches[:MATCHES], in_editor.cut_short or found.cut_short or len(matches) > MATCHES)

    def _open_text(self, path: Path, search: FileSearch, rules: IgnoreRules) -> str | None:
        """The text of an open document that is to be searched; None if the document is not open or not to be searched."""
        open_text = self._editor.open_text(path)
        place = next((place for place in search.places if path.is_relative_to(place)), None)
        if open_text is None or place is None or not self._folders.contains(path) or not search.wanted(path):
            return None
        if path != place and rules.below(place).ignores(path, is_folder=False):
            return None
        return normalise_newlines(open_text)[0]

    def _shown(self, found: FoundLines) -> str:
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


def _left_out_by(rules: ReadRules) -> Iterator[str]:
    """The remark that files are left out by rules. It is made whether or not there are such files: their content must not show."""
    if rules.rules:
        yield f"(No file was searched that rules of the user's refuse to have read: {rules.in_words}.)"


def _file_filter(glob: str, folders: Folders) -> Callable[[Path], bool]:
    """A function that says whether the globs fit a file.

    They mean what they mean in a .gitignore (without a `/` they match at any depth), and know `{this,that}` besides. Raises `ValueError`
    for one that is not valid, or that could take for ever.
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
    """The globs that a glob with `{this,that}` stands for, one for each choice. Raises `ValueError` if there are too many."""
    braces = re.search(r"\{([^{}]*)\}", glob)
    if braces is None:
        return [glob]
    if glob.count("{") > BRACES:
        raise ValueError(glob)
    begin, end = braces.span()
    return [each for choice in braces.group(1).split(",") for each in _without_braces(f"{glob[:begin]}{choice}{glob[end:]}")]


def _below_folder(path: Path, folders: Folders) -> str:
    root = next((root for root in folders.roots if path.is_relative_to(root)), None)
    return path.relative_to(root).as_posix() if root is not None else path.name


# On disk

CUT_COLUMNS = 2_000

REMARKS = re.compile(rb"\A(?:[^\n]*: [^\n]*binary file matches[^\n]*\n|[^\n]*: WARNING: stopped searching binary file[^\n]*\n)+")
"""Ripgrep's remarks about binary files, which stand between its matches."""

OPENED_BY_RIPGREP = (".gitignore", ".rgignore", ".git/info/exclude")
"""The files that ripgrep opens in every folder that it meets, even in one that is ignored, and in those above. Version 13 opens `.rgignore`
whatever it is told."""

SECONDS_FOR_RULES = 2.0
"""How long folders are looked at for something that would hold ripgrep up."""

SECONDS_FOR_SIZES = 2.0
"""How long files are looked for that are too large to be searched: some 300,000 can be looked at."""


async def search_with_ripgrep(program: str, search: FileSearch, rules: IgnoreRules) -> FoundLines:
    """The matches that ripgrep finds; it is ended once there are enough. Raises `BadSearchPattern`."""
    matches: list[MatchingLine] = []
    cut_short = False
    for place in search.places:
        command = [program, *_options(search, place, rules), "--regexp", search.pattern, "--", str(place)]
        found = await _run(command, search, MATCHES - len(matches))
        matches += found.matches
        cut_short = cut_short or found.cut_short
        if cut_short:
            break
    return FoundLines(tuple(matches), cut_short)


def holds_ripgrep_up(search: FileSearch, rules: IgnoreRules) -> bool:
    """Whether ignore rules that ripgrep would read are a pipe or a device, which may never end; as far as seen in `SECONDS_FOR_RULES`."""
    deadline = time.monotonic() + SECONDS_FOR_RULES
    for place in search.places:
        if not place.is_dir():  # it reads no rules for one file
            continue
        met = (folder for folder, _ in meet_folders(place, rules.below(place)))
        for folder in chain(place.parents, met):
            if any(_may_never_end(folder / name) for name in OPENED_BY_RIPGREP):
                return True
            if time.monotonic() > deadline:
                return False
    return False


def _may_never_end(path: Path) -> bool:
    try:
        mode = path.stat().st_mode  # through links, as ripgrep opens it
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _options(search: FileSearch, place: Path, rules: IgnoreRules) -> list[str]:
    options = [
        "--no-config",
        "--no-heading",
        "--with-filename",
        "--line-number",
        "--null",
        "--color=never",
        "--hidden",
        "--no-require-git",
        "--no-ignore-global",
        "--no-ignore-dot",
        "--no-messages",
        "--crlf",
        "--sort=path",
        f"--max-filesize={MAXIMUM_BYTES}",
        f"--max-columns={CUT_COLUMNS}",
        "--max-columns-preview",
        "--case-sensitive" if search.case_sensitive else "--ignore-case",
    ]
    if rules.below(place) is not rules:
        options.append("--no-ignore-vcs")
    return options + [f"--glob=!{name}/" for name in sorted(ALWAYS_IGNORED)]


async def _run(command: list[str], search: FileSearch, wanted: int) -> FoundLines:
    process = await start(Asker.RIPGREP, command, complaints=True)
    matches: list[MatchingLine] = []
    try:
        async with asyncio.timeout(SECONDS):
            cut_short = await _collect(process, search, wanted, matches)
    except TimeoutError:
        cut_short = True
    finally:
        await process.end()
    return FoundLines(tuple(matches), cut_short)


async def _collect(process: Running, search: FileSearch, wanted: int, matches: list[MatchingLine]) -> bool:
    """Adds matches to `matches` as they come; gives whether there are more than `wanted`. Raises `BadSearchPattern`."""
    async for match in _matches(process.output):
        if match.path in search.skipped or not search.wanted(match.path):
            continue
        if len(matches) == wanted:
            return True
        matches.append(match)
    complaint = (await process.complaints.read()).decode(errors="replace").strip()
    if await process.wait() == 2 and not matches and "regex" in complaint:
        raise BadSearchPattern(complaint.splitlines()[-1].removeprefix("error: "))
    return False


async def _matches(output: StreamReader) -> AsyncIterator[MatchingLine]:
    """The matches in ripgrep's output. Each is a path, which may hold ends of lines, NUL, the number of the line, `:`, the line. Remarks
    stand between them."""
    while True:
        try:
            name = await output.readuntil(b"\0")
        except IncompleteReadError:  # the end, after a remark at most
            return
        except LimitOverrunError as error:  # nothing but remarks
            await output.readexactly(error.consumed)
            continue
        rest = await output.readline()
        yield _match(REMARKS.sub(b"", name[:-1]), rest)


def _match(name: bytes, rest: bytes) -> MatchingLine:
    number, _, text = rest.rstrip(b"\r\n").partition(b":")
    return MatchingLine(Path(name.decode(errors="surrogateescape")), int(number), shown_line(text.decode(errors="replace")))


async def search_with_python(search: FileSearch, rules: IgnoreRules, texts: Mapping[Path, str]) -> FoundLines:
    """The matches in `texts`, then those in the files. Raises `BadSearchPattern`."""
    files, all_of_them = await asyncio.to_thread(_files_in_time, search, rules)
    found = await match_lines(search, texts, files)
    return found if all_of_them else replace(found, cut_short=True)


def _files_in_time(search: FileSearch, rules: IgnoreRules) -> tuple[list[Path], bool]:
    """The files to be searched, and whether there was time to find all of them."""
    deadline = time.monotonic() + SECONDS
    files: list[Path] = []
    for path in _files(search, rules):
        if time.monotonic() > deadline:
            return files, False
        if path not in search.skipped and search.wanted(path):
            files.append(path)
    return files, True


def too_large(search: FileSearch, rules: IgnoreRules) -> list[Path]:
    """The files that no search looks into for their size, as far as they are found in `SECONDS_FOR_SIZES`."""
    deadline = time.monotonic() + SECONDS_FOR_SIZES
    found: list[Path] = []
    for path in _files(search, rules):
        if time.monotonic() > deadline:
            break
        with suppress(OSError):
            if search.wanted(path) and path not in search.skipped and path.lstat().st_size > MAXIMUM_BYTES:
                found.append(path)
    return found


def _files(search: FileSearch, rules: IgnoreRules) -> Iterator[Path]:
    for place in search.places:
        yield from walk_files(place, rules.below(place)) if place.is_dir() else (place,)
