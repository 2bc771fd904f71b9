"""Drafting a compaction: what the policy's engine wants done, and its summary by the first way that works.

These ways are the API, the model, the program and a short note. Each must make the context smaller. A way that fails has changed nothing,
and the draft says why it failed. Where the policy itself fails, or finds nothing to do though something must be done, Ullage's own engine
stands in. All of it is the same live and in replay: what is asked of an engine or a model is asked through `Means`.

The API is asked first, where the model's capabilities say that it writes summaries (anthropic-api.md 2.4). It summarises what it is sent
and gives a signed block. The turns after that stay as they are, with their thinking. The API gets the beginning of a request that was sent
already, and the model gets the prefix of its last request. So both read the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from ullage.context.blocks import Usage
from ullage.context.compaction.api_summary import ELSEWHERE, completing, keeps_turns
from ullage.context.compaction.draft import (
    Draft,
    DraftSizes,
    NotForTheApi,
    NothingToCompact,
    PolicyFailed,
    SummaryFailed,
    WantedCompaction,
    both,
    counting,
    epoch_of,
    with_entry,
    with_resume,
)
from ullage.context.compaction.gathering import Breaker, SpendGuard
from ullage.context.compaction.means import Means, SummaryModel
from ullage.context.compaction_entries import ASKED_FOR
from ullage.context.counting.gauge import measured, threshold_of
from ullage.context.engines.engine import Covered, Occasion, SummaryText, is_in_force, summary_room
from ullage.context.moves.plan import Asked, Plan, spare
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy
from ullage.context.redact import redact
from ullage.context.summary.whole_summary import tail_note
from ullage.context.view.log_places import place_of
from ullage.context.view.projection import Projection
from ullage.context.view.quotations import files_out, is_anything_excluded, log_without_excluded

RESTS = "The model was asked for too many summaries within minutes, so for half an hour they are written from the log"
REFUSED_IT = "The model was not asked: it had just refused this conversation as too long"
FAILED_BEFORE = "The model failed three times in a row to write a summary, so it is not asked at the moment"
NOT_SHORTER = "The summary written from the log was not shorter than what it would replace"


class Drafting:
    """Makes the drafts of one log. It keeps what went wrong, so that this is not tried again at once."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._spending = SpendGuard()
        self._model_breaker = Breaker()
        """While it is open, the model is not asked for summaries; the program writes them."""
        self._api_breaker = Breaker()
        """While it is open, the API is not asked for summaries."""

    # From the plan to the summary

    async def draft(self, wanted: WantedCompaction, *, must: bool) -> Draft:
        """A draft by the policy in force. Ullage's own engine makes it where that policy fails, or has nothing to do though something
        `must` be done."""
        policy, asking = self._means.policy, self._means.asking()
        try:
            return await self.by_policy(wanted, asking)
        except PolicyFailed as failure:
            return await self.by_stand_in(wanted, asking, why=str(failure), usage=failure.usage)
        except NothingToCompact:
            writer = _writer_for_stand_in(policy, wanted, must=must)
            if writer is None:
                raise
            why = "" if writer == "model" else f"The policy {policy.name} found nothing to do"
            return await self.by_stand_in(wanted, self._means.asking(), why=why, writer=writer)

    async def by_policy(self, wanted: WantedCompaction, asking: SummaryModel, when_planned: Callable[[Draft], None] | None = None) -> Draft:
        """A draft by the policy in force. `when_planned` is called with the draft before its summary is written."""
        means = self._means
        sizes = means.sizes()
        empty = await self.plan(wanted, means.policy, sizes)
        if when_planned is not None:
            when_planned(empty)
        draft = await self.with_summary(empty, asking, sizes)
        means.engine_served()
        return draft

    async def by_stand_in(
        self,
        wanted: WantedCompaction,
        asking: SummaryModel,
        *,
        why: str = "",
        usage: Usage | None = None,
        writer: Literal["model", "program"] = "program",
    ) -> Draft:
        """A draft by Ullage's own engine, where the policy in force does not serve (`why`, for the user). Raises `NothingToCompact`.

        It has a summary in any case. `usage` is what was spent in vain before.
        """
        try:
            asking_for, sizes = as_stand_in(wanted, self._means.sizes())
            draft = await self.plan(asking_for, ULLAGE, sizes)
            if writer == "model":
                draft = await self.with_summary(draft, asking, sizes)
            elif draft.plan.summarise_to is not None:
                draft = await self.by_program(draft)
        except BaseException:
            self._means.spent_in_vain(usage, asking.cost(usage))
            raise
        skipped = (why, *draft.skipped) if why else draft.skipped
        spent = both(usage, draft.usage)
        return replace(draft, wanted=wanted, skipped=skipped, usage=spent, cost=asking.cost(spent))

    # The plan

    async def plan(self, wanted: WantedCompaction, policy: Policy, sizes: DraftSizes) -> Draft:
        """A draft without its summary: what the policy's engine wants done, with what is pinned left out.

        Raises `NothingToCompact` and `PolicyFailed`.
        """
        view = self._means.view
        if not view.messages:
            raise NothingToCompact
        view = view.copy()
        draft = await self._means.ask_engine(policy, lambda: _planned(policy, view, wanted, sizes), counts=not wanted.foreseen)
        if draft is None:
            raise NothingToCompact
        return draft

    # The summary

    async def with_summary(self, draft: Draft, asking: SummaryModel, sizes: DraftSizes) -> Draft:
        """The draft with its summary, by the first way that works, and with what was spent on it. Each way must make the context
        smaller."""
        if draft.plan.summarise_to is None:
            return draft
        spent: list[Usage | None] = []
        try:
            written = await self._by_first(draft, asking, sizes, spent)
        except PolicyFailed as failure:
            raise PolicyFailed(str(failure), both(*spent)) from failure
        except BaseException:
            usage = both(*spent)
            self._means.spent_in_vain(usage, asking.cost(usage))
            raise
        usage = both(*spent)
        return replace(written, usage=usage, cost=asking.cost(usage))

    async def _by_first(self, draft: Draft, asking: SummaryModel, sizes: DraftSizes, spent: list[Usage | None]) -> Draft:
        skipped: list[str] = []
        asked, now = draft.plan.asked, self._means.now
        if asked is not None and self.may_ask_api(draft, sizes.window):
            try:
                return await self._by_api(draft, asked, asking, spent)
            except NotForTheApi as reason:
                skipped.append(str(reason))
            except SummaryFailed as failure:
                self._api_breaker.failed(now())
                skipped.append(str(failure))
                spent.append(failure.usage)
        if asked is not None and self.may_ask_model(draft, sizes.window, skipped):
            try:
                return await self._by_model(draft, asked, asking, skipped, spent)
            except SummaryFailed as failure:
                self._model_breaker.failed(now())
                skipped.append(str(failure))
                spent.append(failure.usage)
        return await self.by_program(draft, skipped)

    def may_ask_api(self, draft: Draft, window: int) -> bool:
        """Whether the API is asked for its own summary: if it writes summaries for this model, and the policy is made for that."""
        wanted, now = draft.wanted, self._means.now()
        if not draft.policy.api_summaries or wanted.by_program or wanted.trigger == "reactive" or not self._means.writers().api:
            return False
        return draft.tokens_before <= window and not self._spending.rests(now) and not self._api_breaker.is_open(now)

    def may_ask_model(self, draft: Draft, window: int, skipped: list[str]) -> bool:
        """Whether the model is asked for its part; `skipped` gets the reason where the user would wonder why not."""
        wanted, asked, now = draft.wanted, draft.plan.asked, self._means.now()
        if wanted.by_program or not self._means.writers().model:
            return False
        why = ""
        if self._spending.rests(now):
            why = RESTS
        elif wanted.trigger == "reactive":
            why = REFUSED_IT
        elif draft.tokens_before > window and (asked is None or asked.text is None):  # another model was chosen, with a smaller window
            why = f"The model was not asked: the conversation is larger than its window of {window:,} tokens"
        elif self._model_breaker.is_open(now):
            why = FAILED_BEFORE
        if why:
            skipped.append(why)
        return not why

    async def _by_api(self, draft: Draft, asked: Asked, asking: SummaryModel, spent: list[Usage | None]) -> Draft:
        """The draft with the API's block, and the program summary that completes it.

        Raises `SummaryFailed` and `NotForTheApi`; `NothingToCompact` where the epoch has passed meanwhile, for which no draft serves.
        """
        self._spending.called(self._means.now())
        summary = await asking.api(draft, asked)
        spent.append(summary.usage)
        view = self._means.view
        if draft.key != view.key:
            raise NothingToCompact
        carried_out = replace(draft, plan=summary.plan)
        program = await self._summary(carried_out, ELSEWHERE)
        written = replace(carried_out, rung="api", summary=replace(program, text=completing(program.text), block=summary.block))
        after = with_entry(view, written.entry())
        if not keeps_turns(asking.messages, summary.cut, after.complete_messages):
            raise SummaryFailed("The API's summary did not fit the messages after it")
        if not self._shrinks(written):
            raise SummaryFailed("The API's summary was not shorter than what it would replace")
        self._api_breaker.succeeded()
        return written

    async def _by_model(self, draft: Draft, asked: Asked, asking: SummaryModel, skipped: Sequence[str], spent: list[Usage | None]) -> Draft:
        """The draft with the model's part in its summary. Raises `SummaryFailed` and `PolicyFailed`."""
        self._spending.called(self._means.now())
        summary = await asking.model(draft, asked)
        spent.append(summary.usage)
        written = replace(draft, rung="model", summary=await self._summary(draft, summary.text), skipped=tuple(skipped))
        if not self._shrinks(written):
            raise SummaryFailed("The model's summary was not shorter than what it would replace")
        self._model_breaker.succeeded()
        return written

    async def by_program(self, draft: Draft, skipped: Sequence[str] = ()) -> Draft:
        """The draft with a summary that no model had a part in. Raises `NothingToCompact`."""
        digest = replace(draft, rung="digest", summary=await self._summary(draft, None), skipped=tuple(skipped))
        if self._shrinks(digest):
            return digest
        tail = replace(draft, rung="tail", summary=SummaryText(tail_note(draft.plan.covers)), skipped=(*skipped, NOT_SHORTER))
        if self._shrinks(tail):
            return tail
        raise NothingToCompact

    async def _summary(self, draft: Draft, model_text: str | None) -> SummaryText:
        means = self._means
        known: Mapping[str, str] = await means.sources() if draft.policy.engine.wants_files else {}
        view = means.view
        left_out = files_out(view) if known else ()
        files = {path: text for path, text in known.items() if path not in left_out}
        covered = _covered(view, draft, model_text, files)
        return await means.summarise(draft.policy, covered, counts=not draft.wanted.foreseen)

    def _shrinks(self, draft: Draft) -> bool:
        """Whether the context would be smaller with the draft than it is now, before any file is read again.

        A session goes on while a summary is written. So what came since is on both sides, not weighed against the size when it was planned.
        """
        means = self._means
        return means.weigh(with_resume(draft.entry(), draft.policy, means.resume(at_work=True))) < means.sizes().used


