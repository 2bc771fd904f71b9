"""The figures of each project by itself, beside those of all others: whether what holds in one holds in the next, and how sure that is.

A project is told by the name of the folder in which the agent worked. The figures of all but one show how much that one weighs.
Where `ullage` is there with each choice of its fitted options, one is chosen without each project and held against it (`leaving_out.py`).

How sure a share is, says an interval by bootstrap. Sessions are drawn, with replacement, and not facts: facts of one session stand and fall
together. Sub-agents belong to the session that they work for. The draws are the same in every run, so that a report can be repeated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from operator import add
from random import Random

from ullage.recorded.retention import HitShare, KindRetention
from ullage.replay.measuring.comparison import OPTIMUM, Comparison
from ullage.replay.measuring.figures import MeasuredSession
from ullage.replay.measuring.leaving_out import LEFT_OUT, left_out, variants_in
from ullage.replay.measuring.runs import Retained

DRAWS = 1_000
COVERAGE = 0.95
"""The share of the draws that lie in the interval."""
FEWEST_SESSIONS = 3
"""The fewest sessions for an interval: with fewer it says nothing."""
_MOST_NUMBERS = 2_000_000
"""How many numbers all draws take together at most, so that memory is bounded where there are very many sessions."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The range in which the share of other sessions of the same kind would lie."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share over `sessions` that had something of the kind; without an interval where these are too few."""

    share: HitShare
    sessions: int
    interval: Interval | None


def estimate(shares: Sequence[HitShare]) -> Estimate:
    """The share over sessions together, with its interval. `shares` are those of single sessions."""
    some = [each for each in shares if each.of]
    low_high = ratio_interval([(each.hits, each.of) for each in some])
    return Estimate(sum(some, HitShare()), len(some), low_high)


def ratio_interval(parts: Sequence[tuple[float, float]]) -> Interval | None:
    """The interval of one sum divided by another, each part being a session's. None if there are too few sessions, where there is nothing
    to divide by, and where all are so alike that drawing them tells nothing."""
    if len(parts) < FEWEST_SESSIONS or any(below < 0 for _, below in parts) or not any(below for _, below in parts):
        return None
    above, below = [each for each, _ in parts], [each for _, each in parts]
    drawn: list[float] = []
    for draw in _draws(len(parts)):
        divisor = sum(map(below.__getitem__, draw))
        if divisor:
            drawn.append(sum(map(above.__getitem__, draw)) / divisor)
    drawn.sort()
    tail = (1 - COVERAGE) / 2
    low, high = drawn[int(tail * (len(drawn) - 1))], drawn[round((1 - tail) * (len(drawn) - 1))]
    return Interval(low, high) if high - low > 1e-9 else None


@lru_cache(maxsize=16)
def _draws(sessions: int) -> tuple[tuple[int, ...], ...]:
    random = Random(sessions)  # noqa: S311 - no secret
    often = max(100, min(DRAWS, _MOST_NUMBERS // sessions))
    return tuple(tuple(random.choices(range(sessions), k=sessions)) for _ in range(often))


NO_PROJECT = "(not known)"
RECORDED = "as recorded"
_WORKTREE = re.compile(r"(?:[^/]*/)*?([^/]+)(?:/\.claude|/\.git)?(?:/\.?worktrees|-worktrees|/\.conductor)/")
"""Where tools put the worktrees of a repository: in a folder inside of it, or in one beside it that is called after it."""
BESIDE = "claude-code"
"""The policy beside whose cost that of the others is shown."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A share of what was needed after compactions."""

    key: str
    name: str
    of: Callable[[Retained], HitShare]


def _all_kinds(retained: Retained) -> HitShare:
    return reduce(add, retained.kinds.values(), KindRetention()).kept


def _with_files(retained: Retained) -> HitShare:
    return reduce(add, retained.with_files.values(), KindRetention()).kept


MEASURES: tuple[Measure, ...] = (
    Measure("needed_in_view", "needed,|in view", _all_kinds),
    Measure("needed_in_view_with_files_put_back", "with files|put back", _with_files),
    Measure("identifier_beside_its_file", "names by|file", lambda retained: retained.tied),
    Measure("files_in_view", "files|in view", lambda retained: retained.restored),
    Measure("text_acquired_again_in_view", "text again|in view", lambda retained: retained.acquired.again),
    Measure("identifiers_in_summaries_then_used", "names in it|then used", lambda retained: retained.named.names),
)


