"""The `list_files` tool: what is in a folder, level by level, without what is ignored."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from ullage.context.blocks import Json, ToolSpec
from ullage.context.quoting import in_a_line
from ullage.tools.file_tools import FILE_ERRORS, file_failure
from ullage.tools.rules.reading import ReadRules, ReadRulesNow, none_refused
from ullage.tools.tool import PermissionNeed, ToolCall, ToolKind, ToolOutcome, check_input, description, integer, text
from ullage.workspace.folders import Folders
from ullage.workspace.ignore import FolderItem, IgnoreRules, children
from ullage.workspace.regular_files import NotRegular

DEPTH = 2
LISTED = 500
"""How many names are listed at most; the nearest levels come first, so that what is left out lies deep."""


class ListFiles:
    """Lists what is in a folder."""

    kind: ToolKind = "read"

    def __init__(self, folders: Folders, rules: ReadRulesNow | None = None) -> None:
        self._folders = folders
        self._rules = rules or none_refused(folders)
        self.spec = ToolSpec(
            "list_files",
            description("list_files"),
            {
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The folder; the workspace folder if left out."},
                    "depth": {"type": "integer", "minimum": 1, "description": f"How many levels; {DEPTH} if left out."},
                },
                "required": [],
            },
        )

    def title(self, input: Mapping[str, Json]) -> str:
        """The title of a call: `List src`, `List the workspace folder`."""
        path = text(input, "path")
        return "List the workspace folder" if path in ("", ".") else f"List {path}"

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """Always None: listing is free, if no rule refuses it (`run`)."""
        return None

    async def run(self, call: ToolCall) -> ToolOutcome:
        """The paths in the folder as the other tools take them; those of folders end in `/`."""
        check_input(self.spec.input_schema, call.input)
        name = text(call.input, "path") or "."
        try:
            start = self._folders.resolve(name)
            rules = self._rules()
            refusing = rules.refusing(start, name)
            if refusing is not None:
                return await rules.refused(refusing)
            if not start.exists():
                raise FileNotFoundError(start)
            if not start.is_dir():
                if not start.is_file():
                    raise NotRegular(start)
                return ToolOutcome(f"`{name}` is a file. Use read_file to read it.", is_error=True)
        except FILE_ERRORS as error:
            return file_failure(error, name, self._folders)
        return ToolOutcome(await asyncio.to_thread(self._listing, start, integer(call.input, "depth", DEPTH), rules))

    def _listing(self, start: Path, depth: int, read_rules: ReadRules) -> str:
        rules = IgnoreRules(self._folders.roots).below(start)
        found: list[FolderItem] = []
        refused = 0
        level = [start]
        for _ in range(depth):
            met = [child for folder in level for child in children(folder, rules) if not self._folders.hides(child.path)]
            here = [child for child in met if read_rules.refusing(child.path) is None]
            refused += len(met) - len(here)
            found += here
            level = [child.path for child in here if child.kind == "folder"]
            if not level or len(found) > LISTED:
                break
        lines = [self._line(each) for each in sorted(found[:LISTED], key=lambda each: each.path)]
        if start == self._folders.first:
            lines += [f"{other.as_posix()}/ (another workspace folder)" for other in self._folders.roots[1:]]
        if len(found) > LISTED:
            lines.append(f"(Only the first {LISTED}. List a folder of these, or use search.)")
        elif level:
            lines.append(f"(Folders below level {depth} are not listed.)")
        if refused:
            lines.append(
                f"({refused} more {'is' if refused == 1 else 'are'} not listed: rules of the user's refuse reading {read_rules.in_words}.)"
            )
        return "\n".join(lines) or "(Nothing but what is ignored.)"

    def _line(self, found: FolderItem) -> str:
        mark = {"file": "", "folder": "/", "link": " (link)", "special": " (a pipe, socket or device)"}[found.kind]
        return f"{in_a_line(self._folders.show(found.path))}{mark}"
