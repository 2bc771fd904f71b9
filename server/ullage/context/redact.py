"""Takes secrets out of text that is kept or sent on: keys, tokens, passwords with well-known shapes.

The shapes are those that the vendors document as prefixes, plus assignments to telling names. What has no such shape is not
found: this is a net, not a promise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

MARK = "[redacted: {kind}]"


@dataclass(frozen=True, slots=True)
class Shape:
    """The form of one kind of secret. `hint` stands in each such secret and is looked for first, which is fast."""

    kind: str
    hint: str
    pattern: re.Pattern[str]
    in_long_run: bool = True
    """Whether the hint stands in a long run (`LONG_RUN`) in each such secret."""


def _beginning(word: str, rest: str) -> re.Pattern[str]:
    """A pattern for `word`, where no word goes on before it, and then `rest`. A pattern that begins with letters is found several times as
    fast as one that begins with a boundary."""
    return re.compile(rf"{word}(?<=\b{word}){rest}")


SHAPES = (
    Shape("Anthropic key", "sk-ant-", re.compile(r"\bsk-ant-[A-Za-z0-9_-]{16,}")),
    Shape("OpenAI key", "sk-", _beginning("sk-", r"(?:proj-|svcacct-)?(?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{20,}")),
    Shape("GitHub token", "gh", _beginning("gh", r"[pousr]_[A-Za-z0-9]{30,}")),
    Shape("GitHub token", "github_pat_", re.compile(r"\bgithub_pat_[A-Za-z0-9_]{40,}")),
    Shape("GitLab token", "gl", _beginning("gl", r"(?:pat|dt|rt|cbt|ptt)-[A-Za-z0-9_-]{20,}")),
    Shape("AWS key id", "AKIA", re.compile(r"\bAKIA[0-9A-Z]{16}\b")),
    Shape("AWS key id", "ASIA", re.compile(r"\bASIA[0-9A-Z]{16}\b")),
    Shape("Google key", "AIza", re.compile(r"\bAIza[0-9A-Za-z_-]{35}")),
    Shape("Google token", "ya29.", re.compile(r"\bya29\.[0-9A-Za-z_-]{20,}")),
    Shape("Slack token", "xox", re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"), in_long_run=False),
    Shape("Slack webhook", "hooks.slack.com", re.compile(r"https://hooks\.slack\.com/services/[A-Za-z0-9/_-]{20,}"), in_long_run=False),
    Shape("Stripe key", "rk_", _beginning("rk_", r"(?:live|test)_[A-Za-z0-9]{16,}")),
    Shape("Stripe key", "sk_", _beginning("sk_", r"(?:live|test)_[A-Za-z0-9]{16,}")),
    Shape("npm token", "npm_", re.compile(r"\bnpm_[A-Za-z0-9]{36}\b")),
    Shape("PyPI token", "pypi-", re.compile(r"\bpypi-[A-Za-z0-9_-]{50,}")),
    Shape("Hugging Face token", "hf_", re.compile(r"\bhf_[A-Za-z0-9]{30,}")),
    Shape("SendGrid key", "SG.", re.compile(r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}")),
    Shape("DigitalOcean token", "_v1_", re.compile(r"\bdo[opr]_v1_[0-9a-f]{64}\b")),
    Shape("JSON web token", "eyJ", re.compile(r"\beyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,}")),
    Shape(
        "private key",
        "PRIVATE KEY",
        re.compile(r"-----BEGIN ([A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?)-----.*?(?:-----END \1-----|\Z)", re.DOTALL),
        in_long_run=False,
    ),
)
NOT_IN_LONG_RUNS = tuple(shape for shape in SHAPES if not shape.in_long_run)
RUN = bytes(0x61 if byte < 0x80 and (chr(byte).isalnum() or chr(byte) in "-._") else 0x20 for byte in range(256))
"""A table of the bytes that a token may have: an `a` for each, a space for all others."""
LONG_RUN = b"a" * 20
"""At least so many such bytes in a row make a long run: few texts have many."""

URL_PASSWORD = re.compile(r"(?P<before>\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@'\"]*:)(?P<secret>[^\s/@'\"]{3,})(?=@)", re.IGNORECASE)
HEADER = re.compile(
    r"(?P<before>\b(?:authorization|proxy-authorization)['\"]?\s*[:=]\s*['\"]?(?:bearer|basic|token)\s+)(?P<secret>[\w.~+/=-]{8,})",
    re.IGNORECASE,
)
NAMES = (
    ("pass", re.compile(r"pass(?:word|wd|phrase)")),
    ("secret", re.compile(r"secret(?<!passphrasecret)")),
    ("key", re.compile(r"key(?:(?<=apikey)|(?<=api[_-]key)|(?<=accesskey)|(?<=access[_-]key)|(?<=privatekey)|(?<=private[_-]key))")),
    ("token", re.compile(r"token(?:(?<=_token)|(?<=authtoken)|(?<=auth-token)|(?<=accesstoken)|(?<=access-token))")),
    ("_pwd", re.compile(r"_pwd")),
)
"""The names of variables, settings and headers that hold secrets, each with the letters that are looked for first, which is fast. They are
looked for in lower case, and from the letters on that none does without: looking for a choice of names, or for large letters too, takes
several times as long."""
VALUE = re.compile(r"\w{0,20}['\"]?\s{0,4}(?:=|:=|:(?=\s|['\"])|=>)\s{0,4}(?P<quote>['\"]?)(?P<secret>[^\s'\",;)}\]]{6})")
VALUE_END = re.compile(r"[\s'\",;)}\]]|\Z")
"""What follows such a name where a value is assigned to it, up to the value's sixth character; and where a value ends."""


