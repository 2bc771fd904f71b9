"""What has to be allowed, and what an earlier "always" covers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.tools.allowed import covers, kept_early, rules_for
from tests.unit.tools.command_lines.sites import make_site
from tests.unit.tools.workplace import Workplace
from ullage.tools.permission import command_need, edit_need
from ullage.tools.tool import BadToolInput, PermissionNeed


@pytest.mark.parametrize(
    ("remembered", "asked", "covered"),
    [
        ("pytest -q", "pytest -x tests", True),
        ("pytest -q", "python -m pytest", False),
        ("git status", "git status -s", True),
        ("git status", "git push", False),
        ("pytest -q", "pytest && rm -r x", False),
        ("pytest -q", "pytest | tee out", False),
        ("pytest -q", "pytest > out", False),
        ("pytest -q", "pytest $(rm -r x)", False),
        ("pytest -q", "pytest\nrm -r x", False),
        ("cd src && pytest", "pytest", True),
        ("cd src && pytest", "pytest; cd tests; pytest", True),
        ("cd src && pytest", "cd src && rm x", False),
        ("rm -r build", "rm -r build", True),
        ("rm -r build", "rm -r /", False),
        ("echo $HOME", "echo $HOME", True),
        ("echo $HOME", "echo $PATH", False),
        ("rm '*'", "rm *", False),
        ("rm '~'", "rm ~", False),
        ("rm 'a 2>&1 b'", "rm 'a b'", False),
        ("git diff", "git diff --stat -- src", True),
        ("git diff", "git diff --output=x", False),
        ("npm test", "npm test -- x", False),
        ("npm run build", "npm run deploy", False),
        ("npm run build", "cd other && npm run build", False),
        ("make", "make clean", False),
        ("find . -name x", "find . -exec rm x", False),
        ("cat src/a", "cat /etc/passwd", False),
        ("ls", "ls -x --color", True),
        ("ls", "./ls", False),
        ("ls", "sudo ls", False),
        ("ls", "ls & rm x", False),
        ("cd build && rm -r out", "rm -r out", False),
        ("cd build && rm -r out", "cd build && rm -r out", True),
        ("mytool a", "mytool a", True),
        ("mytool a", "mytool a b", False),
        ("mytool *", "mytool a", False),
        ("rm x", "rm x ", False),
        ("python3.12 -m pytest", "python3.12 evil.py", False),
        ("git config user.name x", "git config core.fsmonitor x", False),
    ],
)
def test_commands(tmp_path: Path, remembered: str, asked: str, covered: bool) -> None:
    site = make_site(tmp_path / "work", caged=True)
    assert covers(rules_for(command_need(remembered, site)), command_need(asked, site), site) is covered


@pytest.mark.parametrize("command", ["pytest -q", "git status", "mytool a", "rm -r build", "ls src/*", "cd src && mytool"])
def test_what_an_older_version_remembered_covers_nothing(tmp_path: Path, command: str) -> None:
    """It kept the first words with ` *`, or the words of a command, without a word on which of both it was."""
    older = [command, f"{command} *", "pytest *", "git status *", "git *", "mytool *", "mytool", "ls *", "cd *", "*", " *", ""]
    site = make_site(tmp_path / "work", caged=True)
    assert not covers(kept_early("command", older), command_need(command, site), site)


@pytest.mark.parametrize(
    ("pattern", "asked", "covered"),
    [
        ("harmless: pytest", "pytest -q", True),
        ("harmless: pytest", "pytest -p evil", False),
        ("harmless: npm run build", "npm run build", True),
        ("harmless: python -m pip list", "python -m pip list", False),
        ("harmless: prettier --check", "npx prettier --check src", False),
        ("harmless: cat", "cat file-link", False),
        ("harmless: cat", "cat src/a.py", True),
        ("runs: cat", "cat src/a.py", False),
        ("exactly: cat file-link", "cat file-link", True),
    ],
)
def test_what_the_last_version_remembered_covers_no_more_than_then(tmp_path: Path, pattern: str, asked: str, covered: bool) -> None:
    site = make_site(tmp_path / "work")
    assert covers(kept_early("command", [pattern]), command_need(asked, site), site) is covered


@pytest.mark.parametrize(
    ("remembered", "asked", "covered"),
    [
        ("src/tank.py", "src/gauge.py", True),
        ("src/tank.py", "src/deep/gauge.py", True),
        ("src/deep/gauge.py", "src/tank.py", False),
        ("src/tank.py", "srcs/tank.py", False),
        ("README.md", "README.md", True),
        ("README.md", "setup.py", False),
        ("README.md", "docs/README.md", False),
        ("src/tank.py", "src/.vscode/tasks.json", False),
        (".git/config", ".git/config", False),
    ],
)
def test_edits(remembered: str, asked: str, covered: bool) -> None:
    assert covers(rules_for(edit_need(remembered)), edit_need(asked)) is covered


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/pre-commit",
        ".vscode/settings.json",
        "sub/.VSCODE/tasks.json",
        ".bashrc",
        "home/.zshrc",
        "AGENTS.md",
        "lib/CLAUDE.md",
        ".envrc",
        "tanks.code-workspace",
        ".cargo/config.toml",
        ".claude/settings.json",
        "sub/.gitlab-ci.yml",
        ".git",
        "sub/.git",
        ".git/config",
        ".Git/config",
        ".g\u200cit/config",
        ".git./config",
        ".git /config",
        ".git::$INDEX_ALLOCATION/config",
        "GIT~1/config",
        "mirror.git/hooks/post-receive",
        ".vscode/tasks.json",
        ".vscode./tasks.json",
        "Tanks.Code-Workspace",
    ],
)
def test_what_steers_other_programs_is_asked_each_time(path: str) -> None:
    need = edit_need(path)
    assert need.pattern == ""
    assert rules_for(need) == []
    assert not covers(kept_early("edit", [path, f"{path.rpartition('/')[0]}/**", "**", ""]), need)


def test_actions_do_not_mix() -> None:
    assert not covers(rules_for(edit_need("src/a.py")), PermissionNeed("command", "src/b.py", "Run it"))


def test_reading_is_free_and_the_rest_asks(workplace: Workplace) -> None:
    tools = workplace.tools
    assert tools["read_file"].permission({"path": "a"}) is None
    assert tools["search"].permission({"pattern": "a"}) is None
    command = tools["bash"].permission({"command": "npm test"})
    assert command is not None
    assert (command.action, command.pattern, command.description) == (
        "command",
        "`npm test *` (runs code of this folder)",
        'Run `npm test`, not sandboxed: the setting "Ullage › Bash: Sandbox" is off. Set it to auto.',
    )
    script = tools["bash"].permission({"command": "sh run.sh"})
    assert script is not None
    assert script.pattern == "exactly `sh run.sh`"
    edit = tools["edit_file"].permission({"path": "./src/../src/a.py", "old_text": "a", "new_text": "b"})
    assert edit is not None
    assert (edit.action, edit.pattern, edit.description) == ("edit", "edits of `src/**`", "Create src/a.py")


def test_a_file_at_the_top_of_another_folder_does_not_stand_for_all_of_it(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    write = Workplace(first, second).tools["write_file"]

    def need(path: str) -> PermissionNeed:
        needed = write.permission({"path": path, "content": ""})
        assert needed is not None
        return needed

    top = rules_for(need(f"{second}/notes.md"))
    assert covers(top, need(f"{second}/notes.md"))
    assert not covers(top, need(f"{second}/other.md"))
    assert not covers(top, need(f"{second}/src/a.md"))
    inner = rules_for(need(f"{second}/src/a.md"))
    assert covers(inner, need(f"{second}/src/deep/b.md"))
    assert not covers(inner, need(f"{second}/notes.md"))
    assert not covers(inner, need("src/a.md"))


def test_a_link_does_not_hide_what_is_edited(workplace: Workplace) -> None:
    workplace.put({".vscode/settings.json": "{}"})
    (workplace.root / "harmless.json").symlink_to(workplace.root / ".vscode" / "settings.json")
    need = workplace.tools["write_file"].permission({"path": "harmless.json", "content": ""})
    assert need is not None
    assert need.pattern == ""


@pytest.mark.parametrize(
    "name", [".ullage/ullage.db", ".ULLAGE/x", "sub/.ullage/x", ".ull\u200dage/x", ".ullage./x", ".ullage/tool-results/a.txt"]
)
def test_the_own_records_are_refused(workplace: Workplace, name: str) -> None:
    for tool, rest in (("write_file", {"content": ""}), ("edit_file", {"old_text": "a", "new_text": "b"})):
        with pytest.raises(BadToolInput, match="Ullage"):
            workplace.tools[tool].permission({"path": name, **rest})


def test_wrong_input_is_not_asked_for(workplace: Workplace) -> None:
    with pytest.raises(BadToolInput):
        workplace.tools["bash"].permission({"command": ""})


def test_a_path_that_may_not_be_written_is_refused_before_it_could_lead_elsewhere(workplace: Workplace) -> None:
    with pytest.raises(BadToolInput, match="outside the workspace"):
        workplace.tools["write_file"].permission({"path": "../x", "content": ""})
