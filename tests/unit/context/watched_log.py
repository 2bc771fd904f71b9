"""A log that counts how often an entry of it is looked at: the measure of work that grows with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import SupportsIndex, overload

from ullage.context.entries import Logged


class Watched(list[Logged]):
    """`looks` counts."""

    looks = 0

    @overload
    def __getitem__(self, index: SupportsIndex) -> Logged: ...
    @overload
    def __getitem__(self, index: slice) -> list[Logged]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Logged | list[Logged]:
        self.looks += 1
        return super().__getitem__(index)

    def __iter__(self) -> Iterator[Logged]:
        for logged in super().__iter__():
            self.looks += 1
            yield logged

    def __reversed__(self) -> Iterator[Logged]:
        for logged in super().__reversed__():
            self.looks += 1
            yield logged
