"""A session in small: the real log, view, summary and tools, so that the practice model can be played to its end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.no_editor import NoEditor
from ullage.context.blocks import Media, Text, ToolUse, Usage
from ullage.context.compaction.restore import resume_text
from ullage.context.compaction_entries import Compaction, Summarised
from ullage.context.entries import AssistantReply, Entry, Logged, Prelude, ToolReturned, UserPrompt
from ullage.context.policy import SummaryOptions
from ullage.context.summary.whole_summary import whole_summary
from ullage.context.view.projection import Projection
from ullage.context.view.request import Request, build_request
from ullage.models.model import Model, Reply
from ullage.session.prelude import make_prelude
from ullage.store.plain_files import PlanFiles
from ullage.tools.recall import RecallHit
from ullage.tools.registry import ToolDependencies, build_tools
from ullage.tools.tool import ToolCall, ToolOutcome
from ullage.workspace.files import WorkspaceFiles
from ullage.workspace.folders import Folders
from ullage.workspace.text_file import OwnWrites
from ullage.workspace.touched import FileReads


class NothingToRecall:
    """The practice model never recalls anything."""

    async def search(self, words: str, limit: int, agent: str | None = None) -> Sequence[RecallHit]:
        return ()

    async def result(self, tool_use_id: str) -> str | None:
        return None

    async def media(self, tool_use_id: str) -> Sequence[Media]:
        return ()

    async def range(self, first_seq: int, last_seq: int, agent: str | None = None) -> str:
        return ""

    async def report(self, agent: str) -> str | None:
        return None


class Workbench:
    """One conversation in one folder. The user allows everything but the tools named in `refused`."""

    def __init__(self, model: Model, folder: Path, *, trusted: bool = True) -> None:
        self.model = model
        self.projection = Projection()
        self.replies: list[Reply] = []
        self.refused: set[str] = set()
        self.forgotten_edits = 0
        """So many edits find that what was read before is no longer in view."""
        folders, editor = Folders((folder,)), NoEditor()
        self._reads = FileReads()
        files = WorkspaceFiles(folders, editor, OwnWrites())
        needed = ToolDependencies(folders, files, editor, self._reads, NothingToRecall(), PlanFiles(None, "s"), sandbox="off")
        self._tools = build_tools(needed, trusted=trusted)
        self.log(make_prelude(folders, self._tools))

    def log(self, entry: Entry) -> None:
        self.projection.append(Logged(len(self.projection.entries) + 1, 0.0, entry))

    def without_tools(self) -> None:
        """From now on there are none."""
        prelude = self.projection.prelude
        assert prelude is not None
        self.log(Prelude(prelude.system, ()))

    def request(self) -> Request:
        return build_request(self.projection)

    def start(self, prompt: str, *, steering: bool = False) -> None:
        """The user says something; nobody answers yet."""
        self.log(UserPrompt(f"p{len(self.projection.entries)}", prompt, steering=steering))

    async def prompt(self, text: str) -> str:
        """A whole turn; gives the last words."""
        self.start(text)
        return await self.go_on()

    async def answer_to(self, prompt: str, *, steering: bool = False) -> str:
        """The first words after a prompt."""
        self.start(prompt, steering=steering)
        await self.step()
        return self.said

    async def go_on(self) -> str:
        """Runs the turn to its end; gives the last words."""
        while calls := await self.step():
            await self.run(calls)
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

    async def run(self, calls: list[ToolUse]) -> None:
        for call in calls:
            outcome = await self._outcome(call)
            self.log(ToolReturned(call.id, call.name, outcome.content, outcome.is_error, len(outcome.content), touched=outcome.touched))

    async def play(self, steps: int) -> None:
        """So many replies, each with the results of its calls."""
        for _ in range(steps):
            await self.run(await self.step())

    @property
    def said(self) -> str:
        """The text of the last reply."""
        return "\n".join(block.text for block in self.replies[-1].blocks if isinstance(block, Text))

    @property
    def usages(self) -> list[Usage]:
        return [reply.usage for reply in self.replies if reply.usage]

    def compact_all(self, *, at_work: bool) -> None:
        """Nothing of the messages stays but the summary of them."""
        summary = whole_summary(list(self.projection.entries), None, "", SummaryOptions())
        self.compact_to(summary, resume_text("", at_work=at_work))

    def compact_to(self, summary: str, resume: str) -> None:
        """Nothing of the messages stays but these texts."""
        through = self.projection.entries[-1].seq
        summarised = Summarised(through, summary)
        self.log(Compaction("c1", "manual", "digest", through, (), None, summarised, (), resume, "", "ullage", 1, 1))

    async def _outcome(self, call: ToolUse) -> ToolOutcome:
        if call.name in self.refused:
            return ToolOutcome("The user refused this call; it was not run.", is_error=True)
        if call.name == "edit_file" and self.forgotten_edits:
            self.forgotten_edits -= 1
            self._reads.keep_only(())
        return await self._tools[call.name].run(ToolCall(call.id, call.input))
