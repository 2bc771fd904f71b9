"""`memory-blocks`: LlamaIndex's memory."""

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
