"""kill -9 at any point: at the next start the log tells of every change, and every version that it names is there."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

from tests.deep import many
from tests.forking import forking
from tests.unit.session.changes.changing import changes, told
from tests.unit.session.changes.killed_session import live
from tests.unit.session.filling import make_project
from tests.unit.session.harness import stage

POINTS = 190
"""The scenario has some fewer."""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.deep
async def test_after_a_kill_the_log_tells_of_every_change_and_no_version_is_missing(tmp_path: Path) -> None:
    chosen = range(1, POINTS, POINTS // many(4, deep=POINTS))
    killed = recorded = 0
    for kill_at in chosen:
        parent = tmp_path / str(kill_at)
        parent.mkdir()
        folder = make_project(parent)
        before = contents(folder)
        process = forking().Process(target=live, args=(folder, kill_at), daemon=True)
        process.start()
        process.join()
        killed += process.exitcode == -9
        async with stage(folder) as here:
            for summary in here.sessions.summaries():
                session = await here.sessions.open(summary.session_id)
                for each in changes(session):
                    for file in each.files:
                        path, was, now = told(here, file)
                        assert before.get(path) == was, f"killed at {kill_at}: {path} was not so before"
                        recorded += 1
                        if now is None:
                            del before[path]
                        else:
                            before[path] = now
        assert before == contents(folder), f"killed at {kill_at}"
    logging.getLogger(__name__).info("%d of %d killed, %d changes recorded", killed, len(chosen), recorded)
    assert killed > len(chosen) // 2
    assert recorded > killed
