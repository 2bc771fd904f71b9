"""`memgpt`: MemGPT, as Letta does it."""

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
