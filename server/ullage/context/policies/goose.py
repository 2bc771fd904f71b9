"""`goose`: at 80 % of the window a summary of everything; what the user asked last stays while the model is still at it.

The model reads the messages as text. Where they do not fit 10, 20, 50 and in the end all of the results (per cent) are left out, from the
middle outwards. Goose sets no ceiling to the summary: Ullage's own stands here. What it does before that in the background, where it is
switched on (ten calls with their results become a note each), is left out.
"""

from __future__ import annotations

from ullage.context.engines.staged import Staged
from ullage.context.engines.staged_options import OwnText, SummaryShape, SummaryTokens
from ullage.context.moves.cuts import Tail
from ullage.context.policy import ClipOptions, Policy, ShareOfWindow, SummaryOptions, ThresholdOptions

PROMPT = (
    "The text above is the history of a conversation with a coding agent. Write a summary of it with which the agent can go on as if it "
    "remembered: what the user intends, what was done and with which tools, files and code that matter, problems and their solutions, "
    "how far the current work is, what is open, what comes next. Keep the user's requests and technical particulars exact."
)

GOOSE = Policy(
    name="goose",
    title="At 80 % of the window a summary of everything; the last message of the user stays",
    sources=(
        "crates/goose/src/context_mgmt/mod.rs: https://github.com/block/goose",
        "https://goose-docs.ai/docs/guides/sessions/smart-context-management",
    ),
    engine=Staged(
        arrival=ClipOptions(result_characters=200_000, message_characters=None),
        summary=SummaryShape(
            prompt=PROMPT,
            tokens=SummaryTokens(SummaryOptions().output_tokens),
            reads=OwnText(dropped_shares=(0.1, 0.2, 0.5, 1.0)),
            tail=Tail(unanswered=False),
            acknowledgement="I continue from the summary, without mentioning it, and call tools where the task needs them.",
            carries_last_prompt=True,
        ),
    ),
    threshold=ThresholdOptions(ShareOfWindow(0.8)),
)
