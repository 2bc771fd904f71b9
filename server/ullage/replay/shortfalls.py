"""Why a figure is missing, or does not hold all that it should: in words for the user, by the name of the figure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from ullage.replay.figures import Figures
from ullage.replay.readers.values import printable

Figure: TypeAlias = Literal["tokens", "output", "dollars", "summaries", "predicted cache reads", "needed later"]


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


_SEALED = "the provider sealed the summaries, so what they kept cannot be read"


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
