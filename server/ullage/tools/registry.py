"""Which tools a session has, and what they work with."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ullage.context.blocks import Json
from ullage.context.entries import Logged
from ullage.context.policies.memgpt import blocks_of
from ullage.mcp_servers.servers import Servers
from ullage.tools.ask_user import AskUser
from ullage.tools.bash import Bash
from ullage.tools.call_mcp_tool import CallMcpTool
from ullage.tools.compact import CompactTool
from ullage.tools.diagnostics import Diagnostics
from ullage.tools.edit_file import EditFile
from ullage.tools.list_files import ListFiles
from ullage.tools.load_mcp_tools import LoadMcpTools
from ullage.tools.media import MediaShelf
from ullage.tools.memory import MemoryTool
from ullage.tools.propose_plan import Plans, ProposePlan
from ullage.tools.read_file import ReadFile
from ullage.tools.recall import Recall, RecallTool
from ullage.tools.rules.reading import ReadRulesNow
from ullage.tools.running import RunningCommands
from ullage.tools.running_command import RunningCommandTool
from ullage.tools.sandbox.sandbox import Sandbox, SandboxFinder, SandboxWanted
from ullage.tools.search import SearchFiles
from ullage.tools.task import Agents, TaskTool
from ullage.tools.todo import Todo
from ullage.tools.tool import Tool, ToolKind
from ullage.tools.web_fetch import WebFetch
from ullage.tools.web_search import WebSearchTool
from ullage.tools.write_file import WriteFile
from ullage.workspace.files import Editor, WorkspaceFiles
from ullage.workspace.folders import Folders
from ullage.workspace.touched import FileReads
from ullage.workspace.web import Web
from ullage.workspace.web_search import Searcher


@dataclass(frozen=True, slots=True)
class ToolDependencies:
    """Everything that the tools need from outside. One `reads` belongs to one session; the others may be shared."""

    folders: Folders
    files: WorkspaceFiles
    editor: Editor
    reads: FileReads
    recall: Recall
    plans: Plans
    """The documents of plans while the user reads them."""
    bash_timeout: float = 120.0
    """How many seconds a command may run if the model names no timeout."""
    sandbox: SandboxWanted = "auto"
    """Whether commands run in a sandbox."""
    sandbox_finder: SandboxFinder = field(default_factory=SandboxFinder)
    """Finds the sandbox that this machine has."""
    entries: Callable[[], Sequence[Logged]] = tuple
    """The session's log so far."""
    shelf: MediaShelf | None = None
    """Keeps the images that the model is shown; None if it is shown none."""
    read_rules: ReadRulesNow | None = None
    """The user's rules that refuse reading files; None if no rules are known."""
    web: Web | None = None
    """Fetches pages of the web; None if this is not wanted of the tools at all."""
    web_is_on: Callable[[], bool] = lambda: False
    """Whether the user turned the web on for the workspace."""
    searcher: Searcher | None = None
    """Searches the web; None if this is not wanted of the tools at all."""
    agents: Agents | None = None
    """The sub-agents that the session can call; None in a sub-agent."""
    servers: Servers | None = None
    """The MCP servers; None if there can be none."""
    running: RunningCommands = field(default_factory=lambda: RunningCommands(time.time))
    """The commands of the session; one `running` belongs to one session."""


OF_POLICIES: Mapping[str, Callable[[ToolDependencies], Tool]] = {
    "memory": lambda needed: MemoryTool(lambda: blocks_of(needed.entries())),
}
"""Tools that a session has only under a policy whose engine wants them, by name."""


OF_SERVERS = frozenset({"load_mcp_tools", "call_mcp_tool"})
"""Tools that stand in the prefix only of sessions that begin where MCP servers are configured (`session/prelude.py`)."""

TOOL_NAMES = frozenset(
    (
        *("read_file", "list_files", "search", "diagnostics", "todo", "propose_plan", "recall", "compact", "ask_user"),
        *("write_file", "edit_file", "bash", "running_command", "web_fetch", "web_search", "task", *OF_POLICIES, *OF_SERVERS),
    )
)
"""The names of all tools: no tool of another program passes for one of them."""


TITLES: Mapping[str, tuple[Callable[[Mapping[str, Json]], str], ToolKind]] = {
    "write_file": (WriteFile.title, WriteFile.kind),
    "edit_file": (EditFile.title, EditFile.kind),
    "bash": (Bash.title, Bash.kind),
    "web_fetch": (WebFetch.title, WebFetch.kind),
    "web_search": (WebSearchTool.title, WebSearchTool.kind),
    "memory": (MemoryTool.title, MemoryTool.kind),
    "load_mcp_tools": (LoadMcpTools.title, LoadMcpTools.kind),
    "call_mcp_tool": (CallMcpTool.title, CallMcpTool.kind),
}
"""Titles and kinds of calls, by tool, where the session has no such tool now: the web was turned off, it is not known yet whether the
model searches, the workspace is not trusted, the policy is another one."""


def build_tools(dependencies: ToolDependencies, *, trusted: bool, wanted: frozenset[str] = frozenset()) -> Mapping[str, Tool]:
    """The tools by name, always in the same order, since it is part of what the prompt cache holds.

    In a workspace that the user does not trust there is none that writes, runs or sends out anything. Pages of the web are fetched and
    searched for only where the user turned that on, so that others do not pay for the tools. `wanted` are those `OF_POLICIES` that the
    policy in force comes with; a name that nobody knows gives no tool.
    """
    tools = _reading(dependencies) + (_acting(dependencies) if trusted else [])
    if trusted and dependencies.servers is not None:
        tools += [LoadMcpTools(dependencies.servers), CallMcpTool(dependencies.servers, dependencies.shelf)]
    tools += [make(dependencies) for name, make in OF_POLICIES.items() if name in wanted]
    if trusted and dependencies.web is not None and dependencies.web_is_on():
        tools.append(WebFetch(dependencies.web, dependencies.web_is_on))
        if dependencies.searcher is not None and dependencies.searcher.provider:
            tools.append(WebSearchTool(dependencies.searcher, dependencies.web_is_on))
    return {tool.spec.name: tool for tool in tools}


def _reading(dependencies: ToolDependencies) -> list[Tool]:
    rules = dependencies.read_rules
    return [
        ReadFile(dependencies.files, dependencies.reads, dependencies.shelf, rules),
        ListFiles(dependencies.folders, rules),
        SearchFiles(dependencies.folders, dependencies.editor, rules),
        Diagnostics(dependencies.folders, dependencies.editor, rules),
        Todo(),
        ProposePlan(dependencies.plans, dependencies.editor),
        RecallTool(dependencies.recall, dependencies.shelf),
        CompactTool(),
        AskUser(),
        TaskTool(dependencies.agents),
    ]


def _acting(dependencies: ToolDependencies) -> list[Tool]:
    return [
        WriteFile(dependencies.files, dependencies.reads),
        EditFile(dependencies.files, dependencies.reads),
        Bash(
            dependencies.folders,
            dependencies.bash_timeout,
            Sandbox(dependencies.sandbox_finder, dependencies.sandbox, dependencies.folders, dependencies.files.holds_what_was_written),
            running=dependencies.running,
        ),
        RunningCommandTool(dependencies.running),
    ]
