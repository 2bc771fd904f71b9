"""Making a compaction: plan it, have its summary written, read files again, log it as one entry.

It is made in two halves. `draft` does what may take long (it may call the model) and changes nothing; `commit` is quick
and appends the entry. Between the two the session may go on: a draft speaks of the log up to where it was made.
A draft or commit that fails has changed nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ullage.context.blocks import Usage
from ullage.context.counting.accounting import Account
from ullage.context.counting.tokens import Calibration, estimate_message
from ullage.context.entries import Compaction, Logged, Rung, Summarised, Trigger
from ullage.context.moves.plan import Plan, plan, reactive_plan
from ullage.context.policy import Policy
from ullage.context.record.digest import brief
from ullage.context.record.handoff import USER_SHARE, handoff, tail_note
from ullage.context.view.projection import EpochKey, Projection
from ullage.context.view.request import Message, Request, request_so_far
from ullage.models.model import Model, ModelCard
from ullage.session.breaker import Breaker
from ullage.session.conversation import Conversation
from ullage.session.restoring import Restoring
from ullage.session.summary import SummaryFailed, write_summary
from ullage.session.surroundings import Surroundings
from ullage.store.transcripts import write_transcript

HANDOFF_SHARE = 1 / 3
"""Of the line, for the handoff: the rest is for the tail, the restored files and the turns to come."""


class NothingToCompact(Exception):
    """A compaction would not make the context smaller. Nothing has changed."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A compaction that is asked for."""

    id: str
    trigger: Trigger
    focus: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A compaction that is ready but for the files. Valid while the epoch key is the one it was made under."""

    wanted: Wanted
    plan: Plan
    rung: Rung
    text: str
    usage: Usage | None
    cost: float | None
    skipped: tuple[str, ...]
    tokens_before: int
    room: int
    """Tokens that there are for the handoff."""
    key: EpochKey

    def as_wanted(self, wanted: Wanted) -> Draft:
        """The same draft for another reason: one prepared in the background serves whoever needs it first."""
        return replace(self, wanted=wanted)


class Compactor:
    """Makes the compactions of one session."""

    def __init__(self, conversation: Conversation, surroundings: Surroundings, restoring: Restoring) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._restoring = restoring
        self.model_breaker = Breaker()
        """Open: summaries are not asked of the model for a while; the program writes them."""

    async def draft(self, wanted: Wanted, model: Model, card: ModelCard, line: int) -> Draft:
        """Plans a compaction and has its summary written. Raises `NothingToCompact`.

        The session may go on meanwhile: what the draft is made of is taken at once, all of it.
        """
        projection = self._conversation.projection
        if not projection.messages:
            raise NothingToCompact
        calibration = self._surroundings.calibration(card)
        before = self._conversation.counted(calibration).used
        key, entries, request = projection.key, tuple(projection.entries), request_so_far(projection)
        # In another thread: for a long log planning takes a second, and nobody's typing may wait for it.
        planned = await asyncio.to_thread(self._plan, entries, wanted, calibration, line, before)
        if planned is None:
            raise NothingToCompact
        empty = Draft(wanted, planned, "moves", "", None, None, (), before, handoff_room(line), key)
        if planned.summarise_to is None:
            return empty
        return await self._with_summary(empty, request, model, card, calibration)

    def _plan(self, entries: Sequence[Logged], wanted: Wanted, calibration: Calibration, line: int, used: int) -> Plan | None:
        def count(messages: Sequence[Message]) -> int:
            return calibration.apply(sum(estimate_message(message) for message in messages))

        policy = within_room(self._surroundings.policy, handoff_room(line))
        projection = Projection(entries)
        if wanted.trigger == "reactive":
            return reactive_plan(projection, policy, line, count, brief)
        if wanted.trigger in ("manual", "tool"):
            return plan(projection, with_short_tail(policy, used), line, count, brief, goal=0)
        return plan(projection, policy, line, count, brief)

    async def _with_summary(self, draft: Draft, request: Request, model: Model, card: ModelCard, calibration: Calibration) -> Draft:
        """The draft with its handoff, by the first rung that works."""
        skipped: list[str] = []
        if self._may_ask_model(draft.wanted, card, skipped):
            try:
                return await self._by_model(draft, request, model, card, calibration)
            except SummaryFailed as failure:
                self.model_breaker.failed(self._surroundings.clock())
                skipped.append(str(failure))
                if failure.usage is not None:
                    draft = replace(draft, usage=failure.usage, cost=card.cost(failure.usage))
        digest = replace(draft, rung="digest", text=await self._handoff(draft, None), skipped=tuple(skipped))
        if self._shrinks(digest, calibration):
            return digest
        skipped.append("The digest was not shorter than what it stands for")
        tail = replace(draft, rung="tail", text=tail_note(draft.plan.covers), skipped=tuple(skipped))
        if self._shrinks(tail, calibration):
            return tail
        raise NothingToCompact

    def _may_ask_model(self, wanted: Wanted, card: ModelCard, skipped: list[str]) -> bool:
        """Whether the model is asked for its part; `skipped` gets the reason where the user would wonder why not."""
        if not card.writes_summaries or self._surroundings.settings.summary_engine == "digest":
            return False
        if wanted.trigger == "reactive":
            skipped.append("The model was not asked: it had just refused this conversation as too long")
            return False
        if self.model_breaker.is_open(self._surroundings.clock()):
            skipped.append("The model's summaries failed three times in a row; they are not asked for at the moment")
            return False
        return True

    async def _by_model(self, draft: Draft, request: Request, model: Model, card: ModelCard, calibration: Calibration) -> Draft:
        """The draft with the model's part in its handoff. Raises `SummaryFailed`."""
        numbers = self._surroundings.policy.summary
        numbers = replace(numbers, output_tokens=min(numbers.output_tokens, card.max_output))
        summary = await write_summary(model, request, draft.wanted.focus, numbers)
        text = await self._handoff(draft, summary.text)
        written = replace(draft, rung="model", text=text, usage=summary.usage, cost=card.cost(summary.usage))
        if not self._shrinks(written, calibration):
            raise SummaryFailed("The model's summary was not shorter than what it stands for", summary.usage)
        self.model_breaker.succeeded()
        return written

    async def _handoff(self, draft: Draft, model_text: str | None) -> str:
        """Written in another thread: reading the facts out of a long log takes a quarter of a second."""
        last = draft.plan.summarise_to or 0
        covered = [logged for logged in self._conversation.entries if logged.seq <= last]
        numbers = self._surroundings.policy.summary
        return await asyncio.to_thread(handoff, covered, model_text, draft.wanted.focus, numbers, draft.room)

    def _shrinks(self, draft: Draft, calibration: Calibration) -> bool:
        entry = replace(entry_of(draft), resume=self._restoring.resume(at_work=True))
        return self._tokens_after(entry, calibration) < draft.tokens_before

    def _tokens_after(self, entry: Compaction, calibration: Calibration) -> int:
        entries = self._conversation.entries
        logged = Logged(entries[-1].seq + 1, 0.0, entry)
        after = self._conversation.projection.with_appended(logged)
        return Account().count(after, calibration).used

    def still_fits(self, draft: Draft) -> bool:
        """Whether the draft speaks of the epoch in force."""
        return draft.key == self._conversation.projection.key

    async def commit(self, draft: Draft, card: ModelCard, *, at_work: bool) -> Compaction:
        """Reads files again and logs the compaction. Raises `StoreFailed` and has then changed nothing."""
        calibration = self._surroundings.calibration(card)
        entry = replace(entry_of(draft), tokens_before=self._conversation.counted(calibration).used)
        if entry.summarised is not None:
            await asyncio.to_thread(
                write_transcript,
                self._surroundings.transcripts_folder,
                self._conversation.session_id,
                len(self._conversation.projection.key),
                self._conversation.projection.messages,
            )
            logged = Logged(self._conversation.entries[-1].seq + 1, 0.0, entry)
            restored = await self._restoring.files(self._conversation.projection.with_appended(logged))
            resume = self._restoring.resume(at_work=at_work)
            entry = replace(entry, restored=restored, resume=resume)
        entry = self._without_what_does_not_fit(entry, calibration)
        self._conversation.append(entry)
        self._restoring.after(entry)
        return entry

    def _without_what_does_not_fit(self, entry: Compaction, calibration: Calibration) -> Compaction:
        """Restored files give way, last first, until the compaction makes the context smaller; then the sizes are set."""
        after = self._tokens_after(entry, calibration)
        while entry.restored and after >= entry.tokens_before:
            entry = replace(entry, restored=entry.restored[:-1])
            after = self._tokens_after(entry, calibration)
        return replace(entry, estimated_after=after)


