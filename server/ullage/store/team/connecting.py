"""A connection to the team's database: how it is made, what holds on each, and one that a process keeps for itself. Those to read by are
lent (`pool.py`)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

from ullage.store.team.address import Address
from ullage.store.team.faults import fault_of

if TYPE_CHECKING:
    import psycopg

LEASE_SECONDS = 30.0
"""How long a session stays with a process that was lost. It is renewed with each write, and three times in that time."""

IDLE_SECONDS = LEASE_SECONDS * 0.7
"""The time after which a connection that was not used is made anew. One that holds leases is used more often."""

CONNECT_SECONDS = 10
STATEMENT_SECONDS = 30

_SETTINGS = {
    "statement_timeout": f"{STATEMENT_SECONDS}s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "20s",
    "idle_session_timeout": f"{LEASE_SECONDS:.0f}s",  # a connection that nobody holds any more lets go of its locks
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "search_path": "pg_catalog",
    "default_transaction_isolation": "read committed",
    "synchronous_commit": "on",
}


class Connections(Protocol):
    """Gives statements their connection to the team's database."""

    def lent(self) -> AbstractContextManager[psycopg.Connection[Any]]:
        """A connection for a statement. Raises what `faults.py` has."""
        ...

    def close(self) -> None:
        """Closes all connections."""
        ...


class OwnConnection:
    """The one connection to which leases are tied, made when it is needed, and made anew after it was lost; one call has it at a time."""

    def __init__(self, address: Address, ready: Callable[[psycopg.Connection[Any]], None]) -> None:
        self._address = address
        self._ready = ready
        self._lock = threading.Lock()
        self._connection: psycopg.Connection[Any] | None = None
        self._used_at = 0.0

    @contextmanager
    def lent(self) -> Generator[psycopg.Connection[Any]]:
        """The connection, once whoever has it is done. Raises what `faults.py` has."""
        with self._lock:
            if time.monotonic() - self._used_at > IDLE_SECONDS:
                self._drop()  # the server is about to do it, or has done it
            self._used_at = time.monotonic()
            if self._connection is None or self._connection.closed:
                self._connection = connected(self._address, self._ready)
            try:
                yield self._connection
            finally:
                if self._connection.closed:
                    self._drop()

    def close(self) -> None:
        """Closes the connection, and so lets go of all leases that are tied to it."""
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(Exception):
                self._connection.close()
            self._connection = None


def connected(
    address: Address, ready: Callable[[psycopg.Connection[Any]], None], settings: Mapping[str, str] | None = None
) -> psycopg.Connection[Any]:
    """Makes a connection on which `settings` hold beside those of each, and on which `ready` was called. Raises what `faults.py` has."""
    import psycopg

    try:
        connection = psycopg.connect(
            **{"connect_timeout": CONNECT_SECONDS, "application_name": "ullage", **address.parameters},  # pyright: ignore[reportArgumentType]
            autocommit=True,
        )
    except psycopg.Error as error:
        raise fault_of(error, address, connecting=True) from None
    try:
        wanted = _SETTINGS | dict(settings or {})
        all_at_once = ", ".join(["set_config(%s, %s, false)"] * len(wanted))  # to a slow database each statement takes its time
        connection.execute(f"SELECT {all_at_once}".encode(), [part for setting in wanted.items() for part in setting])
        ready(connection)
    except psycopg.Error as error:
        connection.close()
        raise fault_of(error, address) from None
    except BaseException:
        connection.close()
        raise
    return connection
