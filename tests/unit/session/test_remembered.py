"""What the user always allows is allowed again, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from ullage.session.turns.approvals import Remembered, RememberedForNow, RememberedInWorkspace
from ullage.store.user_state import UserState
from ullage.tools.command_lines.judge import Site
from ullage.tools.permission import command_need, edit_need

SITE = Site(Path("/work/a"), "/usr/bin:/bin", (Path("/work/a"),), caged=False)


@pytest.fixture(params=["in workspace", "for now"])
def remembered(request: pytest.FixtureRequest, tmp_path: Path) -> Remembered:
    if request.param == "for now":
        return RememberedForNow()
    return RememberedInWorkspace(UserState(tmp_path), Path("/work/a"))


def test_a_command_that_is_always_allowed(remembered: Remembered) -> None:
    assert not remembered.allows(command_need("npm test", SITE))
    remembered.allow(command_need("npm test", SITE))
    assert remembered.allows(command_need("npm test", SITE))
    assert not remembered.allows(command_need("npm test && rm -rf build", SITE))
    assert not remembered.allows(command_need("npm publish", SITE))


def test_a_command_that_is_not_known_is_allowed_as_it_stands(remembered: Remembered) -> None:
    remembered.allow(command_need("./run.sh all", SITE))
    assert remembered.allows(command_need("./run.sh all", SITE))
    assert not remembered.allows(command_need("./run.sh all x", SITE))
    assert not remembered.allows(command_need("./run.sh", SITE))


def test_a_folder_that_is_always_allowed_does_not_hold_what_steers(remembered: Remembered) -> None:
    remembered.allow(edit_need("src/a.py"))
    remembered.allow(edit_need("package.json"))
    assert not remembered.allows(edit_need("src/.vscode/tasks.json"))
    assert not remembered.allows(edit_need("src/.git/config"))


def test_edits_of_a_folder_that_are_always_allowed(remembered: Remembered) -> None:
    remembered.allow(edit_need("src/a.py"))
    assert remembered.allows(edit_need("src/deep/b.py"))
    assert not remembered.allows(edit_need("tests/a.py"))
    assert not remembered.allows(command_need("src/a.py", SITE))


def test_what_must_be_asked_each_time_is_not_remembered(remembered: Remembered) -> None:
    steering = edit_need(".git/hooks/pre-commit")
    remembered.allow(steering)
    assert not remembered.allows(steering)


def test_what_is_always_allowed_can_be_seen_and_taken_back(remembered: Remembered) -> None:
    remembered.allow(command_need("npm test", SITE))
    remembered.allow(command_need("./run.sh all", SITE))
    remembered.allow(edit_need("src/a.py"))
    listed = {each.name: each for each in remembered.approvals()}
    assert set(listed) == {"`npm test *` (runs code of this folder)", "exactly `./run.sh all`", "edits of `src/**`"}
    taken = listed["edits of `src/**`"]
    remembered.forget(taken.action, taken.pattern)
    assert not remembered.allows(edit_need("src/a.py"))
    assert remembered.allows(command_need("npm test", SITE))
    remembered.forget_all()
    assert not remembered.approvals()
    assert not remembered.allows(command_need("npm test", SITE))


def test_to_take_back_what_is_not_there_does_nothing(remembered: Remembered) -> None:
    remembered.allow(edit_need("src/a.py"))
    remembered.forget("edit", "docs/**")
    remembered.forget("command", "src/**")
    assert remembered.allows(edit_need("src/a.py"))
