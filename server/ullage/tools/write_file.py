"""The `write_file` tool: makes a new file, or replaces the whole text of one that the agent knows."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from ullage.context.blocks import Json, ToolSpec
from ullage.context.entries import FileTouch
from ullage.tools.file_tools import (
    FILE_ERRORS,
    allowed_target,
    edited,
    file_diff,
    file_failure,
    foreseen,
    permission_to_edit,
    refuse_unseen,
    split_lines,
    write_changed,
)
from ullage.tools.tool import Foreseen, PermissionNeed, ToolCall, ToolKind, ToolOutcome, check_input, description, text
from ullage.workspace.files import CurrentText, WorkspaceFiles
from ullage.workspace.touched import FileReads


class WriteFile:
    """Writes the whole text of a file."""

    kind: ToolKind = "edit"

    def __init__(self, files: WorkspaceFiles, reads: FileReads) -> None:
        self._files = files
        self._reads = reads
        self.spec = ToolSpec(
            "write_file",
            description("write_file"),
            {
                "type": "object",
                "properties": {
                    "path": {"type": "string", "minLength": 1, "description": "Relative to the workspace folder, or absolute."},
                    "content": {"type": "string", "description": "The whole text of the file."},
                },
                "required": ["path", "content"],
            },
        )

    @staticmethod
    def title(input: Mapping[str, Json]) -> str:
        """The title of a call: `Write src/tank.py`."""
        return f"Write {text(input, 'path')}".rstrip()

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """What writing the file needs: it is asked about unless a rule allows it. Raises `BadToolInput`."""
        check_input(self.spec.input_schema, input)
        return permission_to_edit(text(input, "path"), self._files)

    async def foresee(self, input: Mapping[str, Json], target: Path) -> Foreseen | ToolOutcome:
        """The new text beside the one that is there; or why it cannot be written."""
        name, content = text(input, "path"), _content(input)
        try:
            before = await self._before(name, content, target)
        except FILE_ERRORS as error:
            return file_failure(error, name, self._files.folders)
        if isinstance(before, ToolOutcome):
            return before
        old = None if before is None else before.text
        return await asyncio.to_thread(foreseen, self._files.folders.show(target), old, content)

    async def run(self, call: ToolCall) -> ToolOutcome:
        """Writes the file, or refuses with the text that would have been lost."""
        check_input(self.spec.input_schema, call.input)
        name, content = text(call.input, "path"), _content(call.input)
        try:
            if (changed := await write_changed(call, self._files, self._reads)) is not None:
                return changed
            return await self._write(name, content, allowed_target(call, name, self._files))
        except FILE_ERRORS as error:
            return file_failure(error, name, self._files.folders)

    async def _write(self, name: str, content: str, path: Path) -> ToolOutcome:
        before = await self._before(name, content, path)
        if isinstance(before, ToolOutcome):
            return before
        if before is None:
            return self._created(name, await self._files.write(path, content, None))
        written = await self._files.write(path, content, before.sha256)
        return edited(f"Replaced the text of `{name}` ({_lines(content)}).", before.text, written, content, self._files, self._reads)

    async def _before(self, name: str, content: str, path: Path) -> CurrentText | ToolOutcome | None:
        """The text that would be replaced; None if there is no file, an outcome if the text is not to be replaced."""
        try:
            current = await self._files.read(path)
        except FileNotFoundError:
            return None
        refusal = self._refusal(name, current)
        if refusal is not None:
            return refuse_unseen(refusal, current, self._files, self._reads)
        if current.text == content:
            return ToolOutcome(f"`{name}` has exactly this text already; nothing was written")
        return current

    def _refusal(self, name: str, current: CurrentText) -> str | None:
        shown = self._files.folders.show(current.path)
        match self._reads.standing(shown, current.sha256):
            case "unseen" if current.text:
                return f"`{name}` exists, and you have not read it. It was not overwritten."
            case "stale":
                return f"`{name}` changed since you last saw it. It was not overwritten."
            case "current" if not self._reads.saw_whole(shown):
                return f"Of `{name}` you have seen only a part. It was not overwritten; edit_file changes parts."
            case _:
                return None

    def _created(self, name: str, written: CurrentText) -> ToolOutcome:
        shown = self._files.folders.show(written.path)
        touch = FileTouch(shown, "created", written.sha256)
        was = f"`{name}` was gone: somebody deleted or renamed it since you saw it. " if shown in self._reads.paths() else ""
        self._reads.saw(touch)
        return ToolOutcome(
            f"{was}Created `{name}` ({_lines(written.text)}).", touched=(touch,), diff=file_diff(shown, "", written.text), line=1
        )


def _content(input: Mapping[str, Json]) -> str:
    return text(input, "content").replace("\r\n", "\n")


def _lines(content: str) -> str:
    count = len(split_lines(content))
    return "1 line" if count == 1 else f"{count} lines"
