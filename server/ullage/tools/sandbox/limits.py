"""How much of the machine a command in the sandbox may take. It is looked at once a second, and ended when it takes more.

Limits of the kernel do not fit: those of a process (`RLIMIT_AS`) break Node and Java, which reserve far more than they use; the number of
processes is not limited for root; groups of control are not the user's everywhere.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

GIBIBYTE = 1 << 30

INTERVAL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Limits:
    """For all processes of one command together."""

    memory: int
    """Bytes that are theirs alone."""
    processes: int = 4_000
    """Far above any build; a machine has 32,768 numbers or more."""
    free_disk: int = GIBIBYTE
    """Bytes that must stay free where the workspace folders lie. Where there was less at the start, half of that."""


def usual_limits() -> Limits:
    """Three quarters of the memory, at least 2 GiB: enough for any build that the machine can do, and the editor goes on."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Limits(max(2 * GIBIBYTE, total * 3 // 4))


async def watch(process: int, folders: Sequence[Path], limits: Limits, hit: list[str]) -> None:
    """Watches the namespace of processes whose first one `process` is, kills it when it takes too much, and says so in `hit`.

    Goes on until it is cancelled, or the process is gone.
    """
    with suppress(OSError):
        handle = os.pidfd_open(process)
        try:
            namespace = Path(f"/proc/{process}/ns/pid").stat().st_ino
            floors = [(folder, min(limits.free_disk, shutil.disk_usage(folder).free // 2)) for folder in folders]
            while True:
                await asyncio.sleep(INTERVAL_SECONDS)
                said = await asyncio.to_thread(_exceeded, namespace, floors, limits)
                if said is not None:
                    hit.append(said)
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                    return
        finally:
            os.close(handle)


def _exceeded(namespace: int, floors: Sequence[tuple[Path, int]], limits: Limits) -> str | None:
    sizes = list(_sizes(namespace))
    if sum(sizes) > limits.memory:
        return f"it used more than {limits.memory / GIBIBYTE:.1f} GiB of memory"
    if len(sizes) > limits.processes:
        return f"it had more than {limits.processes:,} processes"
    for folder, floor in floors:
        if shutil.disk_usage(folder).free < floor:
            return f"it left less than {floor / GIBIBYTE:.1f} GiB free on the disk of {folder}"
    return None


def _sizes(namespace: int) -> Iterator[int]:
    """Bytes of memory of each process in it, without what they share."""
    page = os.sysconf("SC_PAGE_SIZE")
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            if Path(f"/proc/{entry.name}/ns/pid").stat().st_ino == namespace:
                _, resident, shared, *_ = Path(f"/proc/{entry.name}/statm").read_text().split()
                yield (int(resident) - int(shared)) * page
        except (OSError, ValueError):
            continue
