"""The tables of the team's database: made by their owner, and brought up to this version step by step.

Each file `tables_N.sql` takes the tables from version N - 1 to N, in a transaction of its own that notes the number. So whatever ends in
the middle, the tables are of one version, whole, and the next run goes on from there. A lock lets one run at a time do it.
"""

from __future__ import annotations

from contextlib import suppress
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ullage.store.team.address import Address
from ullage.store.team.connecting import connected
from ullage.store.team.faults import LaterSchema, TeamStoreRefused

if TYPE_CHECKING:
    import psycopg

SCHEMA_VERSION = 4
"""The version of the tables that this Ullage works with: the number of the last file."""


def version_of(connection: psycopg.Connection[Any]) -> int:
    """The version of the tables; 0 if no version is noted."""
    row = connection.execute("SELECT max(number) FROM ullage.schema_version").fetchone()
    return 0 if row is None or row[0] is None else int(row[0])


def later(place: str) -> str:
    """The sentence for the user where the tables are of a later version than this Ullage."""
    return f"The tables in {place} are of a later version of Ullage. Update Ullage here."


def set_up(address: Address, to: int = SCHEMA_VERSION) -> bool:
    """Makes the tables, or takes them up to that version, as their owner; gives whether there was anything to do. Raises what `faults.py`
    has."""
    import psycopg

    def make(connection: psycopg.Connection[Any]) -> None:
        made.append(_set_up(connection, address, to))

    made: list[bool] = []
    with suppress(psycopg.Error):
        connected(address, make).close()
    return made[0]


def _set_up(connection: psycopg.Connection[Any], address: Address, to: int) -> bool:
    _check_encoding(connection, address)
    connection.execute("SET statement_timeout = 0")  # to read all passages anew takes as long as there are
    connection.execute("SET lock_timeout = 0")  # another run may be at it
    connection.execute("SELECT pg_advisory_lock(hashtextextended('ullage.setup', 0))")  # the end of the connection gives it back
    connection.execute("SET lock_timeout = '60s'")
    before = _found(connection)
    if before > to:
        raise LaterSchema(later(address.shown))
    for number in range(before + 1, to + 1):
        with connection.transaction():
            if number == 1 and connection.execute("SELECT FROM pg_roles WHERE rolname = 'ullage_member'").fetchone() is None:
                connection.execute("CREATE ROLE ullage_member NOLOGIN")
            connection.execute(files("ullage.store.team").joinpath(f"tables_{number}.sql").read_bytes())
            connection.execute("INSERT INTO ullage.schema_version VALUES (%s)", (number,))
    return before < to


def _found(connection: psycopg.Connection[Any]) -> int:
    found = connection.execute("SELECT to_regclass('ullage.schema_version')").fetchone()
    return 0 if found is None or found[0] is None else version_of(connection)


def _check_encoding(connection: psycopg.Connection[Any], address: Address) -> None:
    found = connection.execute("SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()").fetchone()
    if found is not None and found[0] != "UTF8":
        raise TeamStoreRefused(
            f"The database {address.shown} has the encoding {found[0]}, which cannot hold all that is said. Make one with UTF8."
        )
