"""What the user always allows is allowed again, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.tools.allowed import covers, rules_for
from ullage.session.permissions.rules_kept import Remembered, RememberedForNow, RememberedInWorkspace
from ullage.store import user_state
from ullage.store.shared_files import write_whole
from ullage.store.user_state import UserState
from ullage.tools.command_lines.judge import Site
from ullage.tools.permission import command_need, edit_need, shown_rule
from ullage.tools.rules.covering import PermissionRule
from ullage.tools.tool import PermissionNeed

SITE = Site(Path("/work/a"), "/usr/bin:/bin", (Path("/work/a"),), caged=False)


def allows(remembered: Remembered, need: PermissionNeed) -> bool:
    return covers(remembered.rules(), need, SITE)


def allow(remembered: Remembered, need: PermissionNeed) -> None:
    for rule in rules_for(need):
        remembered.add(rule)


@pytest.fixture(params=["in workspace", "for now"])
def remembered(request: pytest.FixtureRequest, tmp_path: Path) -> Remembered:
    if request.param == "for now":
        return RememberedForNow()
    return RememberedInWorkspace(UserState(tmp_path), Path("/work/a"))


def test_a_command_that_is_always_allowed(remembered: Remembered) -> None:
    assert not allows(remembered, command_need("npm test", SITE))
    allow(remembered, command_need("npm test", SITE))
    assert allows(remembered, command_need("npm test", SITE))
    assert not allows(remembered, command_need("npm test && rm -rf build", SITE))
    assert not allows(remembered, command_need("npm publish", SITE))


def test_a_command_that_is_not_known_is_allowed_as_it_stands(remembered: Remembered) -> None:
    allow(remembered, command_need("./run.sh all", SITE))
    assert allows(remembered, command_need("./run.sh all", SITE))
    assert not allows(remembered, command_need("./run.sh all x", SITE))
    assert not allows(remembered, command_need("./run.sh", SITE))


def test_a_folder_that_is_always_allowed_does_not_hold_what_steers(remembered: Remembered) -> None:
    allow(remembered, edit_need("src/a.py"))
    allow(remembered, edit_need("package.json"))
    assert not allows(remembered, edit_need("src/.vscode/tasks.json"))
    assert not allows(remembered, edit_need("src/.git/config"))


def test_edits_of_a_folder_that_are_always_allowed(remembered: Remembered) -> None:
    allow(remembered, edit_need("src/a.py"))
    assert allows(remembered, edit_need("src/deep/b.py"))
    assert not allows(remembered, edit_need("tests/a.py"))
    assert not allows(remembered, command_need("src/a.py", SITE))


def test_what_must_be_asked_each_time_is_not_remembered(remembered: Remembered) -> None:
    steering = edit_need(".git/hooks/pre-commit")
    allow(remembered, steering)
    assert not allows(remembered, steering)


def test_what_is_always_allowed_can_be_seen_and_taken_back(remembered: Remembered) -> None:
    allow(remembered, command_need("npm test", SITE))
    allow(remembered, command_need("./run.sh all", SITE))
    allow(remembered, edit_need("src/a.py"))
    listed = {shown_rule(each.action, each.pattern, each.files): each for each in remembered.rules()}
    assert set(listed) == {"`npm test *` (runs code of this folder)", "exactly `./run.sh all`", "edits of `src/**`"}
    taken = listed["edits of `src/**`"]
    remembered.forget("workspace", taken.action, taken.pattern)
    assert not allows(remembered, edit_need("src/a.py"))
    assert allows(remembered, command_need("npm test", SITE))
    remembered.forget_all()
    assert not remembered.rules()
    assert not allows(remembered, command_need("npm test", SITE))


def test_a_rule_takes_the_place_of_its_opposite_in_one_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the one before written out first, nothing would refuse any more if the next could not be written."""
    remembered, writes = RememberedInWorkspace(UserState(tmp_path), Path("/work/a")), list[Path]()
    remembered.add(PermissionRule("command", "npm test", "workspace", refuses=True))

    def counted(path: Path, text: str) -> None:
        writes.append(path)
        write_whole(path, text)

    monkeypatch.setattr(user_state, "write_whole", counted)
    remembered.add(PermissionRule("command", "npm test", "workspace"))
    assert [rule.refuses for rule in remembered.rules()] == [False]
    assert len(writes) == 1


def test_to_take_back_what_is_not_there_does_nothing(remembered: Remembered) -> None:
    allow(remembered, edit_need("src/a.py"))
    remembered.forget("workspace", "edit", "docs/**")
    remembered.forget("workspace", "command", "src/**")
    assert allows(remembered, edit_need("src/a.py"))
