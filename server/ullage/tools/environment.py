"""The environment of the commands that the agent runs: the user's own, without what is secret."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from ullage.context.redact import redact

SECRET_NAMES = re.compile(
    r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|WEBHOOK|COOKIE|BEARER|JWT|CONNECTION_?STRING|CONN_?STR|^ANTHROPIC_"
    r"|(?:^|_)(?:PASS|AUTH)(?:_CONFIG|_JSON)?$|(?:^|_)PASS_|_(?:PWD|PAT|DSN|SAS|JDBC)$|__AUTH"
    r"|(?:DATABASE|DB|REDIS|MONGO|MONGODB|POSTGRES|POSTGRESQL|PG|MYSQL|MARIADB|SQL|AMQP|RABBITMQ|BROKER|KAFKA|ELASTIC\w*|CLICKHOUSE"
    r"|SUPABASE|CACHE|CELERY\w*|STORAGE)_(?:URL|URI|DIRECT_URL)$",
    re.IGNORECASE,
)
"""Something harmless may go too (`KEYBOARD_LAYOUT`). Under other names, what shows by its value that it is secret goes."""

SECRET_VALUES = re.compile(
    r"[a-z][a-z0-9+.-]*://[^/\s@]+@|(?:^|;)\s*(?:password|pwd|accountkey|sharedaccesskey|user id|uid)\s*="
    r"|^jdbc:|[?&](?:sig|token|access_token|key)=",
    re.IGNORECASE,
)
"""Beside what `redact` knows: an address with a name before the host (which may be a token), and what databases are reached with."""

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

LEFT_OUT = frozenset({"CDPATH", "BASHOPTS", "SHELLOPTS", "GLOBIGNORE"})
"""With these, `cd src` and `*.py` would mean something else than they say."""

KEPT_FOR_READING = re.compile(r"PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TEMP|TMP|SYSTEMROOT|WINDIR", re.IGNORECASE)
"""What a command that only reads gets: nothing that names options, programs, libraries or functions (`BASH_ENV`, `RIPGREP_CONFIG_PATH`)."""

ADDED_FOR_READING = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_CONFIG_KEY_1": "core.hooksPath",
    "GIT_CONFIG_VALUE_1": "/dev/null",
}
"""Git fetches nothing, locks nothing, and runs no monitor and no hook. Filters it still runs: that is what the sandbox is for."""


def reading_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """What a command gets that is known to only read."""
    kept = {name: value for name, value in tool_environment(inherited).items() if KEPT_FOR_READING.fullmatch(name)}
    return kept | ADDED | ADDED_FOR_READING


WAYS_OUT = re.compile(
    r"^(?:SSH_AUTH_SOCK|SSH_AGENT_PID|GPG_AGENT_INFO|GNOME_KEYRING_CONTROL|DBUS_\w+|XDG_RUNTIME_DIR|XDG_SESSION_\w+|DISPLAY|WAYLAND_DISPLAY"
    r"|XAUTHORITY|TMUX\w*|STY|DOCKER_\w+|CONTAINER_HOST|PODMAN_\w+|KUBECONFIG|WSL_INTEROP|NOTIFY_SOCKET|LISTEN_\w+|SESSION_MANAGER|ICEAUTHORITY"
    r"|(?:HTTPS?|ALL|FTP|NO)_PROXY)$",
    re.IGNORECASE,
)
"""Where sockets of the user are, and proxies: none can be reached from the sandbox."""


def sandbox_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What a command in the sandbox gets of the environment that it would have outside."""
    kept = {name: value for name, value in environment.items() if not WAYS_OUT.match(name)}
    for name in ("TMPDIR", "TEMP", "TMP"):
        kept.pop(name, None)
    if hasattr(os, "getuid") and os.getuid() == 0:
        kept["TAR_OPTIONS"] = "--no-same-owner"  # without capabilities root cannot give files away either, and tar would fail
    return kept | {"TMPDIR": "/tmp"}  # noqa: S108 - the sandbox's own


def tool_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """What a command gets of the inherited environment."""
    return {name: value for name, value in inherited.items() if not _is_left_out(name, value)} | ADDED


def _is_left_out(name: str, value: str) -> bool:
    if name in LEFT_OUT or SECRET_NAMES.search(name) or EDITOR_NAMES.search(name):
        return True
    return bool(SECRET_VALUES.search(value)) or redact(value) != value
