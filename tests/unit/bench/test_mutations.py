"""The faults that are put into the server one at a time: each place must still be there, or the tests would not be asked about it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from bench.mutations import MUTATIONS, ROOT


def test_each_place_stands_in_the_server_once() -> None:
    found: Counter[str] = Counter()
    for file in Path(ROOT, "server").rglob("*.py"):
        text = file.read_text("utf-8")
        found.update({each.name: text.count(each.now) for each in MUTATIONS})
    assert {each.name: found[each.name] for each in MUTATIONS} == {each.name: 1 for each in MUTATIONS}


def test_each_changes_something_and_is_told_by_its_own_name() -> None:
    assert [each.name for each in MUTATIONS if each.now == each.then] == []
    assert len({each.name for each in MUTATIONS}) == len(MUTATIONS)
