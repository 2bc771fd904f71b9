"""`aider`: a small chat history, halved and summarised again and again, and a map of the repository.

Only finished turns count. aider summarises up to four times until the history fits; here once at each boundary, which comes to the same. It
makes the map anew for every call; here, where that would cost the cached prefix each time, it is made with each summary. A running turn of
more than 70 % of the window is summarised too, which aider, whose turns run few commands, never does.
"""

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
