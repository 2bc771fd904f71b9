"""One reply while it streams in: shows it in the timeline, gives its calls their ids, and keeps what there is of it should it be cut off.
And whether it is one after which a turn can neither end nor run anything (`Inconclusive`).

A model chooses the ids of its calls, and may give one twice: then the card would show one call and the approval go to another, and a
result could stand at the wrong one. So an id that something in the timeline has, or could get, is replaced before the call is shown or
logged. What is logged is what goes back to the API, with results under the same id.

A reply is kept beside the log: its beginning at once, the rest once a second, whatever the number of its pieces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

from ullage.context.blocks import AssistantBlock, Text, Thinking, ToolUse
from ullage.context.compaction.decide import WINDOW_EXCEEDED
from ullage.context.entries import AssistantReply, Logged, Notice, ToolReturned, TurnEnded, UserPrompt
from ullage.context.view.fold import spoken
from ullage.models.model import UNPARSABLE_INPUT, ModelEvent, Reply, Retrying, TextDelta, ThinkingDelta, ToolInputDelta, ToolUseStarted
from ullage.session.conversation import Conversation
from ullage.session.timeline.items import AssistantItem, ThinkingItem, ToolCallItem, new_id
from ullage.session.timeline.timeline import Timeline
from ullage.session.timeline.updates import RetryInfo
from ullage.store.plain_files import BlockPiece, UnfinishedFile, UnfinishedReply

MOST_CALLS = 128
"""Most calls of one reply. No model has asked for a quarter of that in recorded sessions; each more costs a result in every later
request."""


_USABLE = re.compile(r"(?!n\d+\Z)[A-Za-z0-9_-]{1,128}")
"""The ids that can be used: such as the API takes, and none as notices get (`items.py`), which can be foreseen."""


KEPT_EVERY_SECONDS = 1.0
"""Seconds between two times that the reply is kept: what came since then is what a killed process takes with it."""


class Incoming:
    """Takes the events of one model call."""

    def __init__(
        self,
        reply_id: str,
        timeline: Timeline,
        clock: Callable[[], float],
        on_retry: Callable[[RetryInfo | None], None],
        keep: Callable[[BlockPiece], None],
    ) -> None:
        self.reply_id = reply_id
        self._timeline = timeline
        self._clock = clock
        self._on_retry = on_retry
        self._keep = keep
        self._retrying = False
        self._text: dict[int, list[str]] = {}
        self._thinking: dict[int, list[str]] = {}
        self._calls: dict[int, str] = {}
        self._thinks: str | None = None
        """The id of the thinking that comes in now."""
        self._began: dict[int, float] = {}
        self._call_ids = CallIds(lambda id: timeline.get(id) is not None)

    def take(self, event: ModelEvent) -> None:
        """Shows one event of the call in the timeline."""
        if isinstance(event, Retrying):
            self._retrying = True
            self._on_retry(RetryInfo(event.attempt, self._clock() + event.delay, event.reason))
            return
        if self._retrying:
            self._retrying = False
            self._on_retry(None)
        now = self._clock()
        if not isinstance(event, ThinkingDelta):
            self._end_thinking(now)
        if isinstance(event, TextDelta):
            self._append(self._text, event.index, event.text, now)
        elif isinstance(event, ThinkingDelta):
            self._append(self._thinking, event.index, event.text, now)
        elif isinstance(event, ToolUseStarted) and len(self._calls) < MOST_CALLS:
            call = ToolUse(self._call_ids.of(event.index, event.id), event.name, {})
            self._calls[event.index] = call.id
            self._began[event.index] = now
            shown = self._timeline.call_item(call, now)
            self._timeline.put(ToolCallItem(shown.id, shown.at, shown.name, shown.title, shown.tool_kind, "pending", "", ""))
        elif isinstance(event, ToolInputDelta) and event.index in self._calls:
            self._timeline.append_text(self._calls[event.index], "input", event.partial_json)

    def _end_thinking(self, now: float) -> None:
        """Says in the timeline how long the thinking took, since something else comes now."""
        item = None if self._thinks is None else self._timeline.get(self._thinks)
        self._thinks = None
        if isinstance(item, ThinkingItem):
            self._timeline.put(replace(item, seconds=max(0.0, now - item.at)))

    def whole(self, reply: Reply) -> Reply:
        """The whole reply, with the ids under which its calls are shown."""
        return self._call_ids.given_to(reply)

    def _append(self, parts: dict[int, list[str]], index: int, text: str, now: float) -> None:
        item_id = f"{self.reply_id}.{index}"
        if index not in parts:
            parts[index] = []
            if parts is self._thinking:
                self._end_thinking(now)
                self._thinks = item_id
            kind = AssistantItem if parts is self._text else ThinkingItem
            self._began[index] = now
            self._timeline.put(kind(item_id, now, ""))
        parts[index].append(text)
        self._keep(BlockPiece(index, text, parts is self._thinking))
        self._timeline.append_text(item_id, "text", text)

    def began(self, blocks: Sequence[AssistantBlock]) -> tuple[float, ...]:
        """When each of the reply's blocks began to come (Unix seconds). A block that was never shown began with the one before it."""
        times: list[float] = []
        for index in range(len(blocks)):
            times.append(self._began.get(index, times[-1] if times else self._clock()))
        return tuple(times)

    def partial(self) -> tuple[AssistantBlock, ...]:
        """What was said before the reply was cut off: text, and thinking without a signature (for the user only).

        Calls that had begun are left out, since nobody ran them, and their items leave the timeline.
        """
        for call_id in self._calls.values():
            self._timeline.remove(call_id)
        blocks: dict[int, AssistantBlock] = {
            **{index: Text("".join(parts)) for index, parts in self._text.items()},
            **{index: Thinking("".join(parts), "") for index, parts in self._thinking.items()},
        }
        return tuple(blocks[index] for index in sorted(blocks))


