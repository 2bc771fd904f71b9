"""Transcripts in object storage: which objects below an address are some, and a copy of one on this machine's disk while it is read.

Storage is spoken to through fsspec. For S3, Google Cloud Storage and Azure the clients in pyarrow stand behind it, as
docs/decisions/0042 says. Credentials are found by them, in each process: none is sent from one to another.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from ullage.recorded.readers.files import NothingFound, is_called_like_one

NEEDED = "reading from object storage needs fsspec and pyarrow: pip install 'ullage[cluster]'"

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_OF_AZURE = frozenset({"abfs", "abfss"})
_WITH_QUERY = frozenset({"gs", "gcs", *_OF_AZURE})
"""The storages whose clients take options after a question mark. In S3 it is a character of a name."""
_OF_PYARROW = frozenset({"s3", *_WITH_QUERY})
_ACCOUNT = ". Its address has the account, too: abfs://container@account.dfs.core.windows.net/folder"
_LOG = "ullage.db"
_OF_EARLIER_VERSIONS = ".ullage"
_OPENCODE_FILE = re.compile(r"ses_.*\.json(?:\.gz|\.xz|\.bz2)?")

_LONGEST_SENTENCE = 300
"""Characters that are kept of what a library says."""

_STEP = 1024 * 1024
"""How many bytes are copied at once."""


def is_address(name: str) -> bool:
    """Whether the name is an address and no path."""
    return _ADDRESS.match(name) is not None


_IN_AUTHORITY = re.compile(r"(://[^/@:]*):[^/]*@")
_AFTER_PATH = re.compile(r"[?#].*", re.DOTALL)


def shown(address: str) -> str:
    """The address as it may be printed: without a password before the host, and without what stands after the path, such as a signature."""
    return _AFTER_PATH.sub("?…", _IN_AUTHORITY.sub(r"\1:…@", address))


def holds_secrets(address: str) -> bool:
    """Whether something in the address is not to be shown, nor to be sent to another machine."""
    return shown(address) != address


def said_of(error: BaseException, address: str) -> str:
    """The first line of an error of a library, without the secrets of the address that it repeats. Some say hundreds of lines."""
    first = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return first.replace(address, shown(address))[:_LONGEST_SENTENCE]


def objects_below(address: str, failures: list[str]) -> dict[str, int]:
    """The transcripts below that address, or the object itself: bytes by address, in the order that folders would have.

    Of a workspace of Ullage it is the log alone. Raises `NothingFound`, `OSError`.
    """
    storage, path = _storage(address)
    try:
        found: dict[str, Any] = storage.info(path)
    except FileNotFoundError:
        found = {}
    if found.get("type") == "file":
        return {address: int(found["size"] or 0)}
    try:
        sizes = _listed(storage, path)
    except FileNotFoundError:
        raise NothingFound(f"{shown(address)} does not exist") from None
    old = [name for name in sizes if _OPENCODE_FILE.fullmatch(PurePosixPath(name).name)]
    if old:
        failures.append(
            f"{shown(address)} holds {len(old)} sessions of OpenCode before 1.2, which lie in many files: copy them to a disk to read them"
        )
    wanted = _without_other_files({name: size for name, size in sizes.items() if name not in old})
    if not wanted and not old:
        raise NothingFound(f"{shown(address)} holds no transcripts")
    # What stands before the path stays: for some storages it names the account or the host. So does what stands after it.
    is_uri = _scheme(address) in _WITH_QUERY
    plain, question, query = address.partition("?") if is_uri else (address, "", "")
    top, known = plain.rstrip("/"), path.rstrip("/")

    def address_of(name: str) -> str:
        below = name.removeprefix(known)
        return f"{top}{quote(below) if is_uri else below}{question}{query}"

    return {address_of(name): wanted[name] for name in sorted(wanted, key=_as_in_folders)}


@contextmanager
def brought(address: str) -> Generator[Path]:
    """A copy of the object on this machine's disk, with what programs keep beside it, while this is open. Raises `OSError`."""
    storage, path = _storage(address)
    key = PurePosixPath(path)
    with tempfile.TemporaryDirectory(prefix="ullage-replay-") as temporary:
        folder = Path(temporary).resolve() / (_plain(key.parent.name) or "folder")
        folder.mkdir()
        copy = folder / (_plain(key.name) or "transcript")
        _copy(storage, path, copy)
        for name in _beside(key.name):
            other = str(key.parent / name)
            if storage.exists(other):
                _copy(storage, other, folder / _plain(name))
        yield copy


