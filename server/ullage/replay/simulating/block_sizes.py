"""How many tokens each block of a session takes: as recorded, request by request, and in a view that a policy made of it.

The shapes of the recorded requests (`pricing/recorded_requests.py`) tell the sizes as long as the session's own context grows. Where that
was compacted, the simulation of another policy still carries what the record had dropped. Such blocks keep the size that they had.

`LaidOut` has a view as the prompt cache sees it: its blocks one after another, each with its size, as prefixes that requests share. A block
that stands as it was recorded has its recorded size. A new text (a placeholder, a summary, a restored file) is estimated, with the ratio of
the session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from sys import intern
from typing import NamedTuple, TypeAlias

from ullage.context.blocks import Block, Message, Text, ToolResult, ToolUse
from ullage.context.compaction_entries import Compaction
from ullage.context.counting.prompt_cache import START, Prefix
from ullage.context.counting.tokens import HIGHEST_RATIO, LOWEST_RATIO, estimate_block
from ullage.context.entries import AssistantReply, Entry, Notice, ToolReturned, UserPrompt
from ullage.context.view.projection import EpochKey, Projection
from ullage.recorded.transcript import Transcript
from ullage.replay.pricing.recorded_requests import CHANGED, OPENING, SYSTEM, SYSTEM_ANEW, RecordedRequest, pieces_of, requests_of
from ullage.replay.simulating.carried import CarriedSession


class BlockSize(NamedTuple):
    """The size of a block. `version` counts how often the block was changed where it stood, as far as the record shows it."""

    tokens: int
    version: int = 0


@dataclass(frozen=True, slots=True)
class SizedRequest:
    """A recorded request and the sizes that are known with it, by the identity of the block (`shapes.pieces_of`).

    `changes` tells that blocks of earlier requests are among them.
    """

    recorded: RecordedRequest
    sizes: Mapping[str, BlockSize]
    changes: bool


@dataclass(frozen=True, slots=True)
class RecordedSizes:
    """All requests of a session, in order. `ratio` is how many tokens the recorded model makes of one that we estimate."""

    requests: tuple[SizedRequest, ...]
    estimates: Mapping[str, int]
    """The estimated tokens of every block, without the ratio."""
    ratio: float

    def of(self, identity: str, known: Mapping[str, BlockSize]) -> BlockSize:
        """The size of a block, estimated where no request has told it."""
        size = known.get(identity)
        return BlockSize(round(self.estimates.get(identity, 0) * self.ratio)) if size is None else size


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
    """The blocks that a request has and the one before had not, and the identities of those that only the one before had."""

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
    _sizes: dict[str, BlockSize] = field(default_factory=dict[str, BlockSize])
    _stands_for: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The blocks that a block of unknown content took the place of, by its identity."""

    def sized(self, request: RecordedRequest, added: _Added, compacted: bool) -> SizedRequest:
        gone = tuple(block for identity in added.gone for block in self._stands_for.pop(identity, (identity,)))
        found: dict[str, BlockSize] = {}
        for identity, tokens in added.blocks:
            if identity.startswith(SYSTEM_ANEW):
                found[SYSTEM] = self._changed(SYSTEM, tokens)
            elif identity.startswith(CHANGED):
                # What a recorded compaction put there is not what another policy would carry.
                blocks = () if compacted else tuple(block for block in gone if block != SYSTEM)
                self._stands_for[identity] = blocks
                found.update(self._laid_out(tokens, blocks))
            elif compacted:
                found[identity] = BlockSize(round(self.estimates.get(identity, 0) * self.ratio))
            else:
                found[identity] = BlockSize(tokens)
        changes = any(identity in self._sizes for identity in found)
        self._sizes.update(found)
        return SizedRequest(request, found, changes)

    def _laid_out(self, tokens: int, blocks: Sequence[str]) -> dict[str, BlockSize]:
        before = [self._sizes[block].tokens if block in self._sizes else 0 for block in blocks]
        total, so_far, laid = sum(before), 0, 0
        found: dict[str, BlockSize] = {}
        for block, old in zip(blocks, before, strict=True):
            so_far += old
            upto = tokens * so_far // total if total else 0
            found[block] = self._changed(block, upto - laid)
            laid = upto
        return found

    def _changed(self, identity: str, tokens: int) -> BlockSize:
        known = self._sizes.get(identity)
        return BlockSize(tokens, known.version + 1 if known is not None else 0)


EstimateOf: TypeAlias = Callable[[Block], int]
"""A function that estimates the tokens of a block, without any ratio."""


