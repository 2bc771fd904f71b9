"""The texts of compactions that were made before the user took something out, as they read without it.

What the program wrote it writes anew, without these entries; from what a model wrote, and from the texts of other policies, whatever
repeats their words goes. What a model tells in words of its own, or the API in a signed block, no program can find or change
(`tells_in_own_words`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from ullage.context.blocks import Text
from ullage.context.engines.engine import Covered, Engine
from ullage.context.entries import AssistantReply, Compaction, Entry, Logged, Reworded, Summarised, ToolReturned, UserPrompt
from ullage.context.moves.excluded import without_excluded
from ullage.context.moves.plan import Plan
from ullage.context.record.api_summary import ELSEWHERE, completing
from ullage.context.record.handoff import LOGGED, TITLE, WRITTEN
from ullage.context.view.log_places import entry_at
from ullage.context.view.projection import Projection

RUN_WORDS = 6
"""So many words of an entry, one after the other, are a quotation of it, by chance or not."""
FEWEST_WORDS = 3
"""A sentence of fewer words is nobody's own."""

_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?]) +|(?<= )/ ")


def rewordings(after: Projection, engine: Engine, room: int) -> Iterator[Reworded]:
    """What has to be logged before the change that `after` has already: the texts in view that tell of what is taken out then.

    `engine` is Ullage's own, `room` how many tokens there are for its record.
    """
    for seq, without in after.to_reword.items():
        made = entry_at(after.entries, seq)
        if isinstance(made, Compaction):
            yield _reworded(made, without, after, engine, room)


def tells_in_own_words(after: Projection, seqs: Iterable[int]) -> bool:
    """Whether a summary in view may still tell of these entries, since a model wrote it when it saw them."""
    first = min(seqs)
    shown = {source for message in after.messages for source in message.sources}
    made = (each for seq, each in after.active_by_seq.items() if seq in shown and first <= each.through)
    return any(_has_part_of_a_model(each) for each in made)


def _has_part_of_a_model(made: Compaction) -> bool:
    if made.summarised is not None and made.summarised.block is not None:
        return True
    text = made.summarised.text if made.summarised is not None else ""
    return f"\n{WRITTEN}, as of entry #" in text if text.startswith(TITLE) else made.rung == "model"


def _reworded(made: Compaction, without: frozenset[int], after: Projection, engine: Engine, room: int) -> Reworded:
    quotations = _Quotations(entry for seq in sorted(without) if (entry := entry_at(after.entries, seq)) is not None)
    told = made.summarised
    record = told.text if told is not None else ""
    if told is not None and record.startswith(TITLE) and f"\n{LOGGED}\n" in record:
        entries = without_excluded(after, (logged for logged in after.entries if logged.seq <= made.through and logged.seq not in without))
        record = _written_anew(made, told, entries, engine, room)
        before, begun, rest = record.partition(f"\n{WRITTEN}")
        part, ended, rest = rest.partition(f"\n{LOGGED}\n")
        record = f"{before}{begun}{quotations.taken_from(part)}{ended}{rest}"
    else:
        record = quotations.taken_from(record)
    marker = quotations.taken_from(made.snipped.marker) if made.snipped is not None else ""
    return Reworded(made.id, tuple(sorted(without)), record, marker, quotations.taken_from(made.resume))


def _written_anew(made: Compaction, told: Summarised, entries: Sequence[Logged], engine: Engine, room: int) -> str:
    """The record of a compaction that is Ullage's own, of `entries` alone."""
    plan = Plan(made.through, made.cleared, None, told.last_seq, told.messages, 0, carried=told.carried)
    covered = [logged for logged in entries if logged.seq <= told.last_seq]
    tail = [logged for logged in entries if logged.seq > told.last_seq]
    by_model = ELSEWHERE if told.block is not None else _part_of_a_model(told.text) if made.rung == "model" else None
    text = engine.handoff(Covered(covered, plan, by_model, made.focus, room, tail=tail)).text
    return completing(text) if told.block is not None else text


def _part_of_a_model(record: str) -> str:
    _, _, rest = record.partition(f"\n{WRITTEN}, as of entry #")
    return rest.partition("\n")[2].partition(f"\n{LOGGED}\n")[0].strip()


class _Quotations:
    """What repeats the words of some entries."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._runs: set[tuple[str, ...]] = set()
        self._sentences: set[tuple[str, ...]] = set()
        for text in (text for entry in entries for text in _texts(entry)):
            for line in text.splitlines():
                self._sentences.update(words for sentence in _sentences(line) if len(words := _words(sentence)) >= FEWEST_WORDS)
            words = _words(text)
            self._runs.update(words[at : at + RUN_WORDS] for at in range(len(words) - RUN_WORDS + 1))

    def taken_from(self, text: str) -> str:
        """`text` without the sentences that repeat them; of lines nothing is left of, none."""
        lines = (("".join(kept) if (kept := self._left(line)) is not None else None) for line in text.split("\n"))
        return "\n".join(line for line in lines if line is not None)

    def _left(self, line: str) -> list[str] | None:
        sentences = _sentences(line)
        kept = [sentence for sentence in sentences if not self._repeats(sentence)]
        if len(kept) == len(sentences):
            return kept
        return kept if any(_WORD.search(sentence) for sentence in kept) else None

    def _repeats(self, sentence: str) -> bool:
        words = _words(sentence)
        return words in self._sentences or any(words[at : at + RUN_WORDS] in self._runs for at in range(len(words) - RUN_WORDS + 1))


def _sentences(line: str) -> list[str]:
    """The parts of a line, which together are the line."""
    cuts = [0, *(found.end() for found in _SENTENCE_END.finditer(line)), len(line)]
    return [line[start:end] for start, end in pairwise(cuts)]


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def _texts(entry: Entry) -> Iterator[str]:
    match entry:
        case UserPrompt():
            yield entry.text
            yield from (attachment.text for attachment in entry.attachments)
        case AssistantReply():
            yield from (block.text for block in entry.blocks if isinstance(block, Text))
        case ToolReturned():
            yield entry.content
        case _:
            return
