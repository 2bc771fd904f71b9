"""`ullage`: the default."""

from __future__ import annotations

from ullage.context.engines.ullage import UllageEngine
from ullage.context.policy import Policy, RestoreNumbers

ULLAGE = Policy(
    name="ullage",
    title="Clip on arrival; at the line snip and clear, summarise where that is not enough; program and model write the handoff together",
    sources=("Ullage itself; every number names its own source",),
    engine=UllageEngine(),
    saves=True,
    restore=RestoreNumbers(),
)
