"""The report of what sessions cost, as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from ullage.recorded.retention import WINDOW_MESSAGES
from ullage.replay.pricing.misses import Why
from ullage.replay.pricing.recorded_models import as_of
from ullage.replay.reporting.html.markup import Markup, joined, legend, patterns, segment, tag
from ullage.replay.reporting.html.page import page, section
from ullage.replay.reporting.report_table import PROGRAMS
from ullage.replay.reporting.wording import ABSENT, money, number, percent
from ullage.replay.spending.sums import RECORDED, Compactions, Misses, PolicySum, Sum, Sums

NO_TIME = "time not recorded"
NO_MODEL = "model not recorded"

CLASSES: tuple[tuple[str, Callable[[Sum], float]], ...] = (
    ("read from the cache", lambda each: each.dollars.cache_read),
    ("written for 5 minutes", lambda each: each.dollars.cache_write_5m),
    ("written for 1 hour", lambda each: each.dollars.cache_write_1h),
    ("sent at full price", lambda each: each.dollars.input),
    ("the model's output", lambda each: each.dollars.output),
    ("calls that write summaries", lambda each: each.compactions.summaries),
)

WHY: Mapping[Why, str] = {
    "model": "another model was asked",
    "effort": "another effort was asked for",
    "system": "the system prompt changed",
    "rules": "the rules changed",
    "tools": "the tools changed",
    "compaction": "a compaction",
    "undone": "a compaction was undone",
    "redone": "a compaction was made again",
    "excluded": "the user took something out",
    "expired": "the pause was longer than the cache lives",
    "reasoning": "the reasoning of the last turn was left out",
    "evicted": "nothing that the record tells of",
}


@dataclass(frozen=True, slots=True)
class About:
    """What the page says of itself. `sources` are what was read, as the user named it; `tables` the Parquet files beside it."""

    sources: tuple[str, ...]
    since: date | None = None
    tables: tuple[Path, ...] = ()
    failures: tuple[str, ...] = ()


def as_page(sums: Sums, about: About) -> str:
    """The report as a page."""
    return page(
        "Ullage report: what the sessions cost",
        patterns(),
        _heading(sums, about),
        _in_short(sums),
        section("weeks", "By week", tag("p", _WEEKS, class_="muted"), _table("Week (Monday)", _weeks(sums))),
        section("models", "By model", _table("Model", _dearest(sums.by(lambda whose: whose.model or NO_MODEL)))),
        section("projects", "By project", _table("Project", _dearest(sums.by(lambda whose: whose.project)))),
        section("policies", "By way of compacting", tag("p", _POLICIES, class_="muted"), _table("Way", _dearest(_ways(sums)))),
        section("cache", "What the prompt cache saved, and why it was missed", *_cache(sums)),
        section("compactions", "Compactions, and what was got again after them", *_compactions(sums)),
        section("others", "What another policy would have cost", *_others(sums)) if sums.carried or sums.left_out else None,
        section("reading", "How to read this", *_reading(sums, about)),
    )


_WEEKS = "Weeks begin on Monday, in UTC."
_POLICIES = (
    "A session of Ullage is told by the policy of its next compaction, or else of its last one. Other programs compact in their own way."
)


def _heading(sums: Sums, about: About) -> Markup:
    since = f" since {about.since.isoformat()}" if about.since is not None else ""
    weeks = [week for week in sums.by(lambda whose: whose.week) if week]
    span = f", weeks of {weeks[0]} to {weeks[-1]}" if len(weeks) > 1 else f", week of {weeks[0]}" if weeks else ""
    told = f"{_counted(len(sums.sessions), 'session')}{since}{span}. US dollars at the list prices of {as_of()}."
    return tag("header", tag("h1", "What the sessions cost"), tag("p", told, class_="muted"))


def _in_short(sums: Sums) -> Markup:
    whole = sums.whole
    made = whole.compactions
    cards = (
        ("Cost", money(whole.total), f"{_counted(whole.calls, 'request')}, with {money(made.summaries)} for summaries"),
        ("Read from the cache", percent(whole.share_from_cache), "of the tokens that were sent"),
        (
            "Cache missed",
            money(whole.missed.dollars),
            f"{_share(whole.missed.dollars, whole.total)} of the cost, {_requests(whole.missed)}",
        ),
        ("Compactions", number(made.made), f"about {money(made.again_dollars)} to get again what they took out of view"),
    )
    return tag(
        "div",
        *(tag("div", tag("h3", name), tag("p", value, class_="name"), tag("p", words), class_="card") for name, value, words in cards),
        class_="cards",
    )


def _requests(missed: Misses) -> str:
    return f"in {_counted(missed.requests, 'request')}"


def _weeks(sums: Sums) -> dict[str, Sum]:
    by = sums.by(lambda whose: whose.week)
    return {week or NO_TIME: each for week, each in by.items()}


def _ways(sums: Sums) -> dict[str, Sum]:
    return sums.by(lambda whose: f"{PROGRAMS[whose.program]}: {whose.policy}")


def _dearest(by: Mapping[str, Sum]) -> dict[str, Sum]:
    return dict(sorted(by.items(), key=lambda each: (-each[1].total, each[0])))


# Tables of sums


def _table(name: str, rows: Mapping[str, Sum]) -> Markup:
    """A bar for each row by price class, and the same in numbers."""
    longest = max((each.total for each in rows.values()), default=0.0)
    bars = tag(
        "table",
        tag("caption", f"Cost by {name.lower()} and price class"),
        tag("tbody", *(_bar_row(label, each, longest) for label, each in rows.items())),
        class_="bars",
    )
    heads = ("Cost", "Requests", "Sent", "Output", "From cache", "Missed", "Compactions", "Summaries", "Not priced")
    head = tag("tr", tag("th", name, scope="col"), *(tag("th", each, scope="col") for each in heads))
    body = [_row(label, _cells(each)) for label, each in rows.items()]
    table = tag("table", tag("caption", f"By {name.lower()}"), tag("thead", head), tag("tbody", *body), class_="figures")
    names = tuple(each for each, _ in CLASSES)
    return joined(legend(names), bars, tag("details", tag("summary", "The same in numbers"), _wide(table, f"By {name.lower()}")))


def _bar_row(label: str, each: Sum, longest: float) -> Markup:
    return tag("tr", tag("th", label, scope="row"), tag("td", _bar(label, each, longest), class_="bar"), tag("td", money(each.total)))


def _bar(label: str, each: Sum, longest: float) -> Markup:
    segments: list[Markup] = []
    words: list[str] = []
    begin = 0.0
    for index, (name, value) in enumerate(CLASSES):
        amount = value(each)
        if amount and longest:
            words.append(f"{name} {money(amount)}")
            segments.append(segment(index, begin / longest, amount / longest, words[-1]))
        begin += amount
    return tag("svg", tag("title", f"{label}: {', '.join(words) or 'nothing'}"), *segments, role="img")


def _cells(each: Sum) -> tuple[str, ...]:
    return (
        money(each.total),
        number(each.calls),
        number(each.usage.total_input_tokens),
        number(each.usage.output_tokens),
        percent(each.share_from_cache),
        money(each.missed.dollars),
        number(each.compactions.made),
        money(each.compactions.summaries),
        number(each.unpriced) if each.unpriced else ABSENT,
    )


def _row(label: str, cells: Sequence[str]) -> Markup:
    return tag("tr", tag("th", label, scope="row", class_="words"), *(tag("td", cell) for cell in cells))


def _wide(table: Markup, label: str) -> Markup:
    return tag("div", table, class_="wide", tabindex=0, role="region", aria_label=label)


def _figures(caption: str, heads: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> Markup:
    head = tag("tr", *(tag("th", each, scope="col") for each in heads))
    body = (_row(label, cells) for label, cells in rows)
    return _wide(tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *body), class_="figures"), caption)


# The parts below them


def _cache(sums: Sums) -> Iterator[Markup]:
    whole, missed = sums.whole, sums.whole.missed
    yield tag(
        "p",
        f"{percent(whole.share_from_cache)} of the tokens that were sent came from the prompt cache. "
        f"{_counted(missed.requests, 'request')} sent {number(missed.tokens)} tokens anew that the request before had left there. "
        f"That cost {money(missed.dollars)} more than reading them.",
    )
    if not sums.by_reasons:
        return
    dearest = sorted(sums.by_reasons.items(), key=lambda each: (-each[1].dollars, -each[1].tokens))
    rows = [
        (_sentence(", ".join(WHY[why] for why in reasons)), (number(each.requests), number(each.tokens), money(each.dollars)))
        for reasons, each in dearest
    ]
    yield _figures("Why requests missed the cache", ("What changed since the request before", "Requests", "Tokens", "Cost more"), rows)


def _compactions(sums: Sums) -> Iterator[Markup]:
    if not sums.whole.compactions.made:
        yield tag("p", "No compaction was made.")
        return
    yield tag(
        "p",
        f"Got again: text that the agent's tools gave within {WINDOW_MESSAGES} messages after a compaction, and had given before. Of "
        "Ullage's sessions it is what was out of view. Other programs do not record what stayed in view beside the summary. So of theirs "
        "it is the most that it can be.",
    )
    heads = ("Way, and project", "Compactions", "Summaries", "Of it worked out", "Got again: tokens", "Cost", "Known after")
    by = sums.by(lambda whose: f"{PROGRAMS[whose.program]}: {whose.policy}, {whose.project}")
    made = [(name, each.compactions) for name, each in by.items() if each.compactions.made]
    rows = [(name, _made(each)) for name, each in sorted(made, key=lambda each: -each[1].made)]
    yield _figures("Compactions by way and project", heads, rows)


def _made(each: Compactions) -> tuple[str, ...]:
    return (
        number(each.made),
        money(each.summaries),
        number(each.worked_out),
        number(each.again) if each.told else ABSENT,
        money(each.again_dollars) if each.told else ABSENT,
        number(each.told),
    )


def _others(sums: Sums) -> Iterator[Markup]:
    policies = sums.policies()
    recorded = policies.get(RECORDED)
    if recorded is None or not recorded.dollars:
        yield tag("p", "No session could be carried through other policies: none has both token counts and known prices.")
        return
    left_out = f" {_counted(sums.left_out, 'is', 'are')} left out." if sums.left_out else ""
    yield tag(
        "p",
        f"{_counted(recorded.sessions, 'conversation')}, each as a whole, under each policy: the same prompts, replies and results. "
        f"A sub-agent has one of its own.{left_out} Nobody knows what the agent would have done otherwise, had it forgotten something "
        "else. So this compares policies. It foretells no bill.",
    )
    rows = [(policy, _carried(policy, each, recorded)) for policy, each in policies.items()]
    heads = ("Policy", "Cost", "Beside the record", "Compactions", "For forgetting")
    yield _figures("The same sessions under other policies", heads, rows)
    projects = sorted({project for _, project in sums.carried})
    if len(projects) > 1:
        names = tuple(policies)
        cells = [(project, tuple(_dollars(sums.carried.get((name, project))) for name in names)) for project in projects]
        yield _figures("Cost by project", ("Project", *names), cells)


def _carried(policy: str, each: PolicySum, recorded: PolicySum) -> tuple[str, ...]:
    beside = ABSENT if policy == RECORDED else percent(each.dollars / recorded.dollars - 1, "+")
    return money(each.dollars), beside, number(each.compactions), ABSENT if each.forgetting is None else money(each.forgetting)


def _dollars(carried: PolicySum | None) -> str:
    return money(carried.dollars) if carried is not None else ABSENT


_COST = (
    "Cost: each request at the list prices of the model that answered, with what it read from the prompt cache and wrote to it. Discounts "
    "and subscriptions are not known here."
)
_SUMMARIES = (
    "Summaries: Ullage records what the requests used that wrote them. Of other programs it is worked out, as if the conversation was in "
    "the cache."
)
_MISSED = "Missed: tokens that a request sent anew although the one before had left them in the cache, where they are 256 or more."


def _reading(sums: Sums, about: About) -> Iterator[Markup]:
    whole = sums.whole
    told = [
        f"Read: {', '.join(about.sources)}.",
        _COST,
        _SUMMARIES,
        _MISSED,
    ]
    if whole.unpriced:
        models = sorted({whose.model or NO_MODEL for whose, each in sums.by_whose.items() if each.unpriced})
        told.append(f"Not priced: {_counted(whole.unpriced, 'request')} to {', '.join(models)}. They are in no cost.")
    if sums.uncounted:
        told.append(f"{_counted(sums.uncounted, 'reply has', 'replies have')} no count of tokens, and are in no sum.")
    if about.since is not None:
        told.append("What has no time is left out. Other policies are told of whole sessions that had a request since then.")
    if about.tables:
        told.append(f"Every request and compaction: {', '.join(path.name for path in about.tables)}.")
    told += [f"Not read: {failure}" for failure in about.failures]
    yield tag("ul", *(tag("li", words) for words in told))


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def _share(part: float, whole: float) -> str:
    return percent(part / whole if whole else None)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"
