"""When the user is told that sessions go with the container."""

from __future__ import annotations

from pathlib import Path

import pytest

from ullage.store.folder import goes_with_the_container

ROOT = "20 1 0:30 / / rw - overlay overlay rw\n21 20 0:31 / /proc rw - proc proc rw\n"
HOME = r"22 20 8:1 /v /home/you/.local/state rw - ext4 /dev/sda1 rw" + "\n"
SPACED = r"23 20 8:1 /v /home/you\040two rw - ext4 /dev/sda1 rw" + "\n"


@pytest.mark.parametrize(
    ("location", "mounts", "variables", "marked", "expected"),
    [
        ("/home/you/.local/state/ullage", ROOT, {}, True, True),
        ("/home/you/.local/state/ullage", ROOT, {"REMOTE_CONTAINERS": "true"}, False, True),
        ("/home/you/.local/state/ullage", ROOT, {"CODESPACES": "true"}, False, True),
        ("/home/you/.local/state/ullage", ROOT, {}, False, False),
        ("/home/you/.local/state/ullage", ROOT + HOME, {}, True, False),
        ("/home/you two/x", ROOT + SPACED, {}, True, False),
        ("/home/you/.local/stateless", ROOT + HOME, {}, True, True),
        ("/home/you/.local/state/ullage", "nonsense\n\n", {}, True, False),
    ],
)
def test_it_is_told_in_a_container_whose_home_is_on_no_volume(
    tmp_path: Path, location: str, mounts: str, variables: dict[str, str], marked: bool, expected: bool
) -> None:
    mark, table = tmp_path / "mark", tmp_path / "mountinfo"
    table.write_text(mounts)
    if marked:
        mark.touch()
    assert goes_with_the_container(Path(location), variables, [mark], table) is expected


def test_where_mounts_are_not_told_nothing_is_said(tmp_path: Path) -> None:
    assert not goes_with_the_container(tmp_path, {"CODESPACES": "true"}, [], tmp_path / "gone")
