"""What a shell command would have to be allowed as.

That is either the names of the commands that it consists of (`git status`, `pytest`), each with whatever options and files are known
to do no harm, or the line exactly as it stands. It becomes the first only where every command of it, with all its words, is on the
list in `harmless_commands.py`, and nothing else stands in the line. The same is asked of the line that is to be run later: what
was once allowed covers it only where it is harmless by the list of that day, so that no word can be smuggled in behind a name.

What is always allowed is kept as a text with its kind before it. A text without one was written by an older version, which told
dangerous commands from others by a list of their own; it matches nothing, and the user is asked once more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from ullage.tools.harmless_commands import COMMANDS, LONGEST_NAME, NAMED, Harmless, Takes
from ullage.tools.shell_words import Word, plain_commands

HARMLESS = "harmless: "
EXACTLY = "exactly: "

SHOWN_CHARACTERS = 100
"""An exact command that is longer is not repeated in the button; the panel shows all of it above."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]*")
"""The name of a project's script or target: no option, assignment, path or file of options."""

_PYTHON = re.compile(r"python3\.\d+")
_CLUSTER = re.compile(r"-([A-Za-z]+)(\d*)")
_NUMBER = re.compile(r"-\d+")
_ANY_OPTION = re.compile(r"--?[A-Za-z0-9][A-Za-z0-9,._-]*")


def command_patterns(command: str, *, posix_shell: bool = True) -> tuple[str, ...]:
    """One text for each command of the line, without repetitions, or one for the whole line as it stands.

    Nothing where it holds characters that nobody sees: what is allowed once and for all has to be what was read. `posix_shell` says
    that a shell of Unix reads the line; other shells (`cmd.exe`) quote otherwise, so that nothing is known of its words.
    """
    if any(character not in "\n\t" and not character.isprintable() for character in command):
        return ()
    return (_harmless(command) if posix_shell else ()) or (f"{EXACTLY}{command}",)


def shown_pattern(pattern: str) -> str:
    """What the user reads on the button."""
    if pattern.startswith(HARMLESS):
        return f"`{pattern.removeprefix(HARMLESS)} *`"
    command = pattern.removeprefix(EXACTLY)
    can_be_shown = len(command) <= SHOWN_CHARACTERS and not set("\n`") & set(command)
    return f"exactly `{command}`" if can_be_shown else "exactly this command"


def _harmless(command: str) -> tuple[str, ...]:
    """The names of the commands; nothing where one of them is not known to be harmless."""
    names: list[str] = []
    moved = False
    for words in plain_commands(command) or []:
        named = _named(words)
        if named is None:
            return ()
        length, rule = named
        if (moved and rule.here) or not _fits(rule, words[length:]):
            return ()
        moved = moved or words[0].text == "cd"
        names.append(" ".join(word.text for word in words[:length]))
    return tuple(f"{HARMLESS}{name}" for name in dict.fromkeys(names))


def _named(words: Sequence[Word]) -> tuple[int, Harmless] | None:
    """How many of the first words say what is done, and what may follow them."""
    texts = [word.text if word.bare else "" for word in words[: LONGEST_NAME + 1]]
    names = ["python3" if _PYTHON.fullmatch(text) else text for text in texts]
    for length in range(len(names), 0, -1):
        script = NAMED.get(" ".join(names[: length - 1]))
        if script is not None and _NAME.fullmatch(names[length - 1]):
            return length, script
        rule = COMMANDS.get(" ".join(names[:length]))
        if rule is not None:
            return length, rule
    return None


def _fits(rule: Harmless, words: Sequence[Word]) -> bool:
    """Whether all words are such as do no harm after this name."""
    operands: list[Word] = []
    awaited: Takes = "nothing"
    for word in words:
        if word.begins_with_glob and not rule.any_option:
            return False
        if awaited != "nothing":
            if word.has_glob or not _is_value(word.text, awaited):
                return False
            awaited = "nothing"
        elif word.text.startswith("-") and word.text != "-":
            takes = _option(rule, word)
            if takes is None:
                return False
            awaited = takes
        else:
            operands.append(word)
    return awaited == "nothing" and _are_operands(rule, operands)


def _option(rule: Harmless, word: Word) -> Takes | None:
    """What the word after this option has to be; None where it is not known to be harmless."""
    text = word.text
    name, equals, value = text.partition("=")
    if text == "--":
        return "nothing" if rule.operands != "none" else None  # behind it stands what a script gets
    if rule.options.get(text) == "perhaps" or _NUMBER.fullmatch(text):
        return "nothing"
    if rule.any_option:
        return "nothing" if _ANY_OPTION.fullmatch(name) and _is_value(value, "place") else None
    if word.has_glob:
        return None
    if text in rule.options:
        return rule.options[text]
    if equals:
        takes = rule.options.get(name, "nothing")
        return "nothing" if takes != "nothing" and _is_value(value, takes) else None
    cluster = _CLUSTER.fullmatch(text)
    if cluster is None:
        return None
    *others, last = cluster.group(1)
    if any(rule.options.get(f"-{letter}") != "nothing" for letter in others):
        return None
    takes = rule.options.get(f"-{last}")
    return "nothing" if takes is not None and cluster.group(2) else takes


def _are_operands(rule: Harmless, operands: Sequence[Word]) -> bool:
    if rule.first is not None and operands:
        first, *operands = operands
        if first.has_glob or first.text.startswith("@") or not rule.first.fullmatch(first.text):
            return False
    match rule.operands:
        case "none":
            return not operands
        case "text":
            return True
        case "one place":
            return len(operands) == 1 and not operands[0].has_glob and operands[0].text != "-" and is_inside(operands[0].text)
        case "places":
            return all(is_inside(word.text) for word in operands)


def _is_value(text: str, takes: Takes) -> bool:
    return not text.startswith(("-", "@")) and (takes in ("text", "perhaps") or is_inside(text))


def is_inside(text: str) -> bool:
    """Whether the word, as a path or with a path in it, stays below the folder where it is used, but for symbolic links."""
    if text == "/dev/null":
        return True
    if text.startswith(("-", "@", "!")) and text != "-":
        return False
    pieces = re.split(r"[=:,]", text)
    return "\\" not in text and not any(piece.startswith(("/", "~")) or any(map(_is_above, piece.split("/"))) for piece in pieces)


def _is_above(component: str) -> bool:
    return component.startswith(".") and component != "." and fnmatchcase("..", component)
