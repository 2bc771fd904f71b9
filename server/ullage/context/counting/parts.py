"""What fills the context, part by part: the system prompt, each rules file and tool, each file, message and call, the summary, images.

The parts add up to the gauge's number, category by category. The API reports the tokens of a whole request and never of a part of it. So
what the gauge has under a category is shared out among its parts, in proportion to what each is counted at by itself. To which part each
piece of a message belongs is said in `pieces.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ullage.context.blocks import Message, ToolUse
from ullage.context.compaction_entries import Compaction
from ullage.context.counting.accounting import Counted
from ullage.context.counting.categories import Since, in_proportion
from ullage.context.counting.media import LIMITS, ImageLimits
from ullage.context.counting.pieces import Cutter, PartKey, PartKind, Piece, paths_in, prelude_pieces
from ullage.context.counting.tokens import Calibration, Counts, counted
from ullage.context.entries import Entry, Prelude, ToolReturned
from ullage.context.view.epoch import EpochKey
from ullage.context.view.log_places import entry_at
from ullage.context.view.projection import Projection
from ullage.context.view.taken_out import all_taken_out

__all__ = ["ContextPart", "KeptParts", "PartKind", "parts_of", "totals"]


class ContextPart(NamedTuple):
    """One part. `seq` is the entry that brought it, of a call that of its result; 0 for what precedes the messages, and for a rest."""

    kind: PartKind
    seq: int
    tokens: int
    name: str = ""
    """Of a tool, a file, a rest's category; empty if the entry says what it is."""
    paths: tuple[str, ...] = ()
    """The files whose text stands in it."""
    touched_since: bool | None = None
    """Whether a later call in view read or changed one of them; None if it has no file's text."""
    pinned: bool = False
    excluded: bool = False
    """Of what the user excluded only a placeholder stands here."""
    call: ToolUse | None = None
    """What was called, as the model sees it."""


def parts_of(view: Projection, whole: Counted, calibration: Calibration) -> tuple[ContextPart, ...]:
    """The parts in the order in which they stand in the request; their tokens add up to `whole.used`. `whole` is the count of this view."""
    return KeptParts().of(view, whole, calibration)


UNSETTLED = 2
"""Messages: the last one grows, and the calls of the one before may have no result yet."""


class KeptParts:
    """The parts of one session's context, view after view. What no longer changes is kept, so a look costs what is new since the last."""

    def __init__(self) -> None:
        self._key: EpochKey | None = None
        self._counts: Counts | None = None
        self._images = LIMITS
        self._settled = _Laid(Cutter(LIMITS))

    def of(self, view: Projection, whole: Counted, calibration: Calibration) -> tuple[ContextPart, ...]:
        """As `parts_of`."""
        if not self._holds(view, calibration.counts, calibration.images):
            self._key, self._counts, self._images = view.key, calibration.counts, calibration.images
            self._settled = _begun(view.prelude, calibration.images)
        settled = self._settled
        settled.go_on(view, max(settled.messages, len(view.messages) - UNSETTLED))
        settled.look_up(calibration.counts)
        laid = settled.beside()
        laid.go_on(view, len(view.messages))
        laid.look_up(calibration.counts)
        return tuple(_parts(laid, view, whole, calibration))

    def _holds(self, view: Projection, counts: Counts | None, images: ImageLimits) -> bool:
        """Whether what is kept is of this view: one that was folded anew may read otherwise."""
        if view.key != self._key or counts is not self._counts or images != self._images:
            return False
        settled = self._settled
        if settled.messages > len(view.messages) or settled.prelude != view.prelude:
            return False
        return settled.last is None or settled.last is view.messages[settled.messages - 1]


class _Known(NamedTuple):
    """What is known of a part but for what it takes."""

    paths: tuple[str, ...] = ()
    is_placeholder: bool = False
    """Of what the user excluded."""
    call: ToolUse | None = None


_NOTHING = _Known()


