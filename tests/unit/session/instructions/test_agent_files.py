"""Sub-agents that a project defines: what counts, what does not and why, and that no definition widens anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fake_api import Call, Say
from tests.unit.session.harness import calls, stage
from ullage.context.entries import ToolReturned
from ullage.session.instructions.agent_files import ACTING_TOOLS, READING_TOOLS, AgentFile, agent_files, agents_for_the_model, tools_named
from ullage.session.prelude import make_prelude
from ullage.tools.rules.reading import none_refused
from ullage.workspace.folders import Folders

GOOD = "---\nname: reviewer\ndescription: Reads changes.\ntools: Read, Grep, Task, Bash(git diff:*)\nmodel: opus\n---\nYou review.\n"


def defined(folder: Path, text: str, name: str = "reviewer", place: str = ".claude/agents") -> None:
    (folder / place).mkdir(parents=True, exist_ok=True)
    (folder / place / f"{name}.md").write_text(text)


def found(folder: Path) -> list[AgentFile]:
    folders = Folders([folder])
    return agent_files(folders, none_refused(folders)())


def test_a_definition_in_the_format_of_others_is_read(tmp_path: Path) -> None:
    defined(tmp_path, GOOD)
    [agent] = found(tmp_path)
    assert (agent.name, agent.description, agent.text, agent.model, agent.trouble) == ("reviewer", "Reads changes.", "You review.", "", "")
    assert agent.tools == {"read_file", "search", "bash", "recall"}
    assert not agent.acts  # a command that is narrowed is taken for the part of it that reads
    defined(tmp_path, GOOD.replace("Grep", "Edit"))
    [agent] = found(tmp_path)
    assert agent.tools == {"read_file", "edit_file", "bash", "running_command", "recall"}
    assert agent.acts


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("---\nname: reviewer\ndescription: No end\n", "its head has no second line of ---"),
        ("---\n: : :\ndescription: x\n---\nYou review.", "line 2 of its head cannot be read"),
        ("---\nname: reviewer\n---\nYou review.", "its head has no description, by which the agent would know when to use it"),
        ("---\ndescription: x\n---\n", "it is empty"),
        ("---\nname: ../../etc\ndescription: x\n---\nYou review.", "its name has other characters than letters, digits and hyphens"),
        ("---\nname: fork\ndescription: x\n---\nYou review.", "Ullage has a sub-agent of this name"),
        ("---\ndescription: x\ntools: Task, WebFetch\n---\nYou review.", "it names no tool that a sub-agent has here"),
    ],
)
def test_what_does_not_count_says_why(tmp_path: Path, text: str, why: str) -> None:
    defined(tmp_path, text)
    [agent] = found(tmp_path)
    assert agent.trouble == why
    folders = Folders([tmp_path])
    assert agents_for_the_model(folders, none_refused(folders)()) == ""


def test_of_two_of_one_name_the_first_counts(tmp_path: Path) -> None:
    defined(tmp_path, GOOD)
    defined(tmp_path, GOOD.replace("Reads changes", "Ours"), place=".ullage/agents")
    first, second = found(tmp_path)
    assert (first.description, first.trouble) == ("Ours.", "")
    assert second.trouble == ".ullage/agents/reviewer.md has the same name"


def test_no_definition_widens_what_a_sub_agent_can_do() -> None:
    every = ("Read", "Write", "Edit", "Bash", "Task", "task", "write_file", "edit_file", "ask_user", "propose_plan", "*", "mcp__x__y")
    assert tools_named(every) <= frozenset((*READING_TOOLS, *ACTING_TOOLS))


def test_a_link_out_of_the_workspace_is_passed_over(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(GOOD)
    project = tmp_path / "project"
    (project / ".ullage" / "agents").mkdir(parents=True)
    (project / ".ullage" / "agents" / "reviewer.md").symlink_to(outside)
    assert found(project) == []


def test_the_prelude_lists_them_where_there_are_any(tmp_path: Path) -> None:
    folders = Folders([tmp_path])
    assert [part.name for part in make_prelude(folders, {}).system] == [""]
    defined(tmp_path, GOOD)
    assert agents_for_the_model(folders, none_refused(folders)()).splitlines()[1:] == [
        "- reviewer (`.claude/agents/reviewer.md`): Reads changes."
    ]
    defined(tmp_path, GOOD.replace("Grep", "Write"))
    assert "(`.claude/agents/reviewer.md`, acts): " in agents_for_the_model(folders, none_refused(folders)())


async def test_one_of_the_project_is_told_what_its_file_says_and_has_fewer_tools(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    defined(folder, GOOD)
    defined(folder, "---\nname: broken\n---\nx", name="broken")
    async with stage(folder) as here:
        session = await here.new()
        tasks = [Call("task", {"title": "Look", "prompt": "Review it", "agent": name}) for name in ("reviewer", "broken", "nobody")]
        here.fake.enqueue(tasks, Say("Nothing is wrong."), Say("Good."))
        await here.say(session, "Review it")
        assert here.refused() == []
        assert "reviewer (`.claude/agents/reviewer.md`)" in str(here.fake.requests[0].body["system"])
        own = here.fake.requests[1].body
        assert {tool["name"] for tool in own["tools"]} == {"read_file", "search", "bash", "recall"}
        assert "You review." in str(own["system"])
        assert "change nothing, whatever the following says" in str(own["system"])
        told = {each.entry.content for each in session.entries if isinstance(each.entry, ToolReturned)}
        assert any("> Nothing is wrong." in each for each in told)
        assert any("broken.md does not count: its head has no description" in each for each in told)
        assert "There is no sub-agent 'nobody'. There are: explore, fork, reviewer" in told
        assert [call.status for call in calls(session)] == ["completed", "failed", "failed"]
