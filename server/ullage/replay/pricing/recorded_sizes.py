"""How many tokens each block of a recorded session takes, request by request: the recorded totals, laid out over the blocks.

The shapes of the recorded requests (`recorded_requests.py`) say so as long as the session's own context grows. Where that was
compacted, the simulation of another policy still carries what the record had dropped. Such blocks keep the size that they had.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from ullage.context.counting.tokens import HIGHEST_RATIO, LOWEST_RATIO
from ullage.replay.pricing.prompt_cache import Prefix
from ullage.replay.pricing.recorded_requests import CHANGED, SYSTEM, SYSTEM_ANEW, RecordedRequest, pieces_of, requests_of
from ullage.replay.transcript import Transcript


class Size(NamedTuple):
    """Of a block. `version` counts how often the block was changed where it stood, as the record lets one infer."""

    tokens: int
    version: int = 0


@dataclass(frozen=True, slots=True)
class SizedRequest:
    """A recorded request and the sizes that are known with it, by the identity of the block (`shapes.pieces_of`).

    `changes` tells that blocks of earlier requests are among them.
    """

    recorded: RecordedRequest
    sizes: Mapping[str, Size]
    changes: bool


@dataclass(frozen=True, slots=True)
class RecordedSizes:
    """All requests of a session, in order. `ratio` is how many tokens the recorded model makes of one that we estimate."""

    requests: tuple[SizedRequest, ...]
    estimates: Mapping[str, int]
    """Of every block, without the ratio."""
    ratio: float

    def of(self, identity: str, known: Mapping[str, Size]) -> Size:
        """The size of a block, estimated where no request has told it."""
        size = known.get(identity)
        return Size(round(self.estimates.get(identity, 0) * self.ratio)) if size is None else size


def recorded_sizes(transcript: Transcript) -> RecordedSizes:
    """Lays the recorded totals of a session out over its blocks."""
    estimates = {identity: tokens for logged in transcript.entries for identity, tokens in pieces_of(logged, transcript.media_tokens)}
    requests = tuple(requests_of(transcript))
    additions = tuple(_additions(requests))
    ratio = _ratio(additions, estimates)
    sizing = _Sizing(estimates, ratio)
    breaks = _breaks(transcript, requests)
    sized = tuple(sizing.sized(request, added, request.seq in breaks) for request, added in zip(requests, additions, strict=True))
    return RecordedSizes(sized, estimates, ratio)


@dataclass(frozen=True, slots=True)
class _Added:
    """What a request has that the one before had not, and the identities of what that one had and it has not."""

    blocks: tuple[tuple[str, int], ...]
    gone: tuple[str, ...]


def _additions(requests: Sequence[RecordedRequest]) -> Iterator[_Added]:
    chain: list[Prefix] = []
    places: dict[bytes, int] = {}
    for request in requests:
        new: list[Prefix] = []
        shared = 0
        for node in request.shape.end.backwards():
            place = places.get(node.digest)
            if place is not None:
                shared = place + 1
                break
            new.append(node)
        gone = chain[shared:]
        for node in gone:
            del places[node.digest]
        del chain[shared:]
        for node in reversed(new):
            places[node.digest] = len(chain)
            chain.append(node)
        blocks = tuple((node.identity, node.tokens - _before(node)) for node in reversed(new))
        yield _Added(blocks, tuple(node.identity for node in gone))


def _before(node: Prefix) -> int:
    return node.before.tokens if node.before is not None else 0


def _breaks(transcript: Transcript, requests: Sequence[RecordedRequest]) -> frozenset[int]:
    """The seqs of the replies whose requests came first after a recorded compaction."""
    breaks: set[int] = set()
    compactions = sorted(compaction.after_seq for compaction in transcript.compactions)
    for request in requests:
        if compactions and compactions[0] < request.seq:
            breaks.add(request.seq)
        compactions = [after_seq for after_seq in compactions if after_seq >= request.seq]
    return frozenset(breaks)


def _ratio(additions: Sequence[_Added], estimates: Mapping[str, int]) -> float:
    ratios: list[float] = []
    for added in additions[1:]:
        estimated = sum(estimates.get(identity, 0) for identity, _ in added.blocks)
        if added.gone or estimated <= 0 or any(identity not in estimates for identity, _ in added.blocks):
            continue
        ratios.append(sum(tokens for _, tokens in added.blocks) / estimated)
    return min(max(median(ratios), LOWEST_RATIO), HIGHEST_RATIO) if ratios else 1.0


@dataclass(slots=True)
class _Sizing:
    estimates: Mapping[str, int]
    ratio: float
    _sizes: dict[str, Size] = field(default_factory=dict[str, Size])
    _stands_for: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The blocks that a block of unknown content took the place of."""

    def sized(self, request: RecordedRequest, added: _Added, compacted: bool) -> SizedRequest:
        gone = tuple(block for identity in added.gone for block in self._stands_for.pop(identity, (identity,)))
        found: dict[str, Size] = {}
        for identity, tokens in added.blocks:
            if identity.startswith(SYSTEM_ANEW):
                found[SYSTEM] = self._changed(SYSTEM, tokens)
            elif identity.startswith(CHANGED):
                # What a recorded compaction put there is not what another policy would carry.
                blocks = () if compacted else tuple(block for block in gone if block != SYSTEM)
                self._stands_for[identity] = blocks
                found.update(self._laid_out(tokens, blocks))
            elif compacted:
                found[identity] = Size(round(self.estimates.get(identity, 0) * self.ratio))
            else:
                found[identity] = Size(tokens)
        changes = any(identity in self._sizes for identity in found)
        self._sizes.update(found)
        return SizedRequest(request, found, changes)

    def _laid_out(self, tokens: int, blocks: Sequence[str]) -> dict[str, Size]:
        before = [self._sizes[block].tokens if block in self._sizes else 0 for block in blocks]
        total, so_far, laid = sum(before), 0, 0
        found: dict[str, Size] = {}
        for block, old in zip(blocks, before, strict=True):
            so_far += old
            upto = tokens * so_far // total if total else 0
            found[block] = self._changed(block, upto - laid)
            laid = upto
        return found

    def _changed(self, identity: str, tokens: int) -> Size:
        known = self._sizes.get(identity)
        return Size(tokens, known.version + 1 if known is not None else 0)
