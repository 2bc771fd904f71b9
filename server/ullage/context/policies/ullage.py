"""`ullage`: the default."""

from __future__ import annotations

from ullage.context.engines.ullage import UllageEngine
from ullage.context.policy import Policy, RestoreNumbers

ULLAGE = Policy(
    name="ullage",
    title="Clip on arrival; at the line, or where it saves, a record by program and model; up to 5 files in use are read again",
    sources=("Ullage itself; every number names its own source",),
    engine=UllageEngine(),
    saves=True,
    restore=RestoreNumbers(room_share=0.5),
)
