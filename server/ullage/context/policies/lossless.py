"""`lossless`: Lossless Context Management, as lossless-claw does it.

Summaries over messages of at most 20,000 tokens, over 8 of those, and over 4 of these; each says which entries it stands for, and `recall`
opens them, in the place of the tools that lossless-claw brings. Its second, more pressing prompt for a summary that came out too long is
left out: one that gains nothing is not taken, and the program's few lines stand in, as there.
"""

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