CHOSEN_BY = "text_acquired_again_in_view"
"""The measure by which the fitted options were chosen."""


@dataclass(frozen=True, slots=True)
class ProjectPart:
    """What came of one session under a policy, or of its record. `dollars` are None if they are not known."""

    session: str
    project: str
    policy: str
    dollars: float | None
    compactions: int
    retained: Retained
    forgetting: float | None = None
    """Dollars; None if it is not known."""


@dataclass(frozen=True, slots=True)
class OfPolicy:
    """The figures of a policy over the sessions of a project, or of several."""

    policy: str
    sessions: int
    compactions: int
    dollars: float | None
    beside: float | None
    """The cost as a share of that of the policy `BESIDE` over the same sessions."""
    beside_interval: Interval | None
    beside_forgetting: float | None
    """The same share, where both have the cost of forgetting with them; None if that is not known of one of them."""
    beside_forgetting_interval: Interval | None
    mean_characters: float | None
    """The mean length of a summary in characters; None if there is none."""
    estimates: Mapping[str, Estimate]
    """The estimate of each measure, by the measure's key."""

    def value(self, key: str) -> float | None:
        """The share of the measure with this key; None where nothing was needed."""
        return self.estimates[key].share.value


@dataclass(frozen=True, slots=True)
class Project:
    """The figures of a project. `without` has those of all other projects together, where there are any."""

    name: str
    folders: tuple[str, ...]
    """The folders in which its sessions took place."""
    sessions: int
    policies: tuple[OfPolicy, ...]
    without: tuple[OfPolicy, ...]


@dataclass(frozen=True, slots=True)
class ByProject:
    """The figures of every project, in the order in which they were met, and of all together."""

    projects: tuple[Project, ...]
    together: tuple[OfPolicy, ...]
    chosen: Mapping[str, str] = field(default_factory=dict[str, str])
    """The name of the policy that was chosen without a project, by project; empty if there was nothing to choose."""
    left_out: OfPolicy | None = None
    """The figures of what was chosen without each project, on that project, all together; None if there was nothing to choose."""

    def mean(self, policy: str, key: str) -> float | None:
        """The mean over projects of a policy's share by the measure `key`, each project counted once, however many sessions it has. None if
        no project has the share."""
        of_policy = [each for project in self.projects for each in project.policies if each.policy == policy]
        values = [value for each in of_policy if (value := each.value(key)) is not None]
        return sum(values) / len(values) if values else None


def by_project(rows: Sequence[MeasuredSession], comparison: Comparison) -> ByProject:
    """The figures by project of the sessions that are compared; without policies those of all sessions as they were recorded."""
    parts = [*_of_policies(rows, comparison)] or [*_recorded(rows)]
    folders: dict[str, dict[str, None]] = {}
    for row in rows:
        folders.setdefault(project_of(row.project), {})[row.project] = None
    projects = [
        Project(
            name,
            tuple(folder for folder in folders.get(name, ()) if folder),
            len({each.session for each in parts if each.project == name}),
            _figures([each for each in parts if each.project == name]),
            _figures([each for each in parts if each.project != name]),
        )
        for name in dict.fromkeys(each.project for each in parts)
    ]
    variants = variants_in(each.policy for each in parts) if len(projects) > 1 else ()
    elsewhere = {project.name: [each for each in project.without if each.policy in variants] for project in projects}
    chosen = {name: each.policy for name, each in left_out(elsewhere, lambda each: each.value(CHOSEN_BY)).items()}
    held = [replace(each, policy=LEFT_OUT) for each in parts if chosen.get(each.project) == each.policy]
    beside = [each for each in parts if each.policy == BESIDE]
    return ByProject(tuple(projects), _figures(parts), chosen, _figure(LEFT_OUT, held, beside) if held else None)


