"""What the user does to compactions by hand, and what the newest compaction says against another. The same live and in replay.

If an undo would make the conversation too large for its window, cheap moves make it fit, as little as serves and without a summary. If
something was pinned since a compaction was undone, it is made again without touching that.

If the user undid the newest compaction, they want all of it kept, and none is made by itself before much more has come
(`NewestUndone`). Without that an undo would only put a compaction off: at the threshold the next prompt, or a pause in typing, made it
again. If the model has not answered since the newest one, another would change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from ullage.context.blocks import Message
from ullage.context.compaction_entries import BY_THE_USER, Compaction, CompactionRedone, CompactionUndone, Snipped
from ullage.context.entries import AssistantReply, Entry, Logged
from ullage.context.moves.cheap import between, clear
from ullage.context.moves.cuts import legal_cuts
from ullage.context.moves.plan import Count, Digest, Plan, preview, spare
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import UllageOptions
from ullage.context.summary.program_summary import brief
from ullage.context.view.fates import counts
from ullage.context.view.projection import Projection
from ullage.context.view.taken_out import gone_by

FIT_SHARE = 0.95
"""Share of the window that an undo is made to fit into: the next prompt needs room, too, and calls are held at 98 %."""

TRIES = 4
"""Tries to cut out enough. The marker for it tells in a few lines what was cut out, so its length shows only when it is written."""


def by_hand(id: str, through: int, tokens_before: int, policy: str = BY_THE_USER) -> Compaction:
    """A compaction made by the user's hand, with no edits yet."""
    return Compaction(
        *(id, "manual", "moves", through, (), None, None, (), "", ""), policy=policy, tokens_before=tokens_before, estimated_after=0
    )


def tokens_of(view: Projection, before: Projection, used: int, count: Count) -> int:
    """Tokens that `view` holds. `before` holds `used` tokens, and the estimate tells how much more or less `view` has."""
    return used if view is before else used - count(before.messages) + count(view.messages)


def made_to_fit(id: str, view: Projection, tokens: int, window: int, count: Count) -> Compaction | None:
    """The compaction that makes `view`, which holds that many tokens, fit into the window with some room to go on; None if none can."""
    planned = fitting(view, tokens - int(window * FIT_SHARE), UllageOptions(), count, brief)
    if planned is None:
        return None
    entry = replace(by_hand(id, planned.through, tokens, ULLAGE.name), cleared=planned.cleared, snipped=planned.snipped)
    after = tokens - count(view.messages) + planned.estimated_after
    return replace(entry, estimated_after=after, counts=counts(view, entry))


def fitting(view: Projection, too_many: int, options: UllageOptions, count: Count, digest: Digest) -> Plan | None:
    """The plan that makes the messages of `view` at least `too_many` tokens fewer: old results are cleared, and where that is not enough
    the middle is cut out, as little of it as serves. None if even that is not enough, or what is pinned is too much.
    """
    before = count(view.messages)
    for plan in _plans(view, before - too_many, options, count, digest):
        spared = spare(plan, view, count)
        if spared is not None:
            after = count(preview(view, spared.cleared, spared.snipped).messages)
            if after <= before - too_many:
                return replace(spared, estimated_after=after)
    return None


def _plans(view: Projection, room: int, options: UllageOptions, count: Count, digest: Digest) -> Sequence[Plan]:
    through = view.entries[-1].seq
    cleared = clear(view, options.clear)
    alone = Plan(through, cleared, None, None, 0, 0)
    shown = preview(view, cleared)
    snipped = _middle(shown, count(shown.messages) - room, options, count, digest)
    return [*([alone] if cleared else []), *([replace(alone, snipped=snipped)] if snipped is not None else [])]


def _middle(view: Projection, too_many: int, options: UllageOptions, count: Count, digest: Digest) -> Snipped | None:
    """The shortest range after the first few messages that frees that many tokens, with what its marker takes; the last few messages stay.
    None if no range does."""
    messages: Sequence[Message] = tuple(view.messages)
    cuts = legal_cuts(messages)
    first = min((cut for cut in cuts if cut >= options.snip.keep_first), default=len(messages))
    before = list(accumulate((count([message]) for message in messages), initial=0))
    latest = len(messages) - options.summary.reactive_keep_messages
    needed = too_many
    for _ in range(TRIES):
        last = next((cut for cut in cuts if first < cut <= latest and before[cut] - before[first] >= needed), None)
        found = between(view, first, last, digest) if last is not None else None
        if found is None:
            return None
        gained = before[-1] - count(preview(view, snipped=found).messages)
        if gained >= too_many:
            return found
        needed += too_many - gained
    return None


