"""What one recorded session spent, call by call and compaction by compaction."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from ullage.context.blocks import Usage
from ullage.context.compaction.economy import CHARACTERS_PER_TOKEN, Refetching, forgetting
from ullage.context.entries import AssistantReply, Logged
from ullage.recorded.readers.flaws import SEALED_SUMMARY
from ullage.recorded.retention import SessionBlocks, ViewAfter
from ullage.recorded.transcript import RecordedCompaction, Source, Transcript
from ullage.replay.measuring.projects import project_of
from ullage.replay.pricing.cost import Dollars, dollars, summary_call
from ullage.replay.pricing.misses import Missed, Why, missed_dollars, misses_in
from ullage.replay.pricing.recorded_models import plain_name, prices_of, tokenizer_share

OWN_WAY = "its own"
"""Stands for the policy of another program than Ullage."""
NOT_COMPACTED = "not compacted"
"""Stands for the policy of a session of Ullage that was never compacted: its log does not tell which one was set."""


@dataclass(frozen=True, slots=True)
class Whose:
    """Under which week, project, program, policy and model something is counted.

    `week` is the date of its Monday in UTC (`YYYY-MM-DD`), empty if no time was recorded.
    """

    week: str
    project: str
    program: Source
    policy: str
    model: str


@dataclass(frozen=True, slots=True)
class CountedRequest:
    """One request that was counted. `at` is when it was answered (Unix seconds; 0.0 where no time was recorded)."""

    session: str
    """The id of its session; that of a sub-agent has a `/` in it."""
    reply: str
    """The id of its reply."""
    whose: Whose
    at: float
    usage: Usage
    dollars: Dollars | None
    """None if the model's prices are not known."""
    missed: int = 0
    """Tokens that it sent anew, though the request before had left them in the cache."""
    missed_dollars: float = 0.0
    """The dollars that this cost; 0.0 also where the prices are not known."""
    reasons: tuple[Why, ...] = ()
    """The reasons for which it missed them."""


@dataclass(frozen=True, slots=True)
class Again:
    """What the agent got again from its tools after a compaction, though it had had it: tokens, and requests for little else.

    `at_most`: the record does not tell what stayed in view beside the summary, so some of it may have been there still.
    """

    tokens: int
    requests: int
    dollars: float | None
    at_most: bool


@dataclass(frozen=True, slots=True)
class Compacted:
    """One compaction. `at` is its time, as in `CountedRequest`."""

    session: str
    whose: Whose
    at: float
    trigger: str
    """The reason that it was made for; empty if the record does not tell."""
    tokens_before: int | None
    summary_characters: int | None
    """The length of its summary; None if the provider sealed it."""
    dollars: float | None
    """The dollars of the request that wrote the summary; None if they are not known."""
    is_recorded: bool
    """Whether the record tells what that request used. Else its cost was worked out, with the conversation in the cache."""
    again: Again | None
    """What the agent got again after it; None if nothing came after it, or where that cannot be told."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What one session spent: its calls and its compactions."""

    calls: tuple[CountedRequest, ...]
    compactions: tuple[Compacted, ...]
    uncounted: int
    """The number of replies without a count of tokens."""


def spent_in(transcript: Transcript, since: date | None = None) -> Spent:
    """What the session spent, from the beginning of `since` on (UTC). What has no time counts only where nothing is left out."""
    session = _Session(transcript)
    calls = tuple(each for each in session.calls() if _is_since(each.at, since))
    compactions = tuple(each for each in session.compactions() if _is_since(each.at, since))
    uncounted = sum(_usage(logged) is None for logged in session.replies if _is_since(logged.at, since))
    return Spent(calls, compactions, uncounted)


def week_of(at: float) -> str:
    """The date of the Monday of that week in UTC (`YYYY-MM-DD`); empty if there is no time."""
    if not at:
        return ""
    day = datetime.fromtimestamp(at, UTC).date()
    return (day - timedelta(days=day.weekday())).isoformat()


def _is_since(at: float, since: date | None) -> bool:
    return since is None or (bool(at) and datetime.fromtimestamp(at, UTC).date() >= since)


