"""What can go wrong with the team's database, as sentences: what failed, where, and what the user can do.

TeamStoreFailed
├── Away        it cannot be used now: try again later, nothing was changed
│   └── LinkLost    the connection is gone: what was on its way may have been written
├── Refused     it will not do this until somebody changes something there, or here
├── Taken       another process writes the session, or has written it since
└── Deleted     somebody deleted the session for good
"""

from __future__ import annotations

import re

from ullage.store.errors import StoreFailed
from ullage.store.team.address import Address


class TeamStoreFailed(StoreFailed):
    """The team's database did not do what was asked; `str()` says why."""


class Away(TeamStoreFailed):
    """The team's database cannot be used now. What was wanted can be tried again."""


class LinkLost(Away):
    """The connection to the team's database is gone. Whether the last call was done is not known."""


class TeamStoreRefused(TeamStoreFailed):
    """The team's store refuses until somebody changes something."""


class SessionTaken(TeamStoreFailed):
    """Another process writes this session, or has written to it since."""

    def __init__(self) -> None:
        super().__init__("A colleague, or another of your machines, is at work in this session. Open it again when it is free.")


class Deleted(TeamStoreFailed):
    """Somebody deleted this session."""

    def __init__(self) -> None:
        super().__init__("A colleague deleted this session, or you did so on another machine.")


class LaterSchema(TeamStoreRefused):
    """A later version of Ullage made the tables."""


_REFUSED = {
    "28P01": "it does not take the password of this user. Correct the password in the address, or in your password file (~/.pgpass)",
    "28000": "it does not let this user in. Ask whoever runs it",
    "3D000": "it has no database of this name. Correct the name in the address, or make the database",
    "42501": "this user has no right to do that. Ask whoever runs it for the role ullage_member",
    "3F000": "it has no tables of Ullage. Whoever runs it makes them with `ullage store setup ADDRESS`",
    "42P01": "it has no tables of Ullage. Whoever runs it makes them with `ullage store setup ADDRESS`",
    "42883": "its tables are not those of Ullage. Whoever runs it looks at them with `ullage store setup ADDRESS`",
    "UL002": "this user is no member of the workspace there. Ask a member to let you in: SELECT ullage.let_in(workspace, your_role)",
}
_AWAY = {
    "53100": "its disk is full. Whoever runs it makes room there",
    "53200": "it has no memory left",
    "53300": "it has too many connections. Close other programs, or ask whoever runs it for more",
    "25006": "it can only be read now, as a standby is. Ask whoever runs it",
    "57014": "it took too long to answer",
    "57P03": "it is starting up or shutting down",
    "55P03": "another program has its rows locked",
}
_TAKEN = ("UL003", "UL005", "23505")

_AT_CONNECTING: tuple[tuple[str, str, bool], ...] = (
    ("password authentication failed|no password supplied", _REFUSED["28P01"], True),
    ("pg_hba.conf|role .* does not exist", _REFUSED["28000"], True),
    ("database .* does not exist", _REFUSED["3D000"], True),
    (
        "root certificate file",
        "no authority is known here. Name its file in the address (sslrootcert=/path/to/ca.pem)",
        True,
    ),
    (
        "certificate",
        "its certificate is not trusted here. Name the file of its authority in the address (sslrootcert=/path/to/ca.pem)",
        True,
    ),
    ("does not support SSL", "it speaks no TLS, which is needed off this machine. Ask whoever runs it to turn it on", True),
    ("translate host name|resolve host|Name or service", "its name does not resolve. Correct the host in the address", False),
    ("refused|No such file", "nothing answers there. Start it, or correct the host and the port in the address", False),
    ("too many", _AWAY["53300"], False),
    ("starting up|shutting down|not yet accepting", _AWAY["57P03"], False),
    ("timeout|timed out", "it does not answer in time. Look whether it is reachable from here", False),
)
"""What libpq says where no connection comes about, which has no code then: what it means, and whether somebody has to change something."""


def fault_of(error: BaseException, address: Address, *, connecting: bool = False) -> TeamStoreFailed:
    """The error of psycopg as one of ours, with a sentence for the user. `connecting`: whether it came while a connection was being
    made."""
    code, place = getattr(error, "sqlstate", None), address.shown
    said = address.without_secrets(" ".join(str(error).split()))
    if code in _TAKEN:
        return SessionTaken()
    if code == "UL006":
        return Deleted()
    if code in _REFUSED:
        return TeamStoreRefused(f"The team's database {place} cannot be used: {_REFUSED[code]}.")
    if code in _AWAY:
        return Away(f"The team's database {place} cannot be used now: {_AWAY[code]}. Nothing is lost: it is tried again by itself.")
    if connecting:
        for words, why, refuses in _AT_CONNECTING:
            if re.search(words, said) and refuses:
                return TeamStoreRefused(f"The team's database {place} cannot be reached: {why}.")
            if re.search(words, said):
                return Away(f"The team's database {place} cannot be reached: {why}. Nothing is lost: it is tried again by itself.")
        return Away(f"The team's database {place} cannot be reached: {said or type(error).__name__}")
    if code is None or code.startswith(("08", "57P")):
        return LinkLost(f"The connection to the team's database {place} was lost. Nothing is lost: it is tried again by itself.")
    return Away(f"The team's database {place} cannot be used now: {said}")
