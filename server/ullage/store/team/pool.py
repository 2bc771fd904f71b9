"""Connections to read by, each lent to one call at a time: several threads of a process ask at once, and none waits for the statement of
another.

The pool is psycopg's. It opens a connection when one is wanted and none is free, at most `LENT_AT_ONCE`, and closes those that nobody wants
any more. It is not for what holds leases: these belong to the connection that took them.

A pool alone says that time ran out where no connection comes about. So what kept it from being made is noted here, and told to whoever
waits.
"""

from __future__ import annotations

import logging
import selectors
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ullage.store.team.address import Address
from ullage.store.team.connecting import IDLE_SECONDS, STATEMENT_SECONDS, Connections, connected
from ullage.store.team.faults import fault_of

if TYPE_CHECKING:
    import psycopg
    import psycopg_pool

LENT_AT_ONCE = 2
"""How many connections are lent at once: one for a search, and one for what runs in the background, which takes turns (`InTurn`). Each is a
process of the database."""

BUSY_SECONDS = 2.0 * STATEMENT_SECONDS
"""How long a call waits for a connection that is free, before it gives up."""

CLOSE_SECONDS = 1.0
"""How long `close` waits for a connection that is just being made."""

LOOK_SECONDS = 0.05
"""Seconds between two looks at why no connection has come about."""


class PooledConnections:
    """The connections of one process to one database; for any thread. `ready` is called on each that is made, and `settings` hold on it."""

    def __init__(
        self, address: Address, ready: Callable[[psycopg.Connection[Any]], None], settings: Mapping[str, str] | None = None
    ) -> None:
        self._address = address
        self._ready = ready
        self._settings = settings or {}
        self._guard = threading.Lock()
        self._pool: psycopg_pool.ConnectionPool[Any] | None = None
        self._is_closed = False
        self._failures = 0
        """How many connections could not be made."""
        self._why: Exception | None = None
        """The error that kept the last connection from being made; None if it was made."""
        self._asked = self._asked_then = 0
        """How often a connection was asked for, and how often until the last failure."""
        self._used_at: WeakKeyDictionary[psycopg.Connection[Any], float] = WeakKeyDictionary()

    @contextmanager
    def lent(self) -> Generator[psycopg.Connection[Any]]:
        """A connection for a statement. Raises what `faults.py` has."""
        pool = self._opened()
        connection = self._borrowed(pool)
        try:
            yield connection
        finally:
            with self._guard:
                self._used_at[connection] = time.monotonic()
            pool.putconn(connection)

    def close(self) -> None:
        """Closes all connections, for good. One that is lent is closed when it comes back."""
        with self._guard:
            self._is_closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close(CLOSE_SECONDS)

    def _opened(self) -> psycopg_pool.ConnectionPool[Any]:
        import psycopg

        with self._guard:
            if self._is_closed:
                raise fault_of(psycopg.OperationalError(), self._address)
            self._pool = self._pool or self._made()
            return self._pool

    def _made(self) -> psycopg_pool.ConnectionPool[Any]:
        import psycopg
        import psycopg_pool

        connect = self._connect

        class Connecting(psycopg.Connection[Any]):
            @classmethod
            def connect(cls, *_: object, **__: object) -> psycopg.Connection[Any]:  # pyright: ignore[reportIncompatibleMethodOverride]
                return connect()

        logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # what it warns of is told to whoever asked
        return psycopg_pool.ConnectionPool(
            connection_class=Connecting,
            min_size=0,
            max_size=LENT_AT_ONCE,
            check=self._check,
            max_idle=IDLE_SECONDS,
            reconnect_timeout=0.0,  # who asks again is tried for again
            num_workers=1,
            open=True,
        )

    def _connect(self) -> psycopg.Connection[Any]:
        with self._guard:
            asked = self._asked
            if self._why is not None and asked == self._asked_then:
                raise self._why.with_traceback(None)  # the pool tries each twice: no password is given twice for that
        try:
            connection = connected(self._address, self._ready, self._settings)
        except Exception as error:
            with self._guard:
                self._failures += 1
                self._why, self._asked_then = error, asked
            raise
        with self._guard:
            self._why = None
        return connection

    def _check(self, connection: psycopg.Connection[Any]) -> None:
        """Closes a connection that the server has closed, or is about to, and one whose network may be gone. Without a round trip: nothing
        was asked on it, so what waits to be read is its end."""
        with self._guard:
            is_old = time.monotonic() - self._used_at.get(connection, time.monotonic()) > IDLE_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(connection.fileno(), selectors.EVENT_READ)
            if is_old or selector.select(0):
                connection.close()
                raise ConnectionError("nobody answers on it any more")

    def _borrowed(self, pool: psycopg_pool.ConnectionPool[Any]) -> psycopg.Connection[Any]:
        import psycopg
        import psycopg_pool

        with self._guard:
            self._asked += 1
            before = self._failures
        until = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                return pool.getconn(LOOK_SECONDS)
            except psycopg_pool.PoolClosed as error:
                raise fault_of(error, self._address) from None
            except psycopg_pool.PoolTimeout:
                with self._guard:
                    why = self._why if self._failures != before else None
            if why is not None:
                raise why.with_traceback(None) from None
            if time.monotonic() > until:
                raise fault_of(psycopg.errors.QueryCanceled(), self._address)


class InTurn:
    """Lends connections to callers of which one is answered at a time, so that all of them together have one at most."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._turn = threading.Lock()

    @contextmanager
    def lent(self) -> Generator[psycopg.Connection[Any]]:
        """A connection for a statement, once the others are done with theirs. Raises what `faults.py` has."""
        with self._turn, self._connections.lent() as connection:
            yield connection

    def close(self) -> None:
        """Closes all connections, also for callers who do not take turns."""
        self._connections.close()
