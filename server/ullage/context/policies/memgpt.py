"""`memgpt`: MemGPT, as Letta does it.

The oldest 40 % of the messages go, then 10 % more at a time until 30 % of the window are free. The blocks stand with the summary, not in
the system prompt, which would cost the cached prefix with each edit: between two compactions the model sees its edits as calls. Blocks that
it left empty show what the log alone tells. Older things are paged in by `recall`, over all that was ever said.
"""

from __future__ import annotations

from ullage.context.engines.memgpt.engine import MemgptEngine
from ullage.context.policy import LineNumbers, Policy, ShareOfWindow

MEMGPT = Policy(
    name="memgpt",
    title="At 90 % of the window the oldest messages go, first in, first out, into a summary of summaries; the model edits memory blocks",
    sources=(
        "MemGPT, arXiv:2310.08560",
        "github.com/letta-ai/letta before it was archived: letta/constants.py, letta/settings.py, letta/services/summarizer/ (2026)",
    ),
    engine=MemgptEngine(),
    line=LineNumbers(ShareOfWindow(0.9)),
)
