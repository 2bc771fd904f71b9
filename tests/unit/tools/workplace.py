"""A workspace on a real disk with all tools, for tests."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.unit.workspace.editors import MemoryEditor
from ullage.context.blocks import Json, Media
from ullage.store.folder import READABLE
from ullage.store.plain_files import PlanFiles
from ullage.tools.recall import RecallHit
from ullage.tools.registry import ToolDependencies, build_tools
from ullage.tools.running import RunningCommands
from ullage.tools.sandbox.sandbox import SandboxWanted
from ullage.tools.tool import BadToolInput, Tool, ToolCall, ToolOutcome
from ullage.workspace.files import WorkspaceFiles
from ullage.workspace.folders import Folders, RecordsFolder
from ullage.workspace.text_file import OwnWrites
from ullage.workspace.touched import FileReads


class ListRecall:
    """What was said, in a list."""

    def __init__(self) -> None:
        self.hits: list[RecallHit] = []
        self.results: dict[str, str] = {}
        self.entries: dict[int, str] = {}

    async def search(self, words: str, limit: int, agent: str | None = None) -> Sequence[RecallHit]:
        return [hit for hit in self.hits if words in hit.excerpt and agent in (None, hit.session_id)][:limit]

    async def result(self, tool_use_id: str) -> str | None:
        return self.results.get(tool_use_id)

    async def media(self, tool_use_id: str) -> Sequence[Media]:
        return ()

    async def report(self, agent: str) -> str | None:
        return None

    async def range(self, first_seq: int, last_seq: int, agent: str | None = None) -> str:
        return "\n".join(text for seq, text in self.entries.items() if first_seq <= seq <= last_seq)


class Workplace:
    """One session's tools over `root`, whose files can be written directly as someone else would."""

    def __init__(self, *roots: Path, bash_timeout: float = 30.0, sandbox: bool | SandboxWanted = False, trusted: bool = True) -> None:
        self.folders = Folders(roots, RecordsFolder(roots[0].parent / "kept", READABLE) if roots else None)
        self.editor = MemoryEditor()
        self.reads = FileReads()
        self.recall = ListRecall()
        files = WorkspaceFiles(self.folders, self.editor, OwnWrites())
        plans = PlanFiles(None, "s")
        self.running = RunningCommands(time.time)
        needed = ToolDependencies(
            self.folders, files, self.editor, self.reads, self.recall, plans, bash_timeout, _wanted(sandbox), running=self.running
        )
        self.tools = build_tools(needed, trusted=trusted)
        self.output: list[str] = []

    @property
    def root(self) -> Path:
        """The first folder."""
        assert self.folders.first is not None
        return self.folders.first

    def put(self, files: Mapping[str, str]) -> None:
        """Writes files by name."""
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, newline="")

    def text(self, name: str) -> str:
        """What is on disk."""
        return (self.root / name).read_text()

    async def call(self, tool: str, **input: Json) -> ToolOutcome:
        """Runs a tool as the loop does, after asking what must be allowed."""
        try:
            allowed = self.tools[tool].permission(input)
        except BadToolInput as error:
            return ToolOutcome(str(error), is_error=True)
        outcome = await self.tools[tool].run(ToolCall("toolu_1", input, self.output.append, allowed))
        assert outcome.content
        return outcome


def _wanted(sandbox: bool | SandboxWanted) -> SandboxWanted:
    return sandbox if isinstance(sandbox, str) else "auto" if sandbox else "off"


def needed(tool: Tool) -> dict[str, Json]:
    """What a call of it has to give, each a text of its own."""
    required = tool.spec.input_schema.get("required", [])
    assert isinstance(required, list)
    return {str(name): f"some {name}" for name in required}


def takes_a_path(tool: Tool) -> bool:
    properties = tool.spec.input_schema.get("properties")
    return isinstance(properties, dict) and "path" in properties


TAKE_A_PATH = [name for name, tool in Workplace().tools.items() if takes_a_path(tool) and name != "diagnostics"]
"""`diagnostics` opens no file."""
