"""Rules that refuse: which calls they are about, and what they say. Pure.

A rule that allows has to be sure of what a command does. One that refuses is the other way round: it is about a command as soon as that
could be the one that is meant. `*` stands for any words, wherever they lead. A program is known by its name, wherever it lies. Behind a
program that starts others (`sudo`, `xargs`, `sh -c`), and in a line that is not followed, its words are looked for anywhere. Options before
a subcommand do not hide it (`git -C x push`, `leading_options.py`).

A rule that refuses reading a file is about edits of it, too, and about commands whose words name it (`naming.py`). `reading.py` says what
tools leave out for it.

It is no wall all the same: what a script, a build or a program does in turn is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import PurePosixPath

from ullage.tools.command_lines.judge import CHANGES_SHELL, LinePart
from ullage.tools.rules.leading_options import behind_options
from ullage.tools.rules.patterns import (
    ANY_WORDS,
    ANY_WORDS_AT_ALL,
    EXACTLY,
    HARMLESS,
    RUNS,
    RUNS_OTHERS,
    BadRulePattern,
    CommandPattern,
    RuleAction,
    check_pattern,
    command_pattern,
    files_in_words,
    host_matches,
    mcp_pattern,
    path_pattern,
    tools_in_words,
)
from ullage.tools.tool import PermissionNeed

BETWEEN = re.compile(r"[\s;&|<>()`'\"$={},]+")
"""The characters that part words, in a line that is not followed."""

_BETWEEN_WORDS = re.compile(r"[\s;&|<>()`'\"]+")
"""Those of these characters that do not stand within a word, so that an option keeps its value (`-c x=y`)."""

_LOOKED_AT = 1_000
"""How many words of a line that is not followed are looked at."""


def check_refusing(action: RuleAction, pattern: str) -> None:
    """Raises `BadRulePattern` if the text cannot be the pattern of a rule that refuses that action."""
    if action == "read":
        path_pattern(pattern)
        return
    if action == "command" and pattern.startswith((HARMLESS, RUNS)):
        raise BadRulePattern("Write the words of the command, such as `git push *`")
    check_pattern(action, pattern)


def is_refused(action: RuleAction, pattern: str, need: PermissionNeed) -> bool:
    """Whether a rule that refuses is about that call; a pattern that cannot be read is about none."""
    try:
        match action:
            case "command":
                return need.action == "command" and _refuses_line(pattern, need)
            case "edit":
                return need.action == "edit" and _refuses_edit(pattern, need.subject)
            case "host":
                hosts = need.hosts or (need.parts if need.action == "host" else ())
                return any(host_matches(pattern, host) for host in hosts)
            case "mcp":
                return need.action == "mcp" and mcp_pattern(pattern).fullmatch(need.subject) is not None
            case "agent":
                return need.action == "agent" and pattern == need.subject
            case "search":
                return need.action == "search"
            case "read":
                names = need.names if need.action == "command" else (need.subject,) if need.action in ("edit", "read") else ()
                return any(refuses_reading(pattern, name) for name in names)
    except BadRulePattern:
        return False


def _refuses_edit(pattern: str, path: str) -> bool:
    return _in_any_case(pattern).fullmatch(path) is not None


@lru_cache(maxsize=200)
def _in_any_case(pattern: str) -> re.Pattern[str]:
    """A regular expression for the files that a pattern covers, in upper and lower case: on many disks the names are the same."""
    return re.compile(path_pattern(pattern).pattern, re.DOTALL | re.IGNORECASE)


def refuses_reading(pattern: str, name: str) -> bool:
    """Whether a rule with that pattern refuses reading the file of that name, as it is shown, or a folder that it lies in.

    A name with a `/` at the end is a folder: whether each of its files is refused. Raises `BadRulePattern`.
    """
    fits, path = _in_any_case(pattern), f"{name}{_ANY_NAME}" if name.endswith("/") else name
    above = (up.as_posix() for up in PurePosixPath(path).parents)
    outside = path.lstrip("/") if pattern.startswith("**/") else path  # a path of another workspace folder: `**/` holds in each folder
    return any(fits.fullmatch(each) for each in (path, outside, *above))


_ANY_NAME = "\0"
"""A name that no pattern spells out: only a pattern that fits every name fits it."""


def _refuses_line(pattern: str, need: PermissionNeed) -> bool:
    read = command_pattern(pattern)
    if read.exact is not None:
        return need.line.strip() == read.exact.strip()
    if not need.judged:
        return _is_somewhere(read, need.line)
    return any(_refuses(read, part) for part in need.judged)


def _refuses(read: CommandPattern, part: LinePart) -> bool:
    program = _name_of(part.words[0])
    if re.sub(r"[\d.]+$", "", program) in RUNS_OTHERS or program in RUNS_OTHERS or program in CHANGES_SHELL:
        return _is_somewhere(read, part.text)
    return len(part.words) in _reached(read, part.words)


def _is_somewhere(read: CommandPattern, text: str) -> bool:
    """Whether the words of a pattern stand in a text one after the other, with any words behind them."""
    return any(_is_among(read, [word for word in between.split(text.replace("\\", "")) if word]) for between in (BETWEEN, _BETWEEN_WORDS))


def _is_among(read: CommandPattern, words: Sequence[str]) -> bool:
    return any(_reached(read, words[start:_LOOKED_AT]) for start in range(min(len(words), _LOOKED_AT)))


def _reached(read: CommandPattern, words: Sequence[str]) -> set[int]:
    """How many of the first words the whole pattern can stand for: all possible numbers. Options before a word that the pattern spells out
    are passed over."""
    reached, program = {0}, _name_of(words[0]) if words else ""
    for at, wanted in enumerate(read.words):
        if wanted in (ANY_WORDS, ANY_WORDS_AT_ALL) and not read.literal[at]:
            reached = set(range(min(reached), len(words) + 1))
        else:
            if at > 0 and not (wanted if isinstance(wanted, str) else wanted.pattern).startswith(("-", "+", "\\-", "\\+")):
                reached = {later for place in reached for later in behind_options(program, words, place)}
            found = (place for place in reached if place < len(words))
            reached = {place + 1 for place in found if _is_it(wanted, _name_of(words[place]) if at == 0 else words[place])}
        if not reached:
            break
    return reached


def _is_it(wanted: str | re.Pattern[str], word: str) -> bool:
    """Whether a word could be the one that is meant. A word with `*` or `?` may become it."""
    if isinstance(wanted, re.Pattern):
        return wanted.fullmatch(word) is not None
    return wanted in (word, _name_of(word)) or (not {"*", "?"}.isdisjoint(word) and fnmatchcase(wanted, word))


def _name_of(program: str) -> str:
    return program.rsplit("/", 1)[-1] or program


def explained_refusal(action: RuleAction, text: str) -> str:
    """What a rule with that pattern refuses, in a sentence with backticks around what is literal."""
    if action == "host":
        name = text.removeprefix("*.")
        return f"Refuses connections to every host below `{name}`." if text.startswith("*.") else f"Refuses connections to `{name}`."
    if action == "edit":
        return f"Refuses edits of {files_in_words(text)}. Commands can still change them."
    if action == "read":
        return f"Refuses reading and editing {files_in_words(text)}, and commands that name them. What else commands read is not seen."
    if action == "mcp":
        return f"Refuses calls of {tools_in_words(text)}."
    if action == "agent":
        return f"Refuses to let the sub-agent act that `{text}` defines."
    if action == "search":
        return "Refuses searches of the web."
    read = command_pattern(text)
    if text.startswith(EXACTLY):
        return "Refuses just this line, as it stands."
    if all(read.literal):
        return f"Refuses `{text}` with no other words. What scripts do in turn is not seen."
    if all(read.literal[:-1]) and text.rstrip().endswith((" *", " **")):
        return f"Refuses `{text.rstrip().rstrip('*').rstrip()}` with any words. What scripts do in turn is not seen."
    return f"Refuses commands that fit `{text}` word by word. What scripts do in turn is not seen."
