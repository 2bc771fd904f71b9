"""What the user keeps in their home folder for all workspaces: told first, as their own, and nothing else of that folder is in reach."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fake_api import Call, Say
from tests.unit.session.harness import Stage, stage
from ullage.session.hooks.declared import declared_hooks
from ullage.session.instructions.in_force import RulesInForce
from ullage.session.instructions.prompt_files import called, prompt_files
from ullage.session.prelude import make_prelude
from ullage.session.settings import Settings
from ullage.tools.rules.reading import ReadRules, none_refused
from ullage.tools.sandbox.confinement import view
from ullage.workspace.folders import Folders, OutsideWorkspace, home_beside


@dataclass
class Places:
    home: Path
    project: Path

    def write(self, name: str, text: str) -> Path:
        """A file; `~/x` is in the home folder."""
        path = self.home / name.removeprefix("~/") if name.startswith("~/") else self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    @property
    def folders(self) -> Folders:
        made = Folders([self.project])
        made.home = home_beside(made)
        return made

    def told(self) -> str:
        return "\n\n".join(part.text for part in make_prelude(self.folders, {}).system)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    made = Places(tmp_path.resolve() / "home", tmp_path.resolve() / "project")
    made.home.mkdir()
    made.project.mkdir()
    monkeypatch.setenv("HOME", str(made.home))
    return made


SKILL = "---\nname: release\ndescription: How to release\n---\nRun scripts/x.sh\n"


def test_rules_of_the_user_come_first_and_are_told_as_theirs(places: Places):
    places.write("AGENTS.md", "Rule of the project")
    places.write("~/.claude/CLAUDE.md", "Mine\n@style.md @~/notes/more.md")
    places.write("~/.claude/style.md", "My style")
    places.write("~/notes/more.md", "More of mine")
    places.write("~/.codex/AGENTS.md", "For Codex")
    places.write("~/.ullage/AGENTS.md", "For Ullage")
    places.write("~/.claude/rules/python.md", "---\npaths: '*.py'\n---\nType all")
    told = places.told()
    in_order = ["For Ullage", "For Codex", "Mine", "My style", "More of mine", "Rule of the project"]
    assert [told.index(each) for each in in_order] == sorted(told.index(each) for each in in_order)
    assert "Rules of the user, for all workspaces, from ~/.claude/CLAUDE.md:" in told
    assert "Type all" not in told
    rules = RulesInForce(places.folders, none_refused(places.folders))
    listed = {each.shown: each for each in rules.listed()}
    assert listed["~/.claude/CLAUDE.md"].state == "in force"
    assert listed["~/.claude/CLAUDE.md"].tokens > 0
    assert listed["~/.claude/style.md"].source == "~/.claude/CLAUDE.md"
    assert listed["~/.claude/rules/python.md"].state == "in force once the agent touches a file that fits *.py"


def test_their_rules_for_certain_files_are_about_the_workspace(places: Places):
    places.write("~/.claude/rules/python.md", "---\npaths: 'src/*.py'\n---\nType all")
    places.write("src/a.py", "")
    from ullage.context.entries import FileTouch

    rules = RulesInForce(places.folders, none_refused(places.folders))
    assert "Type all" in rules.met([FileTouch("src/a.py", "read", "")])
    assert "Type all" in rules.nested(), "and once more after a compaction"


def test_a_project_imports_nothing_of_the_home_folder(places: Places):
    places.write("CLAUDE.md", "@~/notes/secret.md")
    places.write("~/notes/secret.md", "Hidden")
    assert "Hidden" not in places.told()


def test_of_two_of_one_name_the_users_own_counts(places: Places):
    places.write("~/.claude/skills/release/SKILL.md", SKILL)
    places.write(".claude/skills/release/SKILL.md", SKILL.replace("How to", "Otherwise"))
    places.write("~/.claude/commands/docs/ask.md", "Ask $ARGUMENTS")
    places.write("~/.codex/prompts/draft.md", "Draft $1")
    folders = places.folders
    found = prompt_files(folders, ReadRules(folders))
    assert [(each.name, each.shown, each.trouble) for each in found] == [
        ("release", "~/.claude/skills/release/SKILL.md", ""),
        ("docs:ask", "~/.claude/commands/docs/ask.md", ""),
        ("draft", "~/.codex/prompts/draft.md", ""),
        ("release", ".claude/skills/release/SKILL.md", "~/.claude/skills/release/SKILL.md has the same name"),
    ]
    attached = called("/docs:ask why", found)
    assert attached is not None
    assert "the command `/docs:ask` of their own" in attached.text
    assert places.told().count("release (`~/.claude/skills/release/SKILL.md`)") == 1


def test_the_agent_may_read_the_users_skills_and_nothing_else_there(places: Places):
    places.write("~/.claude/skills/release/SKILL.md", SKILL)
    places.write("~/.claude/skills/release/scripts/x.sh", "echo")
    elsewhere = places.write("~/dev/tune/SKILL.md", SKILL.replace("release", "tune")).parent
    (places.home / ".claude/skills/tune").symlink_to(elsewhere)
    (places.home / ".claude/skills/all").symlink_to(places.home)
    places.write("~/SKILL.md", SKILL.replace("release", "all"))
    places.write("~/.claude/credentials", "key")
    places.write("~/.ullage/skills/own/SKILL.md", SKILL.replace("release", "own"))
    folders = places.folders
    with pytest.raises(OutsideWorkspace):
        folders.resolve("~/.claude/skills/release/SKILL.md")
    make_prelude(folders, {})
    for name in ("~/.claude/skills/release/scripts/x.sh", "~/.claude/skills/tune/SKILL.md", "~/.ullage/skills/own/SKILL.md"):
        assert folders.resolve(name).exists()
        with pytest.raises(OutsideWorkspace):
            folders.resolve_for_writing(name)
    for name in ("~/.claude/credentials", "~/.claude/skills/release/../../credentials", "~/.bashrc", "~/SKILL.md"):
        with pytest.raises(OutsideWorkspace):
            folders.resolve(name)


def test_the_sandbox_shows_the_skills_alone(places: Places):
    places.write("~/.claude/skills/release/SKILL.md", SKILL)
    folders = places.folders
    make_prelude(folders, {})
    seen = view(places.home, folders.roots, {}, (), lent=folders.lent)
    below = [place for _, place in seen.shown if place.is_relative_to(places.home)]
    assert below == [places.home / ".claude/skills/release"]
    assert places.home in seen.empty


def test_what_cannot_be_read_is_named(places: Places):
    (places.home / ".claude").mkdir()
    (places.home / ".claude/CLAUDE.md").write_bytes(b"\0\xff")
    places.write("~/.claude/skills/x/SKILL.md", "---\nname: x\n")
    folders = places.folders
    listed = RulesInForce(folders, none_refused(folders)).listed()
    assert [(each.state, each.trouble) for each in listed] == [("not in force", "it cannot be read: a binary file")]
    [skill] = prompt_files(folders, ReadRules(folders))
    assert skill.trouble == "its head has no second line of ---"
    assert "Skills:" not in places.told()


def test_hooks_of_the_user_come_first(places: Places):
    def declares(command: str) -> str:
        return json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})

    places.write(".claude/settings.json", declares("theirs"))
    places.write("~/.claude/settings.json", declares("mine"))
    places.write("~/.ullage/hooks.json", declares("mine too"))
    folders = places.folders
    found = declared_hooks(folders, ReadRules(folders)).hooks
    assert [(each.command, each.source) for each in found] == [
        ("mine too", "~/.ullage/hooks.json"),
        ("mine", "~/.claude/settings.json"),
        ("theirs", ".claude/settings.json"),
    ]


def test_a_workspace_that_holds_the_home_folder_has_what_stands_there(places: Places):
    places.write("~/.claude/CLAUDE.md", "Mine")
    assert home_beside(Folders([places.home])) is None
    assert home_beside(Folders([places.home.parent])) is None


def sent(here: Stage) -> str:
    return str(here.fake.requests[-1].body)


async def test_a_session_reads_a_skill_of_the_user_and_a_setting_turns_all_off(places: Places):
    places.write("~/.claude/CLAUDE.md", "Always whisper")
    places.write("~/.claude/skills/release/SKILL.md", SKILL)
    reading = Call("read_file", {"path": "~/.claude/skills/release/SKILL.md"})
    async with stage(places.project) as here:
        here.fake.enqueue(reading, Say("Read."))
        session = await here.new()
        await here.say(session, "Release")
        assert "Always whisper" in sent(here)
        assert "Run scripts/x.sh" in sent(here)
        assert [each.shown for each in await session.instructions()] == ["~/.claude/CLAUDE.md", "~/.claude/skills/release/SKILL.md"]
    async with stage(places.project, settings=Settings(home_files=False)) as here:
        here.fake.enqueue(reading, Say("Read."))
        session = await here.new()
        await here.say(session, "Release")
        assert "Always whisper" not in sent(here)
        assert "Run scripts/x.sh" not in sent(here)
        assert list(await session.instructions()) == []