def cut_to_most_calls(blocks: Sequence[AssistantBlock]) -> tuple[tuple[AssistantBlock, ...], int]:
    """The blocks before the first call that is one too many, and how many calls were left out with it."""
    calls = 0
    for index, block in enumerate(blocks):
        calls += isinstance(block, ToolUse)
        if calls > MOST_CALLS:
            return tuple(blocks[:index]), sum(isinstance(each, ToolUse) for each in blocks[index:])
    return tuple(blocks), 0


class CallIds:
    """The ids of the calls of one reply, by their place in it. `is_taken` says of an id whether something in the session has it."""

    def __init__(self, is_taken: Callable[[str], bool]) -> None:
        self._is_taken = is_taken
        self._ids: dict[int, str] = {}
        self._given: set[str] = set()

    def of(self, index: int, given: str) -> str:
        """The id of the call at that place of the reply, to which the model gave the id `given`. It is the same at each asking."""
        if index not in self._ids:
            usable = _USABLE.fullmatch(given) is not None and not self._is_taken(given) and given not in self._given
            self._ids[index] = given if usable else new_id("toolu_")
            self._given.add(self._ids[index])
        return self._ids[index]

    def given_to(self, reply: Reply) -> Reply:
        """The reply with these ids for its calls."""
        blocks: list[AssistantBlock] = [
            replace(block, id=self.of(index, block.id)) if isinstance(block, ToolUse) else block for index, block in enumerate(reply.blocks)
        ]
        return replace(reply, blocks=tuple(blocks))


class Handle(Protocol):
    """Something that is to happen later."""

    def cancel(self) -> None:
        """Keeps it from happening."""
        ...


class KeptMeanwhile:
    """Keeps one reply beside the log while it comes. `later` calls after some seconds, as `call_later` of an event loop."""

    def __init__(self, file: UnfinishedFile, reply: UnfinishedReply, later: Callable[[float, Callable[[], None]], Handle]) -> None:
        self._file = file
        self._reply = reply
        self._later = later
        self._pieces: list[BlockPiece] = []
        self._waiting: Handle | None = None

    def add(self, piece: BlockPiece) -> None:
        """Takes in another piece of the reply."""
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
        """Removes what was kept: the log has the reply by then, or it came to nothing."""
        if self._waiting is not None:
            self._waiting.cancel()
        self._file.remove()


