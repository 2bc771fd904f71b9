"""`hermes`: at half of the window the middle is summarised; the first 3 messages stay, and at least the last 20.

The tail is as long as a fifth of the threshold allows, but never under 20 messages. Before that results over 200 characters are cleared,
here all but those in the newest 20 messages and the newest 20,000 tokens of results (a fifth of the threshold of a window of 200,000). The
summary takes a fifth of what it stands for, at least 2,000 tokens and at most 5 % of the window or 12,000, and updates the one before.
Hermes has a second check at 85 % of the window between turns, a safety net that compacts in the same way: here every call is checked, so
there is nothing left for it to catch. Newer sources begin at 75 % for windows under 512,000 tokens, never over 256,000, keep a leaner tail
(10,000 to 25,000 tokens), write at most 10,000 and read both ends of what is over 160,000 characters, of which here the end is read; the
published numbers stand here.
"""

from __future__ import annotations

from ullage.context.engines.staged import Staged
from ullage.context.engines.staged_options import OwnText, SummaryShape, SummaryTokens
from ullage.context.moves.cuts import Tail
from ullage.context.policy import ClearOptions, ClipOptions, Policy, ShareOfWindow, ThresholdOptions

SECTIONS = (
    "Sections: Goal; Constraints and preferences; Progress (done, in progress, blocked); Key decisions; Relevant files; Next steps; "
    "Critical context. Be specific: paths, commands, values, error messages. Never write a key or a password; write [REDACTED] in its "
    "place. Favour: {focus}."
)
PROMPT = f"The text above is the middle of a conversation, whose beginning and end are kept. Write a handoff summary of it. {SECTIONS}"
UPDATE = (
    "Above stand the summary of the earlier middle of a conversation and what came after it. Write the summary anew: move to done what "
    f"was finished, add what is new, drop what no longer holds. {SECTIONS}"
)

HERMES = Policy(
    name="hermes",
    title="At half of the window the middle is summarised, iteratively; the first 3 messages and at least the last 20 stay",
    sources=(
        "agent/context_compressor.py: https://github.com/NousResearch/hermes-agent",
        "https://hermes-agent.nousresearch.com/docs/developer-guide/context-compression-and-caching",
    ),
    engine=Staged(
        arrival=ClipOptions(),
        at_threshold=(
            ClearOptions(
                keep_results=0,
                minimum_characters=200,
                answered_only=False,
                spares_newest_reads=False,
                spared_messages=20,
                keep_tokens=20_000,
                placeholder="[The output of an old call was cleared to save room]",
            ),
        ),
        summary=SummaryShape(
            prompt=PROMPT,
            update=UPDATE,
            sections=7,
            tokens=SummaryTokens(12_000, share_of_window=0.05, share_of_covered=0.2, least=2_000),
            reads=OwnText(characters=160_000),
            keep_first=3,
            tail=Tail(messages=20, share_of_threshold=0.2),
            preface=(
                "[Record of the earlier middle of this conversation, for reference. What it mentions was dealt with unless the messages "
                "after it say otherwise; what the user asks there is what counts.]"
            ),
        ),
    ),
    threshold=ThresholdOptions(ShareOfWindow(0.5)),
)