class LaidOut:
    """The requests of one log, laid out; what was laid out before is kept as long as it stands."""

    def __init__(self, carried: CarriedSession, sizes: RecordedSizes, estimate: EstimateOf = estimate_block) -> None:
        self._carried = carried
        self._sizes = sizes
        self._estimate = estimate
        self._known: dict[str, BlockSize] = {}
        self._key: EpochKey | None = None
        self._start = START
        self._ends: list[Prefix] = []
        """The ends of all messages that will not change."""
        self.system: Prefix = START
        """The end of system prompt and tools in the view that was laid out last."""

    def learn(self, sizes: Mapping[str, BlockSize], *, changes: bool) -> None:
        """Takes in the sizes that a recorded request tells. `changes`: also of blocks that were laid out already."""
        self._known.update(sizes)
        if changes:
            self._key = None

    def end(self, projection: Projection) -> Prefix:
        """The end of the whole view, as the next request would send it."""
        messages = projection.complete_messages
        if projection.key != self._key:
            self._begin(projection)
        del self._ends[max(len(messages) - 1, 0) :]
        end = self._ends[-1] if self._ends else self._start
        for index in range(len(self._ends), len(messages)):
            end = self._with(end, messages[index], projection)
            self._ends.append(end)
        if self._ends:
            self._ends.pop()  # the last message may still change
        return end

    def tokens(self, view: Projection) -> int:
        """The size of another view of the same log, in tokens; what is laid out stays."""
        other = LaidOut(self._carried, self._sizes, self._estimate)
        other._known = self._known
        return other.end(view).tokens

    def _begin(self, projection: Projection) -> None:
        """Lays out from the start: the system prompt, then what is said before the first prompt, anew wherever a summary took its place."""
        self._key = projection.key
        self._ends = []
        system, opening = self._sizes.of(SYSTEM, self._known), self._sizes.of(OPENING, self._known)
        self.system = START.then(_versioned(SYSTEM, system), system.tokens)
        summaries = [seq for seq, each in projection.active_by_seq.items() if each.summarised is not None]
        told = f"{OPENING} after {summaries[-1]}" if summaries else OPENING
        self._start = self.system.then(_versioned(told, opening), opening.tokens)

    def _with(self, end: Prefix, message: Message, projection: Projection) -> Prefix:
        for identity, tokens in self._pieces(message, projection):
            end = end.then(identity, tokens)
        return end

    def _pieces(self, message: Message, projection: Projection) -> Iterator[tuple[str, int]]:
        last = 0
        place = 0
        for block, source in zip(message.blocks, message.sources, strict=True):
            is_same, last = source == last, source
            entry = projection.entries[source - 1].entry
            recorded = self._carried.origin_of(source)
            if isinstance(entry, Compaction) or recorded is None or source in projection.paths_out:
                yield self._new(block, source)
            elif isinstance(entry, UserPrompt | Notice):
                if not is_same:
                    yield self._recorded(str(recorded.seq))
            elif isinstance(entry, AssistantReply):
                if isinstance(block, ToolResult):
                    continue  # a result that stands for an interrupted call; its size is in that of its neighbours
                place = _place_of(block, entry, place if is_same else 0)
                yield self._recorded(f"{recorded.seq}.{place}")
                place += 1
            elif _is_whole(block, recorded.entry):
                yield self._recorded(str(recorded.seq))
            else:
                yield self._new(block, source)

    def _recorded(self, identity: str) -> tuple[str, int]:
        size = self._sizes.of(identity, self._known)
        return intern(_versioned(identity, size)), size.tokens

    def _new(self, block: Block, source: int) -> tuple[str, int]:
        text = block.text if isinstance(block, Text) else block.content if isinstance(block, ToolResult) else ""
        return f"{source} says {hash(text)}", round(self._estimate(block) * self._sizes.ratio)


def _versioned(identity: str, size: BlockSize) -> str:
    return f"{identity} changed {size.version}" if size.version else identity


def _place_of(block: Block, reply: AssistantReply, start: int) -> int:
    """The place in the reply of the block that is shown; the search begins at `start`, after the one before."""
    for place in range(start, len(reply.blocks)):
        logged = reply.blocks[place]
        if logged == block or (isinstance(block, ToolUse) and isinstance(logged, ToolUse) and logged.input == block.input):
            return place
    return start


def _is_whole(block: Block, recorded: Entry) -> bool:
    """Whether a result is shown as the transcript has it (what stands for an empty one counts as it)."""
    if not isinstance(block, ToolResult) or not isinstance(recorded, ToolReturned):
        return False
    return block.content == recorded.content or not recorded.content.strip()
