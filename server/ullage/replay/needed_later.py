"""Which facts of a session are needed after a compaction: read once out of the log, then asked for any place in it.

A fact is needed when it stands in the log before the compaction and the assistant uses it (in text or in a tool's input) within the
messages of the window after it. A user's short message is needed in any case: the agent rarely repeats the user's words, and they
bind it all the same. Each message is asked for once, at the first compaction after it was said.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ullage.context.entries import AssistantReply, Logged, UserPrompt
from ullage.replay.fact_patterns import Fact, facts_in, quoted
from ullage.replay.windows import entries_after, shown_text, written_text

SHORT_MESSAGE_CHARACTERS = 1_500
"""A longer prompt is a pasted document rather than something that the user said."""


@dataclass(frozen=True, slots=True)
class NeededFact:
    """A fact that is needed after the entry `after_seq`. `used_seq` is the first reply in the window that uses it, None for user messages;
    `shown_again` says whether a result, prompt or notice between the two showed it to the model."""

    fact: Fact
    after_seq: int
    used_seq: int | None
    shown_again: bool


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What `session_facts` read. Of facts that no reply uses nothing is kept."""

    entries: Sequence[Logged]
    used: Mapping[int, frozenset[Fact]]
    """By the reply's seq."""
    standing: Mapping[Fact, Sequence[int]]
    """The seqs of all entries that a used fact stands in, ascending."""
    said: Mapping[int, Fact]
    """The user's short messages, by seq."""


def session_facts(entries: Sequence[Logged]) -> SessionFacts:
    """Reads a session's facts, in one pass over its text. `entries` count from 1 without gaps."""
    used = {logged.seq: frozenset(facts_in(written_text(logged.entry))) for logged in entries if isinstance(logged.entry, AssistantReply)}
    standing: dict[Fact, list[int]] = {fact: [] for facts in used.values() for fact in facts}
    for logged in entries:
        facts = used[logged.seq] if logged.seq in used else facts_in(shown_text(logged.entry))
        for fact in facts:
            if fact in standing:
                standing[fact].append(logged.seq)
    said = {logged.seq: fact for logged in entries if isinstance(logged.entry, UserPrompt) and (fact := _short_message(logged.entry))}
    return SessionFacts(entries, used, standing, said)


def needed_after(facts: SessionFacts, after_seq: int, previous_seq: int = 0) -> Iterator[NeededFact]:
    """The facts that a compaction after the entry `after_seq` should keep, each once; none where nothing follows.

    `previous_seq` is where the compaction before it stood, 0 where it is the first.
    """
    window = list(entries_after(facts.entries, after_seq))
    first_uses: dict[Fact, int] = {}
    for logged in window:
        for fact in facts.used.get(logged.seq, ()):
            first_uses.setdefault(fact, logged.seq)
    for fact, used_seq in first_uses.items():
        places = facts.standing[fact]
        if places[0] <= after_seq:
            shown_again = places[bisect_right(places, after_seq)] < used_seq
            yield NeededFact(fact, after_seq, used_seq, shown_again)
    if window:
        said = {fact: None for seq, fact in facts.said.items() if previous_seq < seq <= after_seq}
        yield from (NeededFact(fact, after_seq, None, False) for fact in said)


def _short_message(prompt: UserPrompt) -> Fact | None:
    words = quoted(prompt.text)
    return Fact("user message", words) if words and len(prompt.text) < SHORT_MESSAGE_CHARACTERS else None
