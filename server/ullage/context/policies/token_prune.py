"""`token-prune`: LLMLingua carried to tool results.

LLMLingua asks a small model how predictable each token is. Here the text itself is asked, by whole words: how often each stands in it.
"""

from __future__ import annotations

from ullage.context.engines.token_prune import TokenPruneEngine
from ullage.context.policy import Policy, RestoreNumbers

TOKEN_PRUNE = Policy(
    name="token-prune",
    title="Long results lose up to half of their text, words of little information, on arrival; code stays; else as `ullage`",
    sources=(
        "LLMLingua, arXiv:2310.05736 and 2403.12968",
        "github.com/microsoft/LLMLingua: llmlingua/prompt_compressor.py (rate 0.5)",
        "how much a word says is estimated from the text itself instead of by a small model",
    ),
    engine=TokenPruneEngine(),
    restore=RestoreNumbers(),
)
