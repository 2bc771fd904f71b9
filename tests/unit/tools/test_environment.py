"""No secret reaches a command."""

from __future__ import annotations

import pytest

from ullage.tools.environment import tool_environment


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("PATH", True),
        ("HOME", True),
        ("LANG", True),
        ("SSH_AUTH_SOCK", True),
        ("VIRTUAL_ENV", True),
        ("ANTHROPIC_API_KEY", False),
        ("ANTHROPIC_BASE_URL", False),
        ("anthropic_auth", False),
        ("OPENAI_API_KEY", False),
        ("GITHUB_TOKEN", False),
        ("my_secret", False),
        ("PGPASSWORD", False),
        ("MYSQL_PASSWD", False),
        ("GOOGLE_APPLICATION_CREDENTIALS", False),
        ("VSCODE_IPC_HOOK", False),
        ("ELECTRON_RUN_AS_NODE", False),
    ],
)
def test_names(name: str, kept: bool) -> None:
    assert (name in tool_environment({name: "value"})) is kept


def test_nothing_waits_for_a_person() -> None:
    environment = tool_environment({"PAGER": "less"})
    assert environment["PAGER"] == "cat"
    assert environment["GIT_TERMINAL_PROMPT"] == "0"
