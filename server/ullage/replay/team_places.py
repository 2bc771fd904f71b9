"""Sessions in a team's PostgreSQL as places: each session by itself, forks together with what they have in common.

Whoever reads a place connects by itself. So a place that goes to another machine has no password: a worker takes its own, from
`PGPASSWORD` or its password file, as libpq does.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ullage.recorded.readers import team_log
from ullage.recorded.transcript import Transcript
from ullage.store.errors import StoreFailed
from ullage.store.examine import Damage
from ullage.store.origins import Lineage
from ullage.store.team.address import Address, address_of, is_address, read_address
from ullage.store.team.reading import StoredSession, TeamReader

OF_ENVIRONMENT = "postgresql:"
"""Stands in the place of an address for the one in `ULLAGE_STORE`. What stands on a command line can be seen by other users of the
machine."""

_SECRET = frozenset({"password", "sslpassword", "passfile", "sslkey", "oauth_client_secret"})
"""Parameters of libpq that are secret, or name a file that is."""

_BYTES_AN_ENTRY = 1_000
"""About how many bytes an entry has; to count them would read the whole table."""


@dataclass(frozen=True, slots=True)
class InTeamStore:
    """Sessions of one workspace in a team's database. `parameters` are libpq's; no `repr` shows them, since Dask writes what it was asked
    into its logs."""

    parameters: tuple[tuple[str, str], ...] = field(repr=False)
    shown: str
    workspace: str
    sessions: tuple[tuple[str, Lineage], ...]
    size: int
    """The bytes of the sessions, about."""

    @property
    def name(self) -> str:
        """The id of the session; of several, that of the newest one."""
        return self.sessions[0][0]

    def __str__(self) -> str:
        more = f" and {len(self.sessions) - 1} forks" if len(self.sessions) > 1 else ""
        return f"{self.shown} {self.workspace} {self.name}{more}"

    def without_secrets(self) -> InTeamStore:
        """The same place without passwords and the like, as it may go to another machine."""
        return replace(self, parameters=tuple(each for each in self.parameters if each[0] not in _SECRET))


def names_team_store(name: str) -> bool:
    """Whether a name on the command line is that of a team's database."""
    return is_address(name) or name == OF_ENVIRONMENT


def shown_team_store(name: str) -> str:
    """The name of a team's database as a report may show it, without a password. One whose address cannot be read is shown as
    `postgresql:`."""
    try:
        return _address(name).shown
    except StoreFailed:
        return OF_ENVIRONMENT


def _address(name: str) -> Address:
    address = address_of("") if name == OF_ENVIRONMENT else read_address(name, "The address")
    if address is None:
        raise StoreFailed(f"{OF_ENVIRONMENT} stands for the address in the environment (ULLAGE_STORE), which is empty")
    return address


def places_in(name: str) -> list[InTeamStore]:
    """All sessions in a team's database that this user may read, by workspace, the newest first. Raises `StoreFailed`."""
    address = _address(name)
    reader = TeamReader(address)
    try:
        kept = reader.sessions()
    except Damage as error:
        raise StoreFailed(f"The team's database {address.shown} cannot be read: {error}") from error
    finally:
        reader.close()
    if not kept:
        raise StoreFailed(f"{address.shown} holds no sessions that you may read: you see those of the workspaces that you are a member of")
    parameters = tuple(address.parameters.items())
    return [
        InTeamStore(
            parameters,
            address.shown,
            family[0].workspace,
            tuple((each.id, each.lineage) for each in family),
            sum(each.last_seq for each in family) * _BYTES_AN_ENTRY,
        )
        for family in _families(kept)
    ]


def sessions_in(place: InTeamStore, at: Callable[[int], None]) -> Iterator[Transcript]:
    """The sessions of a place, one after the other. Raises `StoreFailed`, and what `at` raises."""
    yield from team_log.read(_reader(place.parameters, place.shown), place.workspace, dict(place.sessions), at)


_HELD: dict[tuple[tuple[tuple[str, str], ...], str], TeamReader] = {}
"""The reader that this process keeps, however many places it reads: that of the database that was read last."""


def _reader(parameters: tuple[tuple[str, str], ...], shown: str) -> TeamReader:
    held = _HELD.get((parameters, shown))
    if held is None:
        let_go()
        held = _HELD[parameters, shown] = TeamReader(Address(dict(parameters), shown))
    return held


@atexit.register
def let_go() -> None:
    """Closes the connection of this process, if it has one."""
    while _HELD:
        _HELD.popitem()[1].close()


def _families(kept: Sequence[StoredSession]) -> list[list[StoredSession]]:
    """The sessions in groups: those that have entries in common are together. The groups are in the order of the first of each."""
    first: dict[tuple[str, str], tuple[str, str]] = {}
    for each in kept:
        for origin in (each.id, *(origin for origin, _ in each.lineage)):
            one, other = _first(first, (each.workspace, each.id)), _first(first, (each.workspace, origin))
            first[other] = one
    families: dict[tuple[str, str], list[StoredSession]] = {}
    for each in kept:
        families.setdefault(_first(first, (each.workspace, each.id)), []).append(each)
    return list(families.values())


def _first(first: Mapping[tuple[str, str], tuple[str, str]], of: tuple[str, str]) -> tuple[str, str]:
    while (before := first.get(of, of)) != of:
        of = before
    return of
