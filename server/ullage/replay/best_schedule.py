"""The optimum of a session among the runs of policies: what the choice of schedules (`optimum.py`) has to be told, and its answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ullage.context.engines.engine import Unchanging
from ullage.context.policy import Policy
from ullage.replay.cache import Prefix
from ullage.replay.carried import Carried
from ullage.replay.laid_out import LaidOut
from ullage.replay.made import Outcome
from ullage.replay.optimum import Choice, Leaves, Step, cheapest_of
from ullage.replay.prepared import Prepared, Settings
from ullage.replay.runs import Run
from ullage.replay.shapes import HABITS
from ullage.replay.simulation import outcome_of
from ullage.replay.transcript import RecordedCompaction

ASKED_AT = (0.5, 0.75)
"""Of a session in which a policy made no compaction: where it is asked for one, to see what it would leave."""


def best_schedule(session: Prepared, outcomes: Sequence[Outcome], default: Policy, settings: Settings) -> Iterator[Run]:
    """The cheapest run of a session under the name `optimum`: by the choice of a schedule with what each policy's compactions leave, or
    what one of the policies did itself. Nothing where the session has no counted request.

    Where none of them made any, `default` is asked what its compactions would leave.
    """
    leaves = [outcome.leaves for outcome in outcomes if outcome.leaves is not None]
    steps = tuple(steps_of(session, settings))
    if not leaves:
        asked = _asked(session, default, settings).leaves
        # What cannot be compacted is left as large as it is.
        leaves = [asked or Leaves(default.name, max((step.context for step in steps), default=0))]
    writes_cost = HABITS[session.transcript.source].writes_cost
    choices = [Choice(steps, each, writes_cost=writes_cost) for each in leaves]
    session_id = session.transcript.session_id
    found = [choice.run(session_id, choice.cheapest()) for choice in choices]
    yield from cheapest_of([*found, *(outcome.run for outcome in outcomes)])


def steps_of(session: Prepared, settings: Settings) -> Iterator[Step]:
    """The requests of a session were nothing compacted."""
    carried = Carried(Unchanging(), "")
    laid_out = LaidOut(carried, session.sizes, session.memo.block)
    windows = session.windows(settings)
    sent: set[bytes] = set()
    for logged in session.transcript.entries:
        request = session.requests.get(logged.seq)
        if request is not None:
            carried.settle()
            laid_out.learn(request.sizes, changes=request.changes)
            end = laid_out.end(carried.projection)
            shape = request.recorded.shape
            found = request.recorded.recorded.cache_read_tokens
            is_first = not sent
            shared = _shared(end, sent)
            if is_first and found in {mark.prefix.tokens for mark in shape.marks}:
                shared = found
            yield Step(
                logged.seq,
                shape.at,
                shape.model,
                shape.marks[0].ttl,
                end.tokens,
                shared,
                laid_out.system.tokens,
                shape.output_tokens,
                windows[shape.model],
            )
        carried.take(logged)


def _shared(end: Prefix, sent: set[bytes]) -> int:
    """Tokens that an earlier request had too; `sent` learns what this one has."""
    shared = 0
    for prefix in end.backwards():
        if prefix.digest in sent:
            shared = prefix.tokens
            break
        sent.add(prefix.digest)
    return shared


def _asked(session: Prepared, policy: Policy, settings: Settings) -> Outcome:
    entries = session.transcript.entries
    places = sorted({int(len(entries) * share) for share in ASKED_AT} - {0})
    asked = tuple(RecordedCompaction(place, "", None, None, None) for place in places)
    return outcome_of(session.with_compactions(asked), policy, replace(settings, at="recorded", summary="digest"))
