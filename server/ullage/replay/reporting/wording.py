"""How the report says things: numbers, tables as text, and what its columns mean to somebody who sees it for the first time.

Why a figure is missing is said here too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from ullage.recorded.readers.values import printable
from ullage.recorded.retention import WINDOW_MESSAGES
from ullage.replay.measuring.figures import Figures
from ullage.replay.measuring.projects import COVERAGE, DRAWS, FEWEST_SESSIONS, Estimate, Interval
from ullage.replay.measuring.runs import Places, Summaries
from ullage.replay.pricing.recorded_models import as_of

ABSENT = "-"
"""Stands where there is no figure."""


def columns(head: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> Iterator[str]:
    """The lines of a table. Columns are as wide as what is in them; all but the first `left` of them are set to the right.

    A `|` breaks a heading into two lines.
    """
    heads = [[cell.partition("|")[0] for cell in head], [cell.partition("|")[2] for cell in head]]
    lines = [*([line for line in heads if any(line)]), *rows]
    widths = [max(len(line[index]) for line in lines) for index in range(len(head))]
    for line in lines:
        cells = (
            cell.ljust(width) if index < left else cell.rjust(width) for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        yield f"  {'  '.join(cells)}".rstrip()


def number(value: float | None) -> str:
    """The number with commas and without a fraction; `-` if there is none."""
    return ABSENT if value is None else f"{value:,.0f}"


def percent(value: float | None, sign: str = "") -> str:
    """A share in percent, with one decimal; `sign` as in a format (`+`)."""
    return ABSENT if value is None else f"{round(value * 100, 1) + 0.0:{sign}.1f} %"


def whole_percent(value: float | None) -> str:
    """A share in percent, without a fraction; `-` if there is none."""
    return ABSENT if value is None else f"{value * 100:.0f} %"


def with_interval(value: float | None, interval: Interval | None) -> str:
    """A share in percent, with its interval where there is one: `94 % (91 to 96)`."""
    if interval is None or value is None:
        return whole_percent(value)
    return f"{whole_percent(value)} ({interval.low * 100:.0f} to {interval.high * 100:.0f})"


def estimated(estimate: Estimate) -> str:
    """A share that was counted over sessions in percent, with its interval where there is one."""
    return with_interval(estimate.share.value, estimate.interval)


def money(dollars: float) -> str:
    """The amount in dollars and cents; below a cent with two decimals more."""
    return f"${dollars:,.2f}" if dollars >= 0.01 or not dollars else f"${dollars:.4f}"


def ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers in few words: `1-3, 5`."""
    spans: list[tuple[int, int]] = []
    for each in numbers:
        if spans and each == spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], each)
        else:
            spans.append((each, each))
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


SESSIONS = "A session with a / in its name is that of a sub-agent, which has a conversation of its own."

TOKENS = (
    "Tokens as the provider counted them. Requests: replies of the model. Full price: tokens sent that were neither read from the "
    "prompt cache nor written to it. Written: tokens put into the prompt cache, to live for five minutes or for an hour. "
    "Read: tokens taken from the cache. From cache: those read, as a share of all that were sent."
)

SUMMARIES = (
    "Summaries: what the requests that wrote the summaries of compactions must have cost, with the conversation in the cache and "
    "without. Only Ullage records them; else this is worked out. It is not in the cost."
)

CONTEXT = (
    "Context: tokens sent with a request, cached or not. Predicted: tokens that the requests should have read from the cache by its "
    "published rules, given their recorded times and sizes and what the first of them found. Off by: how far that is from what was read."
)

NEEDED = (
    f"Needed: what stood in the session before a compaction and was used by the model in the {WINDOW_MESSAGES} messages after it, "
    "and the short messages that the user had written before it. 7/10: seven of ten stood in the summary that took the place of "
    "what was before; 0/0: nothing of the kind was needed. Files that the program put back beside the summary are not counted. "
    "Of what did not stand in the summary, --format json says how much was shown to the model again before it was used."
)

KINDS = (
    "Paths, names (of things in code), hashes (and long numbers) and errors are told by their form. Names by file: of the names that the "
    "model wrote into a file that it had worked on before, those that the summary mentions near that file. Read again: files that were "
    "read before a compaction and again after it."
)

POLICY_COST = (
    "Dollars by price class, as the cache model says: at full price, written to the prompt cache, read from it, output. Summaries: "
    "the requests that would have written the summaries, with what the cache held then; uncached: the same with an empty cache. In all: "
    "the agent's requests and the summaries. Upkeep: compactions that a policy makes before a call though nothing is full. Do not fit: "
    "requests that the model would have refused as too long."
)

OPTIMUM = (
    "Optimum: the schedule of compactions that would have cost least, session by session, for somebody who knew what was to come. Where to "
    "compact is its only choice: what a compaction leaves and costs is what those of one of the policies above left and cost on average; "
    "where a policy's own run was cheaper still, it is that. A policy whose compactions leave less could go below it."
)

POLICY_KEPT = (
    f"Needed as above: used in the {WINDOW_MESSAGES} messages after a compaction, and standing in the session before it. In view: in the "
    "summary or in a message that stayed, without the files that were put back beside it. Files in view: of the files that the agent read "
    "again in those messages, those that the policy had put back, or that a message that stayed showed whole. Text again in view: of the "
    "text in those messages' results that had stood in the session before, in five lines or more, what was in view. Put back and kept: "
    "characters in view beside the summary, on average. Upkeep is not looked at. "
    "Characters a summary, names in it then used: the mean length, and of the names in code that the summaries list the share that the "
    "agent wrote before the next one, within those messages. "
    "Violations: rules of the API that a request would have broken. Seconds: of the policy's own work."
)

