"""The request that follows each compaction of a simulated session: what the model would have been sent. `Views` writes it to a file, so
that it can be looked at or sent. `violations` says in words what the API would refuse in its messages (anthropic-api.md 2.6, 2.7).
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from ullage.context.blocks import Json, Message, RedactedThinking, Text, Thinking, ToolResult, ToolUse
from ullage.context.entries import AssistantReply, Logged
from ullage.context.view.projection import Projection
from ullage.context.view.request import Request, place
from ullage.models.serialise import Serialiser
from ullage.recorded.transcript import Transcript
from ullage.replay.simulating.outcome import RequestAfterCompaction

ABOUT = (
    "Indices count the messages that the session would have sent without any compaction, from 0: neighbours of one role are one message, "
    "results and what is said with them are one. message_index: how many of them there were when the compaction was made. covers: "
    "those of which nothing is in this request but what a summary or a marker says of them."
)

_NOT_IN_A_NAME = re.compile(r"[^\w.-]+")


class Views:
    """Writes the views of one session under one policy into a folder. What cannot be written is in `failures`."""

    def __init__(self, folder: Path, transcript: Transcript, policy: str) -> None:
        self.failures: list[str] = []
        self._folder = folder
        self._session_id = transcript.session_id
        self._policy = policy
        self._places = _places(transcript)

    def write(self, epoch: RequestAfterCompaction) -> None:
        """Writes the view of one request into a file of the folder. An error is noted in `failures`."""
        name = f"{_NOT_IN_A_NAME.sub('_', self._session_id)}-{epoch.number}.json"
        path = self._folder / name
        told: dict[str, Json] = {
            "session": self._session_id,
            "policy": self._policy,
            "epoch": epoch.number,
            "trigger": epoch.trigger,
            "message_index": self._places.before(epoch.after_seq),
            "covers": list[Json](self._places.hidden(epoch)),
            "about": ABOUT,
            **_request(epoch.view),
        }
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(told, ensure_ascii=False, indent=1), encoding="utf-8", errors="replace")
        except OSError as error:
            if not self.failures:
                self.failures.append(f"{path} cannot be written: {error.strerror or error}")


class _Places:
    """The messages of a session without any compaction, as the entries that each of them stands for (seqs of the transcript)."""

    def __init__(self, sources: Sequence[frozenset[int]]) -> None:
        self._sources = sources
        self._firsts = [min(each) for each in sources]

    def before(self, after_seq: int) -> int:
        """How many messages there are up to and with that entry."""
        return bisect_right(self._firsts, after_seq)

    def hidden(self, epoch: RequestAfterCompaction) -> list[int]:
        """The indices of the messages before the compaction of which no entry is in view."""
        sources = {source for message in epoch.view.messages for source in message.sources}
        shown = {origin.seq for source in sources if (origin := epoch.carried.origin_of(source)) is not None}
        return [index for index in range(self.before(epoch.after_seq)) if shown.isdisjoint(self._sources[index])]


def _places(transcript: Transcript) -> _Places:
    whole = Projection(transcript.entries)
    return _Places([frozenset(message.sources) for message in whole.messages if message.sources])


def _request(view: Projection) -> dict[str, Json]:
    """The system prompt, tools and messages of a view, as they would be sent."""
    prelude = view.prelude
    messages = view.complete_messages
    request = Request(prelude.system if prelude else (), prelude.tools if prelude else (), messages, place(messages))
    body = cast(
        "dict[str, Json]",
        json.loads(Serialiser().body(request, opening={"model": "", "stream": True}, max_tokens=1, adaptive_thinking=False)),
    )
    return {name: body.get(name, []) for name in ("system", "tools", "messages")}


_TOOL_USE_ID = re.compile(r"[a-zA-Z0-9_-]+")


def violations(messages: Sequence[Message], entries: Sequence[Logged]) -> Iterator[str]:
    """The rules of the API that are broken, in words, each once a place. `entries` is the log that the messages come from, seqs from 1
    without gaps."""
    yield from _of_order(messages)
    yield from _of_pairing(messages)
    yield from _of_ids(messages)
    yield from _of_content(messages)
    yield from _of_thinking(messages, entries)


def _of_order(messages: Sequence[Message]) -> Iterator[str]:
    if not messages:
        yield "there are no messages"
        return
    if messages[0].role != "user":
        yield "the first message is not the user's"
    if messages[-1].role != "user":
        yield "the last message is not the user's"
    yield from (
        f"messages {index} and {index + 1} have the same role"
        for index in range(len(messages) - 1)
        if messages[index].role == messages[index + 1].role
    )


def _of_pairing(messages: Sequence[Message]) -> Iterator[str]:
    called: list[str] = []
    for index, message in enumerate(messages):
        results = [block.tool_use_id for block in message.blocks if isinstance(block, ToolResult)]
        if sorted(results) != sorted(called):
            yield f"the results in message {index} are not those of the calls before it"
        if any(isinstance(block, ToolResult) for block in message.blocks[len(results) :]):
            yield f"message {index} has a result after something else"
        called = [block.id for block in message.blocks if isinstance(block, ToolUse)]
    if called:
        yield "the last calls are not answered"


def _of_ids(messages: Sequence[Message]) -> Iterator[str]:
    ids = [block.id for message in messages for block in message.blocks if isinstance(block, ToolUse)]
    if len(set(ids)) != len(ids):
        yield "tool use ids are not unique"
    if not all(_TOOL_USE_ID.fullmatch(id) for id in ids):
        yield "a tool use id has other characters than the API takes"


def _of_content(messages: Sequence[Message]) -> Iterator[str]:
    for index, message in enumerate(messages):
        if not message.blocks:
            yield f"message {index} is empty"
        for block in message.blocks:
            if isinstance(block, Text) and not block.text.strip():
                yield f"message {index} has an empty text"
            if isinstance(block, ToolResult) and not block.content:
                yield f"message {index} has an empty result"
            if isinstance(block, Thinking) and not block.signature:
                yield f"message {index} has thinking without a signature"
            if message.role == "user" and isinstance(block, Thinking | RedactedThinking | ToolUse):
                yield f"message {index} is the user's and holds what only the model says"
            if message.role == "assistant" and isinstance(block, ToolResult):
                yield f"message {index} is the model's and holds a result"


def _of_thinking(messages: Sequence[Message], entries: Sequence[Logged]) -> Iterator[str]:
    """The broken rules of thinking: of each reply all thinking blocks go back, or none, and none stands at a message's end."""
    for index, message in enumerate(messages):
        if message.role != "assistant":
            continue
        if message.blocks and isinstance(message.blocks[-1], Thinking | RedactedThinking):
            yield f"message {index} ends in thinking"
        shown: dict[int, int] = {}
        for block, source in zip(message.blocks, message.sources, strict=True):
            if isinstance(block, Thinking | RedactedThinking):
                shown[source] = shown.get(source, 0) + 1
        for source, count in shown.items():
            reply = entries[source - 1].entry
            if isinstance(reply, AssistantReply) and count != sum(isinstance(block, Thinking | RedactedThinking) for block in reply.blocks):
                yield f"message {index} holds only a part of a reply's thinking"
