"""How many tokens a text takes: estimates by kind of text, ratios learned from real usage, and the seam to a tokenizer.

The estimates are for Claude's newer tokenizer (Opus 4.7 and later). Older models and other vendors' take fewer tokens for
the same text; their card's factor and the learned ratio correct for that.

Of a tokenizer `context/` knows no more than `Counts`. Counting takes long (seconds for a megabyte), so it is asked for, and what is known
by then is used. Until it is known the estimate stands in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from ullage.context.blocks import (
    Block,
    CompactionBlock,
    Document,
    Image,
    Message,
    RedactedThinking,
    Text,
    Thinking,
    ToolResult,
    ToolSpec,
    ToolUse,
)
from ullage.context.counting.media import LIMITS, ImageLimits, shown_tokens
from ullage.context.entries import Prelude

WEIGHTS: tuple[tuple[bytes, float], ...] = (
    (b"a", 0.26),  # a lower-case letter
    (b"A", 1.13),  # an upper-case letter
    (b"0", 0.25),  # a digit
    (b".", 0.15),  # ASCII punctuation
    (b"_", 0.20),  # a space or tab
    (b"n", 1.45),  # a line end
    (b"s", 1.04),  # typographic marks, arrows, box drawing
    (b"l", 2.00),  # an accented Latin letter: it also breaks up its word
    (b"o", 0.45),  # Cyrillic, Greek, Hebrew, Arabic
    (b"k", 0.78),  # kana and CJK punctuation
    (b"h", 1.07),  # Chinese characters, Indic and Thai letters
    (b"g", 1.34),  # Hangul
    (b"e", 2.50),  # emoji and the rest
    (b".a", 1.66),  # a word glued to punctuation: code, paths, JSON
    (b"0a", 1.66),  # letters glued to digits: hashes, identifiers
    (b"Aa", 1.18),  # a capitalised word
    (b"_0", 1.49),  # a number begins
    (b".0", 1.49),
    (b"n0", 1.49),
    (b"..", 0.29),  # punctuation beside punctuation
)
"""Tokens for each occurrence of a character class or a pair of classes.

Fitted by least squares (relative error, no weight below zero) against ctok 1.3.0, vocabulary 4.8, over prose in nine languages,
Markdown, Python, TypeScript, minified JavaScript, JSON, diffs, listings, search results, CSV, base64, hex and UUIDs. In total
per kind of text it is within 15 %, mostly within 5 %.
"""

SAMPLED_ABOVE = 65_536
"""Characters. Of a longer text, evenly spaced windows are looked at: so it costs the same however long it is."""
WINDOWS = 32
WINDOW_CHARACTERS = 1_024

REMEMBERED = 32_768
"""Texts whose estimate is remembered: those of a session of some 20,000 messages."""

MESSAGE_TOKENS = 4
"""Framing of one message: role and turn marks. A guess; the learned ratio corrects it."""
TOOL_BLOCK_TOKENS = 24
"""Framing of a tool call or result: tags and the id. A guess, as above."""
TOOL_SPEC_TOKENS = 16
"""Framing of one tool definition. A guess, as above."""
TOOLS_TOKENS = 300
"""Tokens that the API adds once where there are tools: 286 (Opus 5) to 354 (Sonnet 5) by Anthropic's documentation."""
SIGNATURE_FRAME = 250
SIGNATURE_CHARACTERS_PER_TOKEN = 4
"""A signature carries the whole thinking in base64 (4 characters for 3) after a frame of about 250 characters, as measured
on recorded sessions; its prose has about 3 characters a token. What is shown of it may be much shorter."""

CHANGE_RATE = 0.2
LARGEST_STEP = 0.15
LOWEST_RATIO, HIGHEST_RATIO = 0.5, 2.5
"""How fast and how far the ratio is learned (rate, step and lower bound are those of Gemini CLI's token calculator)."""
TELLING = 2_000
"""Tokens of a request from which on its estimate teaches at the full rate."""
FULL_WEIGHT = 20_000
"""Tokens of a request from which on what a tokenizer counted teaches at the full rate: about those of one that is new as a whole. Of a
small growth what nobody counted (a reminder, thinking that fell away) is a large share, so it teaches in proportion to its size."""

