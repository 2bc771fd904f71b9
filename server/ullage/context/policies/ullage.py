"""`ullage`: the default."""

from __future__ import annotations

from ullage.context.engines.ullage import UllageEngine
from ullage.context.policy import Policy, RestoreNumbers

ULLAGE = Policy(
    name="ullage",
    title="Long results are shortened; when full, or where it saves, a summary from the log and by the model; up to 5 files are read again",
    sources=("Ullage itself; every number names its own source",),
    engine=UllageEngine(),
    saves=True,
    restore=RestoreNumbers(room_share=0.5),
)
