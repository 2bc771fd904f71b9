"""The report as a terminal shows it unless all of it is asked for: on one screen, the answer first.

Every table, with what its columns mean, is in `report_table.py` (`--full`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import add

from ullage.context.compaction.needed import FactKind
from ullage.recorded.readers.values import printable
from ullage.recorded.retention import HitShare
from ullage.replay.measuring.comparison import Comparison, PolicyChoice, PolicyStanding, choose, compared
from ullage.replay.measuring.figures import Figures, MeasuredSession, Report, as_recorded, together
from ullage.replay.measuring.projects import ByProject, by_project
from ullage.replay.reporting.answer import in_words
from ullage.replay.reporting.policies_table import cautions, in_short, left_out_lines
from ullage.replay.reporting.report_table import PROGRAMS, cost_of, items, notes, section, shortfalls, wrapped
from ullage.replay.reporting.wording import ABSENT, LEFT_OUT, columns, estimated, incomplete, missing, money, number, percent

MOST_SESSIONS = 12
"""How many sessions are shown, those that cost most; `--full` shows all."""

LONGEST_ID = 16
"""How many characters of a session's name are shown."""

_KINDS: dict[FactKind, str] = {
    "path": "paths",
    "identifier": "names in code",
    "hash": "hashes",
    "error": "errors",
    "user message": "messages of the user",
}


def as_short(report: Report) -> str:
    """The short report as text: all that a terminal shows at first."""
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    every = together(row.figures for row in report.rows)
    yield from wrapped(_in_all(report.rows, every))
    if every.compactions:
        yield from wrapped(_needed(every))
    yield ""
    if report.policies:
        yield from _policies(report)
    yield from _sessions(report.rows)
    yield from _rest(report)


def _in_all(rows: Sequence[MeasuredSession], every: Figures) -> str:
    """The recorded sessions together, in a sentence or two."""
    programs = " and ".join(dict.fromkeys(PROGRAMS[row.source] for row in rows))
    told = [f"{number(len(rows))} {'session' if len(rows) == 1 else 'sessions'} of {programs}: {number(every.calls.made)} requests"]
    if "tokens" not in missing(every):
        told.append(
            f"{number(every.tokens.total_input_tokens)} tokens sent, {percent(every.share_from_cache)} of them from the prompt cache"
        )
    told.append(f"{number(every.compactions)} {'compaction' if every.compactions == 1 else 'compactions'}")
    if "dollars" in missing(every):
        return f"{', '.join(told)}. What it cost is not known: {missing(every)['dollars']}."
    in_part = f" ({incomplete(every)['dollars']})" if "dollars" in incomplete(every) else ""
    return f"{', '.join(told)}. It cost {money(every.dollars.total)}{in_part}."


def _needed(every: Figures) -> str:
    """The sentences that say what of what was needed later stood in the recorded summaries."""
    if "needed later" in missing(every):
        return f"What the summaries kept is not known: {missing(every)['needed later']}."
    shares = [(name, every.kept.kinds[kind].kept) for kind, name in _KINDS.items()]
    told = ", ".join(f"{share.hits} of {share.of} {name}" for name, share in shares if share.of)
    kept = f"Of what was needed after the compactions the summaries held {told}" if told else "Nothing was needed after the compactions"
    return f"{kept}. Read again after having been read before: {_files(every.kept.files_read_again)}."


def _files(count: int) -> str:
    return f"{number(count)} {'file' if count == 1 else 'files'}"


def _policies(report: Report) -> Iterator[str]:
    comparison = compared(report.runs)
    choice = choose(comparison)
    recorded = as_recorded(report.rows, comparison.sessions)
    yield from section("The answer", (), next(in_words(comparison, choice, recorded)))
    standings = [*comparison.by_cost(), *([comparison.optimum] if comparison.optimum is not None else [])]
    by = by_project(report.rows, comparison)
    yield from section("Policies", _standings(standings, by))
    of_projects = in_short(by, choice.best.policy) if choice.best is not None else ()
    yield from items(LEFT_OUT, left_out_lines(by))
    yield from items("", [*of_projects, *_reservations(comparison, choice)])


def _standings(standings: Iterable[PolicyStanding], by: ByProject) -> Iterator[str]:
    head = ["policy", "cost", "compactions", "context|mean", "needed later:|in view", "or found by|a search", "lost"]
    return columns(head, [[each.policy, *_standing_cells(each, by)] for each in standings], left=1)


def _standing_cells(standing: PolicyStanding, by: ByProject) -> list[str]:
    if not standing.runs:
        return [ABSENT] * 6
    cost = money(standing.total) if standing.priced else ABSENT
    cells = [cost, number(standing.compactions), number(standing.mean_context)]
    needed = standing.needed
    if not needed.needed or standing.stood_in.get("blank"):
        return [*cells, *[ABSENT] * 3]
    mark = "*" if standing.unjudged else ""
    figure = next((each for each in by.together if each.policy == standing.policy), None)
    sure = figure.estimates["needed_in_view"] if figure is not None else None
    in_view = estimated(sure) if sure is not None and sure.share.of else percent(needed.kept.value)
    return [*cells, in_view + mark, percent(needed.within_reach.value) + mark, number(needed.lost) + mark]


def _reservations(comparison: Comparison, choice: PolicyChoice) -> Iterator[str]:
    """The sentences that say what keeps a policy from being taken at its figures."""
    yield from cautions(comparison.standings)
    yield from (f"{name} is ruled out: {why}" for name, why in choice.ruled_out.items())
    if comparison.left_out:
        count = len(comparison.left_out)
        yield f"{number(count)} {'session is' if count == 1 else 'sessions are'} in no sum of policies (--full says why)"


def _sessions(rows: Sequence[MeasuredSession]) -> Iterator[str]:
    """The table of the dearest sessions; of all that were read where these are few."""
    numbered = sorted(enumerate(rows, 1), key=lambda each: (-each[1].figures.dollars.total, each[0]))[:MOST_SESSIONS]
    head = ["#", "session", "models", "requests", "cost", "from|cache", "context|largest", "compactions", "needed|later, kept"]
    cells = [[str(index), *_session_cells(row)] for index, row in numbered]
    title = "Sessions" if len(rows) <= MOST_SESSIONS else f"The {MOST_SESSIONS} sessions that cost most"
    return section(title, columns(head, cells, left=3))


def _session_cells(row: MeasuredSession) -> list[str]:
    figures, without = row.figures, missing(row.figures)
    kept = reduce(add, (each.kept for each in figures.kept.kinds.values()), HitShare())
    name = row.session_id if len(row.session_id) <= LONGEST_ID else f"{row.session_id[: LONGEST_ID - 1]}…"
    return [
        printable(name),
        ", ".join(map(printable, row.models)) or ABSENT,
        number(figures.calls.made),
        cost_of(figures),
        ABSENT if "tokens" in without else percent(figures.share_from_cache),
        ABSENT if "tokens" in without else number(figures.largest_context),
        number(figures.compactions),
        ABSENT if "needed later" in without else f"{kept.hits}/{kept.of}",
    ]


def _rest(report: Report) -> Iterator[str]:
    """The lines that say what else there is, and how to see it."""
    rows = [(str(index), row.figures) for index, row in enumerate(report.rows, 1)]
    marks = f"{ABSENT} not known, * partial or estimated. "
    remarks = len([*shortfalls(rows), *notes(report.rows)])
    told = f"{remarks} remarks on what is missing, partial or was mended, and every" if remarks else "Every"
    yield from wrapped(f"{marks}{told} table with what it means: --full. For the eye: --report FILE; for programs: --format json.")
