"""`memory-blocks`: LlamaIndex's memory.

It compares the chat history alone; so does this. Three blocks stand for what went: the first prompt (its static block), at most 50 facts
that a model notes down, and two passages close to what is asked now, which LlamaIndex finds by embeddings and Ullage by rare words in
common. They are made anew with each flush, not with each call, and stand at the beginning, not in the system prompt. More than 50 facts are
condensed there, here the newest stay.
"""

from __future__ import annotations

from ullage.context.engines.memory_blocks import MemoryBlocksEngine, MemoryBlocksNumbers
from ullage.context.policy import FixedTokens, LineNumbers, Policy

MEMORY_BLOCKS = Policy(
    name="memory-blocks",
    title="Of 30,000 tokens 70 % are for the chat history; beyond that its oldest 10 % flow into blocks: fixed, facts, recalled",
    sources=(
        "github.com/run-llama/llama_index: llama-index-core/llama_index/core/memory/memory.py and memory_blocks/ (2026)",
        "developers.llamaindex.ai: Memory",
    ),
    engine=MemoryBlocksEngine(),
    line=LineNumbers(FixedTokens(MemoryBlocksNumbers().history_tokens)),
    measure="messages",
)
