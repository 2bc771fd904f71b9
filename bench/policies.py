"""What each policy costs and keeps, over recorded sessions where they lie beside the repository, else over generated ones.

All of it is `ullage replay`'s; here its JSON becomes a section of RESULTS.md. No name and no word of a recorded session goes into it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from bench.peers.environments import ROOT
from bench.results import machine, table
from bench.workspaces import lay_down

Json: TypeAlias = Mapping[str, Any]

TRACES = ROOT.parent / "shared" / "traces"
"""Recorded sessions; they are not part of the repository."""
GENERATED = (600, 1_000, 1_400, 2_000)
"""Messages of the sessions that stand in for them."""
WINDOW = 200_000
"""Tokens, for those: under a window of a million few policies would do anything."""
EVERY_POLICY = "all"
KINDS = {"path": "paths", "identifier": "identifiers", "hash": "hashes", "error": "errors", "user_message": "user's messages"}
"""Of facts: their names in the report and in the table's head."""
HOW = (
    "Compacted where `--at {places}` says; `--summary {stand_in}` stands for what a model would have written. All policies have the same "
    "work: what a model that had forgotten more would have done otherwise does not show in the cost. Beside it stands what forgetting "
    "costs: text that tools gave again within 60 messages after a compaction and that was not in view, with the requests for it. Seconds "
    "of the processor are those that the policy itself took, in all."
)
KEPT = (
    "Each share is of what was needed after the compactions that this very policy made, so two policies are asked for different facts; "
    "where one made few of them it says little. Where `--summary` is `digest`, a policy that asks a model has the program's record in the "
    "place of the model's words, which names more than these would."
)
ABSENT = "–"


class NoReport(Exception):
    """`ullage replay` gave none; `str()` says why."""


def section(date: str, words: Sequence[str] = ()) -> str:
    """Runs the policies named in `words` (all of them, if none is) and gives the section. Raises `NoReport`."""
    names = ",".join(words) or EVERY_POLICY
    if TRACES.is_dir():
        return as_section(replay([TRACES, "--policy", names]), date, "recorded sessions (`../shared/traces`)")
    with tempfile.TemporaryDirectory() as temporary:
        lay_down(Path(temporary), GENERATED)
        report = replay([temporary, "--policy", names, "--window", str(WINDOW)])
    lengths = ", ".join(f"{length:,}" for length in GENERATED)
    return as_section(report, date, f"generated sessions of {lengths} messages under a window of {WINDOW:,} tokens")


def replay(arguments: Sequence[str | Path]) -> Json:
    """The report that `ullage replay` gives on these arguments. Raises `NoReport`."""
    command = [sys.executable, "-m", "ullage", "replay", *map(str, arguments), "--format", "json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        raise NoReport(f"ullage replay ended with {done.returncode}")
    report: Json = json.loads(done.stdout)
    if not report.get("policies"):
        raise NoReport("ullage replay reported no policies")
    return report


def as_section(report: Json, date: str, sessions: str) -> str:
    """The report's policies as tables."""
    policies: Sequence[Json] = report["policies"]
    parts = [
        f"## Policies over recorded work, {date}",
        f"{len(report['sessions'])} {sessions}; {machine()}; prices of {report['prices_of']}. "
        + HOW.format(places=report["compacted_at"], stand_in=report["summaries_by"]),
        "### Cost",
        table(
            [
                "",
                "dollars",
                "of them for summaries",
                "for forgetting",
                "compactions",
                "mean context",
                "requests that do not fit",
                "seconds",
            ],
            [_cost(each) for each in policies],
        ),
        "### What was needed within 60 messages after a compaction, and was in view",
        KEPT,
        table(
            ["", *KINDS.values(), "names beside their file", "files in view", "text again in view", "names then used", "rules broken"],
            [_kept(each) for each in policies],
        ),
    ]
    failures = [f"- {each['policy']}: failed on {len(each['failures'])} sessions" for each in policies if each["failures"]]
    return "\n\n".join((*parts, *(["\n".join(failures)] if failures else [])))


def _cost(policy: Json) -> list[str]:
    summaries, context = policy["dollars_for_summaries"], policy["context_tokens"]
    return [
        policy["policy"],
        _dollars(policy["dollars_in_all"]),
        _dollars(summaries["as_cached"] if summaries else None),
        _dollars(policy["dollars_for_forgetting"]),
        f"{policy['compactions']:,}",
        f"{round(context['mean']):,}" if context["mean"] is not None else ABSENT,
        f"{policy['requests_that_do_not_fit']:,}",
        f"{policy['seconds']:.1f}",
    ]


def _kept(policy: Json) -> list[str]:
    retained: Json = policy["retained"]
    kinds: Json = retained["kinds"]
    shares = [_share(kinds[kind]["in_view"], kinds[kind]["needed"]) if kind in kinds else ABSENT for kind in KINDS]
    beside = [_share(retained[name]["hits"], retained[name]["of"]) for name in ("identifier_beside_its_file", "files_in_view")]
    again, names = retained["text_again"], retained["summaries"]["identifiers_then_used"]
    beside += [_share(again["in_view"], again["known"]), _share(names["hits"], names["of"])]
    return [policy["policy"], *shares, *beside, f"{len(policy['violations']):,}"]


def _dollars(amount: float | None) -> str:
    return ABSENT if amount is None else f"{amount:,.2f}"


def _share(hits: int, of: int) -> str:
    return f"{hits / of:.1%} of {of:,}" if of else ABSENT
