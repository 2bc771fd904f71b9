"""`summary-buffer`: LangChain's `ConversationSummaryBufferMemory`. A running summary and the newest messages within 2,000 tokens.

LangChain counts the messages alone, and its limit is meant for chats. Here the summary counts too: what is compared with the limit is all
that is in view. What the model has not answered yet stays however long it is. LangChain sets no ceiling to the summary; half of the limit
stands here.
"""

from __future__ import annotations

from ullage.context.engines.staged import Staged
from ullage.context.engines.staged_options import OwnText, SummaryShape, SummaryTokens
from ullage.context.moves.cuts import Tail
from ullage.context.policy import ClipOptions, FixedTokens, Policy, ThresholdOptions

PROMPT = "Summarise the lines of conversation above, in the order in which things happened. Answer with the summary alone."
UPDATE = (
    "Above stand a running summary and new lines of conversation. Add them to the summary and answer with the whole of it, nothing else."
)

SUMMARY_BUFFER = Policy(
    name="summary-buffer",
    title="A running summary and the newest messages, together within 2,000 tokens",
    sources=("langchain/memory/summary_buffer.py: https://github.com/langchain-ai/langchain",),
    engine=Staged(
        arrival=ClipOptions(),
        summary=SummaryShape(
            prompt=PROMPT,
            update=UPDATE,
            tokens=SummaryTokens(1_000),
            reads=OwnText(),
            tail=Tail(tokens=2_000, with_summary=True),
            preface="[Summary of the conversation before this]",
        ),
    ),
    threshold=ThresholdOptions(FixedTokens(2_000)),
    measure="messages",
)
