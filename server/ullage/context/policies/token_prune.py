"""`token-prune`: LLMLingua carried to tool results.

LLMLingua asks a small model how predictable each token is. Here the text itself is asked, by whole words: how often each stands in it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import log2

from ullage.context.engines.engine import Covered, Occasion, PathOf, SummaryText, Unchanging
from ullage.context.moves.cheap import Arrival, Clip, clip
from ullage.context.moves.plan import Plan
from ullage.context.policies.ullage import UllageEngine
from ullage.context.policy import Policy, RestoreOptions

FENCE = re.compile(r"^\s*(?:```|~~~)")
NUMBERED = re.compile(r"^\s*+\d++[\t→:|]|^\S{0,300}[/\\.]\S{0,300}:\d++[:-]")
"""A line of a file with its number, or one that a search found. The pattern is bounded: it is tried at every line, however long."""
CHANGED = re.compile(r"^(?:[+-]|@@ |diff |index )")
HUNK = re.compile(r"^@@ |^\+\+\+ ", re.MULTILINE)
"""A line that shows that a text consists of changes. In other texts a line that begins with a dash is an item of a list."""
INDENTED = re.compile(r"^(?:\t| {4})")
CODE_END = re.compile(r"[;{}()\[\]=>,]\s*$")
PLAIN_WORD = re.compile(r"^[^\W\d_]+,?$")
"""A word that may go. A word that ends a sentence stays, so that sentences can be told apart."""
PUNCTUATION_SHARE = 0.15
"""Share of a line's characters without spaces, above which it looks like code: in prose it is about 0.03, in code more than 0.2."""
REST = UllageEngine()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


USUAL = _words(
    """
    a about above after again all also am an and any are as at be been before being below both but by can could did do does doing down
    during each few for from further had has have having he her here hers him his how i if in into is it its itself just may me might
    more most must my of off on once only or other our out over own same shall she should so some such than that the their them then
    there these they this those through to too under until up upon very was we were what when where which while who whom why will with
    would you your
    """
)
"""English words that stand everywhere. In other languages only counts how often a word stands in the text."""
TURNING = _words(
    """
    but cannot denied error errors except exception fail failed failing fails failure fatal invalid missing must neither never no none
    nor not nothing only refused timeout undefined unexpected unknown unless warning without wrong
    """
)
"""Words that turn a sentence around, or that people look for in an output."""


@dataclass(frozen=True, slots=True)
class PruneOptions:
    """How much of a result is left out."""

    rate: float = 0.5
    """Share of a text's characters that stays at least (LLMLingua's default for `compress_prompt`)."""
    smallest_characters: int = 4_000
    """Characters up to which a result stays whole (ours: about a thousand tokens)."""
    smallest_gain_share: float = 0.1
    """Share of the characters. Where fewer would go, the result stays whole (ours)."""


PRUNE = PruneOptions()


@dataclass(frozen=True, slots=True)
class TokenPruneEngine(Unchanging):
    """Prunes results on arrival. What is still too long is clipped, and where the context is full it does the same as `ullage`.

    A word that stands often in the text says little each time, and so does a word that stands everywhere. Code, numbers, names, paths and
    words that turn a sentence around stay.
    """

    options: PruneOptions = PRUNE
    rest: UllageEngine = REST

    def arrive(self, arrivals: Sequence[Arrival], path_of: PathOf) -> tuple[Clip, ...]:
        """The results, long ones without the words that say little. Those that are still too long keep their head and tail."""
        longest = self.rest.options.clip.result_characters
        arrived: list[Clip] = []
        for arrival in arrivals:
            shown = pruned(arrival, self.options, path_of)
            if longest is not None and len(shown.content) > longest:
                (shown,) = clip([arrival], self.rest.options.clip, path_of)
            arrived.append(shown)
        return tuple(arrived)

    def plan(self, at: Occasion) -> Plan | None:
        """The plan that `ullage` makes."""
        return self.rest.plan(at)

    def summarise(self, covered: Covered) -> SummaryText:
        """The summary that `ullage` makes."""
        return self.rest.summarise(covered)


