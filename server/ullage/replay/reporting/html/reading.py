"""What a reader should know about the figures.

Caveats come before the answer. They are worked out from the runs, and each stands only where it applies. The last part of the page says
how to read the figures, how they were worked out, and how far the predictions were off on these very sessions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ullage.context.counting.prompt_cache import LOOK_BACK
from ullage.recorded.retention import WINDOW_MESSAGES
from ullage.replay.measuring.comparison import FEW_FACTS, OPTIMUM, Comparison, PolicyChoice, PolicyStanding
from ullage.replay.measuring.figures import Report, together
from ullage.replay.measuring.files_and_names import NEAR_CHARACTERS
from ullage.replay.measuring.runs import Places, Summaries
from ullage.replay.pricing.recorded_models import as_of
from ullage.replay.reporting import wording
from ullage.replay.reporting.html.markup import Markup, joined, tag
from ullage.replay.reporting.html.side_by_side import meanings
from ullage.replay.reporting.wording import ABSENT, incomplete, missing, number, percent, ranges

FEW_COMPACTIONS = 10
MOST_NAMED = 5
"""How many sessions, files or policies are named one by one."""

_STOOD_IN = {
    "digest": "the program summary stood for the summary that a model would have written, so what these policies keep is what the digest "
    "keeps: their own prompts may keep more or less",
    "recorded": "the summary recorded in the transcript stood for the one that a model would have written for this policy",
    "blank": "a blank of fixed size stood for the summary: good for the cost, and saying nothing of what is kept",
}


def caveats(report: Report, comparison: Comparison, choice: PolicyChoice) -> Iterator[str]:
    """The caveats that apply to the report, a sentence each, in the order of their weight."""
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


def _stood_in(standings: Sequence[PolicyStanding]) -> Iterator[str]:
    for kind, words in _STOOD_IN.items():
        of_it = [each for each in standings if each.stood_in.get(kind)]
        if of_it:
            summaries = sum(each.stood_in[kind] for each in of_it)
            names = ", ".join(each.policy for each in of_it)
            yield f"In {number(summaries)} compactions ({names}) {words}."


def _upkeep(standings: Sequence[PolicyStanding]) -> Iterator[str]:
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
"""Reasons that tell of no flaw of the figures: the one is how the session was, the other follows from what is said of the output."""


def _shortfalls(report: Report) -> Iterator[str]:
    """Why figures as recorded are missing or partial: each reason once, with the numbers of its sessions."""
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


_AT: dict[Places, str] = {
    "policy": "Compactions were made where each policy would make them (--at policy).",
    "recorded": "Compactions were made where the transcripts recorded one, whatever the policy (--at recorded), so that what policies "
    "keep is compared at the same places.",
}

_SUMMARY: dict[Summaries, str] = {
    "recorded": "For summaries that a model writes stood those recorded in the transcript, and the program summary where there was none, "
    "or none that can be read (--summary recorded). No model was asked.",
    "digest": "For summaries that a model writes stood the program summary (--summary digest). No model was asked.",
    "none": "For summaries that a model writes stood blanks of a fixed size (--summary none). No model was asked, and what is kept is not "
    "judged.",
}


def reading(report: Report, comparison: Comparison, at: Places, summary: Summaries, titles: Mapping[str, str]) -> Markup:
    """The last part of the page: how the runs were made, what the columns mean, and how figures were worked out."""
    return joined(
        tag("h3", "How the runs were made"),
        tag("p", f"{_AT[at]} {_SUMMARY[summary]}") if comparison.standings else None,
        tag("p", wording.cost(report.as_model)),
        tag("h3", "What the columns mean"),
        meanings(comparison) if comparison.standings else tag("p", wording.NEEDED),
        _facts(),
        _cache(),
        _predicted(report),
        _policies(comparison, titles),
    )


def _facts() -> Markup:
    return joined(
        tag("h3", "What counts as a fact, and as needed"),
        tag(
            "p",
            "A fact is a file path, a name in code, a hash or long number, an error line, or a short message of the user. It is told by "
            "its form, not by its meaning. It is needed after a compaction where it stood in the session before and the agent used it, "
            f"in what it wrote or gave to a tool, in the {WINDOW_MESSAGES} messages after; the user's short messages are always needed. "
            "In view: in the context right after the compaction. A search would find it: in the first five hits of one search of the "
            "session's log with the fact's own words. Shown again: a tool or the user showed it to the agent before it used it. Lost: "
            "none of these.",
        ),
        tag(
            "p",
            f"Names by file: within {NEAR_CHARACTERS} characters of the file's name in the text that was kept. Files that a policy reads "
            "again after a summary are counted under “Files in view”, not as facts in view.",
        ),
    )


def _cache() -> Markup:
    rules = (
        "A prefix of a request is cached as a whole: what comes after a change is written anew.",
        f"It is written only where a request marks it, and found at a mark or in the {LOOK_BACK} blocks that end there.",
        (
            "It lives for five minutes or an hour after the start of the last request that used it. The times are those recorded in the "
            "sessions, so a break of the user's lets it go cold."
        ),
        "Each model has a cache of its own, and caches nothing below a minimum of tokens.",
        "A request is held against what the one before it wrote; a compaction changes the prefix, so that the next request writes it anew.",
    )
    return joined(
        tag("h3", "How cost was worked out"),
        tag(
            "p",
            "Each request is made up as the policy would have sent it. Its tokens are those that the provider counted for what was "
            "recorded, and estimates for what the policy put in place of it. What of it is read from the prompt cache and what is "
            "written there follows from the cache's published rules:",
        ),
        tag("ul", *(tag("li", rule) for rule in rules)),
        tag("p", f"Prices are list prices as of {as_of()}. Where a long prompt costs more a token, that is counted too."),
        tag(
            "p",
            tag("b", OPTIMUM),
            " is the cheapest schedule of compactions for a session under the same prices and window, found with the session's future "
            "known. Only the places are chosen: what a compaction leaves in the context and costs is what those of one of these policies "
            "left and cost on average in the session; and where a policy's own run was cheaper still, it is that. A policy whose "
            "compactions leave less could go below it. It is no policy and cannot be chosen, and it says nothing of what is kept.",
        ),
    )


def _predicted(report: Report) -> Markup:
    rows: list[Markup] = []
    for index, row in enumerate(report.rows, 1):
        reads = row.figures.cache_reads
        off = reads.predicted / reads.recorded - 1 if reads.recorded else None
        known = bool(reads.requests)
        cells = (
            number(reads.requests),
            number(reads.recorded if known else None),
            number(reads.predicted if known else None),
            percent(off, "+"),
        )
        rows.append(tag("tr", tag("th", f"{index}. ", tag("bdi", row.session_id), scope="row"), *(tag("td", cell) for cell in cells)))
    names = ("Session", "Requests", "Tokens read, recorded", "predicted", "Off by")
    head = tag("tr", *(tag("th", name, scope="col") for name in names))
    caption = "Tokens read from the prompt cache: recorded, and as the same model predicts them"
    table = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *rows), class_="figures")
    return joined(
        tag("h3", "How far to trust it"),
        tag(
            "p",
            f"The same rules, applied to the sessions as they were recorded, against what the provider said it read. {ABSENT}: no times "
            "or no counts are recorded.",
        ),
        tag("div", table, class_="wide", tabindex=0, role="region", aria_label=caption),
    )


def _policies(comparison: Comparison, titles: Mapping[str, str]) -> Markup | None:
    known = [(each.policy, titles[each.policy]) for each in comparison.standings if each.policy in titles]
    if not known:
        return None
    listed = tag("dl", *(joined(tag("dt", name), tag("dd", what)) for name, what in known))
    more = tag("p", "ullage policies NAME tells the whole of one, with its numbers and where they come from.")
    return joined(tag("h3", "What the policies do"), listed, more)