@dataclass(slots=True)
class _Laid:
    """The parts of the first messages of a view."""

    cutter: Cutter
    prelude: Prelude | None = None
    messages: int = 0
    """How many."""
    last: Message | None = None
    """The last of them, by whose identity it is known that they are still the same."""
    parts: dict[PartKey, _Known] = field(default_factory=dict[PartKey, _Known])
    """In the order of the request."""
    weights: dict[str, dict[PartKey, Since]] = field(default_factory=dict[str, dict[PartKey, Since]])
    """What each part is counted at, by category."""
    touched: dict[str, int] = field(default_factory=dict[str, int])
    """The newest entry of a call that read or changed a file, by its path."""
    waiting: list[Piece] = field(default_factory=list[Piece])
    """What a tokenizer did not know when it was asked."""
    fresh: list[Piece] = field(default_factory=list[Piece])
    """What it was not asked for yet."""
    version: int | None = None
    """Of what it knew then."""

    def beside(self) -> _Laid:
        """Another one with the same parts, which goes on by itself."""
        weights = {category: of_category.copy() for category, of_category in self.weights.items()}
        copies = self.parts.copy(), weights, self.touched.copy(), self.waiting.copy(), self.fresh.copy()
        return _Laid(self.cutter.beside(), self.prelude, self.messages, self.last, *copies, self.version)

    def go_on(self, view: Projection, end: int) -> None:
        """Takes in the messages up to that one, which is not included."""
        for index in range(self.messages, end):
            for piece in self.cutter.pieces(view, index):
                key = piece.key
                if key not in self.parts:
                    self.parts[key] = self._known(piece, entry_at(view.entries, key.seq))
                self.put(piece)
        if end > self.messages:
            self.messages, self.last = end, view.messages[end - 1]

    def _known(self, piece: Piece, entry: Entry | None) -> _Known:
        key, call = piece.key, piece.call
        if isinstance(entry, ToolReturned):
            for touch in entry.touched:
                self.touched[touch.path] = max(key.seq, self.touched.get(touch.path, 0))
        paths = paths_in(key, entry)
        is_placeholder = isinstance(entry, Compaction) and key.kind == "notice"
        return _Known(paths, is_placeholder, call) if paths or is_placeholder or call is not None else _NOTHING

    def put(self, piece: Piece) -> None:
        """Adds it to its part."""
        self._weigh(piece, Since(piece.estimated, 0, piece.exact))
        if piece.parts is not None:
            self.fresh.append(piece)

    def _weigh(self, piece: Piece, more: Since) -> None:
        of_category = self.weights.setdefault(piece.category, {})
        known = of_category.get(piece.key)
        of_category[piece.key] = more if known is None else known.plus(more)

    def look_up(self, counts: Counts | None) -> None:
        """Takes what a tokenizer counted meanwhile in the place of its estimate."""
        if counts is None:
            self.fresh.clear()
            return
        if counts.version != self.version:
            self.version = counts.version
            self.fresh, self.waiting = self.waiting + self.fresh, []
        for piece in self.fresh:
            tokens = None if piece.parts is None else counted(piece.parts, counts)
            if tokens is None:
                self.waiting.append(piece)
            else:
                self._weigh(piece, Since(-piece.estimated, tokens))
        self.fresh = []


def _begun(prelude: Prelude | None, images: ImageLimits) -> _Laid:
    """What precedes the messages."""
    begun = _Laid(Cutter(images), prelude)
    for piece in () if prelude is None else prelude_pieces(prelude):
        begun.parts[piece.key] = _NOTHING
        begun.put(piece)
    return begun


def _parts(laid: _Laid, view: Projection, whole: Counted, calibration: Calibration) -> Iterable[ContextPart]:
    out, pins, touched = all_taken_out(view.active), view.pins, laid.touched
    for key, tokens in _shared(laid, whole, calibration).items():
        kind, seq, name, _ = key
        paths, excluded, call = laid.parts.get(key, _NOTHING)
        excluded = excluded or seq in out
        since = any(touched.get(path, 0) > seq for path in paths) if paths and not excluded else None
        pinned = seq in pins.seqs or any(path in pins.paths for path in paths)
        yield ContextPart(kind, seq, tokens, name, paths, since, pinned, excluded, call)


def _shared(laid: _Laid, whole: Counted, calibration: Calibration) -> dict[PartKey, int]:
    """What the gauge has, category by category; a part may be in several."""
    tokens = dict.fromkeys(laid.parts, 0)
    for category, taken in whole.categories:
        of_category = laid.weights.get(category, {})
        keys, weights = list(of_category), [since.weight(calibration) for since in of_category.values()]
        if not any(weights):
            keys, weights = [PartKey("rest", 0, category)], [1.0]
        for key, share in zip(keys, in_proportion(taken, weights), strict=True):
            tokens[key] = tokens.get(key, 0) + share
    return tokens


def totals(parts: Iterable[ContextPart]) -> Mapping[PartKind, tuple[int, int]]:
    """How many parts of each kind there are, and their tokens."""
    found: dict[PartKind, tuple[int, int]] = {}
    for part in parts:
        count, tokens = found.get(part.kind, (0, 0))
        found[part.kind] = count + 1, tokens + part.tokens
    return found
