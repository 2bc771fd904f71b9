"""`head-tail`: long results keep their head and their tail, and the last 4 messages stay beside the summary.

The article shortens results before every call; since it shortens each the first time that it sees it (and later only cuts its own note
anew), that is done on arrival. A part is cut at the end of a line where at least half of it stays, and the line between the two says where
the whole is; so a result of a few characters over 1,000 stays whole, since it would be longer than what it replaces. The article's estimate
passes over what the assistant says; here that counts too. The model reads the older messages, in the article as they are, here as text.
What it is asked with a focus is the usual, with the focus at its end. For a refused prompt the article has nothing: it is answered as the
line is.
"""

from __future__ import annotations

from ullage.context.engines.staged import Staged
from ullage.context.engines.staged_options import OwnText, SummaryShape, SummaryTokens
from ullage.context.moves.cuts import Tail
from ullage.context.policy import ClipOptions, FixedTokens, Policy, ThresholdOptions

PROMPT = (
    "Summarise the conversation above. What counts: decisions that were made, what was found out about the project, how far the task is, "
    "which files were changed. Short, but with all that is needed to go on."
)
PREFACE = "[Summary of the conversation before this]"

HEAD_TAIL = Policy(
    name="head-tail",
    title="Results over 1,000 characters keep 500 + 500; at 120,000 estimated tokens a summary and the last 4 messages",
    sources=(
        "An article on lesson s06 that keeps head and tail of results",
        "learn-claude-code: https://github.com/shareAI-lab/learn-claude-code",
    ),
    engine=Staged(
        arrival=ClipOptions(result_characters=1_000, message_characters=None, preview_characters=1_000, tail_share=0.5),
        summary=SummaryShape(
            prompt=PROMPT,
            tokens=SummaryTokens(2_000),
            reads=OwnText(),
            tail=Tail(messages=4),
            preface=PREFACE,
            acknowledgement="I know from the summary where things stand and continue.",
        ),
    ),
    threshold=ThresholdOptions(FixedTokens(120_000)),
    measure="characters / 4",
)
