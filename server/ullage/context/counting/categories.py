"""What stands in the context by category, as the gauge counts it: under which name, and sums of what was priced and of what came since.

What was priced stays under its category as it was when it was priced, so that no part of the context drifts as others grow. What is known
of system prompt, rules and tools: `fixed_parts.py`. Who goes through the messages: `accounting.py`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, TypeVar

from ullage.context.blocks import Block, CompactionBlock, Document, Image, Role, Text, ToolResult, Usage
from ullage.context.compaction_entries import Compaction
from ullage.context.counting.media import LIMITS, ImageLimits
from ullage.context.counting.tokens import BESIDE, TIMES, Calibration, Counts, TokenParts, can_take, counted, estimate_parts
from ullage.context.entries import Entry, Notice, UserPrompt

ORDER = ("system", "rules", "tools", "summary", "files", "user", "assistant")
"""The order of the categories; those of tool results follow."""
FIXED = ("system", "rules", "tools")
"""The categories that precede every message and change only where the prelude does."""
RESULTS = "tool results: "


def category_in(role: Role, block: Block, source: Entry | None, tools: Mapping[str, str]) -> str:
    """The category of a block that stands in a message. `source` is the entry that brought it, `tools` has the names of the calls by id."""
    said = role == "assistant" and not isinstance(block, CompactionBlock)
    return "assistant" if said else _category_of(block, source, tools)


def _category_of(block: Block, source: Entry | None, tools: Mapping[str, str]) -> str:
    """The category of a block that is not the model's."""
    if isinstance(block, ToolResult):
        return RESULTS + tools.get(block.tool_use_id, "unknown")
    if isinstance(block, Image | Document):
        return "files"
    text = block.text if isinstance(block, Text) else ""
    if isinstance(source, UserPrompt):
        return "user" if text == source.text else "files"
    if isinstance(source, Notice):
        return {"file_changed": "files", "resume": "user", "command": f"{RESULTS}bash"}.get(source.about, "rules")
    if isinstance(source, Compaction):
        restored = any(file.text == text for file in source.restored)
        return "files" if restored else "summary"
    return "user"


class Ordered(Hashable, Protocol):
    """A key that names a share: a name, or a tuple of names."""

    def __lt__(self, other: Any, /) -> bool:
        """Whether this key comes first where two have the same claim to the last token."""
        ...


Share = TypeVar("Share", bound=Ordered)


def shared_out(tokens: int, weights: Mapping[Share, float], known: Mapping[Share, int] | None = None) -> dict[Share, int]:
    """Shares out `tokens` by category, or by any other name. Those in `known` get what is known, the others share the rest in proportion to
    their weights.

    The shares add up to `tokens`, by the largest remainder, and none is below zero. Where what is known leaves less than nothing, or
    nothing is left to take the rest, all share in proportion. Without any weight nothing is shared out.
    """
    known = known or {}
    rest = {name: weight for name, weight in weights.items() if name not in known and weight > 0}
    left = tokens - sum(known.values())
    if left < 0 or (left > 0 and not rest):
        return _in_proportion(tokens, {**rest, **known} if sum(known.values()) else weights)
    return {**known, **_in_proportion(left, rest)}


def _in_proportion(tokens: int, weights: Mapping[Share, float]) -> dict[Share, int]:
    names = sorted(weights)
    shares = dict(zip(names, in_proportion(tokens, [weights[name] for name in names]), strict=True))
    return {name: shares[name] for name in weights}


def in_proportion(tokens: int, weights: Sequence[float]) -> list[int]:
    """Shares out `tokens` in proportion to the weights, by the largest remainder, and by the place where two have the same claim to the
    last token. Without any weight every share is 0."""
    total = sum(weights)
    if total <= 0:
        return [0] * len(weights)
    shares = [tokens * weight / total for weight in weights]
    given = [int(share) for share in shares]
    left = tokens - sum(given)
    if left > 0:
        short = [whole - share for whole, share in zip(given, shares, strict=True)]
        for place in sorted(range(len(weights)), key=short.__getitem__)[:left]:
            given[place] += 1
    return given


