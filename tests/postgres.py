"""A PostgreSQL of the tests' own: on a socket in a folder of its own, without a port, and ended by whoever started it.

Its programs are Debian's (the package `postgresql`), or those to which `postgres` on the PATH leads. It refuses to run as root, so root
starts it as nobody. Where there is none, tests say so and are skipped; in CI they fail. Elsewhere than on Linux they are skipped: what is
tested is Ullage's client, which is the same on all systems, and the server's processes are found in /proc.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from tests.patience import PATIENCE

OLDEST = 15

_CONFIGURATION = """
listen_addresses = ''
unix_socket_directories = '{socket}'
max_connections = 500
shared_buffers = 32MB
fsync = on
synchronous_commit = on
full_page_writes = on
log_min_messages = fatal
"""


class NoPostgres(Exception):
    """It cannot be had here; `str()` says why."""


class Postgres:
    """A server with data of its own. `start` and `kill` may follow each other; `end` removes everything."""

    def __init__(self) -> None:
        if sys.platform != "linux":
            raise NoPostgres("PostgreSQL is started by the tests on Linux alone")
        self._bin = _programs()
        self.folder = Path(tempfile.mkdtemp(prefix="ullage-pg-", dir="/tmp"))  # a socket's path may have 107 bytes
        self.owner: int | None = None
        if os.geteuid() == 0:
            import pwd

            nobody = pwd.getpwnam("nobody")
            self.owner = nobody.pw_uid
            os.chown(self.folder, nobody.pw_uid, nobody.pw_uid)
        self.folder.chmod(0o755)
        self._data = self.folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        self._run([self._bin / "initdb", "-D", self._data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"])
        with (self._data / "postgresql.conf").open("a") as file:
            file.write(_CONFIGURATION.format(socket=self.folder))

    def start(self, *options: str) -> None:
        """Returns when it can be connected to. `options` are of the program itself."""
        if self._process is not None and self._process.poll() is None:
            return
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._bin / "postgres", "-D", self._data, *options],
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
                cwd=self.folder,
                user=self.owner,
                group=self.owner,
                extra_groups=None if self.owner is None else [],
            )
        until = time.monotonic() + PATIENCE
        while subprocess.run([self._bin / "pg_isready", "-q", "-h", self.folder, *self._at(options)], check=False).returncode:
            if time.monotonic() > until or self._process.poll() is not None:
                raise NoPostgres(f"PostgreSQL did not start: {(self.folder / 'log').read_text(errors='replace')[-2000:]}")
            time.sleep(0.01)

    @staticmethod
    def _at(options: Sequence[str]) -> Sequence[str]:
        return ("-p", options[options.index("-p") + 1]) if "-p" in options else ()

    def kill(self) -> None:
        """As kill -9 of all its processes: what was not on its disk is gone."""
        if self._process is not None:
            children = _children(self._process.pid)
            for pid in (self._process.pid, *children):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self._process.wait()
            for pid in children:
                _until_gone(pid)
            (self._data / "postmaster.pid").unlink(missing_ok=True)
            self._process = None

    def stop(self) -> None:
        """In order, ending all connections."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(PATIENCE)
            self._process = None

    def end(self) -> None:
        """Stops it and removes its data."""
        try:
            self.stop()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def processes(self) -> list[int]:
        """The ids of all that run."""
        return [] if self._process is None else [self._process.pid, *_children(self._process.pid)]

    def url(self, user: str = "postgres", database: str = "postgres") -> str:
        """The address for that user."""
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def sql(self, statement: str, *given: object, database: str = "postgres") -> list[tuple[object, ...]]:
        """Runs a statement as superuser."""
        import psycopg

        with psycopg.connect(self.url(database=database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode(), given or None)
            return cursor.fetchall() if cursor.description else []

    def _run(self, command: Sequence[str | Path]) -> None:
        groups = None if self.owner is None else list[int]()
        done = subprocess.run(
            command, capture_output=True, check=False, cwd=self.folder, user=self.owner, group=self.owner, extra_groups=groups
        )
        if done.returncode:
            raise NoPostgres(f"{command[0]} failed: {done.stderr.decode(errors='replace')[-2000:]}")


def started() -> Postgres:
    """One that runs. Skips the test where there is none, and fails in CI."""
    try:
        postgres = Postgres()
        try:
            postgres.start()
        except BaseException:
            postgres.end()
            raise
    except NoPostgres as error:
        if os.environ.get("CI") and sys.platform == "linux":
            pytest.fail(str(error))
        pytest.skip(str(error))
    return postgres


def _programs() -> Path:
    on_path = shutil.which("postgres")
    of_debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    for folder in (*([Path(on_path).resolve().parent] if on_path else ()), *of_debian):
        if all((folder / name).exists() for name in ("postgres", "initdb", "pg_isready")):
            return folder
    raise NoPostgres(f"No PostgreSQL {OLDEST} or newer is installed: apt-get install postgresql")


def _children(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _until_gone(pid: int) -> None:
    until = time.monotonic() + PATIENCE
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        if "State:\tZ" in _status(pid):
            return
        time.sleep(0.005)


def _status(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return ""


def _serve() -> None:
    """For tests that are no Python: prints where it is as a line of JSON, and then does what lines of its input say, `stop` or `start`.
    It ends with its input."""
    from ullage.store.team.address import read_address
    from ullage.store.team.tables import set_up

    def tell(what: dict[str, str]) -> None:
        print(json.dumps(what), flush=True)  # noqa: T201 (that is how it is told)

    try:
        postgres = Postgres()
    except NoPostgres as error:
        tell({"none": str(error)})
        return
    try:
        postgres.start()
        set_up(read_address(postgres.url(), "test"))
        postgres.sql("CREATE ROLE ann LOGIN IN ROLE ullage_member")
        tell({"url": postgres.url("ann")})
        for line in sys.stdin:
            (postgres.stop if line.strip() == "stop" else postgres.start)()
            tell({"done": line.strip()})
    finally:
        postgres.end()


if __name__ == "__main__":
    _serve()
