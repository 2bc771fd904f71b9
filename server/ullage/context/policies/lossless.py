"""`lossless`: Lossless Context Management, as lossless-claw does it."""

from __future__ import annotations

from ullage.context.engines.lossless.engine import LosslessEngine
from ullage.context.policy import LineNumbers, Policy, ShareOfWindow

LOSSLESS = Policy(
    name="lossless",
    title="Summaries over chunks of the conversation and summaries over summaries, each openable; the newest 64 messages stay",
    sources=(
        "github.com/Martian-Engineering/lossless-claw: src/db/config.ts, src/compaction.ts, src/summarize.ts (August 2026)",
        "papers.voltropy.com/LCM: Lossless Context Management",
    ),
    engine=LosslessEngine(),
    line=LineNumbers(ShareOfWindow(0.75)),
)
