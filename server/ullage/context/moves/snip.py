"""Snip: the middle of a long conversation gives way to a marker that says what went and how to get it back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from ullage.context.entries import AssistantReply, Logged, Notice, Snipped, ToolReturned, UserPrompt
from ullage.context.moves.cuts import has_news, legal_cuts
from ullage.context.policy import SnipNumbers
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
    gone = [logged for logged in projection.entries if first_seq <= logged.seq <= last_seq]
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
    said = [logged.entry for logged in entries if isinstance(logged.entry, UserPrompt | AssistantReply | ToolReturned | Notice)]
    return sum(1 for _ in groupby(said, key=lambda entry: isinstance(entry, AssistantReply)))


def _marker(gone: Sequence[Logged], digest: str) -> str:
    first, last = gone[0].seq, gone[-1].seq
    head = f"[{messages_in(gone)} earlier messages were taken out here to make room. To see them again: recall from {first} to {last}."
    return f"{head} In short:]\n{digest}" if digest.strip() else f"{head}]"
