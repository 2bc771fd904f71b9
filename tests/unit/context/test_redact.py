"""Secrets with well-known shapes go; everything else stays as it is."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.context.redact import HEADER, MARK, SHAPES, URL_PASSWORD, _redact_assigned, redact

# Put together here, so that no scanner takes this file for a leak.
ANTHROPIC = "sk-" + "ant-api03-" + "aB3_" * 12
GITHUB = "gh" + "p_" + "a1B2c3D4e5" * 4
AWS = "AK" + "IA" + "QWERTYUIOP123456"
JWT = "ey" + "JhbGciOiJIUzI1NiJ9." + "ey" + "JzdWIiOiIxMjM0In0." + "s5vK2mQ9xT7w"
SLACK = "xo" + "xb-" + "123456789012-abcdefghij"
STRIPE = "sk" + "_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
PRIVATE_KEY = "-----BEGIN " + "RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabc\n-----END RSA PRIVATE KEY-----"

SECRETS = [
    (f"export ANTHROPIC_API_KEY={ANTHROPIC}", ANTHROPIC),
    (f"the key is {ANTHROPIC}, keep it", ANTHROPIC),
    (f"git clone https://x-access-token:{GITHUB}@github.com/a/b", GITHUB),
    (f"aws_access_key_id = {AWS}", AWS),
    (f"Cookie: session={JWT}", JWT),
    (f"slack: {SLACK}", SLACK),
    (f"stripe.api_key = '{STRIPE}'", STRIPE),
    (f"before\n{PRIVATE_KEY}\nafter", "MIIEowIBAAKCAQEA"),
    (PRIVATE_KEY[:60], "MIIEowIBAAKCAQEA"),
    ("postgres://app:hunter2@db.local:5432/app", "hunter2"),
    ("curl -H 'Authorization: Bearer abcdef123456789'", "abcdef123456789"),
    ('{"Authorization": "Basic dXNlcjpwYXNz"}', "dXNlcjpwYXNz"),
    ("password=correcthorse9", "correcthorse9"),
    ('"password": "correct horse"'.replace(" horse", "-horse"), "correct-horse"),
    ("DB_PASSWORD='p@ssw(rd'", "p@ssw(rd"),
    ("client_secret: 9f8e7d6c5b4a", "9f8e7d6c5b4a"),
    ('API_KEY="0123456789abcdef"', "0123456789abcdef"),
    ("NPM_TOKEN=a1b2c3d4e5f6", "a1b2c3d4e5f6"),
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_secrets_go(text: str, secret: str):
    redacted = redact(text)
    assert secret not in redacted
    assert "[redacted" in redacted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The password field is required.",
        "password = getpass()",
        "def login(password: str, token: str | None = None) -> bool:",
        "api_key = os.environ['ANTHROPIC_API_KEY']",
        "apiKey: process.env.API_KEY",
        "password=$DB_PASSWORD",
        "secret: ${{ secrets.NPM_TOKEN }}",
        "token=<your token>",
        'password: "********"',
        "max_tokens = 4096",
        "input_tokens: 123456",
        "if secret == expected:",
        "use sk- as the prefix; sk-learn-contrib-and-other-packages",
        "commit 3f2a9c1b7d8e4f5a6b7c8d9e0f1a2b3c4d5e6f70",
        "https://example.com/path:80/user@example",
        "mail me at someone@example.com",
        "tokenizer: cl100k",
        "the secret is to keep it short",
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ",
    ],
)
def test_other_text_stays(text: str):
    assert redact(text) == text


@pytest.mark.parametrize("name", ["password=", 'password="', "secret: token=", "api_key=>password:"])
def test_a_name_that_comes_again_and_again_is_looked_at_in_time_that_follows_the_length(name: str):
    text = name * 20_000
    assert redact(text).startswith(name)


def test_a_part_of_a_value_is_judged_by_itself():
    assert redact("password=secret=correcthorse9") == "password=[redacted: secret]"
    assert redact("password=secret=correcthorse") == "password=secret=correcthorse"
    assert redact('password=secret="correcthorse"') == 'password=secret="[redacted: secret]"'


def test_what_stands_around_a_secret_stays():
    assert redact(f"before {GITHUB} after") == "before [redacted: GitHub token] after"
    assert redact("user=ann password=correcthorse9 host=db") == "user=ann password=[redacted: secret] host=db"


@pytest.mark.parametrize(
    "text",
    ["a." * 50_000 + "://x@", "sk-" * 30_000, "eyJaaaaaaaa-" * 10_000, "password=" * 5_000, "password='" + "password=" * 5_000],
)
def test_no_text_takes_for_ever(text: str):
    assert redact(text) == text  # took a minute when each place that may begin a secret was followed to the end of the text


snippets = st.sampled_from(
    [text for text, _ in SECRETS] + ["password", "=", ": ", "'", '"', " ", "\n", "@", "://", "token", "[redacted: secret]"]
)


@given(st.lists(st.one_of(snippets, st.text(max_size=8)), max_size=12).map("".join))
def test_redacting_twice_changes_nothing_more(text: str):
    once = redact(text)
    assert redact(once) == once


@pytest.mark.parametrize("before", ["", "İ", "İİ K ß ", "ǅ "])
def test_letters_whose_small_form_is_longer_move_nothing(before: str):
    assert redact(f"{before}DB_PASSWORD='correct-horse-9' and more") == f"{before}DB_PASSWORD='[redacted: secret]' and more"


ALL_NAMES = re.compile(
    r"password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token|private[_-]?key|_token|_pwd"
)
"""As they are said in one place, and found one after the other."""
PARTS = [
    "pass",
    "word",
    "phra",
    "secret",
    "api",
    "access",
    "private",
    "auth",
    "_",
    "-",
    "key",
    "token",
    "pwd",
    "\u212a",
    "\u0130",
    "\ud800",
]
BEGINNINGS = [
    "sk-",
    "sk-ant-",
    "ghp_",
    "github_pat_",
    "glpat-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "xoxb-",
    "https://hooks.slack.com/services/",
    "rk_live_",
    "sk_test_",
    "npm_",
    "pypi-",
    "hf_",
    "SG.",
    "dop_v1_",
    "eyJ",
    "-----BEGIN PRIVATE KEY-----",
    "http://u:",
    "Authorization: Basic ",
]
BODIES = ["aB3_" * 6, "a1B2c3D4e5" * 4, "QWERTYUIOP123456", "0123456789abcdef" * 4, "."]
OPERATORS = ["=", ": ", " := ", "=>", "'", '"', " ", "@", "hunter2", "$", "("]


@given(st.lists(st.one_of(*map(st.sampled_from, (PARTS, BEGINNINGS, BODIES, OPERATORS)), snippets), max_size=14).map("".join))
def test_what_is_looked_for_first_changes_nothing(text: str):
    assert redact(text) == looked_for_everywhere(text)


def looked_for_everywhere(text: str) -> str:
    """As `redact`, with nothing left out because a part of it is not there."""
    for shape in SHAPES:
        text = shape.pattern.sub(MARK.format(kind=shape.kind), text)
    for kind, pattern in (("password", URL_PASSWORD), ("credentials", HEADER)):
        text = pattern.sub(
            lambda found, kind=kind: (
                found.group() if found.group("secret").startswith("[redacted") else found.group("before") + MARK.format(kind=kind)
            ),
            text,
        )
    lowered = "".join(letter if len(small := letter.lower()) > 1 else small for letter in text)
    return _redact_assigned(text, [name.end() for name in ALL_NAMES.finditer(lowered)])