def redact(text: str) -> str:
    """`text` with every secret replaced by a mark that names its kind; doing it twice changes nothing more."""
    long_runs = _long_runs(text)
    for shape in SHAPES if long_runs else NOT_IN_LONG_RUNS:
        if shape.hint in (long_runs if shape.in_long_run else text):
            text = shape.pattern.sub(MARK.format(kind=shape.kind), text)
    if "@" in text and "://" in text:
        text = URL_PASSWORD.sub(_mark_value("password"), text)
    lowered = text.lower()
    if "authorization" in lowered:
        text = HEADER.sub(_mark_value("credentials"), text)
        lowered = text.lower()
    names = [name for hint, name in NAMES if hint in lowered]
    if not names:
        return text
    if len(lowered) != len(text):  # a letter became two in lower case: places are no longer the same
        lowered = "".join(letter if len(small := letter.lower()) > 1 else small for letter in text)
    return _redact_assigned(text, sorted(found.end() for name in names for found in name.finditer(lowered)))


def _long_runs(text: str) -> str:
    """The runs of the text in which most kinds of secrets may stand, with spaces between them."""
    encoded = text.encode() if text.isascii() else text.encode("utf-8", "surrogatepass")
    runs = encoded.translate(RUN)
    found: list[bytes] = []
    start = runs.find(LONG_RUN)
    while start >= 0:
        end = runs.find(b" ", start)
        end = len(runs) if end < 0 else end
        found.append(encoded[start:end])
        start = runs.find(LONG_RUN, end)
    return b" ".join(found).decode()


def _redact_assigned(text: str, names: Sequence[int]) -> str:
    """`text` without the values that are assigned to names. `names` are the places at which such names end, ascending."""
    pieces: list[str] = []
    done = ended = 0
    for name in names:
        if name <= done:
            continue
        value = VALUE.match(text, name)
        if value is None:
            continue
        start, quote = value.start("secret"), value.group("quote")
        if ended < value.end():  # else this value is a part of the last one and ends with it: nothing is looked through twice
            found = VALUE_END.search(text, value.end())
            ended = found.start() if found else len(text)
        if not text.startswith(quote, ended) or not _looks_secret(text[start : min(ended, start + JUDGED_CHARACTERS)], quoted=bool(quote)):
            continue
        pieces += (text[done:start], MARK.format(kind="secret"))
        done = ended
    return "".join((*pieces, text[done:]))


def _mark_value(kind: str) -> Callable[[re.Match[str]], str]:
    def mark(found: re.Match[str]) -> str:
        if found.group("secret").startswith("[redacted"):
            return found.group()
        return found.group("before") + MARK.format(kind=kind)

    return mark


PLACEHOLDER = re.compile(
    r"(?i)^(?:\[redacted|\$|<|\{|%|\*+|x{3,}|\.{3}|your[-_ ]|my[-_]|example|changeme|placeholder|none\b|null\b|true\b|false\b|undefined\b|"
    r"str\b|string\b|required\b|optional\b|process\.|os\.|env\b|self\.|this\.|config\.|settings\.|options\.)"
)


JUDGED_CHARACTERS = 200
"""Characters of a value that are judged: a longer one shows by then what it is."""


def _looks_secret(value: str, *, quoted: bool) -> bool:
    """Whether an assigned value looks like a secret, not like a placeholder or code: `password = getpass()`, `token: str`,
    `secret=$TOKEN`."""
    if PLACEHOLDER.match(value):
        return False
    if quoted:
        return True
    if "(" in value or "[" in value:
        return False
    mixed = any(character.isdigit() for character in value) and any(character.isalpha() for character in value)
    return mixed or any(character in "!@#$%^&*+/" for character in value)
