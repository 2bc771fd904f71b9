"""Where sessions lie: in a file that this machine sees, in an object of a storage, in a team's database. Each kind gives its sessions in
the same way.

A store of another kind would be one more kind of `Place`: a value that can be sent to another process, with a branch in `sessions_of`,
and one in `places_of` (`terminal.py`) for the names that stand for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from ullage.recorded.readers import NotATranscript, sessions_in
from ullage.recorded.readers.files import NothingFound
from ullage.recorded.transcript import Transcript
from ullage.replay.memory import look
from ullage.replay.object_storage import brought, said_of, shown
from ullage.replay.team_places import InTeamStore
from ullage.replay.team_places import sessions_in as sessions_in_team_store
from ullage.store.errors import StoreFailed


@dataclass(frozen=True, slots=True)
class Stored:
    """An object in a storage, by its whole address (`s3://bucket/key`). `size` in bytes, as it was listed."""

    address: str = field(repr=False)
    size: int

    @property
    def name(self) -> str:
        """The last part of the address."""
        return str(self).rpartition("/")[2]

    def __str__(self) -> str:
        return shown(self.address)


Place: TypeAlias = Path | Stored | InTeamStore
"""Can be pickled. Its `str` names it to the user."""


class UnreadablePlace(Exception):
    """A place of which no sessions can be read, or no more. `str()` says which and why."""


def size_of(place: Place) -> int:
    """The size of a place in bytes; 0 if that cannot be told."""
    if not isinstance(place, Path):
        return place.size
    try:
        return place.stat().st_size
    except OSError:
        return 0


def sessions_of(place: Place, start: Path = Path()) -> Iterator[Transcript]:
    """The sessions in a place, one after the other, as `sessions_in` gives them. Raises `UnreadablePlace`, and `WorkTooLarge` at a limit.

    A name of a file may be relative to `start`. What is said of the sessions names the place as the user did.
    """
    try:
        if isinstance(place, Path):
            yield from _sessions(start / place, str(start / place), str(place), "")
            return
        if isinstance(place, InTeamStore):
            yield from sessions_in_team_store(place, lambda position: look())
            return
        folder = place.address.rpartition("/")[0]
        with brought(place.address) as path:
            yield from _sessions(path, str(path), str(place), shown(folder))
    except (NothingFound, StoreFailed) as error:
        raise UnreadablePlace(str(error)) from error
    except OSError as error:
        said = said_of(error, place.address) if isinstance(place, Stored) else error.strerror or str(error)
        raise UnreadablePlace(f"{place} cannot be read: {said}") from error


def _sessions(path: Path, here: str, named: str, folder: str) -> Iterator[Transcript]:
    """The sessions of the file `path`. `here`, where they name it, becomes the name that the user gave. A project that is the folder of a
    copy is `folder` in truth."""
    copied_to = str(path.resolve().parent)
    try:
        for transcript in sessions_in(path, at=lambda position: look()):
            yield replace(transcript, project=folder) if folder and transcript.project == copied_to else transcript
    except NotATranscript as error:
        raise UnreadablePlace(str(error).replace(here, named)) from error
