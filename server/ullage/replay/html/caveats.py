"""What to keep in mind before trusting the answer: worked out from the runs, each only where it applies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ullage.replay.columns import number, percent, ranges
from ullage.replay.explanations import incomplete, missing
from ullage.replay.figures import Report, together
from ullage.replay.html.choice import FEW_FACTS, Choice
from ullage.replay.html.comparison import OPTIMUM, Comparison, Standing

FEW_COMPACTIONS = 10
MOST_NAMED = 5
"""Sessions, files or policies that are named one by one."""

_STOOD_IN = {
    "digest": "the program's digest stood for the summary that a model would have written, so what these policies keep is what the digest "
    "keeps: their own prompts may keep more or less",
    "recorded": "the summary recorded in the transcript stood for the one that a model would have written for this policy",
    "blank": "a blank of fixed size stood for the summary: good for the cost, and saying nothing of what is kept",
}


def caveats(report: Report, comparison: Comparison, choice: Choice) -> Iterator[str]:
    """In the order of their weight."""
    if comparison.standings:
        yield (
            "A replay repeats what the agent did. Under another policy it would have had other things in view, and would have read, asked "
            "and tried other things: the figures compare the policies, they do not foretell a bill."
        )
    yield from _stood_in(comparison.standings)
    yield from _few(comparison)
    yield from _upkeep(comparison.standings)
    for policy, why in choice.ruled_out.items():
        yield f"{policy} is ruled out: {why}."
    yield from _sessions(report, comparison)
    yield from _error(report)
    yield from _shortfalls(report)
    yield from (f"Not read: {failure}" for failure in report.failures[:MOST_NAMED])
    if len(report.failures) > MOST_NAMED:
        yield f"Not read: {number(len(report.failures) - MOST_NAMED)} more files."


def _stood_in(standings: Sequence[Standing]) -> Iterator[str]:
    for kind, words in _STOOD_IN.items():
        of_it = [each for each in standings if each.stood_in.get(kind)]
        if of_it:
            summaries = sum(each.stood_in[kind] for each in of_it)
            names = ", ".join(each.policy for each in of_it)
            yield f"In {number(summaries)} compactions ({names}) {words}."


def _upkeep(standings: Sequence[Standing]) -> Iterator[str]:
    told = {
        True: "more often than they compact, so what these keep is not known, and they stand outside of every comparison of that",
        False: "so these keep somewhat less than is shown",
    }
    for is_unjudged, words in told.items():
        of_it = [each for each in standings if each.upkeep and bool(each.unjudged) == is_unjudged and not each.stood_in.get("blank")]
        if of_it:
            names = ", ".join(f"{each.policy} before {number(each.upkeep)} of {number(each.requests)} requests" for each in of_it)
            yield f"What is cleared or cut before a call though nothing is full (upkeep) is not looked at: {names}, {words}."


def _few(comparison: Comparison) -> Iterator[str]:
    if not comparison.standings:
        return
    quiet = [id for id in comparison.sessions if not any(run.compactions for run in comparison.runs[id] if run.policy != OPTIMUM)]
    if quiet:
        yield (
            f"In {number(len(quiet))} of {number(len(comparison.sessions))} sessions no policy had to compact. They tell nothing of what "
            "policies keep, and cost the same under all but for how results are clipped."
        )
    most = max(comparison.standings, key=lambda each: each.needed.needed)
    if most.compactions + most.upkeep and most.needed.needed < FEW_FACTS:
        yield (
            f"Few facts: no more than {number(most.needed.needed)} were needed after the compactions of any one policy. Differences of a "
            "few percent in what is kept are a handful of facts; replay more sessions before you rely on them."
        )
    busiest = max(each.compactions + each.upkeep for each in comparison.standings)
    if 0 < busiest < FEW_COMPACTIONS:
        yield f"Few compactions: no policy made more than {number(busiest)}."


def _sessions(report: Report, comparison: Comparison) -> Iterator[str]:
    for id, why in list(comparison.left_out.items())[:MOST_NAMED]:
        reasons = {run.failure for run in comparison.runs[id] if run.failure}
        told = f" ({'; '.join(sorted(reasons)[:3])})" if reasons else ""
        yield f"Session {id} is left out of all sums of policies: {why}{told}."
    if len(comparison.left_out) > MOST_NAMED:
        yield f"{number(len(comparison.left_out) - MOST_NAMED)} more sessions are left out of all sums of policies for such reasons."
    if comparison.standings:
        alone = [index for index, row in enumerate(report.rows, 1) if row.session_id not in comparison.runs]
        if alone:
            yield f"Not replayed, and so in no sum: {_numbered(alone)}."


def _error(report: Report) -> Iterator[str]:
    reads = together(row.figures for row in report.rows).cache_reads
    if reads.recorded:
        yield (
            "The model of the prompt cache that the costs rest on, held against what was recorded of these very sessions, is off by "
            f"{percent(reads.predicted / reads.recorded - 1, '+')} in the tokens read from the cache. The sessions one by one are at the "
            "end of the page."
        )


_NO_FLAWS = {"no compaction is recorded", "of output that is estimated in part"}
"""Of the figures: the one is how the session was, the other follows from what is said of the output."""


def _shortfalls(report: Report) -> Iterator[str]:
    """Each reason once."""
    named: dict[str, list[int]] = {}
    for index, row in enumerate(report.rows, 1):
        reasons: Mapping[str, str] = {str(figure): why for figure, why in (missing(row.figures) | incomplete(row.figures)).items()}
        told: dict[str, list[str]] = {}
        for figure, why in reasons.items():
            if why not in _NO_FLAWS:
                told.setdefault(why, []).append(figure)
        for why, figures in told.items():
            named.setdefault(f"{', '.join(figures)} as recorded: {why}", []).append(index)
    yield from (f"In {_numbered(numbers)}: {words}." for words, numbers in named.items())


def _numbered(numbers: Sequence[int]) -> str:
    return f"{'session' if len(numbers) == 1 else 'sessions'} {ranges(numbers)}"