_CONTINUATION = bytes(range(0x80, 0xC0))

_ASCII_WEIGHTS = tuple((pattern, weight) for pattern, weight in WEIGHTS if pattern not in (b"s", b"l", b"o", b"k", b"h", b"g", b"e"))
_WEIGHTS_WITHOUT_DIGITS = tuple((pattern, weight) for pattern, weight in _ASCII_WEIGHTS if b"0" not in pattern)

TIMES = 4
"""How many times its estimate a text may take: the estimate is within 15 % for Claude's newer tokenizer, others count less; base64 in a
text of another kind is four times as much."""
BESIDE = 20_000
"""Tokens that are let pass in any case: what an endpoint adds to a request, thinking that is not shown of a reply."""

_encoder = json.JSONEncoder(ensure_ascii=False, default=dict)


def mark_of(text: str) -> int:
    """A number that stands for a text that is not to be kept. Of 30,000 texts two are alike in one of a thousand million sessions."""
    return hash(text)


class _Remembered:
    """Estimates of the newest texts, without keeping the texts."""

    def __init__(self, most: int) -> None:
        self._most = most // 2
        self._newer: dict[int, int] = {}
        self._older: dict[int, int] = {}

    def of(self, text: str) -> int:
        """The estimate of the text, which is worked out if it is not remembered."""
        mark = mark_of(text)
        known = self._newer.get(mark)
        if known is None:
            known = self._older.get(mark)
            if known is None:
                known = _estimated(text)
            self._newer[mark] = known
            if len(self._newer) > self._most:
                self._newer, self._older = {}, self._newer
        return known

    def clear(self) -> None:
        """Forgets all estimates."""
        self._newer, self._older = {}, {}


_remembered = _Remembered(REMEMBERED)
forget_estimates = _remembered.clear


def estimate_text(text: str) -> int:
    """Tokens of `text`; at least 1, except 0 for the empty text. It takes about a millisecond at most. The newest estimates are remembered,
    since whatever is planned counts the same texts again."""
    return _remembered.of(text) if text else 0


def _estimated(text: str) -> int:
    if len(text) <= SAMPLED_ABOVE:
        return max(1, round(_weigh(text)))
    stride = (len(text) - WINDOW_CHARACTERS) / (WINDOWS - 1)
    starts = [round(index * stride) for index in range(WINDOWS)]
    sample = sum(_weigh(text[start : start + WINDOW_CHARACTERS]) for start in starts)
    return round(sample * len(text) / (WINDOWS * WINDOW_CHARACTERS))


def estimate_block(block: Block) -> int:
    """Tokens of one content block with its framing, and of the images in it as newer models take them."""
    return estimate_text_of(block) + shown_tokens(block)


def estimate_text_of(block: Block) -> int:
    """Tokens of what can be read in a block, with its framing. Thinking counts with what its signature carries."""
    if isinstance(block, Thinking):
        return max(estimate_text(block.thinking), _sealed(block.signature), 1)
    if isinstance(block, RedactedThinking):
        return max(_sealed(block.data), 1)
    return estimate_parts(_parts_of(block))


def countable(block: Block) -> TokenParts | None:
    """The texts of a block that a tokenizer can count, none of images and documents. None for thinking, of which only its signature is
    seen."""
    return None if isinstance(block, Thinking | RedactedThinking) else _parts_of(block)


def estimate_parts(parts: TokenParts) -> int:
    """Tokens of texts and of the framing around them."""
    return parts.framing + sum(estimate_text(text) for text in parts.texts)


