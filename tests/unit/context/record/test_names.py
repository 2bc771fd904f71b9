"""Names and hashes that may be needed again."""

from __future__ import annotations

import pytest

from tests.unit.context.logs import says
from tests.unit.context.work import asked, ran, work
from ullage.context.record.names import names_in_use


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see readLevel and tank_level in TankGauge, MAX_LEVEL", {"readLevel", "tank_level", "TankGauge", "MAX_LEVEL"}),
        ("call gauge.read() or close()", {"gauge.read", "close"}),
        ("commit 3f2a9c1 and 3f2a9c1b7d8e4f5a6b7c8d9e0f1a2b3c4d5e6f70", {"3f2a9c1", "3f2a9c1b7d8e4f5a6b7c8d9e0f1a2b3c4d5e6f70"}),
        ("at https://example.com/a?b=c.", {"https://example.com/a?b=c"}),
        ("plain words, Capitalised Words, 1234567 and deadbeef", set[str]()),
        ("src/tank_level.py and tankLevel.ts are files", set[str]()),
        (r"escaped\nOutput in a string", set[str]()),
    ],
)
def test_what_is_a_name(text: str, expected: set[str]):
    assert {fact.name for fact in names_in_use(work(says(text)))} == expected


def test_where_a_name_was_seen():
    (fact,) = names_in_use(work(says("readLevel"), says("nothing"), ran("ls", "readLevel readLevel")))
    assert (fact.first_seq, fact.seq, fact.times) == (1, 4, 3)


def test_the_user_counts_more_than_output_and_now_more_than_then():
    facts = names_in_use(work(says("oldName"), *(says("nothing") for _ in range(300)), ran("ls", "fromOutput"), asked("look at fromUser")))
    assert [fact.name for fact in facts] == ["fromUser", "fromOutput", "oldName"]
