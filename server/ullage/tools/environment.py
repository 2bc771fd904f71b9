"""The environment of the commands that the agent runs: the user's own, without what is secret."""

from __future__ import annotations

import re
from collections.abc import Mapping

SECRET_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|^ANTHROPIC_", re.IGNORECASE)
"""By name, since a value does not say what it is. Something harmless may go too (`KEYBOARD_LAYOUT`)."""

EDITOR_NAMES = re.compile(r"^(VSCODE|ELECTRON)_")
"""What the editor sets for its own processes, and what makes `code` or Electron programs misbehave below it."""

ADDED = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "PAGER": "cat",
    "PYTHONUNBUFFERED": "1",
    "TERM": "dumb",
}
"""No program may wait for someone to press a key, colour its output, or hold it back."""


def tool_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """What a command gets of the inherited environment."""
    kept = {name: value for name, value in inherited.items() if not SECRET_NAMES.search(name) and not EDITOR_NAMES.search(name)}
    return kept | ADDED
