"""The environment of the commands that the agent runs: the user's own, without what is secret."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ullage.context.redact import redact

SECRET_NAMES = re.compile(
    r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|WEBHOOK|COOKIE|^ANTHROPIC_|(?:^|_)PASS(?:_|$)|_(?:PWD|PAT|DSN)$", re.IGNORECASE
)
"""Something harmless may go too (`KEYBOARD_LAYOUT`). Under other names, what `redact` knows by its value goes."""

EDITOR_NAMES = re.compile(r"^(VSCODE|ELECTRON)_|^(GIT|SSH)_ASKPASS$")
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
    return {name: value for name, value in inherited.items() if not _is_left_out(name, value)} | ADDED


def _is_left_out(name: str, value: str) -> bool:
    return bool(SECRET_NAMES.search(name) or EDITOR_NAMES.search(name)) or redact(value) != value