LEFT_OUT = "Text again in view, by the options that were chosen without the project"
PROJECTS = (
    "A project is told by the name of the folder in which the agent worked; worktrees count as their repository. 94 % (91 to 96): of "
    f"{DRAWS:,} draws of as many sessions, with replacement, {COVERAGE * 100:.0f} % lie between the two (bootstrap over sessions; a "
    f"sub-agent belongs to its session). With fewer than {FEWEST_SESSIONS} sessions there is no interval. Elsewhere: the same in all other "
    "projects together. Mean of projects: each counts once. With files put back: these count as in view, too. Nothing is fitted to the "
    "sessions that a replay reads, so leaving a project out changes no figure of another."
)

POLICY_FATES = (
    "The same facts, all kinds together (by kind: --format json). Recallable: not in view, but in the first five hits of one search of the "
    "session with the fact's own words. Shown again: neither, but shown to the agent again before it used it. Getting back: at most what "
    "it would cost to search for all that was not in view, a request each at the average price. Summaries: what stood for them."
)

Figure: TypeAlias = Literal["tokens", "output", "dollars", "summaries", "predicted cache reads", "needed later"]

_SEALED = "the provider sealed the summaries, so what they kept cannot be read"


def cost(as_model: str | None) -> str:
    """The sentence that says what the cost is: at the prices of the recorded models, or of `as_model`."""
    if as_model is None:
        return f"Cost: US dollars at the list prices of the model that answered, as of {as_of()}."
    return (
        f"Cost: US dollars at the list prices of {as_model}, whichever model answered, as of {as_of()}: the same requests, reads and "
        "writes, with as many tokens as that model makes of the same text on average. The tokens shown are those recorded."
    )


def policies(places: Places) -> str:
    """The sentences that say what it means that sessions were carried through policies."""
    where = "where the policy would have" if places == "policy" else "where the record has a compaction"
    return (
        f"The recorded sessions, compacted {where}. Prompts, replies and results are those recorded: what the agent would have done "
        "otherwise, having forgotten something else, nobody knows."
    )


def stand_ins(places: Places, summaries: Summaries) -> str:
    """The sentence that says which text stands for one that a model would have written."""
    digest = "what a program can write of the same messages (a digest); a model would keep other things"
    match summaries:
        case "recorded" if places == "recorded":
            there = "the one that was recorded there; where there is none, or only the provider can read it"
            return f"For a summary that a model would write stands {there}, {digest}."
        case "none":
            return "For a summary that a model would write stands a blank of the usual size: what is kept says nothing of the policy then."
        case _:
            return f"For a summary that a model would write stands {digest}."


def missing(figures: Figures) -> dict[Figure, str]:
    """The figures that there are not, each with the reason."""
    reasons = dict[Figure, str]()
    calls, kept = figures.calls, figures.kept
    if not calls.counted:
        why = "no reply of the model has a token count" if calls.made else "no reply of a model is recorded"
        reasons |= {"tokens": why, "output": why, "dollars": why, "predicted cache reads": why}
    elif not calls.priced:
        reasons["dollars"] = f"no prices are known for {_listed(figures.unpriced)}"
    if calls.counted and not figures.cache_reads.requests:
        reasons["predicted cache reads"] = "no times are recorded, and how long a cache lives is counted from them"
    if not figures.compactions:
        reasons |= {"summaries": "no compaction is recorded", "needed later": "no compaction is recorded"}
    elif not kept.measured:
        reasons["needed later"] = _SEALED if kept.sealed else "what the compactions kept is not recorded"
    if figures.compactions and not figures.summaries:
        reasons["summaries"] = reasons.get("dollars", "the record does not tell what a model was sent for them")
    return reasons


def incomplete(figures: Figures) -> dict[Figure, str]:
    """The figures that are there but leave something out, or are estimated in part, each with what and why."""
    reasons: dict[Figure, list[str]] = {
        "tokens": list(_of_tokens(figures)),
        "output": list(_of_output(figures)),
        "dollars": list(_of_dollars(figures)),
        "summaries": list(_of_summaries(figures)),
        "predicted cache reads": list(_of_cache_reads(figures)),
        "needed later": list(_of_needed(figures)),
    }
    without = missing(figures)
    return {figure: "; ".join(of_it) for figure, of_it in reasons.items() if of_it and figure not in without}


def _of_tokens(figures: Figures) -> Iterator[str]:
    if figures.calls.counted < figures.calls.made:
        yield "requests without a token count are left out"


def _of_output(figures: Figures) -> Iterator[str]:
    yield from _of_tokens(figures)
    if figures.calls.outputs_estimated:
        yield "estimated from what the reply says where its final count was not recorded"


def _of_dollars(figures: Figures) -> Iterator[str]:
    yield from _of_tokens(figures)
    if figures.unpriced:
        yield f"requests to {_listed(figures.unpriced)} are left out, since no prices are known for them"
    if figures.calls.outputs_estimated:
        yield "of output that is estimated in part"


def _of_summaries(figures: Figures) -> Iterator[str]:
    if figures.summaries < figures.compactions:
        yield "compactions for which it cannot be worked out are left out"


def _of_cache_reads(figures: Figures) -> Iterator[str]:
    if figures.cache_reads.requests < figures.calls.counted:
        yield "sessions without times are left out"


def _of_needed(figures: Figures) -> Iterator[str]:
    kept = figures.kept
    if kept.measured + kept.sealed < figures.compactions:
        yield "compactions that do not tell what they kept are left out"
    if kept.sealed:
        yield "compactions whose summaries are sealed are left out"
    if kept.at_least:
        yield "more than the summary stayed in view, but the record does not say what"


def _listed(models: tuple[str, ...]) -> str:
    return ", ".join(printable(model) or "a model without a name" for model in models)
