"""The work of `ullage report`: the options, and what they ask of one file of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from ullage.context.policy import Policy
from ullage.installed_policies import policies
from ullage.recorded.transcript import Transcript
from ullage.replay.measuring.projects import project_of
from ullage.replay.places import Place, UnreadablePlace, sessions_of
from ullage.replay.pricing.cost import cost_of
from ullage.replay.simulating.prepared import PreparedSession, ReplaySettings
from ullage.replay.simulating.simulation import outcome_of
from ullage.replay.spending.spent import Spent, spent_in
from ullage.replay.spending.sums import RECORDED, PolicySum, Sums

SETTINGS = ReplaySettings(at="policy", summary="none")
"""How sessions are carried through policies. It is for cost alone, so a blank of the usual size stands for a summary that a model would
write."""


@dataclass(frozen=True, slots=True)
class SpendingOptions:
    """The options of the work. `policies` are by name; without any, nothing is carried through them. `jobs` of None: one a core."""

    policies: tuple[str, ...] = ()
    since: date | None = None
    """The first day that counts (UTC)."""
    jobs: int | None = None


@dataclass(frozen=True, slots=True)
class SpentConversation:
    """What a session or a sub-agent spent, by its name, and what it would have cost under the policies."""

    name: str
    spent: Spent
    carried: Sums


@dataclass(frozen=True, slots=True)
class FileSpending:
    """What was spent in one file. `failures` say what could not be done, for the user."""

    conversations: tuple[SpentConversation, ...] = ()
    failures: tuple[str, ...] = ()


def file_spending(place: Place, options: SpendingOptions) -> FileSpending:
    """Works out what the sessions of a file spent. The texts of a session are let go before the next is read."""
    found: list[SpentConversation] = []
    failures: list[str] = []
    try:
        for transcript in sessions_of(place):
            spent = spent_in(transcript, options.since)
            carried = _carried(transcript, options.policies, failures) if options.policies and spent.calls else Sums()
            found.append(SpentConversation(transcript.session_id, spent, carried))
    except UnreadablePlace as error:
        failures.append(str(error))
    if not found and not failures:
        failures.append(f"{place} holds no sessions")
    return FileSpending(tuple(found), tuple(failures))


def unfinished(reason: str) -> FileSpending:
    """What stands for the spending in a file that was not finished."""
    return FileSpending(failures=(reason,))


def _carried(transcript: Transcript, names: Sequence[str], failures: list[str]) -> Sums:
    """The sums of the session under each policy, and as recorded. Empty if they cannot be told under one of them."""
    recorded = cost_of(transcript)
    if recorded.unpriced or not recorded.dollars.total:
        return Sums(left_out=1)
    known = policies()
    session, project = PreparedSession(transcript), project_of(transcript.project)
    found = {(RECORDED, project): PolicySum(1, recorded.dollars.total + recorded.summaries_warm.total, len(transcript.compactions), None)}
    for name in names:
        carried = _under(session, known[name], failures)
        if carried is None:
            return Sums(left_out=1)
        found[name, project] = carried
    return Sums(carried=found)


def _under(session: PreparedSession, policy: Policy, failures: list[str]) -> PolicySum | None:
    run = outcome_of(session, policy, SETTINGS).run
    if run.failure:
        failures.append(f"session {run.session_id} cannot be carried through {policy.name}: {run.failure}")
    if run.failure or not run.requests:
        return None
    return PolicySum(1, run.total, sum(not point.upkeep for point in run.compactions), run.forgetting)
