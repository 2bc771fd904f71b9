"""Having the summary of a planned compaction written, by the first rung that works: the API, the model, the program, a note.

A rung that fails has changed nothing; why it did is told in the draft. Planning, reading files again and logging: `compaction.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ullage.context.counting.tokens import Calibration
from ullage.context.engines.engine import Covered, Handoff, wants_files
from ullage.context.engines.ullage import handoff_room
from ullage.context.entries import Compaction, Logged
from ullage.context.moves.api_cut import keeps_turns
from ullage.context.moves.excluded import files_out, is_anything_excluded, without_excluded
from ullage.context.moves.plan import Asked
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy
from ullage.context.record.api_summary import ELSEWHERE, completing
from ullage.context.record.handoff import tail_note
from ullage.context.redact import redact
from ullage.context.view.log_places import place_of
from ullage.context.view.request import Request
from ullage.models.model import Model, ModelCard
from ullage.session.compacting.api_summary import NotForTheApi, write_api_summary
from ullage.session.compacting.breaker import Breaker
from ullage.session.compacting.draft import Draft, NothingToCompact, entry_of
from ullage.session.compacting.policy_in_use import PolicyFailed, PolicyInUse
from ullage.session.compacting.reading_ahead import ReadingAhead
from ullage.session.compacting.restoring import Restoring
from ullage.session.compacting.source_texts import source_texts
from ullage.session.compacting.spend_guard import SpendGuard
from ullage.session.compacting.spent_in_vain import Spent, spend_in_vain, spent_on
from ullage.session.compacting.summary import SummaryFailed, write_summary
from ullage.session.conversation import Conversation
from ullage.session.surroundings import Surroundings


class Rungs:
    """Writes the summaries of one session."""

    def __init__(self, conversation: Conversation, surroundings: Surroundings, policy: PolicyInUse, restoring: Restoring) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._policy = policy
        self._restoring = restoring
        self._spending = SpendGuard()
        self.ahead = ReadingAhead(conversation)
        self.model_breaker = Breaker()
        """Open: summaries are not asked of the model for a while; the program writes them."""
        self.api_breaker = Breaker()
        """Open: the API is not asked for its own."""

    async def with_summary(
        self, draft: Draft, request: Request, entries: Sequence[Logged], model: Model, card: ModelCard, calibration: Calibration
    ) -> Draft:
        """The draft with its handoff, by the first rung that works, and with what was spent on it. Raises `PolicyFailed` and
        `NothingToCompact`."""
        spent = Spent()
        try:
            written = await self._by_first(draft, request, entries, model, card, calibration, spent)
        except PolicyFailed as failure:
            raise PolicyFailed(str(failure), spent.usage) from failure
        except BaseException:
            spend_in_vain(self._conversation, spent.usage, spent_on(card, spent.usage))
            raise
        return replace(written, usage=spent.usage, cost=spent_on(card, spent.usage))

    async def _by_first(
        self,
        draft: Draft,
        request: Request,
        entries: Sequence[Logged],
        model: Model,
        card: ModelCard,
        calibration: Calibration,
        spent: Spent,
    ) -> Draft:
        skipped: list[str] = []
        asked = draft.plan.asked
        if asked is not None and self.may_ask_api(draft, card):
            try:
                written = await self._by_api(draft, asked, request, entries, model, card, calibration, spent)
                self.api_breaker.succeeded()
                return written
            except NotForTheApi as reason:
                skipped.append(str(reason))
            except SummaryFailed as failure:
                self.api_breaker.failed(self._surroundings.clock())
                skipped.append(str(failure))
                spent.add(failure.usage)
        if asked is not None and self.may_ask_model(draft, card, skipped):
            try:
                return await self._by_model(draft, asked, request, model, card, calibration, tuple(skipped), spent)
            except SummaryFailed as failure:
                self.model_breaker.failed(self._surroundings.clock())
                skipped.append(str(failure))
                spent.add(failure.usage)
        return await self.by_program(draft, skipped, calibration)

    async def by_program(self, draft: Draft, skipped: Sequence[str], calibration: Calibration) -> Draft:
        """The draft with a handoff that no model had a part in. Raises `NothingToCompact`."""
        digest = replace(draft, rung="digest", handoff=await self._handoff(draft, None), skipped=tuple(skipped))
        if self._shrinks(digest, calibration):
            return digest
        why = (*skipped, "The summary written from the log was not shorter than what it would replace")
        tail = replace(draft, rung="tail", handoff=Handoff(tail_note(draft.plan.covers)), skipped=why)
        if self._shrinks(tail, calibration):
            return tail
        raise NothingToCompact

    def may_ask_api(self, draft: Draft, card: ModelCard) -> bool:
        """Whether the API is asked for its own summary: where it writes them for this model, for the policy that is written for that."""
        if not card.compacts or draft.policy is not ULLAGE or draft.wanted.trigger == "reactive" or draft.wanted.by_program:
            return False
        if draft.tokens_before > card.window:
            return False
        if self._spending.rests(self._surroundings.clock()):
            return False
        return self._surroundings.settings.summary_engine == "model" and not self.api_breaker.is_open(self._surroundings.clock())

    async def _by_api(
        self,
        draft: Draft,
        asked: Asked,
        request: Request,
        entries: Sequence[Logged],
        model: Model,
        card: ModelCard,
        calibration: Calibration,
        spent: Spent,
    ) -> Draft:
        """The draft with the API's block and the program's record to complete it.

        Raises `SummaryFailed` and `NotForTheApi`; `NothingToCompact` where the epoch has passed meanwhile, for which no draft serves.
        """
        self._spending.called(self._surroundings.clock())
        summary = await write_api_summary(model, card, request, entries, draft.plan, asked, draft.wanted.focus, calibration)
        spent.add(summary.usage)
        if draft.key != self._conversation.projection.key:
            raise NothingToCompact
        planned = replace(draft, plan=summary.plan)
        record = await self._handoff(planned, ELSEWHERE)
        told = replace(record, text=completing(record.text), block=summary.block)
        written = replace(planned, rung="api", handoff=told)
        after = self._conversation.projection.with_appended(Logged(self._conversation.entries[-1].seq + 1, 0.0, entry_of(written)))
        if not keeps_turns(request.messages, summary.cut, after.complete_messages):
            raise SummaryFailed("The API's summary did not fit the messages after it")
        if not self._shrinks(written, calibration):
            raise SummaryFailed("The API's summary was not shorter than what it would replace")
        return written

    def may_ask_model(self, draft: Draft, card: ModelCard, skipped: list[str]) -> bool:
        """Whether the model is asked for its part; `skipped` gets the reason where the user would wonder why not."""
        wanted, asked = draft.wanted, draft.plan.asked
        if not card.writes_summaries or self._surroundings.settings.summary_engine == "digest" or wanted.by_program:
            return False
        if self._spending.rests(self._surroundings.clock()):
            skipped.append("The model was asked for too many summaries within minutes, so for half an hour they are written from the log")
            return False
        if wanted.trigger == "reactive":
            skipped.append("The model was not asked: it had just refused this conversation as too long")
            return False
        if draft.tokens_before > card.window and (asked is None or asked.text is None):  # another model was chosen, with a smaller window
            skipped.append(f"The model was not asked: the conversation is larger than its window of {card.window:,} tokens")
            return False
        if self.model_breaker.is_open(self._surroundings.clock()):
            skipped.append("The model failed three times in a row to write a summary, so it is not asked at the moment")
            return False
        return True

    async def _by_model(
        self,
        draft: Draft,
        asked: Asked,
        request: Request,
        model: Model,
        card: ModelCard,
        calibration: Calibration,
        skipped: tuple[str, ...],
        spent: Spent,
    ) -> Draft:
        """The draft with the model's part in its handoff. Raises `SummaryFailed` and `PolicyFailed`."""
        asked = replace(asked, output_tokens=min(asked.output_tokens, card.max_output))
        self._spending.called(self._surroundings.clock())
        summary = await write_summary(model, request, draft.wanted.focus, asked)
        spent.add(summary.usage)
        written = replace(draft, rung="model", handoff=await self._handoff(draft, summary.text), skipped=skipped)
        if not self._shrinks(written, calibration):
            raise SummaryFailed("The model's summary was not shorter than what it would replace")
        self.model_breaker.succeeded()
        return written

    async def _handoff(self, draft: Draft, model_text: str | None) -> Handoff:
        """Written in another thread: reading the facts out of a long log takes a quarter of a second. Raises `PolicyFailed`."""
        projection, last = self._conversation.projection, draft.plan.summarise_to or 0
        entries = projection.entries
        cut, end = place_of(entries, last + 1), place_of(entries, draft.plan.through + 1)
        covered, tail = entries[: min(cut, end)], entries[min(cut, end) : end]
        if is_anything_excluded(projection):
            covered, tail = (without_excluded(projection, part) for part in (covered, tail))
        files: Mapping[str, str] = await source_texts(self._surroundings.folders) if wants_files(draft.policy.engine) else {}
        if left_out := files_out(projection) if files else ():
            files = {path: text for path, text in files.items() if path not in left_out}
        told = Covered(covered, draft.plan, model_text, draft.wanted.focus, handoff_room(draft.line), files, tail)
        counts = not draft.wanted.foreseen
        return await self._policy.ask(draft.policy, lambda: _handoff_of(draft.policy, told, self.ahead), counts=counts)

    def _shrinks(self, draft: Draft, calibration: Calibration) -> bool:
        entry = entry_of(draft)
        if draft.policy.restore is not None:
            entry = replace(entry, resume=together(entry.resume, self._restoring.resume(at_work=True)))
        return self.tokens_after(entry, calibration) < draft.tokens_before

    def tokens_after(self, entry: Compaction, calibration: Calibration) -> int:
        """What the context would hold with one more compaction; nothing changes."""
        return self._conversation.counted_with(entry, calibration).used


def together(*texts: str) -> str:
    """Texts that are not empty, one after the other."""
    return "\n\n".join(text for text in texts if text)


def _handoff_of(policy: Policy, covered: Covered, ahead: ReadingAhead) -> Handoff:
    with ahead.lent() as reading:
        told = policy.engine.handoff(replace(covered, reading=reading))
    if not isinstance(told, Handoff):  # pyright: ignore[reportUnnecessaryIsInstance] - a package may give anything
        raise TypeError(f"its handoff is {type(told).__name__}")
    # Whoever wrote it: what a model tells may hold what it read.
    return replace(told, text=redact(told.text), acknowledgement=redact(told.acknowledgement), resume=redact(told.resume))