def in_order(categories: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """The categories as the gauge shows them: in a fixed order, results by tool last and largest first. Those without tokens are left
    out."""
    return tuple(sorted(((name, tokens) for name, tokens in categories.items() if tokens), key=_place))


def _place(item: tuple[str, int]) -> tuple[int, int, str]:
    name, tokens = item
    if name in ORDER:
        return ORDER.index(name), 0, name
    return len(ORDER), -tokens, name


# Sums of one view

HIDDEN = 128_000
"""Tokens of thinking that a reply may have had and does not show: the longest output of any model."""


def is_believed(usage: Usage, sent: int, received: int) -> bool:
    """Whether a reply can have used so many tokens. `sent` and `received` are the estimates of the request and of the reply (tokens).

    `models/endpoint_checks.py` holds the usage against the bytes of the request before it is logged. This is for logs of versions that took
    all, and the narrower of the two: one absurd number would make the context full for ever.
    """
    return usage.can_be and can_take(usage.total_input_tokens, sent) and usage.output_tokens <= TIMES * received + BESIDE + HIDDEN


@dataclass(frozen=True, slots=True)
class Priced:
    """A reply whose usage priced the prefix in force, from which a `Calibration` learns (tokens of its request).

    What images and documents take by their formula is in none of the numbers: no ratio is learned from it.
    """

    seq: int
    model: str
    estimated: int
    """The estimate of the request by kind of text, before any calibration."""
    reported: int
    messages: tuple[int, int] | None = None
    """The messages of the request alone, estimated and reported; None if it is not known what system prompt and tools take."""
    counted: tuple[int, int] | None = None
    """What was new in the request, as counted by a tokenizer and as reported; None if not all of it was counted."""


class Since(NamedTuple):
    """Tokens of one category that came since the newest priced reply."""

    estimated: int = 0
    """Tokens that are estimated by kind of text, not calibrated."""
    counted: int = 0
    """Tokens that a tokenizer counted, not calibrated."""
    exact: int = 0
    """Tokens of images and documents, by their formula."""

    def plus(self, other: Since) -> Since:
        """The sum of both."""
        return Since(self.estimated + other.estimated, self.counted + other.counted, self.exact + other.exact)

    def weight(self, calibration: Calibration) -> float:
        """About how many real tokens these are, not rounded."""
        return self.estimated * calibration.ratio + self.counted * calibration.counted_ratio + self.exact


class _Part(NamedTuple):
    """Something in a request that a tokenizer can count, and its estimate until then."""

    category: str
    estimated: int
    parts: TokenParts


@dataclass(slots=True)
class CategoryTally:
    """The sums of one context, by category. `counts` gives what a tokenizer counted, `images` what the model takes of an image."""

    counts: Counts | None
    images: ImageLimits = LIMITS
    preceding: Mapping[str, int] = field(default_factory=dict[str, int])
    """The estimates of system prompt, rules and tools, by category."""
    total: int = 0
    """Tokens of everything: estimated, not calibrated, with what images take."""
    exact: int = 0
    """Tokens of `total` that images and documents take, by their formula."""
    placed: dict[str, int] = field(default_factory=dict[str, int])
    """The tokens that the newest priced reply left in the context, by category; they add up to `context_tokens`."""
    since: dict[str, Since] = field(default_factory=dict[str, Since])
    """What came since then, by category."""
    fresh: list[_Part] = field(default_factory=list[_Part])
    """Parts that came since then and that the tokenizer was not asked about yet."""
    waiting: list[_Part] = field(default_factory=list[_Part])
    """Parts that the tokenizer had not counted when it was asked."""
    unasked: list[_Part] = field(default_factory=list[_Part])
    """Those of the uncounted parts that the tokenizer is still to be asked to count."""
    version: int = 0
    """The tokenizer's `version` when it was last asked."""
    priced: Priced | None = None
    context_tokens: int = 0
    """Tokens that the context held after the reply in `priced`, as reported."""

    def put_parts(self, category: str, parts: TokenParts) -> None:
        """Adds texts that a tokenizer can count."""
        self.put(category, estimate_parts(parts), parts)

    def put(self, category: str, tokens: int, parts: TokenParts | None) -> None:
        """Adds something that is estimated at that many tokens. Without `parts` no tokenizer can count it."""
        if not tokens:
            return
        self.total += tokens
        self._grow(category, Since(tokens))
        if self.counts is not None and parts is not None:
            self.fresh.append(_Part(category, tokens, parts))

    def show(self, category: str, tokens: int) -> None:
        """Adds images and documents, which take exactly that many tokens."""
        if tokens:
            self.total += tokens
            self.exact += tokens
            self._grow(category, Since(exact=tokens))

    def _grow(self, category: str, more: Since) -> None:
        self.since[category] = self.since.get(category, Since()).plus(more)

    def look_up(self) -> None:
        """Replaces estimates by what the tokenizer has counted meanwhile. That costs what is new, and what waits where more is known."""
        if self.counts is None:
            return
        knows_more = self.counts.version != self.version
        self.version = self.counts.version
        if knows_more:
            self.waiting = self._not_known(self.waiting)
        if self.fresh:
            unknown = self._not_known(self.fresh)
            self.fresh = []
            self.waiting += unknown
            self.unasked += unknown

    def _not_known(self, parts: Sequence[_Part]) -> list[_Part]:
        """Replaces the estimates of those parts that the tokenizer has counted; gives the others."""
        still: list[_Part] = []
        for part in parts:
            tokens = None if self.counts is None else counted(part.parts, self.counts)
            if tokens is None:
                still.append(part)
                continue
            self._grow(part.category, Since(-part.estimated, tokens))
        return still

    def ask(self) -> None:
        """Asks the tokenizer to count what it did not know, each part once."""
        if self.counts is not None and self.unasked:
            self.counts.want([text for part in self.unasked for text in part.parts.texts])
            self.unasked = []

    def begin_reply(self) -> BeforeReply:
        """Begins a reply; gives the sums of the request that it answers. What is put from here on is the reply, until it is priced or taken
        back."""
        self.look_up()
        asked = BeforeReply(self.since, self.total, self.exact)
        self.since = {}
        return asked

    def take_back(self, asked: BeforeReply) -> None:
        """Takes in that the reply was not priced: it counts as having come since the newest that was, like what it answers."""
        said, self.since = self.since, dict(asked.since)
        for category, more in said.items():
            self._grow(category, more)

    def price(
        self, seq: int, model: str, usage: Usage, asked: BeforeReply, calibration: Calibration, fixed: Mapping[str, int] | None
    ) -> None:
        """Takes in the price of the reply: its input is that of the request so far, its output that of the reply itself."""
        estimated, reported, new = asked.total - asked.exact, usage.total_input_tokens - asked.exact, _sum(asked.since)
        messages = None
        if fixed is not None and self.preceding.keys() <= fixed.keys():
            messages = estimated - sum(self.preceding.values()), reported - sum(fixed.values())
        held = None
        if not new.estimated and new.counted and (self.priced is None or self.priced.model == model):
            held = (new.counted, usage.total_input_tokens - self.context_tokens - new.exact)
        self._place(usage.total_input_tokens, asked.since, calibration, fixed, same=self.priced is None or self.priced.model == model)
        self.placed["assistant"] = self.placed.get("assistant", 0) + usage.output_tokens
        self.priced = Priced(seq, model, estimated, reported, messages, held)
        self.context_tokens = usage.context_tokens
        self.since = {}
        self.fresh, self.waiting, self.unasked = [], [], []

    def _place(self, sent: int, new: Mapping[str, Since], calibration: Calibration, fixed: Mapping[str, int] | None, *, same: bool) -> None:
        """Shares out the tokens that the request took: what was priced before keeps its share, and the growth goes to what is new.

        All is shared out anew where another model counts, and where the growth cannot be that (the request became smaller).
        """
        weights = {category: each.weight(calibration) for category, each in new.items()}
        growth = sent - self.context_tokens
        if self.priced is not None and same and growth >= 0 and any(weights.values()):
            for category, tokens in shared_out(growth, weights).items():
                self.placed[category] = self.placed.get(category, 0) + tokens
            return
        for category, tokens in self.placed.items():
            weights[category] = weights.get(category, 0.0) + tokens
        known = fixed
        if known is None and self.priced is not None and same:
            known = {category: self.placed[category] for category in FIXED if category in self.placed}
        self.placed = shared_out(sent, weights if any(weights.values()) else {"user": 1.0}, known)

    def copy(self) -> CategoryTally:
        """A copy, which need not ask the tokenizer for what this one will ask it."""
        return replace(
            self, placed=dict(self.placed), since=dict(self.since), fresh=list(self.fresh), waiting=list(self.waiting), unasked=[]
        )

    def beside(self) -> CategoryTally:
        """A copy for the moment. It leaves out what waits, which may be all of a long view, since that was just looked up."""
        return replace(self, placed=dict(self.placed), since=dict(self.since), fresh=[], waiting=[], unasked=[])

    def sizes(self, calibration: Calibration, fixed: Mapping[str, int] | None) -> CategorySizes:
        """The tokens that the context holds by now. `fixed` is what system prompt, rules and tools take, where that was counted."""
        weights = {category: each.weight(calibration) for category, each in self.since.items()}
        if self.priced is None and fixed is not None:
            known = {category: fixed[category] for category in weights if category in fixed}
            new = _sum({category: each for category, each in self.since.items() if category not in known})
            sure = sum(known.values())
        else:
            known, new, sure = None, _sum(self.since), 0
        guess = calibration.apply(new.estimated, new.counted)
        more = guess + new.exact + sure
        by_category = dict(self.placed)
        for category, tokens in shared_out(more, weights, known).items():
            by_category[category] = by_category.get(category, 0) + tokens
        used = self.context_tokens + more
        if fixed is not None and self.priced is not None:
            by_category = shared_out(used, by_category, {category: fixed[category] for category in by_category if category in fixed})
        return CategorySizes(used, guess, by_category)


class BeforeReply(NamedTuple):
    """The sums of a request before its reply came, as in `CategoryTally`."""

    since: dict[str, Since]
    total: int
    exact: int


class CategorySizes(NamedTuple):
    """The tokens that a context holds, in all and by category."""

    used: int
    guess: int
    """Tokens of `used` that neither a reply nor the endpoint's own count has told."""
    categories: dict[str, int]
    """The tokens of each category; they add up to `used`."""


def _sum(since: Mapping[str, Since]) -> Since:
    total = Since()
    for each in since.values():
        total = total.plus(each)
    return total