def _planned(policy: Policy, view: Projection, wanted: WantedCompaction, sizes: DraftSizes) -> Draft | None:
    """The draft of what the policy's engine wants done, without its summary; None if that is nothing.

    Raises what the engine raises, `TypeError` where it gives no plan and `ValueError` for a summary before a call that needs none.
    """
    count, upkeep = counting(sizes.calibration), wanted.trigger == "upkeep"
    full = measured(policy.measure, sizes.used, view.messages, sizes.calibration)
    occasion = Occasion(view, wanted.trigger, full, sizes.threshold, sizes.window, count)
    plan = policy.engine.upkeep(occasion) if upkeep else policy.engine.plan(occasion)
    if plan is None:
        return None
    if not isinstance(plan, Plan):  # pyright: ignore[reportUnnecessaryIsInstance] - a package may give anything
        raise TypeError(f"its plan is {type(plan).__name__}")
    if upkeep and plan.summarise_to is not None:
        raise ValueError("it wants a summary before a call that needs none")
    spared = spare(plan, view, count)
    if spared is None or (upkeep and is_in_force(spared, view)):
        return None
    draft = Draft(wanted, spared, "moves", SummaryText(""), None, None, (), sizes.used, sizes.threshold, epoch_of(view), policy, view.key)
    if upkeep or spared.summarise_to is not None:
        return draft
    # What is left in the place of a short result may be longer.
    return draft if count(with_entry(view, draft.entry()).messages) < count(view.messages) else None


