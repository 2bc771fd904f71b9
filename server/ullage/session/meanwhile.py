"""Keeps a reply while it streams in: its beginning at once, the rest once a second, whatever the number of its pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, Self

from ullage.context.entries import AssistantReply, Logged, ToolReturned, TurnEnded, UserPrompt
from ullage.session.conversation import Conversation
from ullage.store.unfinished import Piece, UnfinishedFile, UnfinishedReply

KEPT_EVERY_SECONDS = 1.0
"""What came since then is what a killed process takes with it."""


class Handle(Protocol):
    """Something that is to happen later."""

    def cancel(self) -> None:
        """It does not."""
        ...


class KeptMeanwhile:
    """One reply. `later` calls after some seconds, as `call_later` of an event loop."""

    def __init__(self, file: UnfinishedFile, reply: UnfinishedReply, later: Callable[[float, Callable[[], None]], Handle]) -> None:
        self._file = file
        self._reply = reply
        self._later = later
        self._pieces: list[Piece] = []
        self._waiting: Handle | None = None

    def add(self, piece: Piece) -> None:
        """Some more of it came."""
        self._pieces.append(piece)
        if self._waiting is None:
            self._write()

    def _write(self) -> None:
        pieces, self._pieces = self._pieces, []
        self._waiting = None
        if pieces:
            self._file.write(self._reply, _joined(pieces))
            self._waiting = self._later(KEPT_EVERY_SECONDS, self._write)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        """The log has it by then, or it came to nothing."""
        if self._waiting is not None:
            self._waiting.cancel()
        self._file.remove()


def _joined(pieces: Sequence[Piece]) -> list[Piece]:
    """Neighbours of one block as one piece."""
    texts: list[tuple[Piece, list[str]]] = []
    for piece in pieces:
        if not texts or texts[-1][0].index != piece.index:
            texts.append((piece, []))
        texts[-1][1].append(piece.text)
    return [Piece(first.index, "".join(parts), first.is_thinking) for first, parts in texts]


def take_unfinished(file: UnfinishedFile, conversation: Conversation) -> None:
    """Logs what the model had said when the process was killed, where the log still waits for it."""
    entry = left_by_a_killed_process(file.read(), conversation.entries)
    if entry is not None:
        conversation.append(entry)
    file.remove()


def left_by_a_killed_process(found: UnfinishedReply | None, entries: Sequence[Logged]) -> AssistantReply | None:
    """The entry for what was found; None where it is none that the log waits for."""
    if found is None or not found.blocks:
        return None
    for logged in reversed(entries):
        if logged.seq <= found.after:
            break
        if isinstance(logged.entry, UserPrompt | AssistantReply | ToolReturned | TurnEnded):
            return None
    return AssistantReply(found.id, found.blocks, found.model, "cancelled", None)