def estimate_message(message: Message) -> int:
    """Tokens of one message with its framing. Remembered with the message."""
    if message.tokens is None:
        remember(message, MESSAGE_TOKENS + sum([estimate_block(block) for block in message.blocks]))
    return message.tokens or 0


def remember(message: Message, tokens: int) -> None:
    """Keeps the tokens of a message for `estimate_message`, where somebody has just weighed its blocks."""
    object.__setattr__(message, "tokens", tokens)


def estimate_prelude(prelude: Prelude) -> int:
    """Tokens of system prompt, rules and tools."""
    system = sum(estimate_text(part.text) for part in prelude.system)
    return system + estimate_tools(prelude)


def can_take(tokens: int, estimated: int) -> bool:
    """Whether something that is estimated at `estimated` tokens can take `tokens`. What was kept on disk is held to it when it is read: one
    absurd number would make the context full, also after a restart."""
    return 0 <= tokens <= TIMES * estimated + BESIDE


def estimate_tools(prelude: Prelude) -> int:
    """Tokens of the tool definitions; 0 if there are none."""
    return estimate_parts(tools_of(prelude))


def tools_of(prelude: Prelude) -> TokenParts:
    """The texts of the tool definitions, as a tokenizer can count them."""
    if not prelude.tools:
        return TokenParts(0, ())
    texts = (text for tool in prelude.tools for text in tool_of(tool).texts)
    return TokenParts(TOOLS_TOKENS + TOOL_SPEC_TOKENS * len(prelude.tools), tuple(texts))


def tool_of(tool: ToolSpec) -> TokenParts:
    """The texts of one tool definition, as a tokenizer can count them."""
    return TokenParts(TOOL_SPEC_TOKENS, (tool.name, tool.description, _json(tool.input_schema)))


class Fixed(Protocol):
    """The tokens of system prompt, rules and tools, as last counted (`FixedParts`)."""

    def of(self, prelude: Prelude | None) -> Mapping[str, int] | None:
        """The tokens of the prelude by category; None if nobody counted them yet."""
        ...


@dataclass(frozen=True, slots=True)
class Calibration:
    """What real usage taught about the numbers for one model: an estimate times `ratio` is the better estimate.

    A tokenizer's count is another number than an estimate by kind of text, so each has a ratio of its own.
    """

    ratio: float = 1.0
    """Real tokens for each token that is estimated by kind of text."""
    counted_ratio: float = 1.0
    """Real tokens for each token that a tokenizer counts. It makes up for the framing, which is guessed."""
    counts: Counts | None = field(default=None, compare=False)
    """The counts by the model's tokenizer; None if there is none."""
    fixed: Fixed | None = field(default=None, compare=False)
    """The tokens of system prompt and tools for the model; None if nothing is known of them."""
    images: ImageLimits = LIMITS
    """The limits of the model for an image. What an image costs is known exactly, so no ratio has a part in it."""
    message_ratio: float | None = None
    """The `ratio` of messages alone; None if nothing was learned of them."""

    def observe(self, estimated: int, reported: int) -> Calibration:
        """The calibration after one more priced request: a moving average that no single outlier can throw far."""
        return replace(self, ratio=_moved(self.ratio, estimated, reported))

    def observe_messages(self, estimated: int, reported: int) -> Calibration:
        """The calibration after the messages of one more request were priced. In few tokens the framing, which is guessed, is a large
        share, so they teach less (`TELLING`)."""
        before = self.ratio if self.message_ratio is None else self.message_ratio
        return replace(self, message_ratio=_moved(before, estimated, reported, min(1.0, estimated / TELLING)))

    def observe_counted(self, counted: int, reported: int) -> Calibration:
        """The calibration after a request was priced of which a tokenizer counted what was new: the less that was, the less it teaches
        (`FULL_WEIGHT`)."""
        return replace(self, counted_ratio=_moved(self.counted_ratio, counted, reported, min(1.0, counted / FULL_WEIGHT)))

    def of_new(self, estimated: int) -> int:
        """The `estimated` tokens of something that is still to be said, corrected by what the messages so far took: system prompt and tools
        are another kind of text."""
        return round(estimated * (self.ratio if self.message_ratio is None else self.message_ratio))

    def apply(self, estimated: int, counted: int = 0) -> int:
        """Real tokens for `estimated` and `counted` ones: each corrected by its ratio, then added."""
        return round(estimated * self.ratio + counted * self.counted_ratio)


