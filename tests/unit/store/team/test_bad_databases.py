"""A database that is slow, full or can only be read: what the user sees, that nothing is lost, and that nothing else waits."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.deep import many
from tests.fake_api import Call, Say
from tests.postgres import Postgres
from tests.unit.session.harness import notices, stage
from tests.unit.store.team.here import until
from tests.unit.store.team.slow import slowly
from tests.unit.store.team.test_live_sessions import ending, said
from tests.unit.store.team.test_live_sessions import until as until_async
from ullage.context.entries import TurnEnded
from ullage.session.conversation import WAITS
from ullage.session.settings import Settings
from ullage.store.recovery import make_session
from ullage.store.schema import EntryRow, entry_sum
from ullage.store.team.address import read_address
from ullage.store.team.faults import Away, TeamStoreRefused
from ullage.store.team.postgres import PostgresStore
from ullage.store.team.store import Batch
from ullage.store.team.tables import set_up

DISK_MEGABYTES = 24

UNSHARE = ("unshare", "--user", "--map-root-user", "--mount")


@pytest.mark.deep
async def test_a_slow_database_makes_nothing_but_the_turn_wait(
    tmp_path: Path, postgres: Postgres, workspace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The long run has 2 s for each statement."""
    seconds = many(1, deep=10) / 5
    monkeypatch.setattr("ullage.session.conversation.TOLD_SECONDS", seconds)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "tank.py").write_text("CAPACITY = 100\n")
    longest = 0.0

    async def type_meanwhile() -> None:
        nonlocal longest
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.01)
            longest = max(longest, time.monotonic() - began)

    def there() -> list[tuple[object, ...]]:
        return postgres.sql("SELECT count(*), max(seq) FROM ullage.entry WHERE workspace = %s", workspace)

    async with slowly(postgres.folder, seconds) as port:
        address = f"postgresql://ann@127.0.0.1:{port}/postgres?sslmode=disable"
        async with stage(folder, settings=Settings(store_url=address, store_workspace=workspace)) as here:
            typing = asyncio.create_task(type_meanwhile())
            began = time.monotonic()
            here.fake.enqueue(Call("read_file", {"path": "tank.py"}), Say("It holds 100."))
            session = await here.new()
            opened = time.monotonic()
            await session.prompt("How much does it hold?")
            await until_async(lambda: any(each.id == WAITS for each in notices(session)))
            await here.idle(session)
            ended = time.monotonic()
            typing.cancel()
            assert ending(session) == TurnEnded("end_turn") and said(session) == ["It holds 100."]
            assert not any(each.id == WAITS for each in notices(session))
            assert here.watcher.warnings == [], "it answers, if slowly"
            await until_async(
                lambda: there() == [(len(session.entries), session.entries[-1].seq)]
            )  # all of it, and nobody waits for the end
    print(f"{seconds} s a statement: opened in {opened - began:.1f} s, the turn took {ended - opened:.1f} s, the loop {longest:.3f} s")  # noqa: T201
    assert longest < 0.5 + seconds / 4, "typing waits for nobody"


async def test_a_database_that_becomes_read_only_in_mid_session(tmp_path: Path, postgres: Postgres, workspace: str) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    async with stage(folder, settings=Settings(store_url=postgres.url("ann"), store_workspace=workspace)) as here:
        here.fake.enqueue(Say("Yes."), Say("Again, yes."))
        session = await here.new()
        await here.say(session, "Are you there?")
        read_only(postgres, "on")
        try:
            await session.prompt("Still?")
            await until_async(lambda: any(each.id == WAITS for each in notices(session)))
            assert "can only be read now" in here.watcher.warnings[-1] and "Nothing is lost" in here.watcher.warnings[-1]
            assert len(here.fake.requests) == 1
        finally:
            read_only(postgres, "off")
        await here.idle(session)
        assert said(session) == ["Yes.", "Again, yes."]
        await until_async(lambda: here.watcher.well)
    counted = postgres.sql("SELECT count(*) FROM ullage.entry WHERE workspace = %s", workspace)
    assert counted == [(len(session.entries),)]


def read_only(postgres: Postgres, value: str) -> None:
    postgres.sql(f"ALTER SYSTEM SET default_transaction_read_only = {value}")
    postgres.sql("SELECT pg_reload_conf()")
    until(lambda: postgres.sql("SHOW default_transaction_read_only") == [(value,)])


def test_a_user_who_may_only_read_is_told_whom_to_ask(postgres: Postgres, workspace: str) -> None:
    postgres.sql("CREATE ROLE reader LOGIN")
    postgres.sql("GRANT USAGE ON SCHEMA ullage TO reader")
    postgres.sql("GRANT SELECT ON ALL TABLES IN SCHEMA ullage TO reader")
    with pytest.raises(TeamStoreRefused, match=r"no right to do that\. Ask whoever runs it for the role ullage_member"):
        PostgresStore(read_address(postgres.url("reader"), "test"), workspace, "h").sessions()


def test_a_full_disk_is_told_and_nothing_is_half_there(postgres: Postgres) -> None:
    with small_disk(postgres) as disk:
        postgres.sql(f"CREATE TABLESPACE small LOCATION '{disk}'")
        postgres.sql("CREATE DATABASE small TABLESPACE small")
        postgres.sql("CHECKPOINT")  # the files of a new database have holes, and a full disk would not take what belongs there
        try:
            address = read_address(postgres.url(database="small"), "test")
            set_up(address)
            fill(address)
        finally:
            postgres.sql("DROP DATABASE small WITH (FORCE)")
            postgres.sql("DROP TABLESPACE small")


def fill(address: object) -> None:
    store = PostgresStore(address, "w", "h")  # pyright: ignore[reportArgumentType]
    store.make(make_session(b"5e55", b"title", 1.0, 1.0))
    assert store.take("5e55")
    acknowledged = 0
    body = os.urandom(1_000_000)
    for seq in range(1, DISK_MEGABYTES + 2):
        row = EntryRow(b"5e55", seq, 1.0, body, entry_sum(b"5e55", seq, 1.0, body))
        try:
            store.append("5e55", acknowledged, Batch([row]))
        except Away as full:
            assert "its disk is full" in str(full) and "Nothing is lost" in str(full)
            break
        acknowledged = seq
    else:
        pytest.fail("the disk was not full")
    assert acknowledged > 2
    assert [row.seq for row in store.since("5e55", 0, 99)] == list(range(1, acknowledged + 1))
    store.close()


@contextmanager
def small_disk(postgres: Postgres) -> Generator[Path]:
    """A disk in memory that PostgreSQL can write to: mounted where root runs the tests, else in a namespace that it reaches by /proc."""
    folder = postgres.folder / "disk"
    folder.mkdir(exist_ok=True)
    script = f"mount -t tmpfs -o size={DISK_MEGABYTES}m,mode=1777 tmpfs {folder} && mkdir -m 777 {folder}/tables && echo mounted && cat"
    is_root = os.geteuid() == 0
    command = ["sh", "-c", f"{script}; umount -l {folder}"] if is_root else [*UNSHARE, "sh", "-c", script]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdin is not None and holder.stdout is not None
    try:
        if holder.stdout.readline() != b"mounted\n":
            (pytest.fail if os.environ.get("CI") else pytest.skip)("this machine lets nobody have a disk of their own")
        inside = folder if is_root else Path(f"/proc/{holder.pid}/root{folder}")
        if is_root:
            os.chown(inside / "tables", postgres.owner or 0, -1)
        yield inside / "tables"
    finally:
        holder.stdin.close()
        holder.wait()
        holder.stdout.close()
