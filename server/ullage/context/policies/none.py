"""`none`: no compaction at all, to see what carrying everything costs."""

from __future__ import annotations

from ullage.context.engines.engine import Unchanging
from ullage.context.policy import Never, Policy, ThresholdOptions

NONE = Policy(
    name="none",
    title="No compaction: everything stays until the window is full",
    sources=("The baseline",),
    engine=Unchanging(),
    threshold=ThresholdOptions(Never()),
)
