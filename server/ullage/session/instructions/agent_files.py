"""Sub-agents that a project defines in files: a head with name, description, tools and model, and below it what they are told.

The format is the one of Claude Code (`.claude/agents/NAME.md`). A sub-agent whose definition names no tool that acts reads and changes
nothing. One that does is the project's word and not the user's: they are asked before it acts (`acting_need`), and what it then does is
asked about call by call, as ever. Nothing in a definition allows anything.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ullage.context.quoting import in_a_line
from ullage.session.instructions.heads import Head, read_head
from ullage.session.instructions.prompt_files import plain, text_of
from ullage.session.instructions.rules_files import files_below
from ullage.tools.rules.reading import ReadRules
from ullage.tools.task import EXPLORE, FORK
from ullage.tools.tool import PermissionNeed
from ullage.workspace.folders import OWN_FOLDER, Folders

AGENT_FOLDERS = (f"{OWN_FOLDER}/agents", ".claude/agents")
"""The folders in which projects keep definitions of sub-agents."""

MOST_AGENTS = 50
"""Most sub-agents that the model is told of: each takes a line of every request."""

DESCRIPTION_CHARACTERS = 500
"""Most characters of a description that the model is told."""

SYSTEM_CHARACTERS = 30_000
"""Most characters of what a sub-agent is told; the rest is left out."""

READING_TOOLS = ("read_file", "list_files", "search", "diagnostics", "todo", "recall", "bash")
"""The tools of a sub-agent whose definition names none. Of commands it runs those that only read, unless it acts."""

ACTING_TOOLS = ("write_file", "edit_file", "bash")
"""Tools that change something: by naming one, a definition says that its sub-agent acts."""

_NAMED: dict[str, tuple[str, ...]] = {
    "edit": ("edit_file",),
    "multiedit": ("edit_file",),
    "write": ("write_file",),
    "read": ("read_file",),
    "glob": ("list_files", "search"),
    "ls": ("list_files",),
    "grep": ("search",),
    "bash": ("bash",),
    "todowrite": ("todo",),
    **{name: (name,) for name in (*READING_TOOLS, *ACTING_TOOLS)},
}
"""Our tools by the names that other programs have for them."""

_BESIDE = {"bash": "running_command"}
"""The tool that another one needs beside it where it acts."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")

_LISTED = "Sub-agents of this workspace, for `task`:"


@dataclass(frozen=True, slots=True)
class AgentFile:
    """A sub-agent of the project."""

    name: str
    description: str
    shown: str
    """The path of its file, as the user and the model know it."""
    text: str
    """What the sub-agent is told."""
    tools: frozenset[str] = frozenset(READING_TOOLS)
    model: str = ""
    """The name of the model; empty for that of its parent."""
    trouble: str = ""
    """Why the definition does not count, in words for the user; empty if it does."""
    acts: bool = False
    """Whether it names tools that change something."""
    digest: str = ""
    """The digest of the whole file: the user lets the sub-agent act as it was when they were asked."""


def agent_files(folders: Folders, may_not_be_read: ReadRules) -> list[AgentFile]:
    """All sub-agents of the project, by folder and name. Of two of one name the first counts, and the second says so."""
    found: list[AgentFile] = []
    for root in folders.roots:
        for each in _agents(root, folders, may_not_be_read):
            first = next((other for other in found if other.name == each.name and not other.trouble), None)
            if first is not None and not each.trouble:
                found.append(AgentFile(each.name, each.description, each.shown, "", trouble=f"{first.shown} has the same name"))
            else:
                found.append(each)
    return found


def agents_for_the_model(folders: Folders, may_not_be_read: ReadRules) -> str:
    """What the model is told of the sub-agents before any message; empty if there are none."""
    usable = [each for each in agent_files(folders, may_not_be_read) if not each.trouble][:MOST_AGENTS]
    lines = [f"- {each.name} (`{in_a_line(each.shown)}`{', acts' * each.acts}): {each.description}" for each in usable]
    return "\n".join((_LISTED, *lines)) if lines else ""


def _agents(root: Path, folders: Folders, may_not_be_read: ReadRules) -> Iterator[AgentFile]:
    for place in AGENT_FOLDERS:
        for file in files_below(root / place, ".md"):
            name, shown = file.stem.lower(), folders.show(file)
            text = text_of(file, folders, may_not_be_read)
            if isinstance(text, str):
                yield _agent(name, shown, read_head(text), hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())
            elif text.trouble:
                yield AgentFile(name, "", shown, "", trouble=text.trouble)


def _agent(stem: str, shown: str, head: Head, digest: str) -> AgentFile:
    name = (head.text("name").strip() or stem).lower()
    description = plain(head.text("description"))[:DESCRIPTION_CHARACTERS]
    named = head.items("tools") if head.text("tools").strip() else None
    tools, acts = (frozenset(READING_TOOLS), False) if named is None else (tools_named(named), any(map(_acts, named)))
    if acts:
        tools = frozenset({*tools, *(_BESIDE[tool] for tool in tools if tool in _BESIDE)})
    model = head.text("model").strip()
    trouble = head.trouble
    if not trouble and not description:
        trouble = "its head has no description, by which the agent would know when to use it"
    if not trouble and not head.body.strip():
        trouble = "it is empty"
    if not trouble and _NAME.fullmatch(name) is None:
        trouble = "its name has other characters than letters, digits and hyphens"
    if not trouble and name in (EXPLORE, FORK):
        trouble = "Ullage has a sub-agent of this name"
    if not trouble and not tools:
        trouble = "it names no tool that a sub-agent has here"
    inherits = model.casefold() in ("", "inherit", "sonnet", "opus", "haiku")  # the last three are names of one program's own
    told = head.body.strip()[:SYSTEM_CHARACTERS]
    return AgentFile(name, description, shown, told, tools, "" if inherits else model, trouble, acts, digest)


def tools_named(names: tuple[str, ...]) -> frozenset[str]:
    """The tools of a sub-agent by the names in its definition, ours or those of other programs. Names of others are passed over. `recall`
    is always among them; empty if no tool was named."""
    found = {tool for name in names for tool in _NAMED.get(name.partition("(")[0].strip().casefold(), ())}
    return frozenset({*found, "recall"}) if found else frozenset()


def _acts(name: str) -> bool:
    """Whether the tool of that name changes something. If it is narrowed, as in `Bash(git diff *)`, it does not: then only what reads is
    taken."""
    return any(tool in ACTING_TOOLS for tool in _NAMED.get(name.strip().casefold(), ()))


def acting_need(file: AgentFile) -> PermissionNeed:
    """What has to be allowed before that sub-agent acts: once for the call, or for good while its file stays as it is."""
    shown, tools = file.shown, ", ".join(f"`{tool}`" for tool in ACTING_TOOLS if tool in file.tools)
    asked = f"Let the sub-agent `{file.name}` use {tools}, as `{shown}` of this project tells it to. Its calls are asked about as ever"
    return PermissionNeed("agent", f"`{shown}` as it is now", asked, (file.shown,), files=file.digest, subject=file.shown)
