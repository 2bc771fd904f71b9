"""All that is reported of a recorded session, as numbers that can be added up over sessions, and the report that holds them.

`as_recorded` gives these numbers the form of a policy's standing, so that they can stand beside the policies. `reporting/wording.py` says
why a figure is missing or too small.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from ullage.context.blocks import Usage
from ullage.context.compaction.needed import FactKind
from ullage.recorded.readers.flaws import KEPT_MESSAGES, SEALED_SUMMARY
from ullage.recorded.retention import HitShare, KindRetention, by_kind, judged, recorded_cuts, session_facts
from ullage.recorded.transcript import Repair, Source, Transcript
from ullage.replay.measuring.comparison import PolicyStanding
from ullage.replay.measuring.files_and_names import NamedInSummaries, file_calls, files_read_again, named, tied
from ullage.replay.measuring.runs import Places, Retained, Run, Summaries
from ullage.replay.places import Place
from ullage.replay.pricing.cost import Dollars, cost_of, predict, summary_calls, total_usage
from ullage.replay.pricing.recorded_models import prices_of


@dataclass(frozen=True, slots=True)
class RequestCounts:
    """The number of requests: how many there were, how many of them are counted in tokens, how many of those priced."""

    made: int = 0
    counted: int = 0
    priced: int = 0
    outputs_estimated: int = 0

    def __add__(self, other: RequestCounts) -> RequestCounts:
        return RequestCounts(
            self.made + other.made,
            self.counted + other.counted,
            self.priced + other.priced,
            self.outputs_estimated + other.outputs_estimated,
        )


@dataclass(frozen=True, slots=True)
class CacheReads:
    """Tokens read from the prompt cache, as recorded and as the cache's published rules say, for `requests` with a time."""

    requests: int = 0
    recorded: int = 0
    predicted: int = 0

    def __add__(self, other: CacheReads) -> CacheReads:
        return CacheReads(self.requests + other.requests, self.recorded + other.recorded, self.predicted + other.predicted)


@dataclass(frozen=True, slots=True)
class KeptInSummaries:
    """What was needed after the compactions whose summary is recorded (`measured`), and what of it stood in the summaries.

    `files_read_again` counts each file once a compaction, also where the summary is not recorded. `at_least` where more than
    the summary was in view and the record does not say what.
    """

    measured: int = 0
    sealed: int = 0
    """The number of compactions in sessions whose summaries only the provider can read."""
    kinds: dict[FactKind, KindRetention] = field(default_factory=lambda: by_kind(()))
    names_beside_their_file: HitShare = field(default_factory=HitShare)
    files_read_again: int = 0
    at_least: bool = False
    named: NamedInSummaries = field(default_factory=NamedInSummaries)

    def __add__(self, other: KeptInSummaries) -> KeptInSummaries:
        return KeptInSummaries(
            self.measured + other.measured,
            self.sealed + other.sealed,
            {kind: kept + other.kinds[kind] for kind, kept in self.kinds.items()},
            self.names_beside_their_file + other.names_beside_their_file,
            self.files_read_again + other.files_read_again,
            self.at_least or other.at_least,
            self.named + other.named,
        )


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one session, or of several together. Contexts are tokens sent with a request; `summaries_…` are not in `dollars`."""

    calls: RequestCounts = field(default_factory=RequestCounts)
    tokens: Usage = field(default_factory=lambda: Usage(0, 0))
    largest_context: int = 0
    dollars: Dollars = field(default_factory=Dollars)
    unpriced: tuple[str, ...] = ()
    """Models whose prices are not known."""
    summaries: int = 0
    """The number of compactions for which it can be worked out what the request for the summary cost."""
    summaries_warm: Dollars = field(default_factory=Dollars)
    summaries_cold: Dollars = field(default_factory=Dollars)
    cache_reads: CacheReads = field(default_factory=CacheReads)
    compactions: int = 0
    kept: KeptInSummaries = field(default_factory=KeptInSummaries)

    @property
    def mean_context(self) -> float | None:
        """The mean of the tokens sent with a request; None if no request is counted."""
        return self.tokens.total_input_tokens / self.calls.counted if self.calls.counted else None

    @property
    def share_from_cache(self) -> float | None:
        """The share of the tokens sent that was read from the cache; None if no request is counted."""
        sent = self.tokens.total_input_tokens
        return self.tokens.cache_read_tokens / sent if sent else None

    def __add__(self, other: Figures) -> Figures:
        return Figures(
            calls=self.calls + other.calls,
            tokens=total_usage((self.tokens, other.tokens)),
            largest_context=max(self.largest_context, other.largest_context),
            dollars=self.dollars + other.dollars,
            unpriced=tuple(dict.fromkeys((*self.unpriced, *other.unpriced))),
            summaries=self.summaries + other.summaries,
            summaries_warm=self.summaries_warm + other.summaries_warm,
            summaries_cold=self.summaries_cold + other.summaries_cold,
            cache_reads=self.cache_reads + other.cache_reads,
            compactions=self.compactions + other.compactions,
            kept=self.kept + other.kept,
        )


def _figures_of(transcript: Transcript, as_model: str | None = None) -> Figures:
    """A session's figures, in dollars at the prices of the models that it ran on or of `as_model`."""
    counted = [(reply.model, usage) for reply in transcript.replies if (usage := reply.usage) and usage.total_input_tokens]
    cost = cost_of(transcript, as_model)
    return Figures(
        calls=RequestCounts(
            made=len(transcript.replies),
            counted=len(counted),
            priced=sum(prices_of(as_model or model) is not None for model, _ in counted),
            outputs_estimated=len(transcript.estimated_outputs),
        ),
        tokens=total_usage(usage for _, usage in counted),
        largest_context=max((usage.total_input_tokens for _, usage in counted), default=0),
        dollars=cost.dollars,
        unpriced=cost.unpriced,
        summaries=sum(prices_of(as_model or call.model) is not None for call in summary_calls(transcript)),
        summaries_warm=cost.summaries_warm,
        summaries_cold=cost.summaries_cold,
        cache_reads=_cache_reads(transcript),
        compactions=len(transcript.compactions),
        kept=_kept(transcript),
    )


