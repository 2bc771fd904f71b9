"""Names of what was clipped away: known to the record, though the model never saw them."""

from __future__ import annotations

import pytest

from tests.unit.context.work import read, work
from ullage.context.entries import Entry, ToolReturned
from ullage.context.summary.facts import Reading
from ullage.context.summary.names import names_in_use
from ullage.context.summary.words import MOST_NAMES, READ_CHARACTERS, names_left_out


@pytest.mark.parametrize(
    ("whole", "content", "expected"),
    [
        ("readLevel\ntank_level\nsrc/gauge.py", "readLevel\n[…]", ("src/gauge.py", "tank_level")),
        ("readLevel", "readLevel", ()),
        ("", "", ()),
        ("plain words only", "", ()),
        ("key = sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789 read_level", "", ("read_level",)),
    ],
)
def test_what_stood_only_in_the_part_that_is_gone(whole: str, content: str, expected: tuple[str, ...]):
    assert names_left_out(whole, content) == expected


@pytest.mark.parametrize("secret", ["ghp_" + "a1B2" * 9, "DB_PASSWORD=correct0horse_battery", 'api_key: "not_forTheModel1"'])
@pytest.mark.parametrize("filler", ["word ", '{"a":1},'])
def test_a_secret_where_reading_ends_is_none_of_them(secret: str, filler: str):
    for seen in range(len(secret) + 1):
        before = (filler * READ_CHARACTERS)[: READ_CHARACTERS - seen - 1]
        names = names_left_out(f"{before} {secret} tank_level " + filler * 9, "")
        assert not [name for name in names if name in secret and name not in ("DB_PASSWORD", "api_key")]


def test_there_is_a_ceiling():
    assert len(names_left_out(" ".join(f"name_{number}" for number in range(3 * MOST_NAMES)), "")) == MOST_NAMES


def test_they_belong_to_the_file_that_was_read():
    call, returned = _parts(read("src/gauge.py", "head … tail"))
    clipped = ToolReturned(
        returned.tool_use_id, returned.tool, returned.content, False, 60_000, "whole.txt", names_left_out=("tank_level",)
    )
    found = names_in_use(Reading().of(work([call, clipped])))
    assert set(found.belonging["tank_level"]) == {"src/gauge.py"}


def _parts(step: Entry | list[Entry]) -> tuple[Entry, ToolReturned]:
    assert isinstance(step, list)
    call, returned = step
    assert isinstance(returned, ToolReturned)
    return call, returned
