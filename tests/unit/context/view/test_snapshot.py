from __future__ import annotations

import pytest

from ullage.context.view.snapshot import Snapshot


def test_it_is_a_sequence_of_what_had_grown_and_the_rest():
    snapshot = Snapshot(["a", "b", "c"], 2, ("x", "y"))
    assert list(snapshot) == ["a", "b", "x", "y"]
    assert len(snapshot) == 4
    assert [snapshot[index] for index in range(-4, 4)] == ["a", "b", "x", "y"] * 2
    assert snapshot[1:3] == ["b", "x"]
    assert snapshot[-3:] == ["b", "x", "y"]
    assert snapshot[::-1] == ["y", "x", "b", "a"]


@pytest.mark.parametrize("index", [4, -5])
def test_beyond_its_ends_there_is_nothing(index: int):
    with pytest.raises(IndexError):
        Snapshot(["a", "b", "c"], 2, ("x", "y"))[index]


def test_it_stays_as_it_is_while_what_it_looks_at_grows():
    grown = ["a", "b"]
    snapshot = Snapshot(grown, 2, ("x",))
    grown.append("c")
    assert list(snapshot) == ["a", "b", "x"]


def test_it_is_equal_to_any_sequence_with_equal_items():
    snapshot = Snapshot([1, 2, 3], 2, (4,))
    assert snapshot == [1, 2, 4]
    assert snapshot == Snapshot([1], 1, (2, 4))
    assert snapshot != [1, 2]
    assert snapshot != [1, 2, 5]
    assert snapshot != 7