def together(figures: Iterable[Figures]) -> Figures:
    """The sum of the figures of several sessions."""
    return sum(figures, Figures())


def _cache_reads(transcript: Transcript) -> CacheReads:
    """What a session read from the cache, as recorded and as predicted. Empty if no entry has a time: how long a cache lives is counted in
    seconds."""
    if not any(logged.at for logged in transcript.entries):
        return CacheReads()
    prediction = predict(transcript)
    return CacheReads(len(prediction.calls), prediction.recorded.cache_read_tokens, prediction.predicted.cache_read_tokens)


def _kept(transcript: Transcript) -> KeptInSummaries:
    cuts = recorded_cuts(transcript)
    if not cuts:
        return KeptInSummaries()
    entries, calls = transcript.entries, file_calls(transcript.entries)
    read_again = sum(len(files_read_again(entries, calls, cut.after_seq)) for cut in cuts)
    mended = {repair.what for repair in transcript.repairs}
    if SEALED_SUMMARY.what in mended:
        # What stands for the summary then is what was kept beside it: nothing that was not in it is known to be lost.
        return KeptInSummaries(sealed=len(cuts), files_read_again=read_again)
    told = [cut for cut in cuts if cut.kept]
    places = {cut.after_seq for cut in told}
    judgements = judged(session_facts(entries), cuts)
    return KeptInSummaries(
        measured=len(told),
        kinds=by_kind(each for each in judgements if each.needed.after_seq in places),
        names_beside_their_file=tied(entries, calls, told),
        files_read_again=read_again,
        named=named(entries, told),
        at_least=bool(told) and (transcript.source == "ullage" or KEPT_MESSAGES.what in mended),
    )


@dataclass(frozen=True, slots=True)
class MeasuredSession:
    """The figures of one session, and what it is. `models` are those that it ran on, in order of appearance; `repairs` and `notes` as in
    `Transcript`."""

    path: Place
    session_id: str
    source: Source
    models: tuple[str, ...]
    figures: Figures
    repairs: tuple[Repair, ...]
    notes: tuple[str, ...]
    project: str = ""
    """The folder in which the agent worked; empty if the record does not tell."""


def row_of(path: Place, transcript: Transcript, as_model: str | None = None) -> MeasuredSession:
    """The row of a session that was read from `path`, at the prices of `as_model` where it is given."""
    return MeasuredSession(
        path=path,
        session_id=transcript.session_id,
        source=transcript.source,
        models=tuple(dict.fromkeys(reply.model for reply in transcript.replies)),
        figures=_figures_of(transcript, as_model),
        repairs=transcript.repairs,
        notes=transcript.notes,
        project=transcript.project,
    )


@dataclass(frozen=True, slots=True)
class Report:
    """All sessions, and what could not be read. `as_model` is whose prices were taken instead of the recorded models'."""

    rows: tuple[MeasuredSession, ...]
    failures: tuple[str, ...] = ()
    as_model: str | None = None
    runs: tuple[Run, ...] = ()
    """The sessions carried through policies, session by session in the order of `rows`, each in the order of `policies`."""
    policies: tuple[str, ...] = ()
    """The policies that were asked for and are known, in their order; empty if none was asked for."""
    places: Places = "policy"
    summaries: Summaries = "digest"


def as_recorded(rows: Iterable[MeasuredSession], sessions: Collection[str]) -> PolicyStanding | None:
    """The sessions as they were recorded, as the standing of a policy. None if a request of any of them has no cost: a sum of some would
    seem cheaper than it was. Output that is estimated in part is no hindrance, since the policies' runs have the same."""
    of_them = [row.figures for row in rows if row.session_id in sessions]
    if not of_them or any(each.calls.priced < each.calls.made for each in of_them):
        return None
    whole = together(of_them)
    return PolicyStanding(
        policy="as recorded",
        runs=len(of_them),
        requests=whole.calls.counted,
        usage=whole.tokens,
        dollars=whole.dollars,
        summaries=whole.summaries_warm,
        summaries_cold=whole.summaries_cold,
        compactions=whole.compactions,
        context_tokens=whole.tokens.total_input_tokens,
        largest_context=whole.largest_context,
        retained=Retained(
            whole.kept.measured, whole.kept.kinds, whole.kept.kinds, whole.kept.names_beside_their_file, named=whole.kept.named
        ),
    )
