"""What the tests of sub-agents that act have in common: a definition of the project, and a turn in which one is called."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fake_api import Call
from tests.unit.session.harness import Stage, calls
from ullage.context.change_entries import FilesChanged
from ullage.context.entries import ToolReturned, files_changed
from ullage.session.session import Session
from ullage.session.sessions.sub_agents import NOT_TYPED
from ullage.session.timeline.items import ToolCallItem

READ = [Call("read_file", {"path": "tank.py"})]


def project(tmp_path: Path) -> Path:
    """A folder with a file and a sub-agent that edits and runs commands."""
    folder = tmp_path.resolve() / "project"
    (folder / ".claude" / "agents").mkdir(parents=True)
    (folder / "tank.py").write_text("CAPACITY = 100\nDIP = 1\n")
    define(folder)
    return folder


def define(folder: Path, text: str = "You mend.", name: str = "fixer", tools: str = "Read, Edit, Write, Bash") -> None:
    head = f"---\nname: {name}\ndescription: Mends things.\ntools: {tools}\n---\n"
    (folder / ".claude" / "agents" / f"{name}.md").write_text(head + text)


def task(prompt: str = "Mend the tank", agent: str = "fixer") -> Call:
    return Call("task", {"title": "Mend it", "prompt": prompt, "agent": agent})


def edit(old: str = "CAPACITY = 100", new: str = "CAPACITY = 200") -> list[Call]:
    return [Call("edit_file", {"path": "tank.py", "old_text": old, "new_text": new})]


def of(words: str) -> Callable[[Any], bool]:
    """Whether a request is of the sub-agent with that prompt."""
    return lambda body: NOT_TYPED + words in str(body["messages"][0]).replace("\\n", "\n")


def told(session: Session) -> list[ToolReturned]:
    """The results of the calls of sub-agents."""
    return [each.entry for each in session.entries if isinstance(each.entry, ToolReturned) and each.entry.tool == "task"]


def changed(session: Session) -> list[FilesChanged]:
    return [found for each in session.entries if (found := files_changed(each.entry)) is not None]


def card(session: Session) -> ToolCallItem:
    return next(call for call in calls(session) if call.name == "task")


async def allow(here: Stage, session: Session, option: str = "allow_once", before: ToolCallItem | None = None) -> ToolCallItem:
    """Waits for the next question, and gives that answer; gives what was asked."""
    asked = await here.asked(session) if before is None else await here.asked_anew(session, before)
    session.answer_permission(asked.id, option, permission_id=asked.permission_id)
    return asked
