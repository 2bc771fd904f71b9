"""The answer in plain words: which policy costs least, which keeps most, which to take and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ullage.replay.columns import money, number, percent
from ullage.replay.html.choice import CLOSE_SHARE, FEW_FACTS, Choice
from ullage.replay.html.comparison import Comparison, Standing
from ullage.replay.html.markup import Markup, tag


def answer(comparison: Comparison, choice: Choice, titles: Mapping[str, str], recorded: Standing | None) -> Markup:
    """The first thing on the page."""
    cards = [
        _card(title, standing, titles)
        for title, standing in (
            ("Costs least", choice.cheapest),
            ("Keeps most", choice.keeps_most),
            ("Best compromise", choice.best if len(comparison.standings) > 1 else None),
        )
        if standing is not None
    ]
    return tag(
        "section",
        tag("h2", "The answer", id="answer"),
        tag("p", *_capital(_lead(comparison, choice)), class_="lead"),
        tag("div", *cards, class_="cards") if cards else None,
        *(tag("p", sentence) for sentence in _beside(comparison, choice, recorded)),
        aria_labelledby="answer",
    )


def _card(title: str, standing: Standing, titles: Mapping[str, str]) -> Markup:
    figures = [money(standing.total)] if standing.priced else []
    if standing.keeps_known:
        figures.append(f"{number(standing.gone)} needed {'fact' if standing.gone == 1 else 'facts'} gone")
    else:
        figures.append("what it keeps is not known")
    what = titles.get(standing.policy)
    return tag(
        "div",
        tag("h3", title),
        tag("p", standing.policy, class_="name"),
        tag("p", ", ".join(figures)),
        tag("p", what, class_="muted") if what else None,
        class_="card",
    )


def _lead(comparison: Comparison, choice: Choice) -> Iterator[Markup | str]:
    cheapest, most = choice.cheapest, choice.keeps_most
    if not comparison.standings:
        yield "No policy was replayed, so there is nothing to choose from: this page shows what was recorded."
    elif cheapest is None and most is None:
        yield from _without_either(comparison, choice)
    elif cheapest is None and most is not None:
        yield from (
            _name(most),
            f" keeps most: {_kept(most)}. What the policies cost cannot be said, since no prices are known for the models.",
        )
    elif cheapest is not None and not choice.front:
        yield from (_name(cheapest), f" costs least, {money(cheapest.total)}. ", _why_not_kept(comparison))
    elif cheapest is not None and cheapest.unjudged:
        yield from (_name(cheapest), f" costs least, {money(cheapest.total)}, but what it keeps is not known: {cheapest.unjudged}. ")
        yield "Of those that can be judged: "
        yield from _of_the_front(comparison, choice)
    else:
        yield from _of_the_front(comparison, choice)
    if choice.front and max(each.needed.needed for each in comparison.standings) < FEW_FACTS:
        yield " This rests on few facts."
    ends_and_best = (*choice.front[:1], choice.best, *choice.front[-1:])
    names = dict.fromkeys(each.policy for each in ends_and_best if each is not None and each.stood_in.get("digest"))
    if names:
        keep = "keeps" if len(names) == 1 else "keep"
        yield f" What {' and '.join(names)} {keep} was measured with a digest by program in place of a model's summary."


def _capital(parts: Iterator[Markup | str]) -> Iterator[Markup | str]:
    """A sentence begins with a capital, unless with a name."""
    first = next(parts)
    yield first if isinstance(first, Markup) else first[:1].upper() + first[1:]
    yield from parts


def _of_the_front(comparison: Comparison, choice: Choice) -> Iterator[Markup | str]:
    front, best = choice.front, choice.best
    if len(comparison.standings) == 1:
        yield from (
            "only ",
            _name(front[0]),
            f" was replayed. It costs {money(front[0].total)}. Of what was needed later: {_kept(front[0])}.",
        )
    elif best is None:
        yield from _two_ends(front[0], front[-1])
    elif len(front) == 1:
        yield from (
            "take ",
            _name(best),
            f". It costs {money(best.total)}; none is clearly cheaper and none keeps clearly more: {_kept(best)}.",
        )
    else:
        yield from _between(best, front[0], front[-1])


def _without_either(comparison: Comparison, choice: Choice) -> Iterator[str]:
    if len(choice.ruled_out) == len(comparison.standings):
        yield "None of the policies could have carried these sessions: see below why."
    else:
        yield "Neither what the policies cost nor what they keep can be said of these sessions: see below what is missing."


def _two_ends(cheap: Standing, kept: Standing) -> Iterator[Markup | str]:
    yield from (
        "it is a choice between two. ",
        _name(cheap),
        f" is cheaper, {money(cheap.total)}; ",
        _name(kept),
        f" keeps more: {_kept(kept)}. ",
    )
    yield from (_name(kept), f" costs {_more(kept, cheap)} more than ", _name(cheap), f", and {_fewer(kept, cheap)}. ")
    yield "No other policy is clearly better than either in both."


def _between(best: Standing, cheap: Standing, kept: Standing) -> Iterator[Markup | str]:
    yield from ("take ", _name(best), f". It costs {money(best.total)}, ")
    if best is cheap:
        yield from ("and none is clearly cheaper. ", _name(kept), f" keeps most: {_fewer(kept, best)}, for {_more(kept, best)} more.")
    elif best is kept:
        yield from (
            f"{_more(best, cheap)} more than ",
            _name(cheap),
            ", the cheap end, and none keeps clearly more: ",
            f"{_fewer(best, cheap)}.",
        )
    else:
        yield from (f"{_more(best, cheap)} more than ", _name(cheap), f", the cheap end, but {_fewer(best, cheap)}. ")
        yield from (_name(kept), f" keeps most: {_fewer(kept, best)}, for {_more(kept, best)} more.")


def _beside(comparison: Comparison, choice: Choice, recorded: Standing | None) -> Iterator[str]:
    """What else belongs to the answer."""
    cheapest, optimum = choice.cheapest, comparison.optimum
    if choice.about_as_cheap and cheapest is not None:
        names = ", ".join(each.policy for each in choice.about_as_cheap)
        yield f"As cheap as {cheapest.policy}, as far as this can tell (within {CLOSE_SHARE:.0%}): {names}."
    if optimum is not None and optimum.runs and optimum.priced and cheapest is not None and optimum.total:
        over = percent(cheapest.total / optimum.total - 1)
        yield (
            f"No schedule of compactions at all could have cost less than {money(optimum.total)} (optimum, which knows the future, so it "
            f"is a line and not a policy); {cheapest.policy} is {over} above it."
        )
    if recorded is not None and recorded.priced and recorded.total and cheapest is not None:
        yield f"The same sessions as they were recorded cost {money(recorded.total)}, with what writing their summaries must have cost."
    if choice.keep_about_as_much and choice.keeps_most is not None:
        names = ", ".join(each.policy for each in choice.keep_about_as_much)
        yield f"Keep about as much as {choice.keeps_most.policy}, as far as so many facts can tell: {names}."
    if choice.between is not None:
        yield (
            f"“Best compromise”: of the {len(choice.front)} policies that no other clearly beats in both cost and what is kept "
            f"({', '.join(each.policy for each in choice.front)}), the one nearest to being both the cheapest and the one that keeps most, "
            "where the way between the two ends counts as one in either direction. If you care more for the one than for the other, take "
            "its end."
        )
    able = [each for each in comparison.standings if each.policy in choice.ruled_out and each.priced and not each.failures]
    cheaper = [each.policy for each in able if cheapest is not None and each.total < cheapest.total]
    if cheaper:
        yield f"Cheaper on paper, but ruled out: {', '.join(f'{name}, since {choice.ruled_out[name]}' for name in cheaper)}."


def _why_not_kept(comparison: Comparison) -> str:
    if any(each.stood_in.get("blank") for each in comparison.standings):
        return "What the policies keep is not judged, since blanks stood for the summaries (--summary none)."
    if any(each.unjudged for each in comparison.standings):
        return "What the policies keep cannot be judged by these sessions (see below)."
    if not any(each.compactions or each.upkeep for each in comparison.standings):
        return "None of them ever had to compact in these sessions, so nothing was forgotten, and the choice hardly matters here."
    return "Nothing that stood before a compaction was needed after it, so what the policies keep cannot be judged by these sessions."


def _name(standing: Standing) -> Markup:
    return tag("strong", standing.policy)


def _kept(standing: Standing) -> str:
    needed = standing.needed
    if not needed.needed:
        return (
            "nothing that it let go was needed again"
            if standing.compactions or standing.upkeep
            else "it never compacted, so all stayed in view"
        )
    return f"{number(needed.in_view)} of {number(needed.needed)} facts ({percent(needed.kept.value)}) were in view when they were needed"


def _more(dear: Standing, cheap: Standing) -> str:
    """How much dearer, in dollars and percent."""
    dollars = dear.total - cheap.total
    return f"{money(dollars)} ({percent(dollars / cheap.total)})" if cheap.total else money(dollars)


def _fewer(kept: Standing, other: Standing) -> str:
    facts = "1 needed fact was" if kept.gone == 1 else f"{number(kept.gone)} needed facts were"
    return f"{facts} gone from view instead of {number(other.gone)}"
