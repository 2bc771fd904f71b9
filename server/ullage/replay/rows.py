"""A recorded session as it is reported: who wrote it, its figures, what was mended while reading it. The session itself is let go."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ullage.replay.figures import Figures, figures_of
from ullage.replay.runs import Places, Run, Summaries
from ullage.replay.transcript import Repair, Source, Transcript


@dataclass(frozen=True, slots=True)
class Row:
    """One session. `models` are those that it ran on, in order of appearance; `repairs` and `notes` as in `Transcript`."""

    path: Path
    session_id: str
    source: Source
    models: tuple[str, ...]
    figures: Figures
    repairs: tuple[Repair, ...]
    notes: tuple[str, ...]


def row_of(path: Path, transcript: Transcript, as_model: str | None = None) -> Row:
    """The row of a session that was read from `path`, at the prices of `as_model` where it is given."""
    return Row(
        path=path,
        session_id=transcript.session_id,
        source=transcript.source,
        models=tuple(dict.fromkeys(reply.model for reply in transcript.replies)),
        figures=figures_of(transcript, as_model),
        repairs=transcript.repairs,
        notes=transcript.notes,
    )


@dataclass(frozen=True, slots=True)
class Report:
    """All sessions, and what could not be read. `as_model` is whose prices were taken instead of the recorded models'."""

    rows: tuple[Row, ...]
    failures: tuple[str, ...] = ()
    as_model: str | None = None
    runs: tuple[Run, ...] = ()
    """The sessions carried through policies, session by session in the order of `rows`, each in the order of `policies`."""
    policies: tuple[str, ...] = ()
    """The policies that were asked for and are known, in their order; empty where none was asked for."""
    places: Places = "policy"
    summaries: Summaries = "digest"
