"""What is done for one file of sessions, whole, in whichever process: its rows, and its sessions carried through the policies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ullage.installed_policies import policies
from ullage.replay.as_if import as_if
from ullage.replay.options import Options
from ullage.replay.readers import NotATranscript, read
from ullage.replay.rows import Row, row_of
from ullage.replay.runs import Run
from ullage.replay.simulation import Prepared, Settings, Watch, simulate
from ullage.replay.transcript import Transcript


@dataclass(frozen=True, slots=True)
class FileWork:
    """`failures` say what could not be done, for the user."""

    rows: tuple[Row, ...] = ()
    runs: tuple[Run, ...] = ()
    failures: tuple[str, ...] = ()


def file_work(path: Path, options: Options) -> FileWork:
    """All that is asked of a file. Sessions are let go one after the other."""
    try:
        transcripts = list(read(path))
    except NotATranscript as error:
        return FileWork(failures=(str(error),))
    except OSError as error:
        return FileWork(failures=(f"{path} cannot be read: {error.strerror or error}",))
    if not transcripts:
        return FileWork(failures=(f"{path} holds no sessions",))
    rows: list[Row] = []
    runs: list[Run] = []
    while transcripts:
        transcript = transcripts.pop(0)
        rows.append(row_of(path, transcript, options.as_model))
        runs.extend(_runs(transcript, options))
    return FileWork(tuple(rows), tuple(runs))


def _runs(transcript: Transcript, options: Options) -> Iterator[Run]:
    if not options.policies:
        return
    told = transcript if options.as_model is None else as_if(transcript, options.as_model)
    session = Prepared(told)
    settings = Settings(options.at, options.summary, options.as_model, options.window)
    known = policies()
    for name in options.policies:
        yield simulate(session, known[name], settings, _watch(options, told, name))


def _watch(options: Options, transcript: Transcript, policy: str) -> Watch | None:
    return None