def entry_of(draft: Draft) -> Compaction:
    """The log entry of a draft, before files are read again."""
    planned = draft.plan
    summarised = None
    if planned.summarise_to is not None:
        summarised = Summarised(planned.summarise_to, draft.text, planned.covers)
    return Compaction(
        id=draft.wanted.id,
        trigger=draft.wanted.trigger,
        rung=draft.rung,
        through=planned.through,
        cleared=planned.cleared,
        snipped=planned.snipped,
        summarised=summarised,
        restored=(),
        resume="",
        focus=draft.wanted.focus,
        policy="ullage",
        tokens_before=draft.tokens_before,
        estimated_after=0,
        usage=draft.usage,
        cost=draft.cost,
        skipped=draft.skipped,
    )


def handoff_room(line: int) -> int:
    """Tokens that there are for the handoff."""
    return int(line * HANDOFF_SHARE)


def within_room(policy: Policy, room: int) -> Policy:
    """The policy with the user's words counted as the handoff will quote them: in a small window not all of them."""
    words = min(policy.summary.user_message_tokens, int(room * USER_SHARE))
    return replace(policy, summary=replace(policy.summary, user_message_tokens=words))


def with_short_tail(policy: Policy, used: int) -> Policy:
    """The policy for a compaction that somebody asked for: the tail is at most a quarter of what is there now.

    Without it a short conversation would be all tail, and a click would do nothing.
    """
    tail = min(policy.summary.tail_tokens, used // 4)
    return replace(policy, summary=replace(policy.summary, tail_tokens=tail))
