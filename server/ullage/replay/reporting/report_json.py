"""The report as JSON: the recorded sessions, the policies over all sessions, and each session under each policy.

Every figure has a name with its unit. A figure that there is not is null, and `missing` says why.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

from ullage.context.blocks import Json
from ullage.context.compaction.needed import FactKind
from ullage.recorded.retention import Acquired, HitShare, KindRetention
from ullage.replay.measuring.comparison import PolicyChoice, PolicyStanding, choose, compared
from ullage.replay.measuring.figures import Figures, MeasuredSession, Report, together
from ullage.replay.measuring.files_and_names import NamedInSummaries
from ullage.replay.measuring.projects import BESIDE, CHOSEN_BY, MEASURES, ByProject, Estimate, Interval, OfPolicy, by_project
from ullage.replay.measuring.runs import CompactionPoint, RequestPoint, Retained, Run
from ullage.replay.pricing.cost import Dollars
from ullage.replay.pricing.recorded_models import as_of
from ullage.replay.reporting.wording import Figure, incomplete, missing


def as_json(report: Report) -> str:
    """The whole report as JSON."""
    whole: dict[str, Json] = {
        "prices_of": as_of(),
        "prices_of_model": report.as_model,
        "sessions": [_session(row) for row in report.rows],
        "all": _figures(together(row.figures for row in report.rows)),
        "not_read": list(report.failures),
        **_projects_json(by_project(report.rows, compared(report.runs))),
        **_policies_json(report),
    }
    return json.dumps(whole, indent=2)


def _session(row: MeasuredSession) -> Json:
    return {
        "file": str(row.path),
        "session": row.session_id,
        "program": row.source,
        "project": row.project,
        "models": list(row.models),
        **_figures(row.figures),
        "mended": [{"what": repair.what, "count": repair.count} for repair in row.repairs],
        "notes": list(row.notes),
    }


def _figures(figures: Figures) -> dict[str, Json]:
    without = missing(figures)
    calls, kept, reads = figures.calls, figures.kept, figures.cache_reads
    is_counted, is_kept = "tokens" not in without, "needed later" not in without
    kinds: dict[str, Json] = {
        kind.replace(" ", "_"): {"needed": of_it.needed, "in_summary": of_it.in_view, "shown_again": of_it.seen_again, "lost": of_it.lost}
        for kind, of_it in kept.kinds.items()
    }
    return {
        "requests": {"made": calls.made, "counted": calls.counted, "priced": calls.priced, "outputs_estimated": calls.outputs_estimated},
        "tokens": {**asdict(figures.tokens)} if is_counted else None,
        "dollars": None if "dollars" in without else _dollars(figures.dollars),
        "dollars_for_summaries_beside": None
        if "summaries" in without
        else {"cache_warm": figures.summaries_warm.total, "cache_cold": figures.summaries_cold.total},
        "share_read_from_cache": figures.share_from_cache,
        "cache_read_tokens": None
        if "predicted cache reads" in without
        else {"requests": reads.requests, "recorded": reads.recorded, "predicted": reads.predicted},
        "context_tokens": {"mean": figures.mean_context, "largest": figures.largest_context} if is_counted else None,
        "compactions": figures.compactions,
        "files_read_again": kept.files_read_again if figures.compactions else None,
        "needed_later": {
            "compactions": kept.measured,
            "at_least": kept.at_least,
            **kinds,
            "identifier_beside_its_file": _names_beside(kept.names_beside_their_file),
            "summaries": _named_json(kept.named),
        }
        if is_kept
        else None,
        "missing": _reasons(without),
        "incomplete": _reasons(incomplete(figures)),
    }


def _dollars(dollars: Dollars) -> Json:
    return {**asdict(dollars), "total": dollars.total}


def _names_beside(share: HitShare) -> Json:
    return {"needed": share.of, "in_summary": share.hits}


def _reasons(reasons: dict[Figure, str]) -> dict[str, Json]:
    return {str(figure): why for figure, why in reasons.items()}


def _policies_json(report: Report) -> dict[str, Json]:
    """The figures of the policies and their runs; empty if no policy was asked for."""
    if not report.policies:
        return {}
    comparison = compared(report.runs)
    standings = [*comparison.standings, *([comparison.optimum] if comparison.optimum is not None else [])]
    return {
        "compacted_at": report.places,
        "summaries_by": report.summaries,
        "left_out": dict(comparison.left_out),
        "answer": _answer(choose(comparison)),
        "policies": [_standing(each, comparison.optimum) for each in standings],
        "runs": [_run(run) for run in report.runs],
    }


def _projects_json(by: ByProject) -> dict[str, Json]:
    """The shares with their intervals, by project and together; where options were chosen anew, also what they hold on the project left
    out."""
    return {
        "projects": [
            {
                "project": project.name,
                "folders": list(project.folders),
                "sessions": project.sessions,
                "policies": [_of_policy(each) for each in project.policies],
                "all_others": [_of_policy(each) for each in project.without],
            }
            for project in by.projects
        ],
        "all_projects": [{**_of_policy(each), "mean_of_projects": _means(by, each.policy)} for each in by.together],
        "chosen_without_the_project": None
        if by.left_out is None
        else {"by_project": dict(by.chosen), "chosen_by": CHOSEN_BY, "all_left_out": _of_policy(by.left_out)},
    }


def _of_policy(figure: OfPolicy) -> dict[str, Json]:
    shares: dict[str, Json] = {key: _estimate(estimate) for key, estimate in figure.estimates.items()}
    return {
        "policy": figure.policy,
        "sessions": figure.sessions,
        "compactions": figure.compactions,
        "dollars_in_all": figure.dollars,
        f"cost_beside_{BESIDE.replace('-', '_')}": _ratio(figure.beside, figure.beside_interval),
        f"cost_beside_{BESIDE.replace('-', '_')}_with_forgetting": _ratio(figure.beside_forgetting, figure.beside_forgetting_interval),
        "mean_characters_of_summaries": figure.mean_characters,
        **shares,
    }


def _estimate(estimate: Estimate) -> Json:
    share = estimate.share
    return {
        "hits": share.hits,
        "of": share.of,
        "share": share.value,
        "interval": _interval(estimate.interval),
        "sessions": estimate.sessions,
    }


def _ratio(ratio: float | None, interval: Interval | None) -> Json:
    return None if ratio is None else {"ratio": ratio, "interval": _interval(interval)}


def _interval(interval: Interval | None) -> Json:
    return None if interval is None else [interval.low, interval.high]


def _means(by: ByProject, policy: str) -> Json:
    return {each.key: by.mean(policy, each.key) for each in MEASURES}


def _answer(choice: PolicyChoice) -> Json:
    """The names of the policies that the answer speaks of, as the page has it."""

    def name(standing: PolicyStanding | None) -> Json:
        return standing.policy if standing is not None else None

    return {
        "take": name(choice.best),
        "costs_least": name(choice.cheapest),
        "about_as_cheap": [each.policy for each in choice.about_as_cheap],
        "keeps_most": name(choice.keeps_most),
        "keep_about_as_much": [each.policy for each in choice.keep_about_as_much],
        "none_clearly_beats": [each.policy for each in choice.front],
        "ruled_out": dict(choice.ruled_out),
    }


def _standing(standing: PolicyStanding, optimum: PolicyStanding | None) -> Json:
    over = standing.total / optimum.total - 1 if standing.priced and optimum is not None and optimum.total else None
    return {
        "policy": standing.policy,
        "sessions": standing.runs,
        "share_over_optimum": over,
        "share_read_from_cache": standing.share_from_cache,
        "dollars_for_getting_back": standing.getting_back if standing.priced and standing.keeps_known else None,
        "dollars_for_forgetting": standing.forgetting if standing.forgetting_known else None,
        "caution": standing.unjudged,
        "failures": [{"session": session, "why": why} for session, why in standing.failures],
        "requests": standing.requests,
        "requests_that_do_not_fit": standing.refused,
        "tokens": {**asdict(standing.usage)},
        "dollars": {**asdict(standing.dollars), "total": standing.dollars.total} if standing.priced else None,
        "dollars_for_summaries": {"as_cached": standing.summaries.total, "uncached": standing.summaries_cold.total}
        if standing.priced
        else None,
        "dollars_in_all": standing.total if standing.priced else None,
        "compactions": standing.compactions,
        "upkeep": standing.upkeep,
        "stood_in": dict(standing.stood_in),
        "context_tokens": {"mean": standing.mean_context, "largest": standing.largest_context},
        "retained": _retained(standing.retained),
        "violations": list(standing.violations),
        "seconds": round(standing.seconds, 3),
    }


def _run(run: Run) -> Json:
    if run.failure:
        return {"policy": run.policy, "session": run.session_id, "failure": run.failure}
    return {
        "policy": run.policy,
        "session": run.session_id,
        "line": run.line,
        "window": run.window,
        "tokens": {**asdict(run.usage)},
        "dollars": {**asdict(run.dollars), "total": run.dollars.total},
        "dollars_for_summaries": {"as_cached": run.summaries.total, "uncached": run.summaries_cold.total},
        "dollars_in_all": run.total,
        "dollars_for_forgetting": run.forgetting,
        "compactions": [_compaction(point) for point in run.compactions],
        "requests": [_request(point) for point in run.requests],
        "retained": _retained(run.retained),
        "violations": list(run.violations),
        "seconds": round(run.seconds, 3),
    }


def _compaction(point: CompactionPoint) -> Json:
    return {
        "after_entry": point.after_seq,
        "at": point.at,
        "trigger": point.trigger,
        "rung": point.rung,
        "tokens_before": point.tokens_before,
        "tokens_after": point.tokens_after,
        "summary_characters": point.summary_characters,
        "upkeep": point.upkeep,
        "stood_in": point.stood_in,
    }


def _request(point: RequestPoint) -> Json:
    return {"entry": point.seq, "at": point.at, "context_tokens": point.context_tokens, "fits": point.fits, **asdict(point.usage)}


def _retained(retained: Retained) -> Json:
    return {
        "compactions": retained.compactions,
        "kinds": _kinds(retained.kinds),
        "all_kinds": _fates(sum(retained.kinds.values(), KindRetention())),
        "in_summary": _hits(retained.in_summary),
        "identifier_beside_its_file": _share(retained.tied),
        "files_in_view": _share(retained.restored),
        "with_files_put_back": _hits(retained.with_files),
        "summaries": _named_json(retained.named),
        "text_again": _acquired(retained.acquired),
    }


def _acquired(acquired: Acquired) -> Json:
    """The characters of text that tools gave again: what results held, what of that was known before the compaction, what of that was in
    view, and what else was."""
    return {
        "places": acquired.places,
        "in_results": acquired.results,
        "known": acquired.again.of,
        "in_view": acquired.again.hits,
        "fetches": acquired.fetches,
        "mean_put_back_and_kept": acquired.mean_beside_summary,
    }


def _named_json(named: NamedInSummaries) -> Json:
    """The figures of summaries: how many, how long, and what of the names in them was used."""
    return {"written": named.summaries, "mean_characters": named.mean_characters, "identifiers_then_used": _share(named.names)}


def _hits(kinds: Mapping[FactKind, KindRetention]) -> Json:
    return {kind.replace(" ", "_"): {"hits": of_it.in_view, "of": of_it.needed} for kind, of_it in kinds.items()}


def _kinds(kinds: Mapping[FactKind, KindRetention]) -> Json:
    return {kind.replace(" ", "_"): _fates(of_it) for kind, of_it in kinds.items()}


def _fates(facts: KindRetention) -> Json:
    return {
        "needed": facts.needed,
        "in_view": facts.in_view,
        "recallable": facts.recallable,
        "shown_again": facts.seen_again,
        "lost": facts.lost,
        "share_in_view_or_recallable": facts.within_reach.value,
    }


def _share(share: HitShare) -> Json:
    return {"hits": share.hits, "of": share.of}
