"""The answer in plain words: which policy costs least, which keeps most, which to take and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ullage.replay.measuring.comparison import CLOSE_SHARE, FEW_FACTS, Comparison, PolicyChoice, PolicyStanding
from ullage.replay.reporting.html.markup import Markup, tag, words_of
from ullage.replay.reporting.wording import money, number, percent

MOST_HELD_AGAINST = 3
"""How many other policies are named, each with its cost, beside the one to take."""


def answer(comparison: Comparison, choice: PolicyChoice, titles: Mapping[str, str], recorded: PolicyStanding | None) -> Markup:
    """The part of the page that answers which policy to choose, with a card for each that stands out."""
    distinctions: dict[str, list[str]] = {}
    for title, standing in (
        ("To take", choice.best if len(comparison.standings) > 1 else None),
        ("Costs least", choice.cheapest),
        ("Keeps most", choice.keeps_most),
    ):
        if standing is not None:
            distinctions.setdefault(standing.policy, []).append(title)
    by_name = {each.policy: each for each in comparison.standings}
    cards = [_card(_together(told), by_name[policy], titles) for policy, told in distinctions.items()]
    return tag(
        "section",
        tag("h2", "The answer", id="answer"),
        tag("p", *_capital(_lead(comparison, choice)), class_="lead"),
        tag("div", *cards, class_="cards") if cards else None,
        *(tag("p", sentence) for sentence in _beside(comparison, choice, recorded)),
        aria_labelledby="answer",
    )


def in_words(comparison: Comparison, choice: PolicyChoice, recorded: PolicyStanding | None) -> Iterator[str]:
    """The same answer as plain text without pictures, a paragraph each; the first is the answer itself."""
    yield "".join(map(words_of, _capital(_lead(comparison, choice))))
    yield from _beside(comparison, choice, recorded)


def _together(distinctions: Sequence[str]) -> str:
    """The distinctions of one policy as one heading."""
    return ", ".join((*distinctions[:1], *(each.lower() for each in distinctions[1:])))


def _card(title: str, standing: PolicyStanding, titles: Mapping[str, str]) -> Markup:
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


def _lead(comparison: Comparison, choice: PolicyChoice) -> Iterator[Markup | str]:
    cheapest, most = choice.cheapest, choice.keeps_most
    if not comparison.standings:
        yield "No policy was replayed, so there is nothing to choose from: this shows what was recorded."
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
    """The parts of a sentence, which begins with a capital, unless with a name."""
    first = next(parts)
    yield first if isinstance(first, Markup) else first[:1].upper() + first[1:]
    yield from parts


def _of_the_front(comparison: Comparison, choice: PolicyChoice) -> Iterator[Markup | str]:
    front, best = choice.front, choice.best
    if len(comparison.standings) == 1:
        yield from (
            "only ",
            _name(front[0]),
            f" was replayed. It costs {money(front[0].total)}. Of what was needed later: {_kept(front[0])}.",
        )
    elif best is None or len(front) == 1:
        best = front[0]
        yield from (
            "take ",
            _name(best),
            f". It costs {money(best.total)}; none is clearly cheaper and none keeps clearly more: {_kept(best)}.",
        )
    else:
        yield from _between(best, front[0], front[-1])
        others = sorted((each for each in front if each is not best), key=lambda each: each.total + each.getting_back)[:MOST_HELD_AGAINST]
        against = " and ".join(f"{money(each.total + each.getting_back)} ({each.policy})" for each in others)
        yield f" With a search for each fact that was gone, that is {money(best.total + best.getting_back)} against {against}."


def _without_either(comparison: Comparison, choice: PolicyChoice) -> Iterator[str]:
    if len(choice.ruled_out) == len(comparison.standings):
        yield "None of the policies could have carried these sessions: see below why."
    else:
        yield "Neither what the policies cost nor what they keep can be said of these sessions: see below what is missing."


def _between(best: PolicyStanding, cheap: PolicyStanding, kept: PolicyStanding) -> Iterator[Markup | str]:
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


def _beside(comparison: Comparison, choice: PolicyChoice, recorded: PolicyStanding | None) -> Iterator[str]:
    """The sentences beside the answer: how it was chosen, and what the optimum and the recorded sessions cost."""
    cheapest, optimum = choice.cheapest, comparison.optimum
    if len(choice.front) > 1 and choice.best is not None:
        yield from _how_chosen(choice.best, choice.front)
    if choice.about_as_cheap and cheapest is not None:
        names = ", ".join(each.policy for each in choice.about_as_cheap)
        yield f"As cheap as {cheapest.policy}, as far as this can tell (within {CLOSE_SHARE:.0%}): {names}."
    if optimum is not None and optimum.runs and optimum.priced and cheapest is not None and optimum.total:
        over = percent(cheapest.total / optimum.total - 1)
        yield (
            f"With the same compactions at the best places these sessions would have cost {money(optimum.total)} (optimum, which knows the "
            f"future, so it is a line and not a policy); {cheapest.policy} is {over} above it. None of these policies goes below it; one "
            "whose compactions leave less could."
        )
    if recorded is not None and recorded.priced and recorded.total and cheapest is not None:
        yield f"The same sessions as they were recorded cost {money(recorded.total)}, with what writing their summaries must have cost."
    if choice.keep_about_as_much and choice.keeps_most is not None:
        names = ", ".join(each.policy for each in choice.keep_about_as_much)
        yield f"Keep about as much as {choice.keeps_most.policy}, as far as so many facts can tell: {names}."
    able = [each for each in comparison.standings if each.policy in choice.ruled_out and each.priced and not each.failures]
    cheaper = [each.policy for each in able if cheapest is not None and each.total < cheapest.total]
    if cheaper:
        yield f"Cheaper on paper, but ruled out: {', '.join(f'{name}, since {choice.ruled_out[name]}' for name in cheaper)}."


def _how_chosen(best: PolicyStanding, front: Sequence[PolicyStanding]) -> Iterator[str]:
    prices = ", ".join(f"{money(each.getting_back)} for the {number(each.gone)} of {each.policy}" for each in front)
    yield (
        f"How it was chosen: no other policy clearly beats {' or '.join(each.policy for each in front)} in both cost and what is kept, and "
        f"of these {best.policy} costs least once what was gone from view is got back. The agent gets a fact back by a search of the "
        f"session, about one more request at the average price: at most {prices}."
    )
    lost = ", ".join(f"{number(each.needed.lost)} under {each.policy}" for each in front if each.needed.lost)
    told = (
        f"could not be found so, nor was shown later: {lost}"
        if lost
        else "was beyond reach: all of it could be found so, or was shown later"
    )
    last = f" If you would rather have it in view at any price, take {front[-1].policy}." if best is not front[-1] else ""
    yield f"{'Of what was gone, this' if lost else 'None of what was gone'} {told}.{last}"


def _why_not_kept(comparison: Comparison) -> str:
    if any(each.stood_in.get("blank") for each in comparison.standings):
        return "What the policies keep is not judged, since blanks stood for the summaries (--summary none)."
    if any(each.unjudged for each in comparison.standings):
        return "What the policies keep cannot be judged by these sessions (see below)."
    if not any(each.compactions or each.upkeep for each in comparison.standings):
        return "None of them ever had to compact in these sessions, so nothing was forgotten, and the choice hardly matters here."
    return "Nothing that stood before a compaction was needed after it, so what the policies keep cannot be judged by these sessions."


def _name(standing: PolicyStanding) -> Markup:
    return tag("strong", standing.policy)


def _kept(standing: PolicyStanding) -> str:
    needed = standing.needed
    if not needed.needed:
        return (
            "nothing that it let go was needed again"
            if standing.compactions or standing.upkeep
            else "it never compacted, so all stayed in view"
        )
    return f"{number(needed.in_view)} of {number(needed.needed)} facts ({percent(needed.kept.value)}) were in view when they were needed"


def _more(dear: PolicyStanding, cheap: PolicyStanding) -> str:
    """How much dearer one policy is than the other, in dollars and percent."""
    dollars = dear.total - cheap.total
    return f"{money(dollars)} ({percent(dollars / cheap.total)})" if cheap.total else money(dollars)


def _fewer(kept: PolicyStanding, other: PolicyStanding) -> str:
    facts = "1 needed fact was" if kept.gone == 1 else f"{number(kept.gone)} needed facts were"
    return f"{facts} gone from view instead of {number(other.gone)}"