def _joined(pieces: Sequence[BlockPiece]) -> list[BlockPiece]:
    """The pieces, of which neighbours of one block are put together."""
    texts: list[tuple[BlockPiece, list[str]]] = []
    for piece in pieces:
        if not texts or texts[-1][0].index != piece.index:
            texts.append((piece, []))
        texts[-1][1].append(piece.text)
    return [BlockPiece(first.index, "".join(parts), first.is_thinking) for first, parts in texts]


def take_unfinished(file: UnfinishedFile, conversation: Conversation) -> None:
    """Logs what the model had said when the process was killed, if the log still waits for it, and removes the file."""
    entry = left_by_a_killed_process(file.read(), conversation.entries)
    if entry is not None:
        conversation.append(entry)
    file.remove()


def left_by_a_killed_process(found: UnfinishedReply | None, entries: Sequence[Logged]) -> AssistantReply | None:
    """The entry for the unfinished reply that was found; None if the log does not wait for it."""
    if found is None or not found.blocks:
        return None
    for logged in reversed(entries):
        if logged.seq <= found.after:
            break
        if isinstance(logged.entry, UserPrompt | AssistantReply | ToolReturned | TurnEnded):
            return None
    return AssistantReply(found.id, found.blocks, found.model, "cancelled", None)


# Replies that are no end of a turn

PAUSED = "pause_turn"
"""The stop reason of a reply in whose middle the endpoint paused (its own tools took long). It is sent back as it is; as no tool of the
endpoint's was asked for, nothing in it waits for the endpoint, and newer models take no request that ends with their own words. So the
word to go on follows it."""
NOT_EMPTY = ("refusal", "max_tokens", WINDOW_EXCEEDED)
"""The stop reasons that say why nothing was said."""


@dataclass(frozen=True, slots=True)
class Inconclusive:
    """A kind of reply that neither ends a turn nor had anything run. Each may come once or twice from a model that is well. From one that
    is not they come for ever, and each costs a request."""

    most: int
    """How many in a row end the turn ..."""
    end: TurnEnded
    """... in this way."""
    word: str
    """What the model is told before it is asked again ..."""
    told_from: int = 1
    """... from this many in a row on."""


PAUSES = Inconclusive(
    5,
    TurnEnded("max_turn_requests", "The reply was paused 5 times in a row without an end. Press Continue to let it go on.", "continue"),
    "Your reply was paused. Go on where it ended, without repeating it.",
)
EMPTY = Inconclusive(
    2,
    TurnEnded("error", "The model sent an empty reply twice. Press Continue to ask again, or rephrase your prompt.", "continue"),
    "Your last reply was empty. Go on with what is to be done; if all of it is done, say so in a sentence.",
)
UNREADABLE = Inconclusive(
    3,
    TurnEnded(
        "max_tokens",
        "3 calls in a row did not arrive whole, so none of them was run: they did not fit into the model's output limit, or their input was"
        " no JSON object. Ask for smaller steps, such as a long file in parts. Press Continue to let it try again.",
        "continue",
    ),
    "The last two calls did not arrive whole: a reply can be only so long, and they were longer, or their input was no JSON object. Do it"
    " in smaller steps: write a long file in parts, with a first call that creates it and further ones that add to it.",
    told_from=2,
)


def inconclusive(reply: AssistantReply, calls: Sequence[ToolUse]) -> Inconclusive | None:
    """The kind of inconclusive reply that this one is; None if it is none."""
    if calls:
        return UNREADABLE if all(UNPARSABLE_INPUT in call.input for call in calls) else None
    if reply.stop_reason == PAUSED:
        return PAUSES
    return EMPTY if reply.stop_reason not in NOT_EMPTY and not spoken(reply) else None


class InARow:
    """Counts the inconclusive replies of one turn that came one after the other."""

    def __init__(self) -> None:
        self._kind: Inconclusive | None = None
        self._times = 0

    def after(self, reply: AssistantReply, calls: Sequence[ToolUse]) -> Notice | TurnEnded | None:
        """Counts one more reply. Gives what the model is told before it is asked again, or how the turn ends; None if there is nothing to
        say."""
        kind = inconclusive(reply, calls)
        self._times = self._times + 1 if kind is self._kind else 1
        self._kind = kind
        if kind is None or self._times < kind.told_from:
            return None
        return kind.end if self._times >= kind.most else Notice("resume", kind.word)
