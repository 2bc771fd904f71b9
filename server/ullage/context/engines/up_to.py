"""The plan that most engines of their own make: one summary for all messages before a cut, asked of a model, and nothing else."""

from __future__ import annotations

from ullage.context.engines.engine import Occasion
from ullage.context.moves.plan import Asked, Plan
from ullage.context.moves.snip import messages_in


def summary_up_to(cut: int, at: Occasion, estimated_after: int, asked: Asked) -> Plan:
    """The plan; `cut` is legal and not the first. `estimated_after` in tokens."""
    to = at.projection.last_seq_before(cut)
    covers = messages_in([logged for logged in at.projection.entries if logged.seq <= to])
    return Plan(at.projection.entries[-1].seq, (), None, to, covers, estimated_after, asked=asked)
