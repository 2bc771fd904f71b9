"""A session in small: the real log, view and handoff, and plain stand-ins for the tools, so that the practice model can be played."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ullage.context.blocks import SystemPart, Text, ToolSpec, ToolUse, Usage
from ullage.context.entries import AssistantReply, Compaction, Entry, Logged, Prelude, Summarised, ToolReturned, UserPrompt
from ullage.context.handoff import handoff
from ullage.context.policy import ULLAGE
from ullage.context.request import Request, build_request
from ullage.context.restore import resume_text
from ullage.context.view import Projection
from ullage.models.model import Model, Reply

TOOLS = ("bash", "read_file", "edit_file", "list_files", "search", "todo")


class Workbench:
    """One conversation in one folder."""

    def __init__(self, model: Model, folder: Path, tools: tuple[str, ...] = TOOLS) -> None:
        self.model = model
        self.folder = folder
        self.projection = Projection()
        self.replies: list[Reply] = []
        self.refused: set[str] = set()
        """Names of tools whose calls the user refuses."""
        self.unseen = 0
        """So many edits are refused because the file was not read."""
        specs = tuple(ToolSpec(name, f"The tool {name}.", {"type": "object", "properties": {}}) for name in tools)
        self.log(Prelude((SystemPart("system", "You are Ullage."),), specs))

    def log(self, entry: Entry) -> None:
        self.projection.append(Logged(len(self.projection.entries) + 1, 0.0, entry))

    def request(self) -> Request:
        return build_request(self.projection)

    def start(self, prompt: str, *, steering: bool = False) -> None:
        """The user says something; nobody answers yet."""
        self.log(UserPrompt(f"p{len(self.projection.entries)}", prompt, steering=steering))

    async def prompt(self, text: str) -> str:
        """A whole turn; gives the last words."""
        self.start(text)
        return await self.go_on()

    async def answer_to(self, prompt: str, *, steering: bool = False) -> tuple[Reply, list[ToolUse]]:
        """The first reply to a prompt, and its calls."""
        self.start(prompt, steering=steering)
        calls = await self.step()
        return self.replies[-1], calls

    async def go_on(self) -> str:
        """Runs the turn to its end."""
        while calls := await self.step():
            self.run(calls)
        return self.said

    async def step(self) -> list[ToolUse]:
        """One reply; gives its calls, which are not run yet."""
        reply: Reply | None = None
        async for event in self.model.stream(self.request(), 8_000):
            if isinstance(event, Reply):
                reply = event
        assert reply is not None
        self.replies.append(reply)
        self.log(AssistantReply(f"r{len(self.replies)}", reply.blocks, reply.model, reply.stop_reason, reply.usage))
        return [block for block in reply.blocks if isinstance(block, ToolUse)]

    def run(self, calls: list[ToolUse]) -> None:
        for call in calls:
            content, is_error = self._result(call)
            self.log(ToolReturned(call.id, call.name, content, is_error, len(content)))

    @property
    def said(self) -> str:
        """The text of the last reply."""
        return "\n".join(block.text for block in self.replies[-1].blocks if isinstance(block, Text))

    @property
    def usages(self) -> list[Usage]:
        return [reply.usage for reply in self.replies]

    def compact_all(self, *, at_work: bool) -> None:
        """Nothing of the messages stays but the record of them."""
        entries = list(self.projection.entries)
        summary = Summarised(entries[-1].seq, handoff(entries, None, "", ULLAGE.summary))
        resume = resume_text("", rules_changed=False, at_work=at_work)
        self.log(Compaction("c1", "manual", "digest", entries[-1].seq, (), None, summary, (), resume, "", "ullage", 1, 1))

    def _result(self, call: ToolUse) -> tuple[str, bool]:
        if call.name in self.refused:
            return "The user refused this call; it was not run.", True
        input: Mapping[str, Any] = call.input
        match call.name:
            case "bash":
                done = subprocess.run(input["command"], shell=True, cwd=self.folder, capture_output=True, text=True, check=False)
                return f"{done.stdout}{done.stderr}Exit code {done.returncode}", done.returncode != 0
            case "read_file":
                return self._read(input)
            case "edit_file":
                return self._edit(input)
            case "list_files":
                return "\n".join(sorted(path.relative_to(self.folder).as_posix() for path in self._files())), False
            case "search":
                return self._search(input["pattern"]), False
            case _:
                return "Noted.", False

    def _files(self) -> list[Path]:
        return [path for path in self.folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]

    def _read(self, input: Mapping[str, Any]) -> tuple[str, bool]:
        try:
            lines = (self.folder / input["path"]).read_text("utf-8").splitlines()
        except OSError as error:
            return str(error), True
        first = int(input.get("offset", 1))
        shown = lines[first - 1 : first - 1 + int(input.get("limit", 2_000))]
        return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(shown, first)), False

    def _edit(self, input: Mapping[str, Any]) -> tuple[str, bool]:
        if self.unseen:
            self.unseen -= 1
            return "`the file` has not been read yet, so it was not edited.", True
        path = self.folder / input["path"]
        text = path.read_text("utf-8")
        if input["old_text"] not in text:
            return "`old_text` does not occur", True
        path.write_text(text.replace(input["old_text"], input["new_text"]), "utf-8")
        return f"Edited `{input['path']}`.", False

    def _search(self, pattern: str) -> str:
        hits = [
            f"{path.relative_to(self.folder).as_posix()}:{number}:{line}"
            for path in sorted(self._files())
            for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), 1)
            if re.search(pattern, line, re.IGNORECASE)
        ]
        return "\n".join(hits) or "Nothing found."