def _of_policies(rows: Sequence[MeasuredSession], comparison: Comparison) -> Iterable[ProjectPart]:
    """What came of each session under each policy. What a policy kept is left out where it says nothing of the policy
    (`PolicyStanding.unjudged`)."""
    projects = {row.session_id: project_of(row.project) for row in rows}
    judged = {each.policy for each in comparison.standings if each.keeps_known}
    forgetting_known = {each.policy for each in comparison.standings if each.forgetting_known}
    for session in comparison.sessions:
        for run in comparison.runs[session]:
            forgetting = run.forgetting if run.policy in forgetting_known else None
            if run.policy != OPTIMUM and not run.failure:
                compactions = sum(not point.upkeep for point in run.compactions)
                retained = run.retained if run.policy in judged else Retained()
                yield ProjectPart(
                    root_of(session), projects.get(session, NO_PROJECT), run.policy, run.total, compactions, retained, forgetting
                )


def _recorded(rows: Sequence[MeasuredSession]) -> Iterable[ProjectPart]:
    for row in rows:
        kept = row.figures.kept
        retained = Retained(kept.measured, kept.kinds, kept.kinds, kept.names_beside_their_file, named=kept.named)
        dollars = row.figures.dollars.total if row.figures.calls.priced else None
        yield ProjectPart(root_of(row.session_id), project_of(row.project), RECORDED, dollars, row.figures.compactions, retained)


def root_of(session: str) -> str:
    """The session that a sub-agent works for; the session itself where it is none."""
    return session.partition("/")[0]


def _figures(parts: Sequence[ProjectPart]) -> tuple[OfPolicy, ...]:
    """The figures of each policy."""
    cost_beside = [each for each in parts if each.policy == BESIDE]
    return tuple(
        _figure(policy, [each for each in parts if each.policy == policy], cost_beside)
        for policy in dict.fromkeys(each.policy for each in parts)
    )


def _by_session(parts: Iterable[ProjectPart]) -> dict[str, float]:
    dollars: dict[str, float] = {}
    for part in parts:
        dollars[part.session] = dollars.get(part.session, 0.0) + (part.dollars or 0.0)
    return dollars


def _with_forgetting(parts: Iterable[ProjectPart]) -> dict[str, float]:
    """The dollars of each session with those of forgetting, for the sessions of which both are known."""
    return _by_session(
        replace(part, dollars=part.dollars + part.forgetting) for part in parts if part.dollars is not None and part.forgetting is not None
    )


def _pairs(of: Mapping[str, float], beside: Mapping[str, float]) -> list[tuple[float, float]]:
    return [(of[session], beside[session]) for session in of if session in beside]


def _ratio(pairs: Sequence[tuple[float, float]]) -> float | None:
    below = sum(each for _, each in pairs)
    return sum(each for each, _ in pairs) / below if below else None


def _figure(policy: str, parts: Sequence[ProjectPart], cost_beside: Sequence[ProjectPart]) -> OfPolicy:
    kept: dict[str, Retained] = {}
    for part in parts:
        kept[part.session] = kept.get(part.session, Retained()) + part.retained
    named = reduce(add, (each.named for each in kept.values()), Retained().named)
    dollars = _by_session(parts)
    pairs = _pairs(dollars, _by_session(cost_beside))
    forgetting = _pairs(_with_forgetting(parts), _with_forgetting(cost_beside))
    return OfPolicy(
        policy=policy,
        sessions=len(kept),
        compactions=sum(part.compactions for part in parts),
        dollars=None if any(part.dollars is None for part in parts) else sum(dollars.values()),
        beside=_ratio(pairs),
        beside_interval=ratio_interval(pairs) if policy != BESIDE else None,
        beside_forgetting=_ratio(forgetting),
        beside_forgetting_interval=ratio_interval(forgetting) if policy != BESIDE else None,
        mean_characters=named.mean_characters,
        estimates={each.key: estimate([each.of(retained) for retained in kept.values()]) for each in MEASURES},
    )


def project_of(folder: str) -> str:
    """The name of the project that a folder belongs to: the folder's own, or, where it is a worktree, that of the repository.

    Copies of a repository at several places, and on several machines, so are one project; so are two that only have the name in common.
    """
    path = folder.replace("\\", "/").rstrip("/")
    repository = _WORKTREE.match(path)
    return (repository[1] if repository is not None else path.rpartition("/")[2]) or NO_PROJECT
