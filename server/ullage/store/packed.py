"""Values as bytes that this process, or another of the same Ullage, reads again at once.

Thousands of small frozen values are packed. Of those pickle asks each class for its fields, one value after the other, which takes long.
Here a value goes as its class and what it is made of. Nothing is kept so: an entry in the log has a form of its own (`encode.py`).
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Any


def packed(value: object) -> bytes:
    """The value as bytes, for `unpacked`. Raises what pickle raises."""
    file = io.BytesIO()
    _Pickler(file, pickle.HIGHEST_PROTOCOL).dump(value)
    return file.getvalue()


def unpacked(data: bytes) -> Any:
    """The value that was packed. Raises whatever that raises, and runs what stands in it: to be used for what this process wrote itself, or
    what a worker sent, who is believed as far as that (`docs/replay.md`)."""
    return pickle.loads(data)  # noqa: S301 - see above


class _Pickler(pickle.Pickler):
    def reducer_override(self, obj: object) -> Any:
        """Packs a dataclass as a call of its class, and all else as pickle does."""
        parts = _parts_of(type(obj))
        return NotImplemented if parts is None else (type(obj), parts(obj))


@cache
def _parts_of(kind: type) -> Callable[[object], tuple[Any, ...]] | None:
    """A function that gives the values that an instance is made of; None where a class is not made of its fields in their order."""
    if not is_dataclass(kind) or hasattr(kind, "__post_init__"):
        return None
    names = [field.name for field in fields(kind) if field.init and not field.kw_only]
    if len(names) != len(fields(kind)) or not names:
        return None
    of_several = attrgetter(*names)
    return of_several if len(names) > 1 else lambda value: (of_several(value),)
