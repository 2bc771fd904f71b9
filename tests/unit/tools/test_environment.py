"""No secret reaches a command."""

from __future__ import annotations

import pytest

from ullage.tools.process import sandbox_environment, tool_environment


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
        ("DATABASE_URL", False),
        ("REDIS_URL", False),
        ("MONGODB_URI", False),
        ("CELERY_BROKER_URL", False),
        ("AZURE_STORAGE_CONNECTION_STRING", False),
        ("DOCKER_AUTH_CONFIG", False),
        ("NPM_CONFIG__AUTH", False),
        ("SOURCE_URL", True),
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
        ("postgres://tank@db/gauge", False),
        ("https://registry.example.org/npm/", True),
        ("Server=db;Database=a;User Id=x;Password=y", False),
        ("DefaultEndpointsProtocol=https;AccountName=a;AccountKey=b", False),
        ("jdbc:postgresql://db/gauge", False),
        ("https://a.blob.example.net/c?sv=1&sig=abc", False),
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


def test_no_way_to_a_socket_of_the_user_is_named_in_the_sandbox() -> None:
    named = {
        "SSH_AUTH_SOCK": "/run/a",
        "DBUS_SESSION_BUS_ADDRESS": "unix:x",
        "TMUX": "/tmp/t",
        "DOCKER_HOST": "unix:y",
        "TMPDIR": "/x",
        "PATH": "/bin",
    }
    kept = sandbox_environment(named)
    assert kept.pop("TAR_OPTIONS", "") in ("", "--no-same-owner")
    assert kept == {"PATH": "/bin", "TMPDIR": "/tmp"}
