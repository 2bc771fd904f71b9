"""A growing list as it is at one moment, without a copy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeVar, cast, overload

T = TypeVar("T")


class Snapshot(Sequence[T]):
    """The first `length` items of `grown`, then `rest`.

    Making one costs nothing however long `grown` is. It never changes as long as `grown` is only appended to. Equal to
    every sequence with equal items.
    """

    __slots__ = ("_grown", "_length", "_rest")

    def __init__(self, grown: Sequence[T], length: int, rest: tuple[T, ...]) -> None:
        self._grown = grown
        self._length = length
        self._rest = rest

    def __len__(self) -> int:
        return self._length + len(self._rest)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(index)
        return self._grown[at] if at < self._length else self._rest[at - self._length]

    def __iter__(self) -> Iterator[T]:
        yield from islice(self._grown, self._length)
        yield from self._rest

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        others = cast("Sequence[object]", other)
        return len(self) == len(others) and all(mine == theirs for mine, theirs in zip(self, others, strict=True))

    def __repr__(self) -> str:
        return f"Snapshot({list(self)!r})"
