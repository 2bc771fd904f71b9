"""Places as shares: what a worker gets at once, and what it makes of it.

A share is small enough to be done again when its worker is lost, and large enough that sending it costs little beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from threading import Lock
from typing import Generic, TypeVar

from ullage.replay.cluster.installation import Installation, difference, installation
from ullage.replay.memory import WorkTooLarge, within
from ullage.replay.places import Place, size_of
from ullage.store.packed import packed

Work = TypeVar("Work")

MOST_PLACES = 128
LEAST_PLACES = 4
"""Sending a share, and what comes of it, takes about as long as the work on one small file."""
MOST_BYTES = 2_000_000
"""The bytes of all places of a share together, unless it is one place alone: a second or so of work."""

SHARES_TO_COME = 4
"""How many shares for each worker what is still to be done is cut into: towards the end shares become small, so that no worker waits long
for the last one."""

_ONE_AT_A_TIME = Lock()
"""A worker with several threads has one session in memory all the same; Python would not do two at once anyway."""


class OtherInstallation(Exception):
    """Raised by a worker that would make other figures; `str()` says what is different."""


@dataclass(frozen=True, slots=True)
class Share:
    """Places that a worker gets at once. `first` is the number of its first place among all."""

    first: int
    places: tuple[Place, ...]
    size: int
    """Bytes of all its places together."""


@dataclass(frozen=True, slots=True)
class Raised:
    """Stands in the place of the work of one place, and says what went wrong with it."""

    why: str


@dataclass(frozen=True, slots=True)
class TooMuchMemory:
    """Stands in the place of the work of one place that takes more memory than the worker has (`megabytes`)."""

    megabytes: int


@dataclass(frozen=True, slots=True)
class ShareRequest(Generic[Work]):
    """The share of the work that a worker is asked for. Can be pickled."""

    work: Callable[[Place], Work]
    by: Installation


def shares_of(places: Sequence[Place], workers: int = 1, most_places: int = MOST_PLACES, most_bytes: int = MOST_BYTES) -> Iterator[Share]:
    """Cuts all places, each once and in their order, into shares for so many workers."""
    first, held, size = 0, list[Place](), 0
    most = _most(len(places), workers, most_places)
    for number, place in enumerate(places):
        more = size_of(place)
        if held and (len(held) == most or size + more > most_bytes):
            yield Share(first, tuple(held), size)
            first, held, size = number, [], 0
            most = _most(len(places) - number, workers, most_places)
        held.append(place)
        size += more
    if held:
        yield Share(first, tuple(held), size)


def _most(left: int, workers: int, most_places: int) -> int:
    """How many places the next share may have, where so many places are left."""
    return min(most_places, max(LEAST_PLACES, left // (SHARES_TO_COME * max(workers, 1))))


def done(places: tuple[Place, ...], asked: ShareRequest[Work]) -> bytes:
    """Runs on a worker: gives the work of each place, `Raised` or `TooMuchMemory`, packed (`store/packed.py`). Whatever goes wrong with one
    place, the others are done. Raises `OtherInstallation`."""
    other = difference(installation(), asked.by)
    if other:
        raise OtherInstallation(other)
    with _ONE_AT_A_TIME, within(_limit()):
        return packed(tuple(_done(place, asked.work) for place in places))


def _limit() -> int | None:
    """The bytes of memory past which this worker is ended; None where it may take what there is."""
    limit = import_module("distributed").get_worker().memory_manager.memory_limit
    return int(limit) if limit else None


def _done(place: Place, work: Callable[[Place], Work]) -> Work | Raised | TooMuchMemory:
    try:
        return work(place)
    except WorkTooLarge as error:
        return TooMuchMemory(error.megabytes)
    except Exception as error:  # noqa: BLE001 - a fault of one transcript must not cost the others of its share
        return Raised(f"{type(error).__name__}: {error}")
