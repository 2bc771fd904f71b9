"""What configuration files say, checked."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.mcp_servers.configured import ConfigurationNotJson, Configured, Http, StdioServer, configured, read_commented

HOME = Path("/home/someone")


def read(folder: Path, environment: dict[str, str] | None = None, **settings: object) -> tuple[tuple[Configured, ...], tuple[str, ...]]:
    return configured([folder], settings, environment or {}, HOME)


def test_variables_are_filled_in_as_editors_write_them(tmp_path: Path) -> None:
    given_ = {
        "command": "${env:PUMP}/bin/serve",
        "args": ["${workspaceFolder}/x", "${LEVEL:-high}", "${userHome}"],
        "env": {"TOKEN": "${TOKEN}", "PORT": 8080},
    }
    (server,), problems = read(tmp_path, {"PUMP": "/opt/pump", "TOKEN": "t"}, pumps=given_)
    assert problems == ()
    assert server.reached == StdioServer(
        "/opt/pump/bin/serve", (f"{tmp_path}/x", "high", str(HOME)), {"TOKEN": "t", "PORT": "8080"}, tmp_path
    )


def test_a_service_has_headers(tmp_path: Path) -> None:
    (server,), _ = read(
        tmp_path, {"KEY": "k"}, it={"type": "http", "url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${KEY}"}}
    )
    assert server.reached == Http("https://example.org/mcp", {"Authorization": "Bearer k"})


@pytest.mark.parametrize(
    ("value", "trouble"),
    [
        ("npx", "no object"),
        ({}, "either a `command` or a `url`"),
        ({"command": "x", "url": "https://x.org"}, "either a `command` or a `url`"),
        ({"type": "http", "command": "x"}, "`type` does not fit"),
        ({"type": ["x"], "command": "x"}, "`type` does not fit"),
        ({"type": "sse", "url": "https://x.org"}, "older way over HTTP"),
        ({"command": "  "}, "empty"),
        ({"command": 7}, "must be text"),
        ({"command": "x\0y"}, "must be text"),
        ({"command": "x", "args": "y"}, "must be a list"),
        ({"command": "x", "args": [7]}, "must be text"),
        ({"command": "x", "args": ["y"] * 300}, "must be a list"),
        ({"command": "x", "env": ["y"]}, "must be an object"),
        ({"command": "x", "env": {"A=B": "c"}}, "name that cannot be"),
        ({"command": "x", "env": {"A": {"b": 1}}}, "must be text"),
        ({"command": "x", "envFile": ".env"}, "envFile"),
        ({"command": "x", "timeout": "long"}, "`timeout`"),
        ({"command": "x", "timeout": True}, "`timeout`"),
        ({"command": "${input:token}"}, "asks for input"),
        ({"command": "${env:NOT_SET}"}, "`NOT_SET`, which is not set"),
        ({"command": "${command:pick}"}, "does not know"),
        ({"url": "http://example.org/mcp"}, "https://"),
        ({"url": "https://me:pw@example.org"}, "use `headers`"),
        ({"url": "file:///etc/passwd"}, "https://"),
        ({"url": "https://example.org/a b"}, "https://"),
        ({"url": "https://[bad"}, "https://"),
        ({"url": "https://a\u2100b/"}, "https://"),
        ({"url": "https://example.org:99999999/"}, "https://"),
        ({"command": "x", "cwd": "~nobody-of-that-name/x"}, "`cwd`"),
        ({"command": "x", "args": ["\ud800"]}, "must be text"),
        ({"url": "https://example.org", "headers": {"A:": "b"}}, "no header"),
        ({"url": "https://example.org", "headers": {"A": "b\r\nC: d"}}, "no header"),
    ],
)
def test_what_cannot_be_used_says_why(tmp_path: Path, value: object, trouble: str) -> None:
    (server,), _ = read(tmp_path, pumps=value)
    assert server.reached is None
    assert trouble in server.trouble


@pytest.mark.parametrize("name", ["", "a b", "a/b", "ä", "x" * 49, "-x"])
def test_names_are_plain(tmp_path: Path, name: str) -> None:
    (server,), _ = read(tmp_path, **{name: {"command": "x"}})
    assert server.reached is None


def test_of_two_of_one_name_the_first_counts(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"pumps": {"command": "theirs"}, "other": {"command": "o"}}}')
    servers, problems = read(tmp_path, pumps={"command": "mine"})
    assert [(each.name, each.source) for each in servers] == [("pumps", "settings"), ("other", ".mcp.json")]
    assert problems == ("The MCP server pumps of .mcp.json is left out: the settings has one of the same name",)


@pytest.mark.parametrize("text", ["{", "[]", '{"servers": 1}', "\xff", "[" * 100_000])
def test_a_broken_file_is_named_and_harms_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / ".mcp.json").write_bytes(text.encode("latin-1"))
    servers, problems = read(tmp_path, pumps={"command": "mine"})
    assert [each.name for each in servers] == ["pumps"]
    assert len(problems) == 1
    assert ".mcp.json" in problems[0]


def test_a_link_or_a_folder_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text('{"mcpServers": {"pumps": {"command": "x"}}}')
    (tmp_path / ".mcp.json").symlink_to("real.json")
    (tmp_path / ".vscode" / "mcp.json").mkdir(parents=True)
    servers, problems = read(tmp_path)
    assert servers == ()
    assert len(problems) == 2


def test_comments_and_commas_too_many_are_read() -> None:
    assert read_commented('{ // a\n "a": ["x//y", /* b, */ 1,], "b": "/*", }') == {"a": ["x//y", 1], "b": "/*"}


@given(st.text(alphabet='{}[]",:/*\\n 1a'))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ConfigurationNotJson):
        read_commented(text)


@pytest.mark.parametrize(
    "text",
    [
        "/*" * 200_000,
        '{"a": 1,' + "/**/" * 60 + "x}",
        '"' + '\\"' * 200_000,
        "," + " " * 400_000 + "x",
        (",/*" + "*/" * 3) * 50_000,
    ],
    ids=["open comments", "comments behind a comma", "a text without an end", "blanks", "commas and comments"],
)
def test_what_is_made_to_be_read_for_ever_is_read_at_once(text: str) -> None:
    with pytest.raises(ConfigurationNotJson):
        read_commented(text)


def test_all_that_starts_a_program_is_shown_and_no_secret(tmp_path: Path) -> None:
    """`npx good` with other variables, or in another folder, is another program."""
    given_ = {
        "command": "npx",
        "args": ["good", "${TOKEN}", "\u202egnihtemos"],
        "cwd": "sub",
        "env": {"NODE_OPTIONS": "--require ./evil.js", "GIT_ASKPASS": "./evil.sh", "API_KEY": "sk-1", "B_TOKEN": "${TOKEN}"},
    }
    (server,), _ = read(tmp_path, {"TOKEN": "hunter2"}, it=given_)
    assert server.in_words == (
        f"cd {tmp_path}/sub && "
        'NODE_OPTIONS="--require ./evil.js" GIT_ASKPASS=./evil.sh API_KEY=… B_TOKEN="${TOKEN}" npx good "${TOKEN}" \\u202egnihtemos'
    )


def test_of_a_service_is_shown_which_variables_go_there(tmp_path: Path) -> None:
    given_ = {"url": "https://example.org/${env:TEAM}", "headers": {"X-Key": "${OPENAI_API_KEY}", "Authorization": "Bearer sk-1"}}
    (server,), _ = read(tmp_path, {"TEAM": "hunter1", "OPENAI_API_KEY": "hunter2"}, it=given_)
    assert server.in_words == "https://example.org/${env:TEAM} X-Key: ${OPENAI_API_KEY} Authorization: …"