def as_stand_in(wanted: WantedCompaction, sizes: DraftSizes) -> tuple[WantedCompaction, DraftSizes]:
    """The request and the sizes for Ullage's own engine where it stands in for another policy: it compacts in any case, by its own
    threshold at most."""
    asking = wanted if wanted.trigger == "reactive" else replace(wanted, trigger="manual")
    return asking, replace(sizes, threshold=min(sizes.threshold, threshold_of(sizes.window, ULLAGE.threshold)))


def _writer_for_stand_in(policy: Policy, wanted: WantedCompaction, *, must: bool) -> Literal["model", "program"] | None:
    """Who writes the summary where Ullage's own engine stands in for a policy that found nothing to do; None if none stands in.

    A policy that never compacts has no way of its own. So where somebody asks for a compaction, it is made as Ullage's own would be.
    """
    if policy.never and wanted.trigger in ASKED_FOR:
        return "model"
    return "program" if must and policy.has_stand_in else None


def summary_by(policy: Policy, covered: Covered) -> SummaryText:
    """The text of a summary by the policy's engine, with secrets taken out. Raises what the engine raises, and `TypeError` where it gives
    no summary."""
    told = policy.engine.summarise(covered)
    if not isinstance(told, SummaryText):  # pyright: ignore[reportUnnecessaryIsInstance] - a package may give anything
        raise TypeError(f"its summary is {type(told).__name__}")
    # Also where a model wrote it: it may have read secrets.
    return replace(told, text=redact(told.text), acknowledgement=redact(told.acknowledgement), resume=redact(told.resume))


def _covered(view: Projection, draft: Draft, model_text: str | None, files: Mapping[str, str]) -> Covered:
    """What the engine gets to write a summary from. `view` may hold more than there was when the draft was planned."""
    entries, plan = view.entries, draft.plan
    whole = entries[: place_of(entries, plan.through + 1)]
    if is_anything_excluded(view):
        whole = log_without_excluded(view, whole)
    cut = place_of(whole, (plan.summarise_to or 0) + 1)
    return Covered(whole[:cut], plan, model_text, draft.wanted.focus, summary_room(draft.threshold), files, whole[cut:])
