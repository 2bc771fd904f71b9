"""Telling the user's own words from what the program says in the user's place."""

from __future__ import annotations

_STARTS = (
    "[Request interrupted by user",
    "<local-command-",
    "<command-name>",
    "<command-message>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<agent-notification>",
    "<system-reminder>",
    "<user-prompt-submit-hook>",
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<skill>",
    "<permissions instructions>",
    "<subagent_notification>",
    "<collaboration_mode>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
)
"""How such texts begin in Claude Code and in Codex."""


def is_of_the_program(text: str) -> bool:
    """Whether a text under the user's role was written by the program."""
    return text.lstrip().startswith(_STARTS)
