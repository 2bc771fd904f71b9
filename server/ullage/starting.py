"""What the process does before anything else: secrets leave its environment, and what it needs is imported quickly."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_OPENAI = "api.openai.com"
_ANTHROPIC = "https://api.anthropic.com"
"""What an empty address stands for."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys that the process was started with. None of them is shown by `repr`.

    `own` is what the user gave to Ullage for one address: `own_address`, else the one that is set, or Anthropic's where none is. The others
    stand in the environment for other programs too, so each goes to its vendor's wire alone, and that of OpenAI to no other address.
    """

    own: str | None = field(default=None, repr=False)
    """The value of `ULLAGE_API_KEY`; None if it is not set."""
    anthropic: str | None = field(default=None, repr=False)
    """The value of `ANTHROPIC_API_KEY`; None if it is not set."""
    openai: str | None = field(default=None, repr=False)
    """The value of `OPENAI_API_KEY`; None if it is not set."""
    bedrock: str | None = field(default=None, repr=False)
    """The value of `AWS_BEARER_TOKEN_BEDROCK`; None if it is not set."""
    own_address: str | None = field(default=None, repr=False)
    """The value of `ULLAGE_API_KEY_ADDRESS`; None if it is not set. Then `own` goes to whatever address is set."""

    def of(self, provider: str, base_url: str) -> str | None:
        """The key for an endpoint, without blanks around it; None if there is none. An empty `base_url` is the provider's own address.

        A trusted workspace may choose the provider, and must not lead a key to another vendor by that. Clouds have credentials of their
        own. Where the user's own key is for another address, no other takes its place: nobody said that one may go there.
        """
        if provider in ("bedrock", "vertex"):
            return ((self.bedrock or "").strip() or None) if provider == "bedrock" else None
        if provider == "editor":  # the editor has its own way to the vendor
            return None
        if self.own_is_for_another(provider, base_url):
            return None
        own, inherited = self.own, self.anthropic
        if provider == "openai":
            own = self.own if base_url.strip() else None
            inherited = self.openai if not base_url.strip() or _is_of_openai(base_url) else None
        return (own or "").strip() or (inherited or "").strip() or None

    def own_is_for_another(self, provider: str, base_url: str) -> bool:
        """Whether the user's own key is not sent to an endpoint since it was given for another address. Clouds and the editor never get
        it."""
        if provider in ("bedrock", "vertex", "editor") or not (self.own or "").strip() or self.own_address is None:
            return False
        return written_out(self.own_address) != written_out(base_url) and not (provider == "openai" and not base_url.strip())


def written_out(address: str) -> str:
    """An address as it is compared: Anthropic's own where it is empty."""
    return address.strip().rstrip("/") or _ANTHROPIC


def _is_of_openai(base_url: str) -> bool:
    try:
        parts = urlsplit(base_url.strip())
        return parts.scheme == "https" and parts.hostname == _OPENAI and parts.port in (None, 443) and "@" not in parts.netloc
    except ValueError:
        return False


def take_keys() -> Keys:
    """Takes the keys out of the environment, and gives them."""
    return Keys(
        take_secret("ULLAGE_API_KEY"),
        take_secret("ANTHROPIC_API_KEY"),
        take_secret("OPENAI_API_KEY"),
        take_secret("AWS_BEARER_TOKEN_BEDROCK"),
        take_secret("ULLAGE_API_KEY_ADDRESS"),
    )


def take_secret(name: str) -> str | None:
    """Takes a variable out of the environment, so that child processes and whoever looks at this process from outside do not see it; gives
    its value, None if it is not set."""
    value = os.environ.get(name)
    if value is None:
        return None
    _overwrite(name)
    del os.environ[name]
    return value


def _overwrite(name: str) -> None:
    # Unsetting a variable leaves the memory that the process was started with as it is, and every process of the same user
    # can read that: `cat /proc/$PPID/environ`, `ps eww`.
    try:
        import ctypes

        entries = ctypes.POINTER(ctypes.c_void_p).in_dll(ctypes.CDLL(None), "environ")
    except (ImportError, OSError, TypeError, ValueError):  # Windows, which has no such thing
        return
    prefix = name.encode() + b"="
    index = 0
    while address := entries[index]:
        entry = ctypes.string_at(address)
        if entry.startswith(prefix):
            ctypes.memset(address + len(prefix), 0, len(entry) - len(prefix))
        index += 1


@contextmanager
def quick_imports() -> Generator[None]:
    """Lets the garbage collector rest during the block, and never look at what was imported, which lives as long as the process.

    Nothing of it is garbage, and looking for some takes an eighth of the time of these imports.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.freeze()
            gc.enable()
