"""What one command may see, write and reach, whatever system confines it. `bubblewrap.py` and `seatbelt.py` make their own words of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ullage.tools.guarded import Guarded
from ullage.tools.sandbox.network.proxy import Proxy
from ullage.tools.sandbox.places import View


@dataclass(frozen=True, slots=True)
class NoSandbox:
    """Commands cannot be sandboxed: why, and what the user can do about it, in a sentence each."""

    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.reason}. {self.remedy}"


@dataclass(frozen=True, slots=True)
class OwnFolders:
    """Folders on the disk that only the sandbox uses; None where there is to be one in memory, which is gone after the call."""

    temporary: Path | None = None
    home: Path | None = None


@dataclass(frozen=True, slots=True)
class Confinement:
    """What one command may see and write."""

    roots: tuple[Path, ...]
    view: View
    guard: Guarded
    own: OwnFolders
    home: Path
    writable: bool = True
    """Whether it may write to the workspace folders."""


@dataclass(frozen=True, slots=True)
class Confined:
    """A command as it is to be started."""

    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """What it gets beside its own."""
    pass_fds: Sequence[int] = ()
    over_limit: Sequence[str] = ()
    """Grows while it runs: why it was ended, where it took too much."""


class Confiner(Protocol):
    """What confines commands on this machine."""

    @property
    def blocked(self) -> Sequence[str]:
        """What programs say (in lower case) when they may not write."""
        ...

    def confine(self, command: Sequence[str], confinement: Confinement, proxy: Proxy | None) -> AbstractAsyncContextManager[Confined]:
        """The command so confined, as it is to be started within the block. It reaches what the proxy lets through; without one, nothing.

        Raises `OSError`.
        """
        ...
