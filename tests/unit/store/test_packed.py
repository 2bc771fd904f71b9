"""Values as bytes, there and back."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.recorded.readers.recorded import written
from tests.unit.replay.test_command import compacted_session
from ullage.replay.cluster.shares import Raised
from ullage.replay.file_work import ReplayOptions, file_work
from ullage.store.packed import packed, unpacked


@dataclass(frozen=True, slots=True)
class One:
    value: object = None


@dataclass(frozen=True, slots=True)
class Two:
    value: object
    more: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True)
class Plain:
    value: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    value: object


@dataclass
class Counting:
    """Made of less than it holds."""

    value: object
    made: int = field(default=0, init=False)


@dataclass
class Doubled:
    """What it is made of is not what it holds."""

    value: object

    def __post_init__(self) -> None:
        self.value = (self.value, self.value)


@dataclass(frozen=True, slots=True)
class Nothing:
    """Nothing."""


class Pair(NamedTuple):
    value: object
    more: object


def _named(value: object) -> Named:
    return Named(value=value)


plain = st.none() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()) | st.builds(Path, st.just("a/b.jsonl"))
values = st.recursive(
    plain | st.builds(Nothing),
    lambda parts: (
        st.builds(One, parts)
        | st.builds(Two, parts, st.dictionaries(st.text(max_size=2), parts, max_size=2))
        | st.builds(Plain, parts)
        | st.builds(_named, parts)
        | st.builds(Counting, parts)
        | st.builds(Doubled, parts)
        | st.builds(Pair, parts, parts)
        | st.tuples(parts, parts)
    ),
    max_leaves=6,
)


@given(st.lists(values, max_size=4).map(tuple))
def test_what_is_packed_is_unpacked_alike(works: tuple[object, ...]):
    assert unpacked(packed(works)) == works


def test_real_work_is_unpacked_alike_and_takes_less(tmp_path: Path):
    work = file_work(written(tmp_path, compacted_session().lines), ReplayOptions(policies=("ullage", "claude-code")))
    answer = packed((work, Raised("out of luck")))
    assert unpacked(answer) == (work, Raised("out of luck"))
    assert len(answer) < len(pickle.dumps((work, Raised("out of luck"))))
