"""`four-layer`: lesson S08 of learn-claude-code. Budget, snip and clear before every call; at 50,000 characters a summary of everything.

The budget keeps the largest new results in files where those of one message have more than 200,000 characters, and only those over 30,000.
After a refused prompt the last 5 messages stay beside the summary: more where a call would be parted from its result, and fewer where they
would fill the context again. The article names the tool `compact` in a result that follows the summary and answers no call, and leaves the
reply's other calls out; here they are all run, and summarised with the rest. Its 50,000 characters are those of Python's text of the
messages, here those that they say. Later versions of the lesson never clear what the model has not answered and give it a quarter from the
beginning and three from the end; the article's steps stand here.
"""

from __future__ import annotations

from ullage.context.engines.staged import Staged
from ullage.context.engines.staged_options import OwnText, SummaryShape, SummaryTokens, Upkeep
from ullage.context.moves.cuts import Tail
from ullage.context.policy import ClearOptions, ClipOptions, FixedCharacters, Policy, SnipOptions, ThresholdOptions

PROMPT = (
    "Summarise the coding session above so that the work can continue. Keep (1) the goal, (2) findings and decisions, (3) files read and "
    "changed, (4) what is left to do, (5) what the user ruled in or out. Few words, concrete ones."
)

FOUR_LAYER = Policy(
    name="four-layer",
    title="Largest results to files, the middle cut out over 50 messages, old results cleared; at 50,000 characters one summary",
    sources=(
        "learn-claude-code, s08_context_compact: https://github.com/shareAI-lab/learn-claude-code",
        "An article that walks through its lesson S08",
    ),
    engine=Staged(
        arrival=ClipOptions(
            result_characters=None, message_characters=200_000, preview_characters=2_000, tail_share=0.0, smallest_characters=30_000
        ),
        every_call=Upkeep(
            (
                SnipOptions(keep_first=3, keep_last=47),
                ClearOptions(
                    keep_results=3,
                    minimum_characters=120,
                    answered_only=False,
                    spares_newest_reads=False,
                    placeholder="[An earlier result stood here. Run the tool again where it is needed.]",
                ),
            )
        ),
        summary=SummaryShape(
            prompt=PROMPT,
            tokens=SummaryTokens(2_000),
            reads=OwnText(characters=80_000, keeps="beginning"),
            tail=Tail(unanswered=False),
            reactive_tail=Tail(messages=5),
            preface="[Compacted]",
        ),
    ),
    threshold=ThresholdOptions(FixedCharacters(50_000)),
    measure="characters / 4",
)
