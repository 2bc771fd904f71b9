"""`opencode`: old results are hidden between turns; at the input limit − 20,000 tokens an anchored summary, which later ones update.

Hidden is what lies beyond the newest 40,000 tokens of results, if that frees 20,000, never in the last 2 turns or of `skill`. The newest 2
turns stay beside the summary within a quarter of the threshold, at least 2,000 and at most 8,000 tokens; a turn that does not fit is split.
What the user asked last is put in again where it is covered. Current sources have hiding off by default, keep up to 15,000 tokens of any
number of turns, and put the last message in again only after a refused prompt; the published numbers stand here. Where nothing is put in
again OpenCode tells the model to go on; here it goes on with the tail.
"""

from __future__ import annotations

from ullage.context.engines.staged import Staged
from ullage.context.engines.staged_options import OwnText, SummaryShape, SummaryTokens, Upkeep
from ullage.context.moves.cuts import Tail, TokenRange
from ullage.context.policy import BelowWindow, ClearOptions, ClipOptions, Policy, ThresholdOptions

SECTIONS = (
    "Use these sections: Goal; Constraints and preferences; Progress (done, in progress, blocked); Key decisions; Next steps; Critical "
    "context; Relevant files. Write in the language of the conversation. Give paths, commands and messages exactly, and say nothing "
    "about the summary itself."
)
PROMPT = f"Write a summary of the older part of a coding session, which stands above; its newest turns are kept beside it. {SECTIONS}"
UPDATE = (
    "Above stand the summary of a coding session so far and what was said and done since. Bring the summary up to date: keep what still "
    f"holds, take out what does not, work in what is new. {SECTIONS}"
)

OPENCODE = Policy(
    name="opencode",
    title="Results beyond the newest 40,000 tokens are hidden; at the input limit − 20,000 an anchored summary, last message put in again",
    sources=(
        "packages/opencode/src/session/compaction.ts and overflow.ts: https://github.com/sst/opencode",
        "https://justin3go.com/en/posts/2026/04/09-context-compaction-in-codex-claude-code-and-opencode",
    ),
    engine=Staged(
        arrival=ClipOptions(result_characters=51_200, message_characters=None, preview_characters=51_200, tail_share=0.0),
        every_call=Upkeep(
            (
                ClearOptions(
                    keep_results=0,
                    minimum_characters=0,
                    spares_newest_reads=False,
                    spared_tools=frozenset({"skill", "Skill"}),
                    spared_turns=2,
                    keep_tokens=40_000,
                    minimum_gain=20_000,
                    placeholder="[The output of an old call was hidden]",
                ),
            ),
            between_turns=True,
        ),
        summary=SummaryShape(
            prompt=PROMPT,
            update=UPDATE,
            sections=7,
            tokens=SummaryTokens(4_096),
            reads=OwnText(result_characters=2_000),
            tail=Tail(turns=2, limit=TokenRange(0.25, least=2_000, most=8_000)),
            preface="[Summary of the session before this]",
            carries_last_prompt=True,
        ),
    ),
    threshold=ThresholdOptions(BelowWindow(reserve=20_000, margin=0, cap=None)),
)
