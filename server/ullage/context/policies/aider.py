"""`aider`: a small chat history, halved and summarised again and again, and a map of the repository."""

from __future__ import annotations

from ullage.context.engines.aider.engine import AiderEngine
from ullage.context.policy import LineNumbers, Policy, ShareOfWindow

AIDER = Policy(
    name="aider",
    title="Finished turns over a sixteenth of the window are halved and the older half summarised; a map of the repository beside them",
    sources=(
        "github.com/Aider-AI/aider: aider/history.py, aider/models.py, aider/repomap.py, aider/args.py (May 2026)",
        "aider.chat/docs/repomap.html",
    ),
    engine=AiderEngine(),
    line=LineNumbers(ShareOfWindow(1 / 16, at_most=8_192, at_least=1_024)),
    measure="messages",
)
