"""Where the team's database is: the address that the user gave, read and judged before anything is sent there.

Off the loopback TLS is required: the log holds source code and what people said. The password is never shown: `shown` names the place
without it, and every sentence about the database says `shown`.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path

from ullage.starting import take_secret
from ullage.store.errors import StoreFailed

VARIABLE = "ULLAGE_STORE"
"""The variable of the environment that holds the address where the setting is empty."""

WORKSPACE_VARIABLE = "ULLAGE_STORE_WORKSPACE"
"""The variable of the environment that names the workspace where the setting is empty."""

MISSING_LIBRARY = (
    'Sessions in PostgreSQL need the library psycopg, which is not installed. Install it beside Ullage: pip install "ullage[postgres]"'
)

_SECURE = ("require", "verify-ca", "verify-full")
_NOT_TAKEN = ("service", "servicefile")


class BadAddress(StoreFailed):
    """The address cannot be used; `str()` says why and what to do, without any secret."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a team's database. `parameters` are libpq's, and hold the password where the user wrote it there."""

    parameters: Mapping[str, str] = field(repr=False)
    shown: str
    """The address as it may be shown: `user@host:port/database`."""

    def without_secrets(self, text: str) -> str:
        """The text of a library or a server without the password, should it ever name it."""
        password = self.parameters.get("password", "")
        return text.replace(password, "…") if password else text


def is_address(text: str) -> bool:
    """Whether the text names a database and not a folder."""
    return text.startswith(("postgresql://", "postgres://"))


@dataclass(frozen=True, slots=True)
class TeamPlace:
    """What the settings say of the team's store. Where a setting is empty, the environment counts."""

    url: str = field(default="", repr=False)
    workspace: str = ""


@cache
def _of_environment() -> str:
    """The address in the environment; empty if there is none. It may hold a password, so it leaves the environment."""
    return take_secret(VARIABLE) or ""


def address_of(setting: str, environment: Mapping[str, str] | None = None) -> Address | None:
    """The address in the setting, or else in the environment; None if neither names a database. Raises `BadAddress`."""
    inherited = _of_environment() if environment is None else environment.get(VARIABLE, "")
    for name, value in (('The setting "Ullage › Store: Url"', setting), (VARIABLE, inherited)):
        if value.strip():
            return read_address(value.strip(), name)
    return None


def read_address(text: str, name: str) -> Address:
    """The address of the database that `text` names; `name` is who says so. Raises `BadAddress`."""
    if not is_address(text):
        raise BadAddress(f"{name} is no address of a database. It looks like postgresql://user@host/database.")
    try:
        import_module("psycopg_pool")  # it is used later, and its absence is told now
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError as error:
        raise BadAddress(MISSING_LIBRARY) from error
    try:
        given = {key: str(value) for key, value in conninfo_to_dict(text).items() if value is not None}
    except ProgrammingError:
        # What libpq says of it repeats the address, and so the password.
        raise BadAddress(
            f"{name} cannot be read as an address of a database. It looks like postgresql://user@host/database; "
            "signs such as @ and / in a password are written as %40 and %2F."
        ) from None
    if any(each in given for each in _NOT_TAKEN):
        raise BadAddress(f"{name} names a service file, which could lead anywhere. Name host, user and database instead.")
    hosts = [each for key in ("host", "hostaddr") for each in given.get(key, "").split(",") if each]
    if not hosts:
        raise BadAddress(f"{name} names no host. For a socket write postgresql://user@/database?host=/var/run/postgresql.")
    mode = given.get("sslmode", "")
    if not all(map(_is_here, hosts)):
        if mode and mode not in _SECURE:
            raise BadAddress(
                f"{name} leads to another machine with sslmode={mode}, so what is said could be read on the way. "
                "Leave sslmode out, or write sslmode=verify-full."
            )
        given.setdefault("sslmode", "verify-full")
        if given["sslmode"] == "verify-full":
            given.setdefault("sslrootcert", "system")
    return Address(given, _shown(given, hosts[0]))


def _is_here(host: str) -> bool:
    if host.startswith("/") or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _shown(given: Mapping[str, str], host: str) -> str:
    user = f"{given['user']}@" if "user" in given else ""
    port = f":{given['port']}" if "port" in given else ""
    return f"{user}{host}{port}/{given.get('dbname', given.get('user', ''))}"


def workspace_name(setting: str, folder: Path, environment: Mapping[str, str] = os.environ) -> str:
    """The name of the workspace in the database: what the user says, with the folder's name in place of `{folder}`, else the folder's path.
    Containers have the same path as those before them; colleagues who want one list say the same name."""
    said = setting.strip() or environment.get(WORKSPACE_VARIABLE, "").strip()
    return said.replace("{folder}", folder.resolve().name) if said else folder.resolve().as_posix()
