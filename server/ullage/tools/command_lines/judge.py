"""What a command line would have to be allowed as: the names of its commands, or the line exactly as it stands.

It gets names only where every command of it, with all its words, fits a rule of `known_commands.py`, where every word that
could be a path stays in the workspace folder, and where nothing else stands in the line. The same is asked of the line that is to be
run later, so that no word can be smuggled in behind a name that was allowed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ullage.tools.command_lines.known_commands import NAMED, READING, RUNNING
from ullage.tools.command_lines.lookup import Operands, TooMuch, is_of_the_system
from ullage.tools.command_lines.parsing import NotFollowed, Word, follow
from ullage.tools.command_lines.rules import Effect, Rule, Takes

RULES: Mapping[str, Rule] = {**READING, **RUNNING}

_LONGEST_NAME = max(len(name.split()) for name in RULES)
"""Words."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]*")
"""The name of a project's script or target: no option, assignment, path or file of options."""

_PYTHON = re.compile(r"python3\.\d+")
_CLUSTER = re.compile(r"-([A-Za-z]+)(\d*)")
_NUMBER = re.compile(r"-\d+")
_ATTACHED = re.compile(r"[^A-Za-z\\]{1,20}")
"""A value behind an option of one letter (`-d,`, `-k2`): nothing that could be letters of other options."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where a command runs."""

    folder: Path
    """A workspace folder. What the words of a harmless command lead to lies in it, not in another one that is open, too."""
    search_path: str
    """`PATH`, as the command gets it."""
    workspaces: tuple[Path, ...]
    """All folders that are open: no program of theirs is one of the system."""
    caged: bool
    """Whether what is harmless runs in a sandbox that gives it nothing to write, no network and no sockets."""


@dataclass(frozen=True, slots=True)
class Named:
    """One command of a line that is known by its name."""

    name: str
    effect: Effect


@dataclass(frozen=True, slots=True)
class Unknown:
    """The line can be allowed as it stands only; `reason` says why."""

    reason: str


def judge(line: str, site: Site) -> tuple[Named, ...] | Unknown:
    """The commands of the line by their names, or why it is only itself. Looks at the disk, and takes some milliseconds at most."""
    read = follow(line)
    if isinstance(read, NotFollowed):
        return Unknown(read.reason)
    judging = _Judging(site)
    try:
        return judging.line(read.commands)
    except TooMuch:
        return Unknown("it names too many places")


