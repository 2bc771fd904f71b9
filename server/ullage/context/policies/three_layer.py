"""`three-layer`: lesson s06 of learn-claude-code. Old results go before every call; at 50,000 estimated tokens a summary takes all.

The article measures and sends Python's and JSON's text of the messages; here it is what they say, without thinking. Where Ullage must
differ: what the model has not answered yet stays after the assistant's acknowledgement, since a request cannot end with the assistant's
word. The article has nothing for a refused prompt: here it is answered as the threshold is. Later versions of the lesson keep what was read
from files, give the model the last 80,000 characters and leave the acknowledgement out, as `three-layer-preserving` does.
"""

from __future__ import annotations

from ullage.context.engines.staged import Staged
from ullage.context.engines.staged_options import OwnText, SummaryShape, SummaryTokens, Upkeep
from ullage.context.policy import ClearOptions, ClipOptions, FixedTokens, Policy, ThresholdOptions

PROMPT = (
    "The text above is a conversation between a user and a coding agent. Summarise it so that the agent can carry on with nothing but your "
    "summary. Cover (1) what has been done, (2) how things stand now, (3) which decisions were made. Be brief, and keep every detail that "
    "the next steps depend on."
)
PREFACE = "[The conversation up to here was compressed. All of it is in the log: `recall` searches and opens it.]"

THREE_LAYER = Policy(
    name="three-layer",
    title="Before every call old results become a note of the tool used; at 50,000 estimated tokens everything becomes one summary",
    sources=(
        "learn-claude-code, agents/s06_context_compact.py: https://github.com/shareAI-lab/learn-claude-code",
        "An article that takes its lesson s06 apart",
    ),
    engine=Staged(
        arrival=ClipOptions(result_characters=50_000, message_characters=None, preview_characters=50_000, tail_share=0.0),
        every_call=Upkeep(
            (
                ClearOptions(
                    keep_results=3,
                    minimum_characters=100,
                    answered_only=False,
                    spares_newest_reads=False,
                    placeholder="[Previous: used {tool}]",
                ),
            )
        ),
        summary=SummaryShape(
            prompt=PROMPT,
            tokens=SummaryTokens(2_000),
            reads=OwnText(characters=80_000, keeps="beginning"),
            preface=PREFACE,
            acknowledgement="I have read the summary and go on from there.",
        ),
    ),
    threshold=ThresholdOptions(FixedTokens(50_000)),
    measure="characters / 4",
)
