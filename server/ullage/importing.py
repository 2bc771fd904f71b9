"""`ullage import`: gives a folder the sessions in its `.ullage`, as somebody else's or the user's own, or those of a gone folder."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ullage.context.quoting import visible_line
from ullage.session.sessions.brought_sessions import gone_folders, take_over
from ullage.session.sessions.earlier_store import EarlierSessions, EarlierStore, TakenIn
from ullage.store.brought import NotBrought
from ullage.store.errors import StoreFailed
from ullage.store.folder import prepare_for, store_location
from ullage.store.log_store import LogStore
from ullage.store.versions import Versions

MOST_SHOWN = 50
"""How many sessions are shown by their titles before the user says that all are theirs; the number counts the others, too."""


@dataclass(frozen=True, slots=True)
class ImportArguments:
    """The sessions that are imported, as the command line says it."""

    mine: bool = False
    """Whether the user says that the sessions in `.ullage` are theirs."""
    gone: Path | None = None
    """The folder that is gone and whose sessions are imported; None to import those in `.ullage`."""
    confirmed: bool = False
    """Whether the user need not be asked any more."""


def run(folder: Path, location: str, wanted: ImportArguments | None = None) -> int:
    """Imports sessions into a folder and says how many; gives the exit code: 0, or 1 if none could be imported (stderr says why)."""
    wanted = wanted or ImportArguments()
    if not folder.is_dir():
        return _failed(f"{folder} is no folder")
    workspace = folder.resolve()
    try:
        place = store_location(location)
        kept = prepare_for(workspace, place, (workspace,))
        with closing(LogStore.open(kept)) as log, closing(Versions.open(kept)) as versions:
            earlier = EarlierStore(workspace, kept, log)
            if wanted.gone is not None:
                gone = wanted.gone.absolute()
                return _told(take_over(gone, place, workspace, kept, log, versions), f"{gone}, now of {workspace}", "")
            if not wanted.mine:
                return _told(earlier.import_foreign(), str(workspace), ", to be read only")
            return _as_mine(earlier, workspace, wanted)
    except (NotBrought, StoreFailed) as error:
        return _failed(str(error))


def _as_mine(earlier: EarlierStore, workspace: Path, wanted: ImportArguments) -> int:
    listed = earlier.listed()
    sys.stdout.write(_shown(listed, workspace))
    if not wanted.confirmed and not _says_yes(input):
        return _failed("nothing was imported")
    return _told(earlier.take_as_mine(), str(workspace), ", to be gone on with")


def _says_yes(ask: Callable[[str], str]) -> bool:
    try:
        return ask("Are all of them yours, and yours alone? Type yes: ").strip().lower() == "yes"
    except EOFError:
        return False


def _shown(listed: EarlierSessions, workspace: Path) -> str:
    lines = [f"{len(listed.sessions)} sessions in {workspace / '.ullage'}:"]
    for each in listed.sessions[-MOST_SHOWN:]:
        waiting = f", {each.waiting} prompts not sent yet" if each.waiting else ""
        lines.append(f"  {_day(each.updated_at)}  {visible_line(each.title) or '(no title)'} ({each.entries:,} entries{waiting})")
    if listed.is_tracked:
        lines.append("Git tracks this folder: these sessions came with the repository. Whoever wrote it may have written them.")
    lines.append("Once they are yours, what stands in them is sent to the model as your own words.")
    return "".join(f"{line}\n" for line in lines)


def list_gone(location: str) -> int:
    """Prints the folders that are gone and whose sessions are kept; gives the exit code."""
    try:
        found = gone_folders(store_location(location))
    except StoreFailed as error:
        return _failed(str(error))
    for gone in found:
        sys.stdout.write(f"{_day(gone.updated_at)}  {gone.sessions:>5} sessions  {visible_line(str(gone.folder))}\n")
    if not found:
        sys.stdout.write("No sessions are kept of folders that are gone.\n")
    return 0


def _day(at: float) -> str:
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
    except (OverflowError, OSError, ValueError):
        return "????-??-??"


def _told(taken: TakenIn, of: str, how: str) -> int:
    for failure in taken.failures:
        sys.stderr.write(f"ullage import: {failure}\n")
    sys.stdout.write(f"{taken.sessions} new sessions of {of}{how}. Open the folder in the editor to see them.\n")
    return 0


def _failed(why: str) -> int:
    sys.stderr.write(f"ullage import: {why}\n")
    return 1
