"""`ullage replay` and `ullage report` out of a team's PostgreSQL: the same figures as from the log on this machine, and nothing written."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.postgres import Postgres, started
from tests.unit.context.logs import PRELUDE, prompt, says
from tests.unit.replay.cluster.clusters import cluster_of
from tests.unit.store.team.here import Machine, turn
from ullage.cli import main
from ullage.context.blocks import Usage
from ullage.replay.file_work import ReplayOptions, file_work
from ullage.replay.places import UnreadablePlace, sessions_of
from ullage.replay.team_places import InTeamStore, let_go, places_in
from ullage.store.errors import StoreFailed
from ullage.store.team.address import read_address
from ullage.store.team.tables import set_up

SECRET = "hunter2-of-the-test"


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    server = started()
    try:
        set_up(read_address(server.url(), "test"))
        for name in ("ann", "eve"):
            server.sql(f"CREATE ROLE {name} LOGIN IN ROLE ullage_member")
        yield server
    finally:
        let_go()
        server.end()


@pytest.fixture(scope="module")
def project(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with three sessions and a fork, whose sessions are in the database, too."""
    folder = tmp_path_factory.mktemp("team") / "project"
    location = folder.parent / "kept"
    with closing(Machine(folder, location)) as machine:
        sessions = [machine.log.create_session(f"Session {number}", float(number)) for number in range(3)]
        for number, session in enumerate(sessions):
            told = replace(says(f"Done {number}."), model="claude-opus-4-5", usage=Usage(1_000 + number, 50, 0, 900))
            machine.log.append_many(session.id, [PRELUDE, prompt("Look"), told, *turn(number)], 1_770_000_000.0 + number)
        machine.log.fork(sessions[-1].id, 3, "A fork", 1_770_000_100.0)
    assert main(["store", "copy", str(folder), postgres.url("ann"), "--store", str(location)]) == 0
    return folder


def replayed(capfd: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["replay", *arguments, "--format", "json", "--policy", "claude-code"]) == 0
    found = json.loads(capfd.readouterr().out, object_hook=without_place_and_time)
    found["sessions"] = sorted(found["sessions"], key=json.dumps)
    return found


def without_place_and_time(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name not in ("seconds", "file")}


def test_the_figures_are_those_of_the_log_on_this_machine(project: Path, postgres: Postgres, capfd: pytest.CaptureFixture[str]):
    capfd.readouterr()
    here = replayed(capfd, str(project), "--store", str(project.parent / "kept"))
    there = replayed(capfd, postgres.url("ann"))
    assert len(here["sessions"]) == 4
    assert there["sessions"] == here["sessions"]


def test_workers_read_it_by_themselves(project: Path, postgres: Postgres, capfd: pytest.CaptureFixture[str]):
    capfd.readouterr()
    alone = replayed(capfd, postgres.url("ann"))
    with cluster_of(2) as started:
        assert replayed(capfd, postgres.url("ann"), "--scheduler", started.scheduler_address) == alone


def test_a_report_of_it(project: Path, postgres: Postgres, tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    page = tmp_path / "page.html"
    assert main(["report", postgres.url("ann").replace("ann@", f"ann:{SECRET}@"), "--out", str(page)]) == 0
    output = capfd.readouterr()
    assert "2026-02-02" in output.out
    assert "ann@" in page.read_text()
    assert SECRET not in page.read_text() + output.out + output.err


def test_nothing_is_written_there(project: Path, postgres: Postgres):
    before = postgres.sql("SELECT count(*) FROM ullage.member"), postgres.sql("SELECT count(*) FROM ullage.lease")
    assert [len(file_work(place, ReplayOptions()).rows) for place in places_in(postgres.url("ann"))] == [2, 1, 1]
    assert before == (postgres.sql("SELECT count(*) FROM ullage.member"), postgres.sql("SELECT count(*) FROM ullage.lease"))


def test_who_is_no_member_sees_nothing(project: Path, postgres: Postgres, capfd: pytest.CaptureFixture[str]):
    assert main(["replay", postgres.url("eve")]) == 1
    assert "holds no sessions that you may read" in capfd.readouterr().err


def test_a_session_that_is_gone_is_passed_over_and_a_database_that_is_gone_is_named(project: Path, postgres: Postgres):
    place = places_in(postgres.url("ann"))[-1]
    assert list(sessions_of(replace(place, sessions=(("gone", ()),)))) == []
    elsewhere = InTeamStore((("host", "/nowhere"), ("user", "ann"), ("password", SECRET)), "ann@/nowhere", "w", (("s", ()),), 1)
    with pytest.raises(UnreadablePlace, match="ann@/nowhere cannot be reached: nothing answers there") as raised:
        list(sessions_of(elsewhere))
    assert SECRET not in str(raised.value)


def test_no_password_goes_to_another_machine_or_into_what_dask_writes():
    place = InTeamStore((("host", "db"), ("password", SECRET), ("sslpassword", SECRET)), "ann@db/u", "w", (("s", ()),), 1)
    assert SECRET not in repr(place) + str(place)
    assert SECRET.encode() not in pickle.dumps(place.without_secrets())
    assert SECRET.encode() in pickle.dumps(place)


@pytest.mark.parametrize("address", [f"postgresql://ann:{SECRET}@db.example.com/x?sslmode=disable", f"postgresql://ann:{SECRET}@[bad/x"])
def test_an_address_that_cannot_be_used_is_not_repeated(address: str, capfd: pytest.CaptureFixture[str]):
    assert main(["replay", address]) == 1
    output = capfd.readouterr()
    assert "The address" in output.err
    assert SECRET not in output.err + output.out


def test_without_an_address_in_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ullage.store.team.address._of_environment", lambda: "")
    with pytest.raises(StoreFailed, match="ULLAGE_STORE"):
        places_in("postgresql:")
