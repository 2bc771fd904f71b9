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
        ("SMTP_PASS", False),
        ("MYSQL_PWD", False),
        ("GH_PAT", False),
        ("SSH_PASSPHRASE", False),
        ("SLACK_WEBHOOK_URL", False),
        ("SENTRY_DSN", False),
        ("OLDPWD", True),
        ("COMPASS_HOME", True),
        ("GIT_ASKPASS", False),
        ("VSCODE_IPC_HOOK", False),
        ("ELECTRON_RUN_AS_NODE", False),
    ],
)
def test_names(name: str, kept: bool) -> None:
    assert (name in tool_environment({name: "value"})) is kept


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("postgres://tank:hunter22@db/gauge", False),
        ("postgres://tank@db/gauge", True),
        ("ghp_" + "a1" * 18, False),
        ("--api-key=k3yk3yk3y --verbose", False),
        ("--verbose", True),
    ],
)
def test_values_that_show_what_they_are(value: str, kept: bool) -> None:
    assert ("OPTIONS" in tool_environment({"OPTIONS": value})) is kept


def test_nothing_waits_for_a_person() -> None:
    environment = tool_environment({"PAGER": "less"})
    assert environment["PAGER"] == "cat"
    assert environment["GIT_TERMINAL_PROMPT"] == "0"