class _Session:
    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._project = project_of(transcript.project)
        self.replies = [logged for logged in transcript.entries if isinstance(logged.entry, AssistantReply)]
        self._made = sorted(transcript.compactions, key=lambda each: each.after_seq)
        self._places = [each.after_seq for each in self._made]

    def calls(self) -> Iterator[CountedRequest]:
        missed = {each.seq: each for each in misses_in(self._transcript)}
        for logged in self.replies:
            usage = _usage(logged)
            if usage is not None:
                yield self._call(logged, usage, missed.get(logged.seq))

    def _call(self, logged: Logged, usage: Usage, missed: Missed | None) -> CountedRequest:
        prices = prices_of(_model(logged))
        return CountedRequest(
            session=self._transcript.session_id,
            reply=logged.entry.id if isinstance(logged.entry, AssistantReply) else "",
            whose=self._whose(logged.at, self._policy(logged.seq), _model(logged)),
            at=logged.at,
            usage=usage,
            dollars=dollars(prices, usage) if prices is not None else None,
            missed=missed.tokens if missed is not None else 0,
            missed_dollars=missed_dollars(prices, usage, missed.tokens) if missed is not None and prices is not None else 0.0,
            reasons=missed.reasons if missed is not None else (),
        )

    def compactions(self) -> Iterator[Compacted]:
        sealed = any(repair.what == SEALED_SUMMARY.what for repair in self._transcript.repairs)
        seen = SessionBlocks(self._transcript.entries) if self._made and not sealed else None
        for index, made in enumerate(self._made):
            call = summary_call(self._transcript, made)
            after = next((each for each in self.replies if each.seq > made.after_seq and _usage(each) is not None), None)
            at = made.at or (after.at if after is not None else 0.0)
            model = plain_name(call.model) if call is not None else _model(after) if after is not None else ""
            prices = prices_of(model)
            yield Compacted(
                session=self._transcript.session_id,
                whose=self._whose(at, self._policy(made.after_seq), model),
                at=at,
                trigger=made.trigger or {True: "automatic", False: "manual", None: ""}[made.automatic],
                tokens_before=made.tokens_before,
                summary_characters=None if sealed or made.sealed else len(made.summary),
                dollars=dollars(prices, call.warm).total if prices is not None and call is not None else None,
                is_recorded=made.usage is not None,
                again=self._again(made, index, after, seen) if after is not None else None,
            )

    def _again(self, made: RecordedCompaction, index: int, after: Logged, seen: SessionBlocks | None) -> Again | None:
        told = made.fetched_again
        if told is not None:
            return self._priced(told.tokens, told.results, after, at_most=False) if told.messages else None
        if seen is None:
            return None
        until = self._places[index + 1] if index + 1 < len(self._places) else None
        found = seen.acquired_after(ViewAfter(made.after_seq, made.summary, 0), until)
        if not found.places:
            return None
        tokens = round(found.gone / CHARACTERS_PER_TOKEN * tokenizer_share(_model(after)))
        return self._priced(tokens, found.fetches, after, at_most=True)

    def _priced(self, tokens: int, requests: int, after: Logged, *, at_most: bool) -> Again:
        """What the agent got again, with its price as `ullage replay` works it out: writing it to the cache, and requests that read what
        the compaction left."""
        prices, usage = prices_of(_model(after)), _usage(after)
        terms = prices.terms() if prices is not None else None
        if terms is None or usage is None:
            return Again(tokens, requests, None, at_most)
        fetched = replace(terms, refetching=Refetching(tokens, requests))
        return Again(tokens, requests, forgetting(usage.total_input_tokens, fetched) * terms.token, at_most)

    def _policy(self, seq: int) -> str:
        """The policy that an entry belongs to: that of the next compaction, else of the one before. A log does not tell which policy is
        set."""
        if self._transcript.source != "ullage":
            return OWN_WAY
        place = bisect_left(self._places, seq)
        near = self._made[place : place + 1] or self._made[-1:]
        return near[0].policy if near else NOT_COMPACTED

    def _whose(self, at: float, policy: str, model: str) -> Whose:
        return Whose(week_of(at), self._project, self._transcript.source, policy, model)


def _usage(logged: Logged) -> Usage | None:
    """The usage that a reply was counted with; None if nothing was counted, or a placeholder stands."""
    usage = logged.entry.usage if isinstance(logged.entry, AssistantReply) else None
    return usage if usage is not None and usage.total_input_tokens else None


def _model(logged: Logged) -> str:
    return plain_name(logged.entry.model) if isinstance(logged.entry, AssistantReply) else ""
