"""Clusters of Dask on this machine, for tests."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Protocol

import distributed


class Cluster(Protocol):
    """What `distributed.LocalCluster` is once it has started. Its own types do not say that it has."""

    @property
    def scheduler_address(self) -> str: ...

    def scale(self, n: int) -> None: ...

    def close(self) -> None: ...


@contextmanager
def cluster_of(workers: int, **how: Any) -> Generator[Cluster]:
    """A scheduler in this process with so many workers, each a process with one thread unless `how` says otherwise to `LocalCluster`."""
    given: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 60, **how}
    made: Any = distributed.LocalCluster(n_workers=workers, **given)
    with made as started:
        yield started