def pruned(arrival: Arrival, options: PruneOptions, path_of: Callable[[str], str]) -> Clip:
    """A result without the words that say least, and with a line on where the whole is. It stays whole if it is short or hardly anything
    can go."""
    content = arrival.content
    whole = Clip(content, clipped=False, characters=len(content))
    if len(content) <= options.smallest_characters:
        return whole
    shorter = _without(content, int(len(content) * (1 - options.rate)))
    gone = len(content) - len(shorter)
    if gone < len(content) * options.smallest_gain_share:
        return whole
    note = (
        f"[Words that say little are left out here and there, {gone:,} of {len(content):,} characters; code is untouched. "
        f"{arrival.in_words} is in {path_of(arrival.tool_use_id)}]"
    )
    content = f"{shorter.rstrip()}\n{note}"
    return Clip(content, clipped=True, characters=len(arrival.content)) if len(content) < len(arrival.content) else whole


@dataclass(frozen=True, slots=True)
class _Word:
    """A word that may go. `start` and `end` are its place in the text with the space before it."""

    start: int
    end: int
    information: float


def _without(text: str, most: int) -> str:
    """The text without its least telling words, at most `most` characters of them."""
    words = sorted(_prunable(text), key=lambda word: (word.information, word.start))
    gone: list[_Word] = []
    for word in words:
        if word.end - word.start > most:
            break
        most -= word.end - word.start
        gone.append(word)
    kept: list[str] = []
    at = 0
    for word in sorted(gone, key=lambda word: word.start):
        kept.append(text[at : word.start])
        at = word.end
    return "".join([*kept, text[at:]])


def _prunable(text: str) -> Iterator[_Word]:
    """The plain words of prose, without the first of each line, so that no line goes as a whole."""
    prose = list(_prose(text))
    counts = Counter(_bare(match.group()) for start, end in prose for match in re.finditer(r"\S+", text[start:end]))
    total = sum(counts.values())
    for start, end in prose:
        before = None
        for match in re.finditer(r"\S+", text[start:end]):
            word = match.group()
            bare = _bare(word)
            if before is not None and PLAIN_WORD.match(word) and bare not in TURNING and not _is_name(word):
                information = 0.0 if bare in USUAL else -log2(counts[bare] / total)
                yield _Word(start + before, start + match.end(), information)
            before = match.end()


def _prose(text: str) -> Iterator[tuple[int, int]]:
    """The start and the end of each line that does not look like code."""
    fenced = False
    start = 0
    shows_changes = HUNK.search(text) is not None
    for line in text.split("\n"):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and not (shows_changes and CHANGED.match(line)) and not _looks_like_code(line):
            yield start, start + len(line)
        start += len(line) + 1


def _looks_like_code(line: str) -> bool:
    if NUMBERED.match(line) or INDENTED.match(line) or CODE_END.search(line):
        return True
    dense = [character for character in line if not character.isspace()]
    marks = sum(not character.isalnum() for character in dense)
    return marks > len(dense) * PUNCTUATION_SHARE


def _bare(word: str) -> str:
    return word.rstrip(".,;:!?").casefold()


def _is_name(word: str) -> bool:
    return word != word.lower() and word != word.capitalize()


TOKEN_PRUNE = Policy(
    name="token-prune",
    title="Long results lose up to half of their text, words of little information, on arrival; code stays; else as `ullage`",
    sources=(
        "LLMLingua, arXiv:2310.05736 and 2403.12968",
        "github.com/microsoft/LLMLingua: llmlingua/prompt_compressor.py (rate 0.5)",
        "how much a word says is estimated from the text itself instead of by a small model",
    ),
    engine=TokenPruneEngine(),
    restore=RestoreOptions(),
)
