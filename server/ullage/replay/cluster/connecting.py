"""A scheduler of Dask to work with: one that is named, or one of our own with workers on this machine's cores.

What Dask raises becomes a sentence here. It has hardly any types, and takes long to import.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from ullage.processes.start import Asker, local_cluster
from ullage.replay.cluster.installation import Installation, difference, installation

LOCAL = "local"
"""In the place of an address: workers on this machine."""

NEEDED = "--scheduler needs Dask: pip install 'ullage[cluster]'"

CONNECT_SECONDS = 15
"""How long the scheduler may take to answer, and then its first worker to be there."""


class NoCluster(Exception):
    """There is no scheduler to work with, or no more; `str()` says which and why."""


@contextmanager
def connected(address: str, jobs: int | None) -> Generator[Any]:
    """A client (`distributed.Client`) of a scheduler that has at least one worker, and only such as make the figures that this process
    would make. With `local`, `jobs` workers are started, and ended with this. Raises `NoCluster`."""
    try:
        distributed = import_module("distributed")
    except ImportError as error:
        raise NoCluster(NEEDED) from error
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        cluster = stack.enter_context(local_cluster(Asker.REPLAY, jobs or os.cpu_count() or 1)) if address == LOCAL else None
        client = stack.enter_context(_client(distributed, address if cluster is None else cluster))
        _look_at_workers(client, address)
        yield client


def threads_of(client: Any) -> int:
    """How many things the workers of the client's scheduler do at once, all together. Costs a question to the scheduler."""
    return int(client.scheduler_info(n_workers=0).get("total_threads", 1))


def warning(address: str) -> str:
    """The warning that an address without TLS needs, as a sentence for the user; empty if there is nothing to say."""
    if address == LOCAL or address.startswith("tls://"):
        return ""
    if _is_here(address):
        return ""
    return (
        f"{address} is spoken to without TLS: whoever is on that network can read along, and run programs as you. "
        "Use tls:// where that network is not yours alone (docs/replay.md)"
    )


def _is_here(address: str) -> bool:
    """Whether the address is on the loopback, by its whole host: `localhost.example.com` and `127.example.com` lead elsewhere."""
    try:
        host = urlsplit(address if "://" in address else f"//{address}").hostname
        return host == "localhost" or ip_address(host or "").is_loopback
    except ValueError:
        return False


@contextmanager
def _client(distributed: Any, of: object) -> Generator[Any]:
    try:
        client = distributed.Client(of, timeout=CONNECT_SECONDS, set_as_default=False)
    except (TimeoutError, OSError) as error:
        raise NoCluster(f"the scheduler {of} does not answer: {_first_line(error)}. Is it running, and is the address right?") from error
    except (ValueError, TypeError, RuntimeError) as error:
        raise NoCluster(f"the scheduler {of} cannot be spoken to: {_first_line(error)}") from error
    try:
        yield client
    finally:
        client.close(timeout=CONNECT_SECONDS)


def _look_at_workers(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError as error:
        raise NoCluster(f"the scheduler {address} has no workers. Start some with `dask worker {address}`") from error
    ours = installation()
    for worker, theirs in client.run(_made_ready, on_error="return").items():
        if isinstance(theirs, Installation):
            other = difference(theirs, ours)
        else:
            other = f"cannot say which Ullage it has ({type(theirs).__name__}: {_first_line(theirs)})"
        if other:
            raise NoCluster(refusal(worker, other))


def _made_ready() -> Installation:
    """Runs on a worker: it says what it is, and has loaded what it is going to work with."""
    import_module("ullage.replay.file_work")
    return installation()


def refusal(worker: str, other: str) -> str:
    """The sentence for the user that refuses a worker which would make other figures; `other` says what is different."""
    return f"the worker {worker} {other}. All have to be the same, or the figures would depend on who made them: install this Ullage there"


@contextmanager
def _quiet() -> Generator[None]:
    """Silences Dask's own words of lost workers, which would stand in the middle of ours."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)


def _first_line(error: object) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__