class _Judging:
    """One line being judged: where its commands could run by now."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._operands = Operands(site.folder)
        self._folders: frozenset[str] = self._operands.start
        self._moved = False

    def line(self, commands: Sequence[Sequence[Word]]) -> tuple[Named, ...] | Unknown:
        found: list[Named] = []
        for words in commands:
            named = _named(words)
            if named is None:
                return Unknown(f"`{words[0].text}` is not on the list of harmless commands")
            length, rule = named
            name = " ".join(word.text for word in words[:length])
            reason = self._objection(rule, words[0].text) or self._objection_to_words(rule, name, words[length:])
            if reason:
                return Unknown(reason)
            if name == "cd":
                entered = self._operands.enter(words[-1].text, self._folders)
                if entered is None:
                    return Unknown("it leaves the folder")
                self._folders, self._moved = entered, True
            found.append(Named(name, rule.effect))
        return tuple(dict.fromkeys(found))

    def _objection(self, rule: Rule, program: str) -> str:
        if self._moved and rule.here:
            return f"what `{program}` does is said by the folder that it is run in"
        if rule.effect == "consults" and not self._site.caged:
            return f"files of the folder can make `{program}` run programs, and there is no sandbox"
        if rule.effect != "runs" and not is_of_the_system(program, self._site.search_path, self._site.workspaces):
            return f"`{program}` would be a program of the workspace"
        if rule.installed and not (self._site.folder / "node_modules" / ".bin" / rule.installed).exists():
            return f"`{rule.installed}` is not installed in the folder"
        return ""

    def _objection_to_words(self, rule: Rule, name: str, words: Sequence[Word]) -> str:
        expanded: list[Word] = []
        for word in words:
            texts = self._operands.expanded(word, self._folders)
            if texts is None or (word.has_glob and any(text.startswith("-") for text in texts)):
                return f"what `{word.text}` stands for is not followed"
            if word.has_glob and not all(self._inside(text) for text in texts):
                return f"`{word.text}` can lead out of the folder"
            expanded.append(word)
        return "" if self._fits(rule, expanded) else f"not all words after `{name}` are known to be harmless"

    def _fits(self, rule: Rule, words: Sequence[Word]) -> bool:
        if rule.operands == "anything":
            return True
        operands: list[Word] = []
        awaited: Takes = "nothing"
        options_end = False
        for word in words:
            if awaited != "nothing":
                if word.has_glob or not self._is_value(word.text, awaited):
                    return False
                awaited = "nothing"
            elif word.text == "--" and rule.operands != "none" and not options_end:
                options_end = rule.effect != "runs"  # a test runner gets options behind it, which are judged likewise
            elif word.text.startswith("-") and word.text != "-" and not options_end:
                takes = None if word.has_glob else self._option(rule, word.text)
                if takes is None:
                    return False
                awaited = takes
            else:
                operands.append(word)
        return awaited == "nothing" and self._are_operands(rule, operands)

    def _option(self, rule: Rule, text: str) -> Takes | None:
        """What the word after this option has to be; None where it is not known to be harmless."""
        name, equals, value = text.partition("=")
        if rule.options.get(text) == "perhaps" or _NUMBER.fullmatch(text):
            return "nothing"
        if text in rule.options:
            return rule.options[text]
        if equals:
            takes = rule.options.get(name, "nothing")
            return "nothing" if takes != "nothing" and self._is_value(value, takes) else None
        if rule.options.get(text[:2], "nothing") != "nothing" and _ATTACHED.fullmatch(text[2:]) and self._is_value(text[2:], "place"):
            return "nothing"
        cluster = _CLUSTER.fullmatch(text)
        if cluster is None:
            return None
        *others, last = cluster.group(1)
        if any(rule.options.get(f"-{letter}") != "nothing" for letter in others):
            return None
        takes = rule.options.get(f"-{last}")
        return "nothing" if takes == "perhaps" or (takes is not None and cluster.group(2)) else takes

    def _are_operands(self, rule: Rule, operands: Sequence[Word]) -> bool:
        if rule.first is not None and operands:
            first, *operands = operands
            if first.has_glob or first.text.startswith("@") or not rule.accepts_first(first.text):
                return False
        match rule.operands:
            case "none":
                return not operands
            case "text" | "anything":
                return True
            case "one place":
                return len(operands) == 1 and not operands[0].has_glob and operands[0].text != "-" and self._inside(operands[0].text)
            case "places" | "files":
                only_files = rule.operands == "files"
                texts = [text for word in operands for text in self._operands.expanded(word, self._folders) or ()]
                return all(self._inside(text, only_files=only_files) for text in texts)

    def _is_value(self, text: str, takes: Takes) -> bool:
        if _NUMBER.fullmatch(text):
            return True
        return not text.startswith(("-", "@")) and (takes in ("text", "perhaps") or self._inside(text))

    def _inside(self, text: str, *, only_files: bool = False) -> bool:
        return self._operands.is_inside(text, self._folders, only_files=only_files)


def _named(words: Sequence[Word]) -> tuple[int, Rule] | None:
    """How many of the first words say what is done, and what may follow them."""
    texts = [word.text if word.bare and not word.has_glob else "" for word in words[: _LONGEST_NAME + 1]]
    names = ["python3" if _PYTHON.fullmatch(text) else text for text in texts]
    for length in range(len(names), 0, -1):
        script = NAMED.get(" ".join(names[: length - 1]))
        if script is not None and _NAME.fullmatch(names[length - 1]):
            return length, script
        rule = RULES.get(" ".join(names[:length]))
        if rule is not None:
            return length, rule
    return None
