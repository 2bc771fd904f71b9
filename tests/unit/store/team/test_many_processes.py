"""Many processes, each with a machine of its own, write into one database at once: no entry is lost, doubled or out of order."""

from __future__ import annotations

import os
import re
import statistics
import time
from collections.abc import Callable
from contextlib import closing
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from tests.deep import many
from tests.forking import forking
from tests.patience import PATIENCE
from tests.postgres import Postgres
from tests.unit.store.team.many_writers import write
from ullage.store.team.postgres import PostgresStore

PROCESSES = many(8, deep=200)
TURNS = 6


def taken(from_child: Connection) -> Any:
    assert from_child.poll(20 * PATIENCE)
    return from_child.recv()


def megabytes(pids: list[int]) -> float:
    """What they take together; what several share is counted once."""
    found = [re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE) for pid in pids]
    return sum(int(each[1]) for each in found if each) / 1024


@pytest.mark.deep
@pytest.mark.timeout(1800)
def test_processes_that_write_at_once_lose_and_reorder_nothing(
    tmp_path: Path, postgres: Postgres, workspace: str, connect: Callable[..., PostgresStore]
) -> None:
    children: list[BaseProcess] = []
    parents: list[Connection] = []
    for number in range(PROCESSES):
        here, there = forking().Pipe()
        given = (tmp_path / "project", tmp_path / f"machine{number}", postgres.url("ann"), workspace, TURNS, there)
        process = forking().Process(target=write, args=given, daemon=True)
        process.start()
        there.close()
        children.append(process)
        parents.append(here)
    try:
        sessions: list[str] = [taken(parent) for parent in parents]
        began = time.monotonic()
        for parent in parents:
            parent.send("go")
        written: list[tuple[tuple[int, str], list[float]]] = [taken(parent) for parent in parents]
        seconds = time.monotonic() - began
        memory = megabytes([process.pid or 0 for process in children]), megabytes(postgres.processes())
        load = os.getloadavg()[0]
        for parent in parents:
            parent.send("end")
        for process in children:
            process.join(10 * PATIENCE)
            assert process.exitcode == 0
    finally:
        for process in children:
            process.kill()
            process.join()
    took: list[float] = []
    with closing(connect()) as store:
        for session, (digest, seconds_each) in zip(sessions, written, strict=True):
            took += seconds_each
            assert [row.seq for row in store.since(session, 0, 9999)] == list(range(1, 5 * TURNS + 1))
            assert store.digest(session, 9999) == digest
    worst = statistics.quantiles(took, n=100)
    print(  # noqa: T201
        f"{PROCESSES} processes, {len(took)} entries in {seconds:.1f} s, each after {worst[49] * 1000:.0f} ms in the middle and "
        f"{worst[98] * 1000:.0f} ms at the 99th percentile; {memory[0]:.0f} MB and the database's {memory[1]:.0f} MB; load {load:.1f}"
    )
