"""What was recorded of the compared sessions, in the form of a policy's standing, so that it can stand beside the policies."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ullage.replay.figures import Row, together
from ullage.replay.html.comparison import Standing
from ullage.replay.retaining import Retained


def as_recorded(rows: Iterable[Row], sessions: Collection[str]) -> Standing | None:
    """None where a request of any of the sessions has no cost: a sum of some would seem cheaper than it was. Output that is estimated
    in part is no hindrance, since the policies' runs have the same."""
    of_them = [row.figures for row in rows if row.session_id in sessions]
    if not of_them or any(each.calls.priced < each.calls.made for each in of_them):
        return None
    whole = together(of_them)
    return Standing(
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
