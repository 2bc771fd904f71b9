"""Work that goes wrong on a worker, for tests: it lies in a module of its own, so that workers can import it."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Literal, TypeAlias

from ullage.replay.cluster.shares import Raised, ShareRequest, TooMuchMemory, done
from ullage.replay.file_work import FileWork, ReplayOptions, file_work
from ullage.replay.places import Place
from ullage.store.packed import packed, unpacked


def killed_at_some(place: Place, ours: int) -> FileWork:
    """The worker is killed (kill −9) at each `always…`, and at a `once…` when it is first worked on; never the process `ours`."""
    path = Path(str(place))
    mark = path.with_suffix(".begun")
    if os.getpid() != ours and (path.name.startswith("always") or (path.name.startswith("once") and not mark.exists())):
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return file_work(place, ReplayOptions())


def fails_at_some(place: Place) -> FileWork:
    """Raises at each `bad…`."""
    if place.name.startswith("bad"):
        raise RuntimeError("out of luck")
    return file_work(place, ReplayOptions())


def no_memory_for_b(places: tuple[Place, ...], asked: ShareRequest[FileWork]) -> bytes:
    """What `done` gives where the worker has no memory for `b.jsonl`."""
    made = unpacked(done(places, asked))
    return packed(tuple(TooMuchMemory(1) if place.name == "b.jsonl" else each for place, each in zip(places, made, strict=True)))


def never(number: int) -> FileWork:
    """No place is left to this machine."""
    raise AssertionError(number)


def unfinished(reason: str) -> FileWork:
    return FileWork(failures=(reason,))


Answers: TypeAlias = Literal["too few", "too many", "none", "others", "what cannot be read", "no pickle"]
"""What is wrong with what a worker answers."""


def answers_wrongly(how: Answers, mark: Path | None, places: tuple[Place, ...], asked: ShareRequest[FileWork]) -> object:
    """In the place of `done`. With `mark` only the first time: then that file is there."""
    if mark is not None:
        if mark.exists():
            return done(places, asked)
        mark.touch()
    match how:
        case "too few":
            return packed(_works(places, asked)[1:])
        case "too many":
            return packed((*_works(places, asked), Raised("one more")))
        case "none":
            return None
        case "others":
            return packed(tuple("rows" for _ in places))
        case "what cannot be read":
            return packed(tuple(_Unreadable() for _ in places))
        case "no pickle":
            return b"no pickle"


def _works(places: tuple[Place, ...], asked: ShareRequest[FileWork]) -> tuple[object, ...]:
    return unpacked(done(places, asked))


class _Unreadable:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return _raise, ("cannot be read",)


def _raise(why: str) -> None:
    raise ValueError(why)