def again(undone: Compaction, projection: Projection, count: Count) -> Compaction | None:
    """The undone compaction without what it does to pinned entries: unchanged if it does nothing to any, or if the user took something out
    with it. None if nothing is left of it, or what must stay would come between the API's block and the turns after it.

    `projection` is the view without it. Files are not read again: those that it restored may have changed.
    """
    told = undone.summarised
    to, covers, carried = (told.last_seq, told.messages, told.carried) if told is not None else (None, 0, ())
    plan = Plan(undone.through, undone.cleared, undone.snipped, to, covers, 0, carried=carried)
    spared = plan if gone_by(undone) else spare(plan, projection, count)
    if spared is None:
        return None
    if (spared.cleared, spared.snipped, spared.carried) == (plan.cleared, plan.snipped, plan.carried):
        return undone
    if told is None:
        return replace(undone, cleared=spared.cleared, snipped=spared.snipped, restored=(), resume="", nearby="")
    if told.block is not None:
        return None
    summarised = replace(told, carried=spared.carried)
    return replace(undone, cleared=spared.cleared, snipped=spared.snipped, summarised=summarised, restored=(), resume="", nearby="")


def as_new(made: Compaction, id: str, tokens_before: int, view: Projection) -> Compaction:
    """What `again` left of a compaction, as an entry of its own. Nothing was spent on it, and its size is not known yet."""
    entry = replace(made, id=id, tokens_before=tokens_before, usage=None, cost=None, skipped=())
    return replace(entry, counts=counts(view, entry))


# What the newest compaction says


class NewestUndone:
    """Tells for one log whether the newest compaction is undone, and how much came since. Asking costs only what was logged since the last
    time.

    These count as no compactions: what the user takes out by hand, what a policy does before every call, and what is cleared for an undo.
    """

    def __init__(self) -> None:
        self._read = 0
        self._newest = ""
        self._before: Entry | None = None
        self._is_so = False
        self._first_request: int | None = None
        """Tokens of the first request after the undo; None if there was none."""
        self._is_unpriced = False
        """Whether there was one, but the server did not say how many tokens it took."""

    def is_so(self, entries: Sequence[Logged]) -> bool:
        """Whether the newest compaction is undone."""
        for index in range(self._read, len(entries)):
            self._take(entries[index].entry)
        self._read = len(entries)
        return self._is_so

    def grown(self, entries: Sequence[Logged], used: int) -> int | None:
        """Tokens by which the context, which holds `used`, has grown since the first request after the undo; 0 if there was none yet. None
        if the newest compaction is not undone."""
        if not self.is_so(entries):
            return None
        if self._first_request is None and self._is_unpriced:
            self._first_request = used
        return 0 if self._first_request is None else used - self._first_request

    def _take(self, entry: Entry) -> None:
        match entry:
            case Compaction() if self._makes_room(entry):
                self._newest, self._is_so = entry.id, False
            case CompactionUndone(compaction_id=self._newest):
                self._is_so, self._first_request, self._is_unpriced = True, None, False
            case CompactionRedone(compaction_id=self._newest):
                self._is_so = False
            case AssistantReply(usage=usage) if self._is_so and self._first_request is None:
                self._first_request = usage.total_input_tokens if usage is not None else None
                self._is_unpriced = usage is None
            case _:
                pass
        self._before = entry

    def _makes_room(self, made: Compaction) -> bool:
        for_an_undo = isinstance(self._before, CompactionUndone) and made.rung == "moves"
        return made.trigger != "upkeep" and not for_an_undo and not gone_by(made)


def left_by_newest(projection: Projection) -> int:
    """Tokens that the newest summary in force left; 0 if there is none."""
    newest = next((each for each in reversed(projection.active) if each.summarised is not None), None)
    return newest.estimated_after if newest else 0


def replied_since(projection: Projection) -> bool:
    """Whether the model has answered since the last compaction: without an answer another one would change nothing.

    A compaction that was undone does not count, nor do moves by hand (what the user took out, what was cleared for an undo): they leave
    something to summarise.
    """
    undone: set[str] | None = None
    for logged in reversed(projection.entries):
        entry = logged.entry
        if isinstance(entry, AssistantReply):
            return True
        if isinstance(entry, Compaction) and entry.trigger != "upkeep" and (entry.trigger != "manual" or entry.summarised is not None):
            undone = {each.id for each in projection.undone} if undone is None else undone
            if entry.id not in undone:
                return False
    return False
