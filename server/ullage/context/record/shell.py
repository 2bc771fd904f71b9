"""What a shell command is about, as far as its text tells: good enough to rank and to word it, never to allow it."""

from __future__ import annotations

import re

NOTE = re.compile(r"\A(?:\s*#[^\n]*\n)+")
GOING_THERE = re.compile(r"""\A\s*cd\s+(?:"[^"]*"|'[^']*'|[^\s;&|]+)\s*(?:&&|;|\n)\s*""")
SENT_AWAY = re.compile(r"(?<!\s)\s*[12&]?>\s*(?:&[12]|/dev/null)(?![\w/.])")
SHOWN_IN_PART = re.compile(r"(?<!\s)\s*\|\s*(?:tail|head|cat|less|more)\b[^|&;\n]*\Z")

QUOTED = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)
PARTS = re.compile(r"&&|\|\||[;|\n]|\$\(|`")
LEADING = re.compile(r"\A[\s({]*(?:(?:do|then|else|time|sudo|\w+=\S*)\s+)*")
INTO_A_FILE = re.compile(r"(?<![-=<>&\d])>{1,2}(?!&)")
PIPED = re.compile(r"(?<!\|)\|(?!\|)[^|]*\Z")

LOOKING = re.compile(
    r"cat|ls|head|tail|less|more|e?grep|rg|ag|find|fd|wc|pwd|which|type|file|stat|du|df|tree|echo|printf|cd|diff|sort|uniq|cut|tr|jq|nl|"
    r"column|awk|true|test|\[|date|whoami|uname|basename|dirname|realpath|env|printenv|history|for|while|if|done|fi|esac|case|sleep"
)
"""Programs that are mostly run to see something, and the words of the shell around them."""
LOOKING_SUBCOMMANDS = {
    "git": re.compile(r"log|show|diff|status|blame|branch|rev-parse|rev-list|ls-files|ls-tree|cat-file|remote|grep|reflog|describe"),
    "gh": re.compile(r"view|list|status|diff|checks"),
    "sed": re.compile(r"-n"),
}
"""Where it depends on one of the words that follow."""
FAILURE = re.compile(
    r"\bFAIL(?:ED|URE)?\b|^\W*(?:\[[\w:.-]+\] ?)?(?:ERROR|[Ee]rror|fatal|panic)\b[:\[ ]|\b[1-9]\d* (?:failed|failures?|errors?)\b",
    re.MULTILINE,
)
FAILURE_CHARACTERS = 600
"""Of the end of what a command printed, where it says how it went."""
WORDS_LOOKED_AT = 6
"""Of a command, for its subcommand: options and their values may stand before it."""


def plain(command: str) -> str:
    """The command without what only says where it ran and how much of its output was wanted: two that do the same read alike."""
    text = GOING_THERE.sub("", NOTE.sub("", command)).strip()
    text = SENT_AWAY.sub("", text)
    while (shorter := SHOWN_IN_PART.sub("", text)) != text:
        text = shorter
    return text.strip() or command.strip()


def only_looks(command: str) -> bool:
    """Whether it changes and checks nothing, as far as can be seen: it lists, prints or searches."""
    bare = SENT_AWAY.sub("", QUOTED.sub("''", NOTE.sub("", command)))
    if INTO_A_FILE.search(bare):
        return False
    return all(map(_looks, filter(None, (part.strip() for part in PARTS.split(bare)))))


def hides_its_end(command: str) -> bool:
    """Whether its exit code is that of a program which only shows what the one before it printed."""
    return "pipefail" not in command and PIPED.search(QUOTED.sub("''", command)) is not None


def tells_of_failure(output: str) -> bool:
    """Whether the end of what a command printed says that it failed."""
    return FAILURE.search(output[-FAILURE_CHARACTERS:]) is not None


def _looks(part: str) -> bool:
    words = LEADING.sub("", part).split()[:WORDS_LOOKED_AT]
    if not words:
        return True
    program = words[0].rpartition("/")[2]
    subcommand = LOOKING_SUBCOMMANDS.get(program)
    if subcommand is not None:
        return any(map(subcommand.fullmatch, words[1:]))
    return LOOKING.fullmatch(program) is not None
