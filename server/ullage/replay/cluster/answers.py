"""What a worker answers, as bytes.

Works are thousands of small frozen values. Of those pickle asks each class for its fields, one value after the other, which takes the
process that gathers them a fifth of the time that making them took. Here a value goes as its class and what it is made of. It is read by
whoever asked, and not by the thread that speaks to the scheduler.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Any


def packed(works: tuple[object, ...]) -> bytes:
    """Raises what pickle raises."""
    file = io.BytesIO()
    _Pickler(file, pickle.HIGHEST_PROTOCOL).dump(works)
    return file.getvalue()


def unpacked(answer: bytes) -> object:
    """What was packed. Runs what stands in it, as all does that comes from a worker (`docs/replay.md`). Raises whatever that raises."""
    return pickle.loads(answer)  # noqa: S301 - workers are believed as far as that: Dask itself unpickles what they send


class _Pickler(pickle.Pickler):
    def reducer_override(self, obj: object) -> Any:
        """A dataclass as a call of its class, all else as ever."""
        parts = _parts_of(type(obj))
        return NotImplemented if parts is None else (type(obj), parts(obj))


@cache
def _parts_of(kind: type) -> Callable[[object], tuple[Any, ...]] | None:
    """What gives the values that one is made of; None where a class is not made of its fields in their order."""
    if not is_dataclass(kind) or hasattr(kind, "__post_init__"):
        return None
    names = [field.name for field in fields(kind) if field.init and not field.kw_only]
    if len(names) != len(fields(kind)) or not names:
        return None
    of_several = attrgetter(*names)
    return of_several if len(names) > 1 else lambda value: (of_several(value),)
