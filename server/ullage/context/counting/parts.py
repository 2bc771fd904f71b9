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
    """One part of the context. `seq` is the entry that brought it, for a call that of its result; 0 for what precedes the messages, and for
    a rest."""

    kind: PartKind
    seq: int
    tokens: int
    name: str = ""
    """The name of a tool, a file or a rest's category; empty if the entry tells what the part is."""
    paths: tuple[str, ...] = ()
    """The files whose text stands in the part."""
    touched_since: bool | None = None
    """Whether a later call in view read or changed one of these files; None if the part has no file's text."""
    pinned: bool = False
    excluded: bool = False
    """Whether the user excluded it, so that only a placeholder stands here."""
    call: ToolUse | None = None
    """The call, as the model sees it; None of a part that is no call."""


def parts_of(view: Projection, whole: Counted, calibration: Calibration) -> tuple[ContextPart, ...]:
    """The parts in the order in which they stand in the request. Their tokens add up to `whole.used`; `whole` must be the count of this
    view."""
    return KeptParts().of(view, whole, calibration)


UNSETTLED = 2
"""Messages at the end that may still change: the last one grows, and the calls of the one before may have no result yet."""


class KeptParts:
    """The parts of one session's context. It keeps what no longer changes, so that a look costs only what is new since the last."""

    def __init__(self) -> None:
        self._key: EpochKey | None = None
        self._counts: Counts | None = None
        self._images = LIMITS
        self._settled = _Laid(Cutter(LIMITS))

    def of(self, view: Projection, whole: Counted, calibration: Calibration) -> tuple[ContextPart, ...]:
        """The parts of the view as it is now, as `parts_of` gives them."""
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
        """Whether what is kept belongs to this view: one that was folded anew may read otherwise."""
        if view.key != self._key or counts is not self._counts or images != self._images:
            return False
        settled = self._settled
        if settled.messages > len(view.messages) or settled.prelude != view.prelude:
            return False
        return settled.last is None or settled.last is view.messages[settled.messages - 1]


class _Known(NamedTuple):
    """What is known of a part, apart from its tokens."""

    paths: tuple[str, ...] = ()
    is_placeholder: bool = False
    """Whether it stands for what the user excluded."""
    call: ToolUse | None = None


_NOTHING = _Known()


@dataclass(slots=True)
class _Laid:
    """The parts of the first messages of a view."""

    cutter: Cutter
    prelude: Prelude | None = None
    messages: int = 0
    """The number of these messages."""
    last: Message | None = None
    """The last of these messages. If the view still has this very object, all of them are still the same."""
    parts: dict[PartKey, _Known] = field(default_factory=dict[PartKey, _Known])
    """The parts, in the order of the request."""
    weights: dict[str, dict[PartKey, Since]] = field(default_factory=dict[str, dict[PartKey, Since]])
    """The tokens at which each part is counted by itself, by category."""
    touched: dict[str, int] = field(default_factory=dict[str, int])
    """The newest entry of a call that read or changed a file, by its path."""
    waiting: list[Piece] = field(default_factory=list[Piece])
    """Pieces that the tokenizer had not counted when it was asked."""
    fresh: list[Piece] = field(default_factory=list[Piece])
    """Pieces that the tokenizer was not asked about yet."""
    version: int | None = None
    """The tokenizer's `version` when it was last asked."""

    def beside(self) -> _Laid:
        """A copy with the same parts, which goes on by itself."""
        weights = {category: of_category.copy() for category, of_category in self.weights.items()}
        copies = self.parts.copy(), weights, self.touched.copy(), self.waiting.copy(), self.fresh.copy()
        return _Laid(self.cutter.beside(), self.prelude, self.messages, self.last, *copies, self.version)

    def go_on(self, view: Projection, end: int) -> None:
        """Takes in the messages up to index `end`, which is not included."""
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
        """Adds a piece to its part."""
        self._weigh(piece, Since(piece.estimated, 0, piece.exact))
        if piece.parts is not None:
            self.fresh.append(piece)

    def _weigh(self, piece: Piece, more: Since) -> None:
        of_category = self.weights.setdefault(piece.category, {})
        known = of_category.get(piece.key)
        of_category[piece.key] = more if known is None else known.plus(more)

    def look_up(self, counts: Counts | None) -> None:
        """Replaces estimates by what a tokenizer has counted meanwhile."""
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
    """The parts that precede the messages."""
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
    """The tokens of each part: what the gauge has under each category, shared out among the parts in it. A part may be in several."""
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
    """The number of the parts of each kind, and their tokens."""
    found: dict[PartKind, tuple[int, int]] = {}
    for part in parts:
        count, tokens = found.get(part.kind, (0, 0))
        found[part.kind] = count + 1, tokens + part.tokens
    return found
