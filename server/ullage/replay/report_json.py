"""The report as JSON: every figure under a name with its unit; one that there is not is null, and `missing` says why."""

from __future__ import annotations

import json
from dataclasses import asdict

from ullage.context.blocks import Json
from ullage.replay.cost import Dollars
from ullage.replay.figures import Figures, together
from ullage.replay.policies_json import named_json, policies_json
from ullage.replay.prices import as_of
from ullage.replay.rows import Report, Row
from ullage.replay.shares import Share
from ullage.replay.shortfalls import Figure, incomplete, missing


def as_json(report: Report) -> str:
    """The whole report."""
    whole: dict[str, Json] = {
        "prices_of": as_of(),
        "prices_of_model": report.as_model,
        "sessions": [_session(row) for row in report.rows],
        "all": _figures(together(row.figures for row in report.rows)),
        "not_read": list(report.failures),
        **policies_json(report),
    }
    return json.dumps(whole, indent=2)


def _session(row: Row) -> Json:
    return {
        "file": str(row.path),
        "session": row.session_id,
        "program": row.source,
        "models": list(row.models),
        **_figures(row.figures),
        "mended": [{"what": repair.what, "count": repair.count} for repair in row.repairs],
        "notes": list(row.notes),
    }


def _figures(figures: Figures) -> dict[str, Json]:
    without = missing(figures)
    calls, kept, reads = figures.calls, figures.kept, figures.cache_reads
    is_counted, is_kept = "tokens" not in without, "needed later" not in without
    return {
        "requests": {"made": calls.made, "counted": calls.counted, "priced": calls.priced, "outputs_estimated": calls.outputs_estimated},
        "tokens": asdict(figures.tokens) if is_counted else None,
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
            **{
                kind.replace(" ", "_"): {
                    "needed": of_it.needed,
                    "in_summary": of_it.in_view,
                    "shown_again": of_it.seen_again,
                    "lost": of_it.lost,
                }
                for kind, of_it in kept.kinds.items()
            },
            "identifier_beside_its_file": _share(kept.names_beside_their_file),
            "summaries": named_json(kept.named),
        }
        if is_kept
        else None,
        "missing": _reasons(without),
        "incomplete": _reasons(incomplete(figures)),
    }


def _dollars(dollars: Dollars) -> Json:
    return {**asdict(dollars), "total": dollars.total}


def _share(share: Share) -> Json:
    return {"needed": share.of, "in_summary": share.hits}


def _reasons(reasons: dict[Figure, str]) -> dict[str, Json]:
    return {str(figure): why for figure, why in reasons.items()}
