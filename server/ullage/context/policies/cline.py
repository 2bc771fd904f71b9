"""`cline`: at 90 % of the input limit a summary beside the newest 20,000 tokens; after a refused prompt a fold without a model.

The model reads 2,000 characters of each result and writes at most 4,096 tokens (1,024 in earlier versions, which proved too few). Where
only the window is known Cline takes 90 % of it for the input limit; Ullage's window is the input limit as the Models API gives it. Cline
moves the cut back to the beginning of a turn; since one turn of an agent may be all there is, that is not done here. Nor are the texts of
files replaced that were read again later, which Cline does with each request, at the price of the prefix from there on. The fold is
Ullage's own digest: prompts verbatim, files, commands.
"""

from __future__ import annotations

from ullage.context.engines.staged import Staged
from ullage.context.engines.staged_options import OwnText, SummaryShape, SummaryTokens
from ullage.context.moves.cuts import Tail
from ullage.context.policy import ClipOptions, Policy, ShareOfWindow, ThresholdOptions

SECTIONS = (
    "Headings: Goal (one sentence); State (done, in progress, blocked); Highlights (technical choices and findings, if any); Next; Files "
    "(read, edited). Facts only, in few words."
)
PROMPT = f"Summarise the session above so that it can be continued. {SECTIONS}"
UPDATE = f"Above stand a summary of a session and its continuation. Write one summary of both. {SECTIONS}"

CLINE = Policy(
    name="cline",
    title="At 90 % of the input limit a summary beside the newest 20,000 tokens; after a refused prompt a fold without a model",
    sources=(
        "sdk/packages/core/src/extensions/context/compaction-shared.ts and agentic-compaction.ts: https://github.com/cline/cline",
        "Why 1,024 tokens of summary were too few: https://github.com/cline/cline/issues/13127",
    ),
    engine=Staged(
        arrival=ClipOptions(result_characters=50_000, message_characters=None, preview_characters=50_000, tail_share=0.5),
        summary=SummaryShape(
            prompt=PROMPT,
            update=UPDATE,
            sections=5,
            tokens=SummaryTokens(4_096),
            reads=OwnText(result_characters=2_000),
            tail=Tail(tokens=20_000),
            reactive_by_model=False,
            preface="Context summary:",
        ),
    ),
    threshold=ThresholdOptions(ShareOfWindow(0.9)),
)
