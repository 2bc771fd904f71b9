"""The prompt cache: what each of a row of requests reads from it, writes to it, and pays in full.

The rules are those of Anthropic's prompt caching page (2026-08-21). A prefix is cached as a whole: the hash of a block covers
everything before it. Entries are written only where a request is marked, and found at a mark or at the blocks just before it. A
mark below the model's minimum is passed over in silence. An entry lives for its time after the start of the last request that used
it. Each model has a cache of its own.

Requests are charged one after the other, each as if the one before had begun to answer by then (requests at the same moment would
miss each other's writes). The session predicts its next request with it (`cache_clock.py`), replay all requests of a recorded session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import Literal, TypeAlias

from ullage.context.blocks import Usage

Ttl: TypeAlias = Literal["5m", "1h"]
"""How long an entry lives without being used."""

TTL_SECONDS: dict[Ttl, float] = {"5m": 300.0, "1h": 3600.0}

LOOK_BACK = 20
"""Blocks that are tried from a mark backwards, the marked one included."""


@dataclass(frozen=True, slots=True, eq=False)
class Prefix:
    """Everything up to and with one block. Requests that begin alike share it, so that a longer one costs only what is new."""

    digest: bytes
    """The hash of this block and all before it."""
    tokens: int
    """Tokens of this block and all before it."""
    before: Prefix | None = field(repr=False)
    """The prefix without the last block; None for `START` alone, which holds no block."""
    identity: str = field(default="", repr=False)
    """What the last block is known by."""

    def then(self, identity: str, tokens: int) -> Prefix:
        """This prefix and one block more. Two blocks count as the same if their `identity` and all blocks before them are the same."""
        digest = blake2b(identity.encode("utf-8", "surrogatepass"), key=self.digest, digest_size=16).digest()
        return Prefix(digest, self.tokens + tokens, self, identity)

    def backwards(self) -> Iterator[Prefix]:
        """This prefix, the one without its last block, and so on; without `START`."""
        prefix = self
        while prefix.before is not None:
            yield prefix
            prefix = prefix.before


START = Prefix(b"", 0, None)
"""The prefix without a block."""


@dataclass(frozen=True, slots=True)
class CacheMark:
    """A block that is marked for the cache: the last one of `prefix`."""

    prefix: Prefix
    ttl: Ttl


@dataclass(frozen=True, slots=True)
class RequestShape:
    """What the cache sees of one request. `at` is when it started (Unix seconds); `marks` are prefixes of `end`, in any order."""

    model: str
    at: float
    end: Prefix
    marks: tuple[CacheMark, ...]
    output_tokens: int = 0


@dataclass(slots=True)
class _Entry:
    ttl: Ttl
    expires: float

    def lives(self, at: float) -> bool:
        return at < self.expires

    def use(self, at: float) -> None:
        self.expires = max(self.expires, at + TTL_SECONDS[self.ttl])


class PromptCache:
    """The cache of one workspace. `minimum` gives the tokens below which a model caches nothing."""

    def __init__(self, minimum: Callable[[str], int]) -> None:
        self._minimum = minimum
        self._entries: dict[str, dict[bytes, _Entry]] = {}

    def charge(self, request: RequestShape) -> Usage:
        """The tokens of `request` by price class. What it read lives longer from then on, and later requests can read what it wrote."""
        entries = self._entries.setdefault(request.model, {})
        minimum = self._minimum(request.model)
        marks = [mark for mark in request.marks if mark.prefix.tokens >= minimum]
        read = max((_read(entries, mark.prefix, request.at) for mark in marks), default=0)
        for mark in marks:
            _write(entries, mark, request.at)
        long_end = max([read, *(mark.prefix.tokens for mark in marks if mark.ttl == "1h")])
        end = max([long_end, *(mark.prefix.tokens for mark in marks)])
        return Usage(
            input_tokens=request.end.tokens - end,
            output_tokens=request.output_tokens,
            cache_read_tokens=read,
            cache_write_5m_tokens=end - long_end,
            cache_write_1h_tokens=long_end - read,
        )


def _read(entries: dict[bytes, _Entry], marked: Prefix, at: float) -> int:
    """Tokens of the longest living entry within reach of a mark; 0 if there is none."""
    for prefix in islice(marked.backwards(), LOOK_BACK):
        entry = entries.get(prefix.digest)
        if entry is not None and entry.lives(at):
            entry.use(at)
            return prefix.tokens
    return 0


def _write(entries: dict[bytes, _Entry], mark: CacheMark, at: float) -> None:
    entry = entries.get(mark.prefix.digest)
    if entry is None or not entry.lives(at):
        entries[mark.prefix.digest] = _Entry(mark.ttl, at + TTL_SECONDS[mark.ttl])
