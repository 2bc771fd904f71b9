"""What is done for one file of sessions, whole, in whichever process: its rows, and its sessions carried through the policies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ullage.context.policies.ullage import ULLAGE
from ullage.installed_policies import policies
from ullage.replay.as_if import as_if
from ullage.replay.best_schedule import best_schedule
from ullage.replay.made import Outcome
from ullage.replay.optimum import OPTIMUM
from ullage.replay.options import Options
from ullage.replay.prepared import Prepared, Settings
from ullage.replay.readers import NotATranscript, sessions_in
from ullage.replay.rows import Row, row_of
from ullage.replay.runs import Run
from ullage.replay.simulation import outcome_of
from ullage.replay.transcript import Transcript
from ullage.replay.views import Views


@dataclass(frozen=True, slots=True)
class FileWork:
    """`failures` say what could not be done, for the user."""

    rows: tuple[Row, ...] = ()
    runs: tuple[Run, ...] = ()
    failures: tuple[str, ...] = ()


def file_work(path: Path, options: Options) -> FileWork:
    """All that is asked of a file. Sessions are let go one after the other."""
    rows: list[Row] = []
    runs: list[Run] = []
    failures: list[str] = []
    try:
        for transcript in sessions_in(path):
            rows.append(row_of(path, transcript, options.as_model))
            runs.extend(_runs(transcript, options, failures))
    except NotATranscript as error:
        failures.append(str(error))
    except OSError as error:
        failures.append(f"{path} cannot be read: {error.strerror or error}")
    if not rows and not failures:
        failures.append(f"{path} holds no sessions")
    return FileWork(tuple(rows), tuple(runs), tuple(failures))


def _runs(transcript: Transcript, options: Options, failures: list[str]) -> Iterator[Run]:
    if not options.policies:
        return
    told = transcript if options.as_model is None else as_if(transcript, options.as_model)
    session = Prepared(told)
    settings = Settings(options.at, options.summary, options.as_model, options.window, options.economy)
    known = policies()
    outcomes: list[Outcome] = []
    for name in options.policies:
        if name == OPTIMUM:
            continue
        views = _views(options, transcript, name)
        outcomes.append(outcome_of(session, known[name], settings, views.write if views is not None else None))
        failures.extend(views.failures if views is not None else ())
    yield from (outcome.run for outcome in outcomes)
    if options.at == "policy" or OPTIMUM in options.policies:
        yield from best_schedule(session, outcomes, ULLAGE, settings)


def _views(options: Options, transcript: Transcript, policy: str) -> Views | None:
    """Of several policies each has a folder of its own."""
    if options.views is None:
        return None
    return Views(options.views / policy if len(options.policies) > 1 else options.views, transcript, policy)
