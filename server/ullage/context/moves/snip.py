"""Snip: the middle of a long conversation gives way to a marker that says what went and how to get it back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from ullage.context.entries import AssistantReply, Logged, Notice, Snipped, ToolReturned, UserPrompt
from ullage.context.moves.cuts import has_news, legal_cuts
from ullage.context.policy import SnipNumbers
from ullage.context.view.log_places import place_of
from ullage.context.view.paged_log import said_of
from ullage.context.view.projection import Projection
from ullage.context.view.quotations import is_anything_excluded, without_excluded


def snip(projection: Projection, numbers: SnipNumbers, digest: Callable[[Sequence[Logged]], str]) -> Snipped | None:
    """The range that can go; None where the conversation is short or no legal cuts leave anything new between them.

    `digest` says in a few lines what stands in a range of the log: the user's words, the files touched.
    """
    messages = projection.messages
    if len(messages) <= numbers.keep_first + numbers.keep_last:
        return None
    cuts = legal_cuts(messages)
    first = min((cut for cut in cuts if cut >= numbers.keep_first), default=len(messages))
    last = max(cut for cut in cuts if cut <= len(messages) - numbers.keep_last)
    return between(projection, first, last, digest)


def between(projection: Projection, first: int, last: int, digest: Callable[[Sequence[Logged]], str]) -> Snipped | None:
    """The messages between two legal cuts, as a range that can go; None where nothing new is between them."""
    if first >= last or not has_news(projection, projection.messages[first:last]):
        return None
    first_seq = seq_after(projection, first)
    last_seq = projection.last_seq_before(last)
    entries = projection.entries
    gone = entries[place_of(entries, first_seq) : place_of(entries, last_seq + 1)]
    told = without_excluded(projection, gone) if is_anything_excluded(projection) else gone
    return Snipped(first_seq, last_seq, _marker(gone, digest(told)))


def seq_after(projection: Projection, cut: int) -> int:
    """The seq with which a range that begins at a legal cut begins: what was snipped right before it is in it, with its marker."""
    first = projection.last_seq_before(cut) + 1
    before = [
        compaction.snipped.first_seq
        for compaction in projection.active
        if compaction.snipped and not compaction.snipped.carried and compaction.snipped.first_seq < first == compaction.snipped.last_seq + 1
    ]
    return min(before, default=first)


def messages_in(entries: Sequence[Logged]) -> int:
    """How many messages the entries make: runs of what the one and the other side said."""
    runs = 0
    by_model: bool | None = None
    for begun, ended, count in filter(None, said_of(entries, _runs)):
        runs += count - (1 if begun == by_model else 0)
        by_model = ended
    return runs


def _runs(entries: Sequence[Logged]) -> tuple[bool, bool, int] | None:
    """Whether the model speaks first and last, and how many runs there are; None where nobody speaks."""
    said = [logged.entry for logged in entries if isinstance(logged.entry, UserPrompt | AssistantReply | ToolReturned | Notice)]
    sides = [by_model for by_model, _ in groupby(said, key=lambda entry: isinstance(entry, AssistantReply))]
    return (sides[0], sides[-1], len(sides)) if sides else None


def _marker(gone: Sequence[Logged], digest: str) -> str:
    first, last = gone[0].seq, gone[-1].seq
    head = f"[{messages_in(gone)} earlier messages were taken out here to make room. To see them again: recall from {first} to {last}."
    return f"{head} In short:]\n{digest}" if digest.strip() else f"{head}]"
