"""A connection to the team's database: how it is made, and what holds on each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ullage.store.team.address import MISSING_LIBRARY, Address, BadAddress
from ullage.store.team.faults import fault_of

if TYPE_CHECKING:
    import psycopg

LEASE_SECONDS = 30.0
"""How long a session stays with a process that was lost. It is renewed with each write, and three times in that time."""

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


def connected(address: Address, ready: Callable[[psycopg.Connection[Any]], None]) -> psycopg.Connection[Any]:
    """A connection on which `ready` was called. Raises what `faults.py` has."""
    try:
        import psycopg
    except ImportError as error:
        raise BadAddress(MISSING_LIBRARY) from error
    try:
        connection = psycopg.connect(
            **{"connect_timeout": CONNECT_SECONDS, "application_name": "ullage", **address.parameters},  # pyright: ignore[reportArgumentType]
            autocommit=True,
        )
    except psycopg.Error as error:
        raise fault_of(error, address, connecting=True) from None
    try:
        all_at_once = ", ".join(["set_config(%s, %s, false)"] * len(_SETTINGS))  # to a slow database each statement takes its time
        connection.execute(f"SELECT {all_at_once}".encode(), [part for setting in _SETTINGS.items() for part in setting])
        ready(connection)
    except psycopg.Error as error:
        connection.close()
        raise fault_of(error, address) from None
    except BaseException:
        connection.close()
        raise
    return connection