def _moved(ratio: float, expected: int, reported: int, weight: float = 1.0) -> float:
    if expected <= 0 or reported <= 0:
        return ratio
    step = CHANGE_RATE * weight * (reported / expected - ratio)
    step = min(max(step, -LARGEST_STEP), LARGEST_STEP)
    return min(max(ratio + step, LOWEST_RATIO), HIGHEST_RATIO)


def _parts_of(block: Text | ToolUse | ToolResult | Image | Document | CompactionBlock) -> TokenParts:
    if isinstance(block, Image | Document):
        return TokenParts(0, ())
    if isinstance(block, Text):
        return TokenParts(0, (block.text,))
    if isinstance(block, ToolUse):
        return TokenParts(TOOL_BLOCK_TOKENS, (block.name, _json(block.input)))
    if isinstance(block, CompactionBlock):
        return TokenParts(0, (block.content,))
    return TokenParts(TOOL_BLOCK_TOKENS, (block.content,))


def _class_of(byte: int) -> bytes:
    if byte in b" \t":
        return b"_"
    if byte in b"\r\n":
        return b"n"
    if byte < 0x80:
        character = chr(byte)
        if character.isdigit():
            return b"0"
        if character.isalpha():
            return b"a" if character.islower() else b"A"
        return b"."
    if byte < 0xC6:
        return b"l"
    if byte < 0xE0:
        return b"o"
    if byte == 0xE2:
        return b"s"
    if byte == 0xE3:
        return b"k"
    if byte == 0xE0 or 0xE4 <= byte < 0xEA:
        return b"h"
    return b"g" if byte < 0xF0 else b"e"


_CLASSES = b"".join(_class_of(byte) for byte in range(256))
"""The class of a character, by the first byte of its UTF-8 form."""


def _weigh(text: str) -> float:
    if text.isascii():  # most texts are: what cannot stand in them need not be looked for
        classes = text.encode().translate(_CLASSES)
        weights = _ASCII_WEIGHTS if b"0" in classes else _WEIGHTS_WITHOUT_DIGITS
    else:
        classes, weights = text.encode("utf-8", "surrogatepass").translate(_CLASSES, _CONTINUATION), WEIGHTS
    count = classes.count
    return sum([weight * count(pattern) for pattern, weight in weights])


def _sealed(signature: str) -> int:
    return max(len(signature) - SIGNATURE_FRAME, 0) // SIGNATURE_CHARACTERS_PER_TOKEN


def _json(value: object) -> str:
    return _encoder.encode(value)


class Counts(Protocol):
    """What a model's tokenizer has counted so far. It may be asked from any thread."""

    @property
    def version(self) -> int:
        """A number that changes when more may be known than before."""
        ...

    def known(self, text: str) -> int | None:
        """Tokens of `text`; None if it was not counted (yet)."""
        ...

    def want(self, texts: Sequence[str]) -> None:
        """Has these texts counted soon, if they can be."""
        ...


class TokenParts(NamedTuple):
    """Something in a request in the parts that are counted: the framing around its texts, and the texts."""

    framing: int
    """Tokens of tags, roles and ids around the texts: a guess."""
    texts: tuple[str, ...]


def counted(parts: TokenParts, counts: Counts) -> int | None:
    """Tokens of `parts`, with their framing; None if one of the texts was not counted."""
    total = parts.framing
    for text in parts.texts:
        known = counts.known(text) if text else 0
        if known is None:
            return None
        total += known
    return total
