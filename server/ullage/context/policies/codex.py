"""`codex`: at 90 % of the window a summary memo, with the user's own messages verbatim before it, up to 20,000 tokens, newest first.

This is the path for any provider; with OpenAI's own a service writes the summary. The memo is asked for on the conversation as it is; where
that would not fit with the answer the oldest messages are left out. Codex sets no ceiling to the memo, so Ullage's own stands here. A
result is cut to 10,000 tokens on arrival, which Codex takes to be 40,000 bytes, half of it head, half tail. The user's messages and the
memo are messages of their own there, and one here.
"""

from __future__ import annotations

from ullage.context.engines.staged import Staged
from ullage.context.engines.staged_options import SummaryShape, SummaryTokens
from ullage.context.moves.cuts import Tail
from ullage.context.policy import ClipOptions, Policy, ShareOfWindow, SummaryOptions, ThresholdOptions

PROMPT = (
    "This is a checkpoint: the context is about to be compacted. Without calling a tool, write a memo that hands the task over to "
    "another model. Put in: how far the work is and what was decided; constraints and wishes of the user and other context that matters; "
    "what is still to be done, as clear steps; data, examples and references that are needed for it. Be concise and structured."
)
PREFACE = "[Another model worked on this task before and left this memo. Build on what it did; do not do it again.]"

CODEX = Policy(
    name="codex",
    title="At 90 % of the window a handoff memo; the user's own messages stay verbatim up to 20,000 tokens, newest first",
    sources=(
        "codex-rs/core/src/compact.rs: https://github.com/openai/codex",
        "codex-rs/protocol/src/openai_models.rs (90 %): https://github.com/openai/codex",
    ),
    engine=Staged(
        arrival=ClipOptions(result_characters=40_000, message_characters=None, preview_characters=40_000, tail_share=0.5),
        summary=SummaryShape(
            prompt=PROMPT,
            tokens=SummaryTokens(SummaryOptions().output_tokens),
            tail=Tail(unanswered=False),
            preface=PREFACE,
            user_message_tokens=20_000,
        ),
    ),
    threshold=ThresholdOptions(ShareOfWindow(0.9)),
)
