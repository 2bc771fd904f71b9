"""Which rules files are found, in which format, and when each is in force."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ullage.context.entries import FileTouch
from ullage.session.instructions.in_force import ALL_CHARACTERS, LATE_CHARACTERS, RulesInForce, rules_from_the_start
from ullage.session.instructions.rules_files import MOST_BYTES, MOST_LOOKED_AT, PLACES, RULES_CHARACTERS, RulesFile, folders_of, rules_in
from ullage.tools.rules.covering import PermissionRule
from ullage.tools.rules.reading import ReadRules, none_refused
from ullage.tools.steering import steers
from ullage.workspace.folders import Folders


class Project:
    """A workspace folder, and the rules in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folders = Folders([folder])

    def put(self, name: str, text: str) -> Path:
        """Writes a file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def found(self) -> list[RulesFile]:
        """The rules of the workspace folder."""
        return rules_in(self.folder, self.folders, ReadRules(self.folders))

    def told(self) -> str:
        """What the model is told from the start."""
        return "\n\n".join(text for _, text in rules_from_the_start(self.folders, ReadRules(self.folders)))

    def in_force(self) -> RulesInForce:
        """The rules of a session that begins now."""
        return RulesInForce(self.folders, none_refused(self.folders))


def told_of(rules: RulesInForce, name: str) -> str:
    return "\n\n".join(rules.changed([name]))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    folder = (tmp_path / "project").resolve()
    folder.mkdir()
    return Project(folder)


def touch(path: str) -> FileTouch:
    """The agent read a file."""
    return FileTouch(path, "read", "0" * 64)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("AGENTS.md", "Use uv.", "Use uv."),
        ("CLAUDE.md", "Use uv.", "Use uv."),
        (".claude/CLAUDE.md", "Use uv.", "Use uv."),
        ("CLAUDE.local.md", "Use uv.", "Use uv."),
        (".claude/rules/deep/style.md", "Use uv.", "Use uv."),
        (".cursorrules", "Use uv.", "Use uv."),
        (".cursor/rules/a.mdc", "---\nalwaysApply: true\nglobs: *.ts\n---\nUse uv.", "Use uv."),
        (".cursor/rules/a.mdc", "---\nglobs: **/*\nalwaysApply: false\n---\nUse uv.", "Use uv."),
        (".cursor/rules/a.mdc", "Use uv.", "Use uv."),
        (".clinerules", "Use uv.", "Use uv."),
        (".clinerules/01-style.md", "Use uv.", "Use uv."),
        (".github/copilot-instructions.md", "Use uv.", "Use uv."),
        (".github/instructions/a.instructions.md", "---\napplyTo: '**'\n---\nUse uv.", "Use uv."),
    ],
)
def test_what_is_in_force_from_the_start(project: Project, name: str, text: str, told: str) -> None:
    project.put(name, text)
    assert project.told() == f"Rules of this workspace, from {name}:\n\n{told}"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README.md", "No rules."),
        (".cursor/rules/a.md", "Another ending."),
        (".cursor/rules/a.mdc", "---\nalwaysApply: false\n---\nBy hand."),
        (".github/instructions/a.md", "Another ending."),
        (".claude/rules/a.md", "---\npaths: src/**\n---\nFor files."),
        ("AGENTS.md", " \n"),
    ],
)
def test_what_is_not(project: Project, name: str, text: str) -> None:
    project.put(name, text)
    assert project.told() == ""


@pytest.mark.parametrize(
    ("name", "head", "fits", "does_not"),
    [
        (".cursor/rules/a.mdc", "globs: *.ts, lib/**", "deep/a.ts", "a.py"),
        (".cursor/rules/a.mdc", "globs:\n  - lib/**/*.py", "lib/deep/a.py", "other/lib/a.py"),
        (".claude/rules/a.md", 'paths: "src/**/*.{ts,tsx}"', "src/a.tsx", "src/a.js"),
        (".clinerules/a.md", "paths:\n  - src/**", "src/deep/a", "tests/a"),
        (".github/instructions/a.instructions.md", "applyTo: '**/*.sql,migrations/*'", "migrations/1", "a.py"),
    ],
)
def test_rules_for_files_come_with_such_a_file(project: Project, name: str, head: str, fits: str, does_not: str) -> None:
    project.put(name, f"---\n{head}\n---\nMind the gap.")
    rules = project.in_force()
    assert (project.told(), rules.met([touch(does_not)]), rules.nested()) == ("", "", "")
    told = rules.met([touch(fits)])
    assert told.startswith("Rules of this workspace for `")
    assert told.endswith(f", from {name}:\n\nMind the gap.")
    assert rules.met([touch(fits)]) == "", "once is enough"
    assert rules.nested() == told, "after a compaction they hold still"


def test_rules_of_a_folder_below_come_with_its_first_file(project: Project) -> None:
    project.put("deep/AGENTS.md", "Never print.")
    project.put("deep/.cursor/rules/a.mdc", "---\nglobs: *.py\n---\nTypes.")
    rules = project.in_force()
    told = rules.met([touch("deep/a.txt")])
    assert told == "Rules of this workspace, from deep/AGENTS.md:\n\nNever print."
    assert "deep/.cursor/rules/a.mdc" in rules.met([touch("deep/inner/a.py")])
    assert rules.met([touch("a.py")]) == "", "patterns start from the folder of the rules"


def test_what_is_about_some_work_is_listed_for_the_agent(project: Project) -> None:
    project.put(".cursor/rules/db.mdc", "---\ndescription: How migrations\n  are written\n---\nNever drop a column.")
    assert project.told().endswith("\n- `.cursor/rules/db.mdc`: How migrations are written")
    assert "Never drop" not in project.told()


def test_imports_are_read_where_they_may_be(project: Project) -> None:
    project.put("../outside.md", "Outside.")
    project.put("docs/style.md", "Two spaces. See @more/deep.md and @../CLAUDE.md")
    project.put("docs/more/deep.md", "No tabs.")
    project.put(
        "CLAUDE.md", "Obey @docs/style.md.\n`@docs/code.md`\n```\n@docs/code.md\n```\n@../outside.md @~/x.md @nobody a@docs/code.md @docs"
    )
    project.put("docs/code.md", "Only an example.")
    shown = [(file.shown, file.source) for file in project.found()]
    assert shown == [("CLAUDE.md", ""), ("docs/style.md", "CLAUDE.md"), ("docs/more/deep.md", "docs/style.md")]


def test_a_long_chain_of_imports_ends(project: Project) -> None:
    for number in range(20):
        project.put(f"rules{number}.md", f"{number} @rules{number + 1}.md")
    project.put("CLAUDE.md", "@rules0.md")
    assert [file.shown for file in project.found()] == ["CLAUDE.md", *(f"rules{number}.md" for number in range(5))]


def test_only_claude_code_s_files_import(project: Project) -> None:
    project.put("AGENTS.md", "See @docs/style.md")
    project.put("docs/style.md", "Two spaces.")
    assert [file.shown for file in project.found()] == ["AGENTS.md"]


def test_what_stands_in_two_files_is_told_once(project: Project) -> None:
    project.put("AGENTS.md", "Use uv.")
    project.put("CLAUDE.md", "@AGENTS.md\n")
    project.put(".cursorrules", "Use uv.\n")
    (project.folder / ".github").mkdir()
    (project.folder / ".github" / "copilot-instructions.md").symlink_to("../AGENTS.md")
    assert project.told().count("Use uv.") == 1
    listed = {each.shown: (each.state, each.trouble, each.tokens) for each in project.in_force().listed()}
    assert listed[".cursorrules"] == ("not in force", "says the same as AGENTS.md", 0)
    assert ".github/copilot-instructions.md" not in listed, "it is the same file"


def test_a_link_out_of_the_workspace_is_not_followed(project: Project) -> None:
    project.put("../secrets/a.mdc", "Secret.")
    (project.folder / ".cursor").mkdir()
    (project.folder / ".cursor" / "rules").symlink_to("../../secrets")
    (project.folder / ".clinerules").mkdir()
    (project.folder / ".clinerules" / "a.md").symlink_to("../../secrets/a.mdc")
    assert project.found() == []


def test_what_cannot_be_read_is_told_and_the_rest_counts(project: Project) -> None:
    (project.folder / "AGENTS.md").write_bytes(b"\0\1\2" * 100)
    os.mkfifo(project.folder / "CLAUDE.local.md")
    project.put("CLAUDE.md", "Use uv.")
    project.put(".claude/rules/a.md", "---\npaths\n---\nAlways then.")
    states = {each.shown: (each.state, each.trouble) for each in project.in_force().listed()}
    assert states["AGENTS.md"] == ("not in force", "it cannot be read: a binary file")
    assert states["CLAUDE.local.md"][1].startswith("it cannot be read: not a regular file")
    assert states["CLAUDE.md"] == ("in force", "")
    assert states[".claude/rules/a.md"] == ("in force", "line 2 of its head cannot be read")


def test_what_a_rule_of_the_user_s_refuses_is_not_told(project: Project) -> None:
    project.put(".cursor/rules/a.mdc", "Secret.")
    project.put("CLAUDE.md", "See @.cursor/rules/a.mdc")
    refusing = ReadRules(project.folders, (PermissionRule("read", ".cursor/**", "workspace", refuses=True),))
    assert not any("Secret" in text for _, text in rules_from_the_start(project.folders, refusing))
    rules = RulesInForce(project.folders, lambda: refusing)
    assert ".cursor/rules/a.mdc" in {each.shown for each in rules.listed() if "your rules" in each.trouble}


def test_long_rules_are_cut_and_many_named(project: Project) -> None:
    for number in range(9):
        project.put(f".clinerules/{number}.md", f"{number}" * (RULES_CHARACTERS + 5))
    told = project.told()
    assert f"[cut: the file has {RULES_CHARACTERS + 5:,} characters]" in told
    assert len(told) < ALL_CHARACTERS + 1_000
    assert told.endswith("`.clinerules/8.md`")


def test_a_change_is_told_where_the_rules_hold(project: Project) -> None:
    project.put(".cursor/rules/ts.mdc", "---\nglobs: *.ts\n---\nUse let.")
    project.put("CLAUDE.md", "@docs/style.md")
    style = project.put("docs/style.md", "Two spaces.")
    rules = project.in_force()
    project.put(".cursor/rules/ts.mdc", "---\nglobs: *.ts\n---\nUse const.")
    assert told_of(rules, ".cursor/rules/ts.mdc") == "", "not in force yet"
    rules.met([touch("a.ts")])
    project.put(".cursor/rules/ts.mdc", "---\nglobs: *.ts\n---\nUse var.")
    assert told_of(rules, ".cursor/rules/ts.mdc").endswith("Use var.")
    project.put("docs/style.md", "Four spaces.")
    assert told_of(rules, "docs/style.md").startswith("The rules changed. From now on:\n\nRules of this workspace, from docs/style.md")
    style.unlink()
    assert told_of(rules, "docs/style.md") == "The rules of docs/style.md no longer hold: they were removed."
    assert told_of(rules, "docs/style.md") == ""
    project.put(".github/copilot-instructions.md", "Be brief.")
    assert told_of(rules, ".github/copilot-instructions.md").endswith("Be brief.")
    assert told_of(rules, "src/a.py") == ""


@pytest.mark.parametrize(
    ("name", "folders"),
    [
        ("AGENTS.md", ["."]),
        ("deep/er/CLAUDE.md", ["deep/er"]),
        ("deep/.claude/CLAUDE.md", ["deep", "deep/.claude"]),
        (".claude/rules/a/b.md", ["."]),
        ("deep/.cursor/rules/a.mdc", ["deep"]),
        ("deep/.cursor/rules/a.txt", []),
        ("README.md", []),
    ],
)
def test_the_folders_of_a_file(name: str, folders: list[str]) -> None:
    root = Path("/project")
    assert folders_of(root / name) == {root / folder for folder in folders}


def test_the_agent_writes_none_of_them_unasked() -> None:
    for place in PLACES:
        name = f"{place.name}/a{place.ending}" if place.ending else place.name
        assert steers(Path(name)), name


def test_rules_that_come_late_have_no_more_room_than_there_is(project: Project) -> None:
    for number in range(100):
        project.put(f".claude/rules/{number:02}.md", f"---\npaths: '*.py'\n---\n{number:02}" + "x" * 20_000)
    rules = project.in_force()
    told = rules.met([touch("a.py")])
    assert len(told) < LATE_CHARACTERS + 2_000
    assert "`.claude/rules/02.md`" in told
    assert "and 68 more" in told
    assert len(rules.nested()) < LATE_CHARACTERS + 2_000
    for number in range(100):
        project.put(f".claude/rules/{number:02}.md", f"---\npaths: '*.py'\n---\n{number:02}" + "y" * 20_000)
    assert len(told_of(rules, ".claude/rules/50.md")) < LATE_CHARACTERS + 3_000


def test_rules_that_come_late_share_one_room(project: Project) -> None:
    for name in "abcd":
        project.put(f"{name}/AGENTS.md", name + "x" * 25_000)
    rules = project.in_force()
    told = [rules.met([touch(f"{name}/x.py")]) for name in "abcd"]
    assert [len(each) > 25_000 for each in told] == [True, True, False, False]
    assert "`c/AGENTS.md`" in told[2]


LONG = "b" * 300


@pytest.mark.parametrize(
    ("name", "target"),
    [("AGENTS.md", f"/{LONG}"), (".claude/rules/x", f"/{LONG}"), (".claude/rules/x.md", f"/{LONG}"), ("CLAUDE.md", "CLAUDE.md")],
)
def test_a_link_that_leads_nowhere_ends_nothing(project: Project, name: str, target: str) -> None:
    path = project.put(name, "")
    path.unlink()
    path.symlink_to(target)
    project.put(".cursorrules", "Use uv.")
    assert "Use uv." in project.told()


def test_an_import_that_can_be_no_path_ends_nothing(project: Project) -> None:
    project.put("CLAUDE.md", f"Use uv. @{'a' * 300} @docs/{'a/' * 3_000}x")
    assert "Use uv." in project.told()


def test_very_many_imports_do_not_take_long(project: Project) -> None:
    project.put("CLAUDE.md", " ".join(f"@x{number}" for number in range(40_000)) + " @x" * 40_000)
    began = time.process_time()
    assert len(project.found()) == 1
    assert time.process_time() - began < 2, "some ten milliseconds; each name took half a millisecond"


def test_a_head_of_commas_does_not_take_long(project: Project) -> None:
    project.put(".claude/rules/a.md", f"---\npaths: {',' * 19_000}\n---\nUse uv.")
    began = time.process_time()
    assert "Use uv." in project.told()
    assert time.process_time() - began < 0.5, "some milliseconds; it was quadratic"


def test_of_a_large_folder_some_is_looked_at(project: Project) -> None:
    for number in range(MOST_LOOKED_AT + 500):
        project.put(f".claude/rules/a/{number:05}.txt", "")
    for name in ("node_modules/x.md", "a.md"):
        project.put(f".claude/rules/{name}", f"Rules of {name}.")
    assert [file.shown for file in project.found()] == [".claude/rules/a.md"]


def test_a_large_file_is_not_read(project: Project) -> None:
    project.put("AGENTS.md", "x" * (MOST_BYTES + 1))
    assert [each.trouble for each in project.in_force().listed()] == [
        "it cannot be read: it has 1,000,001 bytes, and 1,000,000 are the most"
    ]


def test_of_one_text_what_holds_always_is_told(project: Project) -> None:
    project.put(".claude/rules/style.md", "---\npaths: src/**\n---\nUse tabs.")
    project.put(".clinerules/style.md", "---\npaths: lib/**\n---\nUse tabs.")
    project.put(".github/copilot-instructions.md", "Use tabs.")
    assert project.told().endswith("copilot-instructions.md:\n\nUse tabs.")
    assert ".clinerules" in project.in_force().met([touch("lib/a.py")])


def test_line_ends_of_two_kinds_in_a_head(project: Project) -> None:
    project.put(".cursor/rules/a.mdc", "")
    (project.folder / ".cursor" / "rules" / "a.mdc").write_bytes(b"---\r\nglobs: *.ts\n---\r\nUse tabs.\n")
    assert project.told() == ""


def test_what_is_listed_is_what_there_is_now(project: Project) -> None:
    gone = project.put("AGENTS.md", "Use uv.")
    rules = project.in_force()
    gone.unlink()
    project.put("CLAUDE.md", "Use pip.")
    assert [(each.shown, each.state) for each in rules.listed()] == [("CLAUDE.md", "in force")]
    assert told_of(rules, "AGENTS.md") != "", "what the agent is told of is another matter"
