"""`docs/scale.md` says what the simulation says, and the simulation begins with what a store really takes."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from bench.scale import DEVELOPERS, MEASURED, MESSAGES, inputs, outcome, simulated
from bench.workspaces import lay_down
from ullage.store.folder import database
from ullage.store.log_store import LogStore

DOCUMENT = (Path(__file__).parents[3] / "docs" / "scale.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("made", [inputs, outcome])
def test_the_document_has_the_tables(made: object):
    assert callable(made)
    assert str(made()) in DOCUMENT


def test_what_a_session_takes_is_what_is_written_down(tmp_path: Path):
    lay_down(tmp_path, [MESSAGES] * 3)
    with closing(LogStore.open(tmp_path)) as store:
        entries = sum(len(store.load(each.id)) for each in store.sessions()) / 3
    assert entries == pytest.approx(MEASURED.entries, rel=0.05)
    assert database(tmp_path).stat().st_size / 3 == pytest.approx(MEASURED.log, rel=0.25)


def test_a_day_is_the_same_each_time_and_grows_with_the_developers():
    days = [simulated(each) for each in DEVELOPERS]
    assert simulated(DEVELOPERS[1]) == days[1]
    assert days[2].mean == pytest.approx(100 * days[1].mean, rel=0.02)
    assert all(day.mean < day.busiest <= day.most for day in days)
