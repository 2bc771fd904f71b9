"""The `read_file` tool: a file's text with line numbers, as the user has it before them; an image or a PDF as the model can see it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ullage.context.blocks import Json, ToolSpec
from ullage.context.entries import FileTouch
from ullage.tools.file_tools import FILE_ERRORS, excerpt, file_failure, split_lines
from ullage.tools.media import MediaForModel, MediaShelf, show
from ullage.tools.rules.reading import ReadRulesNow, none_refused
from ullage.tools.tool import PermissionNeed, ToolCall, ToolKind, ToolOutcome, check_input, description, integer, text
from ullage.workspace.files import CurrentText, WorkspaceFiles
from ullage.workspace.touched import FileReads

LIMIT = 2_000
"""How many lines are read at once if the model does not say."""


class ReadFile:
    """Reads files through the editor, and notes what the agent has seen."""

    kind: ToolKind = "read"

    def __init__(self, files: WorkspaceFiles, reads: FileReads, shelf: MediaShelf | None = None, rules: ReadRulesNow | None = None) -> None:
        self._files = files
        self._rules = rules or none_refused(files.folders)
        self._reads = reads
        self._shelf = shelf
        self.spec = ToolSpec(
            "read_file",
            description("read_file"),
            {
                "type": "object",
                "properties": {
                    "path": {"type": "string", "minLength": 1, "description": "Relative to the workspace folder, or absolute."},
                    "offset": {"type": "integer", "minimum": 1, "description": "The line to begin with; 1 is the first."},
                    "limit": {"type": "integer", "minimum": 1, "description": f"How many lines; {LIMIT} if left out."},
                },
                "required": ["path"],
            },
        )

    def title(self, input: Mapping[str, Json]) -> str:
        """The title of a call: `Read src/tank.py`."""
        return f"Read {text(input, 'path')}".rstrip()

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """Always None: reading is free, if no rule refuses it (`run`)."""
        return None

    async def run(self, call: ToolCall) -> ToolOutcome:
        """The lines that were asked for, and how to get the rest."""
        check_input(self.spec.input_schema, call.input)
        name = text(call.input, "path")
        try:
            path = self._files.folders.resolve(name)
            rules = self._rules()
            refusing = rules.refusing(path, name)
            if refusing is not None:
                return await rules.refused(refusing)
            shown = None if self._shelf is None else await show(path, self._shelf)
            if shown is not None:
                return self._show_media(name, path, shown)
            current = await self._files.read(path)
        except FILE_ERRORS as error:
            return file_failure(error, name, self._files.folders)
        return self._show(name, current, integer(call.input, "offset", 1), integer(call.input, "limit", LIMIT))

    def _show_media(self, name: str, path: Path, shown: MediaForModel) -> ToolOutcome:
        # Partial: seeing a picture is no ground for writing over its file as text.
        touch = FileTouch(self._files.folders.show(path), "read", shown.sha256, partial=True)
        return ToolOutcome(f"`{name}`: {shown.words}", touched=(touch,), media=(shown.media,))

    def _show(self, name: str, current: CurrentText, offset: int, limit: int) -> ToolOutcome:
        lines = split_lines(current.text)
        if offset > max(1, len(lines)):
            return ToolOutcome(f"`{name}` has only {len(lines)} lines; offset {offset} is behind its end", is_error=True)
        shown = excerpt(lines, offset, limit)
        touch = FileTouch(self._files.folders.show(current.path), "read", current.sha256, partial=not shown.is_whole(lines))
        self._reads.saw(touch)
        parts = ["(Unsaved text from the editor; on disk it is different.)"] if current.unsaved else []
        parts.append(shown.text or "(The file is empty.)")
        if shown.last < len(lines):
            parts.append(f"(Lines {shown.first} to {shown.last} of {len(lines)}. Go on with offset={shown.last + 1}.)")
        return ToolOutcome("\n".join(parts), touched=(touch,))
