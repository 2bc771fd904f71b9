"""The `diagnostics` tool: the problems that the editor's language servers report."""

from __future__ import annotations

from collections.abc import Mapping

from ullage.context.blocks import Json, ToolSpec
from ullage.tools.file_tools import FILE_ERRORS, file_failure
from ullage.tools.rules.reading import ReadRulesNow, none_refused
from ullage.tools.tool import PermissionNeed, ToolCall, ToolKind, ToolOutcome, check_input, description, text
from ullage.workspace.files import Diagnostic, Editor
from ullage.workspace.folders import Folders

LISTED = 100
"""How many problems are told at most, the worst first."""

MESSAGE_CHARACTERS = 500

SEVERITIES = ("error", "warning", "information", "hint")


class Diagnostics:
    """Asks the editor for the problems of one file or of all."""

    kind: ToolKind = "read"

    def __init__(self, folders: Folders, editor: Editor, rules: ReadRulesNow | None = None) -> None:
        self._folders = folders
        self._rules = rules or none_refused(folders)
        self._editor = editor
        self.spec = ToolSpec(
            "diagnostics",
            description("diagnostics"),
            {
                "type": "object",
                "properties": {"path": {"type": "string", "description": "One file; all files if left out."}},
                "required": [],
            },
        )

    def title(self, input: Mapping[str, Json]) -> str:
        """The title of a call: `Problems in src/tank.py`."""
        return f"Problems in {text(input, 'path')}" if text(input, "path") else "Problems"

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """Always None: reading is free."""
        return None

    async def run(self, call: ToolCall) -> ToolOutcome:
        """The problems, each as `path:line: severity: message (source)`, the worst first."""
        check_input(self.spec.input_schema, call.input)
        name = text(call.input, "path")
        try:
            path = self._folders.resolve(name) if name else None
        except FILE_ERRORS as error:
            return file_failure(error, name, self._folders)
        rules = self._rules()
        refusing = None if path is None else rules.refusing(path, name)
        if refusing is not None:
            return await rules.refused(refusing)
        problems = await self._editor.diagnostics(path)
        if problems is None:
            return ToolOutcome("The editor cannot tell. Run the project's own checks with bash instead.", is_error=True)
        problems = [problem for problem in problems if rules.refusing(problem.path) is None]  # messages quote the text
        if not problems:
            return ToolOutcome(f"The editor reports no problems{f' in `{name}`' if name else ''}.")
        worst_first = sorted(problems, key=lambda problem: (SEVERITIES.index(problem.severity), problem.path, problem.line))
        lines = [self._line(problem) for problem in worst_first[:LISTED]]
        if len(problems) > LISTED:
            lines.append(f"(Only the worst {LISTED} of {len(problems)}.)")
        return ToolOutcome("\n".join(lines))

    def _line(self, problem: Diagnostic) -> str:
        message = " ".join(problem.message.split())[:MESSAGE_CHARACTERS]
        source = f" ({problem.source})" if problem.source else ""
        return f"{self._folders.show(problem.path)}:{problem.line}: {problem.severity}: {message}{source}"