def _copy(storage: Any, path: str, copy: Path) -> None:
    with storage.open(path, "rb") as source, copy.open("wb") as target:
        shutil.copyfileobj(source, target, _STEP)


def _listed(storage: Any, path: str) -> dict[str, int]:
    """The bytes of every object below the path, by name. Not by `find`, which takes what is not there for empty."""
    storage.ls(path)
    return {
        str(about["name"]): int(about["size"] or 0)
        for _, _, files in storage.walk(path, detail=True, on_error="raise")
        for about in files.values()
        if about["type"] == "file"
    }


def _without_other_files(sizes: Mapping[str, int]) -> dict[str, int]:
    """The objects, by name, that are called like a transcript. Below a folder that holds a log of Ullage other files are the user's own."""
    logs = [PurePosixPath(name) for name in sizes if PurePosixPath(name).name == _LOG]
    workspaces = {log.parent.parent if log.parent.name == _OF_EARLIER_VERSIONS else log.parent for log in logs}
    return {
        name: size
        for name, size in sizes.items()
        if PurePosixPath(name) in logs
        or (is_called_like_one(PurePosixPath(name).name) and not workspaces & set(PurePosixPath(name).parents))
    }


def _as_in_folders(name: str) -> list[tuple[bool, str]]:
    """The key that sorts objects as folders are walked through: the files of one, then the folders in it."""
    *folders, last = name.split("/")
    return [*((True, each) for each in folders), (False, last)]


def _beside(name: str) -> tuple[str, ...]:
    """The names of the files that a reader looks for beside a file of that name."""
    if name.startswith("api_conversation_history.json"):
        return ("ui_messages.json", "task_metadata.json")
    if (stem := name.partition(".messages.json")[0]) != name:
        return (f"{stem}.json", f"{stem}.compaction.json")
    if name.endswith(".db"):
        return (f"{name}-wal", "workspace.json")
    return ()


def _plain(name: str) -> str:
    """The name changed where needed such that it leads nowhere else: keys of objects are made by whoever writes there."""
    return "" if name in (".", "..") else re.sub(r"[\x00-\x1f/\\:]", "_", name)[-200:]


def _storage(address: str) -> tuple[Any, str]:
    """The file system of fsspec, and the path in it. Raises `NothingFound` for what cannot be spoken to."""
    scheme, _, path = address.partition("://")
    try:
        if scheme not in _OF_PYARROW:
            return import_module("fsspec").core.url_to_fs(address)
        if scheme == "s3":
            client = _of_s3()
        else:
            try:
                client, path = import_module("pyarrow.fs").FileSystem.from_uri(address)
            except NotImplementedError:  # this pyarrow was built without it; fsspec says which package it needs instead
                return import_module("fsspec").core.url_to_fs(address)
        return import_module("fsspec.implementations.arrow").ArrowFSWrapper(client), path.rstrip("/")
    except ImportError as error:
        needed = error.name in ("fsspec", "pyarrow", "pyarrow.fs")
        raise NothingFound(NEEDED if needed else f"{shown(address)} cannot be read: {said_of(error, address)}") from error
    except ValueError as error:
        hint = _ACCOUNT if scheme in _OF_AZURE and "@" not in path.partition("/")[0] else ""
        raise NothingFound(f"{shown(address)} cannot be read: {said_of(error, address)}{hint}") from error


def _scheme(address: str) -> str:
    return address.partition("://")[0]


def _of_s3() -> Any:
    """The client for S3. Credentials and region it finds in the environment or in the user's files; we only tell it where the service
    is."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or None
    return import_module("pyarrow.fs").S3FileSystem(endpoint_override=endpoint)
