"""What `ullage replay` and `ullage report` share: which files and policies are meant, and what is said on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from ullage.installed_policies import installed
from ullage.recorded.readers.files import NothingFound, transcripts_in
from ullage.recorded.readers.values import printable
from ullage.replay.object_storage import is_address, objects_below, said_of, shown
from ullage.replay.places import Place, Stored
from ullage.replay.team_places import names_team_store, places_in, shown_team_store
from ullage.store.errors import StoreFailed

EVERY_POLICY = "all"
"""Stands in the place of a policy's name for all policies."""


def known_policies(wanted: Sequence[str], there_are: Sequence[str], command: str, beside: Sequence[str] = ()) -> tuple[str, ...]:
    """The policies of these names, each once, in their order; those that there are not are complained of. `all` is each of `there_are`.

    `beside` are known too, and are not among all.
    """
    wanted = [name for each in wanted for name in (there_are if each == EVERY_POLICY else (each,))]
    known = (*there_are, *beside)
    unknown = [name for name in dict.fromkeys(wanted) if name not in known]
    if unknown:
        complain(command, f"there is no policy {', '.join(map(repr, unknown))}; there are {', '.join(known)}")
        for problem in installed().problems:
            complain(command, problem)
    return tuple(name for name in dict.fromkeys(wanted) if name in known)


def places_of(names: Sequence[str], failures: list[str], kept: Mapping[Path, Path]) -> Sequence[Place]:
    """The files and objects behind the names, each once. `kept` as `transcripts_in` takes it; what cannot be read goes to `failures`."""
    found: dict[Path | str, Place] = {}
    for name in names:
        try:
            if names_team_store(name):
                found.update({str(place): place for place in places_in(name)})
                continue
            if is_address(name):
                found.update({address: Stored(address, size) for address, size in objects_below(name, failures).items()})
                continue
            for path in transcripts_in(Path(name), failures, kept):
                found.setdefault(path.resolve(), path)
        except (NothingFound, StoreFailed) as error:
            failures.append(str(error))
        except OSError as error:
            failures.append(f"{shown(name)} cannot be read: {said_of(error, name)}" if is_address(name) else str(error))
    return tuple(found.values())


def shown_name(name: str) -> str:
    """A name of the command line as it may be written into a report: without any password in it."""
    if names_team_store(name):
        return shown_team_store(name)
    return shown(name) if is_address(name) else name


def show_progress(text: str) -> None:
    """Says on a terminal what is being done; nothing takes it away."""
    if sys.stderr.isatty():
        write(sys.stderr, f"\r\x1b[K{printable(text)}")
        sys.stderr.flush()


def complain(command: str, text: str) -> None:
    """Says on stderr what went wrong."""
    write(sys.stderr, f"ullage {command}: {printable(text)}\n")


def write(stream: TextIO, text: str) -> None:
    """Writes the text with a `?` for every character that the terminal cannot show."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding))
