"""Snip: the middle of a long conversation gives way to a marker that says what went and how to get it back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from ullage.context.entries import AssistantReply, Logged, Notice, Snipped, ToolReturned, UserPrompt
from ullage.context.moves.cuts import legal_cuts
from ullage.context.policy import SnipNumbers
from ullage.context.view.projection import Projection


def snip(projection: Projection, numbers: SnipNumbers, digest: Callable[[Sequence[Logged]], str]) -> Snipped | None:
    """The range that can go; None where the conversation is short or no legal cuts leave anything between them.

    `digest` says in a few lines what stands in a range of the log: the user's words, the files touched.
    """
    messages = projection.messages
    if len(messages) <= numbers.keep_first + numbers.keep_last:
        return None
    cuts = legal_cuts(messages)
    first = min((cut for cut in cuts if cut >= numbers.keep_first), default=len(messages))
    last = max(cut for cut in cuts if cut <= len(messages) - numbers.keep_last)
    if first >= last:
        return None
    first_seq = projection.last_seq_before(first) + 1
    last_seq = projection.last_seq_before(last)
    gone = [logged for logged in projection.entries if first_seq <= logged.seq <= last_seq]
    return Snipped(first_seq, last_seq, _marker(gone, digest(gone)))


def messages_in(entries: Sequence[Logged]) -> int:
    """How many messages the entries make: runs of what the one and the other side said."""
    said = [logged.entry for logged in entries if isinstance(logged.entry, UserPrompt | AssistantReply | ToolReturned | Notice)]
    return sum(1 for _ in groupby(said, key=lambda entry: isinstance(entry, AssistantReply)))


def _marker(gone: Sequence[Logged], digest: str) -> str:
    first, last = gone[0].seq, gone[-1].seq
    head = f"[{messages_in(gone)} earlier messages were taken out here to make room. To see them again: recall from {first} to {last}."
    return f"{head} In short:]\n{digest}" if digest.strip() else f"{head}]"
