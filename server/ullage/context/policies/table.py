"""The policies that come with Ullage, by name, in the order in which they are listed."""

from __future__ import annotations

from collections.abc import Mapping

from ullage.context.policies.aider.policy import AIDER
from ullage.context.policies.claude_code import CLAUDE_CODE
from ullage.context.policies.cline import CLINE
from ullage.context.policies.codex import CODEX
from ullage.context.policies.four_layer import FOUR_LAYER
from ullage.context.policies.gemini_cli import GEMINI_CLI
from ullage.context.policies.goose import GOOSE
from ullage.context.policies.head_tail import HEAD_TAIL
from ullage.context.policies.hermes import HERMES
from ullage.context.policies.lossless.policy import LOSSLESS
from ullage.context.policies.memgpt import MEMGPT
from ullage.context.policies.memory_blocks import MEMORY_BLOCKS
from ullage.context.policies.none import NONE
from ullage.context.policies.opencode import OPENCODE
from ullage.context.policies.sink_window import SINK_WINDOW
from ullage.context.policies.summary_buffer import SUMMARY_BUFFER
from ullage.context.policies.three_layer import THREE_LAYER
from ullage.context.policies.three_layer_preserving import THREE_LAYER_PRESERVING
from ullage.context.policies.token_prune import TOKEN_PRUNE
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy

IN_ORDER = (
    ULLAGE,
    THREE_LAYER,
    THREE_LAYER_PRESERVING,
    HEAD_TAIL,
    FOUR_LAYER,
    CLAUDE_CODE,
    CODEX,
    OPENCODE,
    HERMES,
    GEMINI_CLI,
    CLINE,
    GOOSE,
    AIDER,
    MEMGPT,
    SUMMARY_BUFFER,
    MEMORY_BLOCKS,
    LOSSLESS,
    SINK_WINDOW,
    TOKEN_PRUNE,
    NONE,
)

BUILT_IN: Mapping[str, Policy] = {policy.name: policy for policy in IN_ORDER}
