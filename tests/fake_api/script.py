"""What the fake will answer: replies block by block, failures, and rules that choose between them.

Values and their choice only; how they go over the wire is in `reply_stream.py`, their JSON form in `script_json.py`.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests.fake_api.conversation import last_user_text
from tests.fake_api.json_values import JsonObject


@dataclass(frozen=True, slots=True)
class Say:
    """A text block."""

    text: str


@dataclass(frozen=True, slots=True)
class Think:
    """A thinking block; the fake signs it. Its text is shown only where the request asks for it."""

    text: str


@dataclass(frozen=True, slots=True)
class RedactedThink:
    """A thinking block that only the API can read."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. Without `id` the fake makes one up."""

    name: str
    input: Mapping[str, Any] = field(default_factory=dict[str, Any])
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A page that the API's search finds. What it says nobody reads but the model; it counts as input."""

    title: str
    url: str
    text: str
    age: str | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """The model searches the web by the API's own tool, which finds these pages, or fails with an error code."""

    query: str
    pages: Sequence[Page] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Cite:
    """A text block that goes by a page that was found: the words of it that it goes by."""

    text: str
    page: Page
    quoted: str


ReplyBlock: TypeAlias = Say | Think | RedactedThink | Call | Search | Cite


@dataclass(frozen=True, slots=True)
class EndsAfter:
    """The body ends cleanly after `chunks` deltas, without `message_stop`."""

    chunks: int


@dataclass(frozen=True, slots=True)
class ResetsAfter:
    """The connection breaks off after `chunks` deltas."""

    chunks: int


@dataclass(frozen=True, slots=True)
class ErrorAfter:
    """After `chunks` deltas an `error` event comes and the stream is over; the status was 200 long before."""

    chunks: int
    type: str = "overloaded_error"
    message: str = "Overloaded"


@dataclass(frozen=True, slots=True)
class HoldsAfter:
    """After `chunks` deltas nothing more comes until `release()`; then the rest does."""

    chunks: int


Interruption: TypeAlias = EndsAfter | ResetsAfter | ErrorAfter | HoldsAfter


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply. Without `stop_reason` it is `tool_use` where a tool is called, else `end_turn`."""

    blocks: Sequence[ReplyBlock]
    stop_reason: str | None = None
    chunk_size: int = 24
    """Characters of one delta."""
    first_delay: float = 0.0
    """Seconds before the response begins."""
    delay: float = 0.0
    """Seconds between two deltas."""
    interruption: Interruption | None = None


@dataclass(frozen=True, slots=True)
class Fail:
    """An error response in the API's shape."""

    status: int
    type: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    error_code: str | None = None
    """`error.details.error_code`."""


@dataclass(frozen=True, slots=True)
class Html:
    """A response that is no API response, such as a proxy gives."""

    status: int = 502
    body: str = "<html><body><h1>502 Bad Gateway</h1></body></html>"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class ResetConnection:
    """The connection breaks off before any byte of a response."""


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing comes until `release()`; then `then` does."""

    then: Reply = Reply((Say("Released."),))


Outcome: TypeAlias = Reply | Fail | Html | ResetConnection | Hang
Scripted: TypeAlias = Outcome | ReplyBlock | Sequence[ReplyBlock]
"""An outcome, or blocks that make a plain reply."""


@dataclass(slots=True)
class Rule:
    """Answers every request that `when` holds for (a regular expression for the last user text, or a predicate over the body).

    A request for a compaction block is met by predicates alone. `outcome` may be a function of the body. With `times`, the rule is
    used up after so many answers.
    """

    when: str | Callable[[JsonObject], bool]
    outcome: Scripted | Callable[[JsonObject], Scripted]
    times: int | None = None

    def matches(self, body: JsonObject) -> bool:
        """Whether this rule answers `body`."""
        if self.times == 0:
            return False
        if isinstance(self.when, str):
            if asks_for_compaction(body):
                return False
            return re.search(self.when, last_user_text(body), re.IGNORECASE | re.DOTALL) is not None
        return self.when(body)

    def answer(self, body: JsonObject) -> Outcome:
        """The outcome for `body`; counts as one use."""
        if self.times is not None:
            self.times -= 1
        outcome = self.outcome(body) if callable(self.outcome) else self.outcome
        return as_outcome(outcome)


class Script:
    """Chooses the outcome of each request: the first rule that matches, else the next of the queue, else a short echo.

    Requests for a compaction block have a queue of their own, and a summary by default.
    """

    def __init__(self, queue: Iterable[Scripted] = (), rules: Iterable[Rule] = ()) -> None:
        self._queue = deque(as_outcome(item) for item in queue)
        self._summaries = deque[Outcome]()
        self._rules = list(rules)

    def drop_queued(self) -> None:
        """Forgets the outcomes that no request has asked for."""
        self._queue.clear()
        self._summaries.clear()

    @property
    def queued(self) -> int:
        """How many outcomes are still in the queue."""
        return len(self._queue)

    def enqueue(self, *items: Scripted) -> None:
        """Puts outcomes at the end of the queue."""
        self._queue.extend(as_outcome(item) for item in items)

    def enqueue_summaries(self, *items: Scripted) -> None:
        """Puts outcomes at the end of the queue of requests for a compaction block: what the summarising model says."""
        self._summaries.extend(as_outcome(item) for item in items)

    def add_rules(self, *rules: Rule) -> None:
        """Adds rules; earlier ones go first."""
        self._rules.extend(rules)

    def clear(self) -> None:
        """Forgets queues and rules."""
        self.drop_queued()
        self._rules.clear()

    def next_outcome(self, body: JsonObject) -> Outcome:
        """What to answer `body` with."""
        for rule in self._rules:
            if rule.matches(body):
                return rule.answer(body)
        if asks_for_compaction(body):
            return self._summaries.popleft() if self._summaries else Reply((Say(usual_summary(body)),))
        if self._queue:
            return self._queue.popleft()
        return echo(body)


def as_outcome(scripted: Scripted) -> Outcome:
    """Blocks alone become a plain reply."""
    if isinstance(scripted, (Reply, Fail, Html, ResetConnection, Hang)):
        return scripted
    if isinstance(scripted, (Say, Think, RedactedThink, Call, Search, Cite)):
        return Reply((scripted,))
    return Reply(tuple(scripted))


def asks_for_compaction(body: JsonObject) -> bool:
    """Whether a request asks for a compaction block instead of a reply."""
    return body.get("compaction") is not None


def usual_summary(body: JsonObject) -> str:
    """What the summarising model says where nothing is scripted."""
    said = " ".join(last_user_text(body).split())
    return f"The conversation so far, in {len(body['messages'])} messages. The work goes on; the user's last words were: {said[:80]}"


def echo(body: JsonObject) -> Reply:
    """The answer where nothing is scripted, for use by hand."""
    said = " ".join(last_user_text(body).split())
    if not said:
        return Reply((Say("Noted."),))
    return Reply((Say(f"You said: {said[:80]}"),))
