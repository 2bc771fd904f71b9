"""`three-layer-preserving`: the three layers with protections, as a later article describes them.

Only results that the model has answered go, the newest 3 of those stay, and what was read from files always stays. The summary is one
message, written from the last 80,000 characters; nothing else is left.

The article has the turn end after the tool `compact` and asks for the summary in the place of the system prompt; here the turn goes on, and
the system prompt stays. It has nothing for a refused prompt: here it is answered as the threshold is. That a tool gives at most 50,000
characters stands in the lesson, not in the article.
"""

from __future__ import annotations

from ullage.context.engines.staged import Staged
from ullage.context.engines.staged_options import OwnText, SummaryShape, SummaryTokens, Upkeep
from ullage.context.moves.cuts import Tail
from ullage.context.policy import ClearOptions, ClipOptions, FixedTokens, Policy, ThresholdOptions

PROMPT = (
    "Summarise the conversation above for whoever continues it: what was accomplished, the present state, the main decisions. Keep it "
    "short without dropping a detail that matters."
)
PREFACE = "[The conversation up to here was compressed. All of it is in the log: `recall` searches and opens it.]"

THREE_LAYER_PRESERVING = Policy(
    name="three-layer-preserving",
    title="The three layers with protections: only answered results go, files that were read never; the summary is one message",
    sources=(
        "An article on three layers of context compression with four protections",
        "learn-claude-code: https://github.com/shareAI-lab/learn-claude-code",
    ),
    engine=Staged(
        arrival=ClipOptions(result_characters=50_000, message_characters=None, preview_characters=50_000, tail_share=0.0),
        every_call=Upkeep(
            (
                ClearOptions(
                    keep_results=3,
                    counts_answered=True,
                    minimum_characters=100,
                    spares_newest_reads=False,
                    spared_tools=frozenset({"read_file", "Read", "NotebookRead"}),
                    placeholder="[Previous: used {tool}]",
                ),
            )
        ),
        summary=SummaryShape(
            prompt=PROMPT,
            tokens=SummaryTokens(2_048),
            reads=OwnText(characters=80_000, keeps="end"),
            tail=Tail(unanswered=False),
            preface=PREFACE,
        ),
    ),
    threshold=ThresholdOptions(FixedTokens(50_000)),
    measure="characters / 4",
)
