"""How to read the figures, how they were worked out, and how far the predictions were off on these very sessions."""

from __future__ import annotations

from collections.abc import Mapping

from ullage.replay import explanations
from ullage.replay.cache import LOOK_BACK
from ullage.replay.columns import ABSENT, number, percent
from ullage.replay.figures import Report
from ullage.replay.html.comparison import OPTIMUM, Comparison
from ullage.replay.html.markup import Markup, joined, tag
from ullage.replay.html.side_by_side import meanings
from ullage.replay.names import NEAR_CHARACTERS
from ullage.replay.recorded_models import as_of
from ullage.replay.runs import Places, Summaries
from ullage.replay.windows import WINDOW_MESSAGES

_AT: dict[Places, str] = {
    "policy": "Compactions were made where each policy would make them (--at policy).",
    "recorded": "Compactions were made where the transcripts recorded one, whatever the policy (--at recorded), so that what policies "
    "keep is compared at the same places.",
}

_SUMMARY: dict[Summaries, str] = {
    "recorded": "For summaries that a model writes stood those recorded in the transcript, and the program's digest where there was none, "
    "or none that can be read (--summary recorded). No model was asked.",
    "digest": "For summaries that a model writes stood the program's digest (--summary digest). No model was asked.",
    "none": "For summaries that a model writes stood blanks of a fixed size (--summary none). No model was asked, and what is kept is not "
    "judged.",
}


def reading(report: Report, comparison: Comparison, at: Places, summary: Summaries, titles: Mapping[str, str]) -> Markup:
    """The last part of the page."""
    return joined(
        tag("h3", "How the runs were made"),
        tag("p", f"{_AT[at]} {_SUMMARY[summary]}") if comparison.standings else None,
        tag("p", explanations.cost(report.as_model)),
        tag("h3", "What the columns mean"),
        meanings(comparison) if comparison.standings else tag("p", explanations.NEEDED),
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
