"""What a command line would have to be allowed as: the names of its commands, or the line exactly as it stands.

It gets names only where every command of it, with all its words, fits a rule of `known_commands.py`, where every word that could be a path
stays in the workspace folder, and where nothing else stands in the line. The same is checked again for the line that is run later, so that
no word can be smuggled in behind a name that was allowed. `parts_of` judges each command of the line by itself, for rules that the user
wrote and for the words of the question.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ullage.tools.command_lines.known_commands import NAMED, READING, RUNNING
from ullage.tools.command_lines.lookup import Operands, TooMuchToJudge, is_of_the_system
from ullage.tools.command_lines.parsing import NotFollowed, ParsedLine, Word, follow
from ullage.tools.command_lines.rules import CommandRule, Effect, Takes, subcommands_of

RULES: Mapping[str, CommandRule] = {**READING, **RUNNING}

_LONGEST_NAME = max(len(name.split()) for name in RULES)
"""The most words that the name of a known command has."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]*")
"""The name of a project's script or target: no option, assignment, path or file of options."""

_PYTHON = re.compile(r"python3\.\d+")
_CLUSTER = re.compile(r"-([A-Za-z]+)(\d*)")
_NUMBER = re.compile(r"-\d+")
_ATTACHED = re.compile(r"[^A-Za-z\\]{1,20}")
"""A value behind an option of one letter (`-d,`, `-k2`): nothing that could be letters of other options."""


@dataclass(frozen=True, slots=True)
class Site:
    """The place where a command runs."""

    folder: Path
    """A workspace folder. The words of a harmless command lead to nothing outside of it, not even into another folder that is open."""
    search_path: str
    """`PATH`, as the command gets it."""
    workspaces: tuple[Path, ...]
    """All folders that are open: a program in one of them is none of the system's."""
    caged: bool
    """Whether harmless commands run in a sandbox without anything to write, a network or sockets."""
    is_followed: bool = True
    """Whether the line is one for a Unix shell, with Unix paths. Nothing else is judged here."""


@dataclass(frozen=True, slots=True)
class NamedCommand:
    """One command of a line that is known by its name."""

    name: str
    effect: Effect


@dataclass(frozen=True, slots=True)
class Unknown:
    """The line can only be allowed as it stands; `reason` says why."""

    reason: str


NOT_KNOWN = "it is not known what it does"
"""The reason for a line of a shell that is not read here, or for one without a folder."""


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


CHANGES_SHELL = _names(
    """
    . : [ alias bg bind break builtin caller cd command compgen complete compopt continue coproc declare dirs disown
    enable eval exec exit export fc fg getopts hash history jobs let local logout mapfile popd printf pushd read
    readarray readonly return set shift shopt source suspend test times trap type typeset ulimit umask unalias unset
    wait
    """
)
"""The commands that the shell carries out itself. Some change what later commands of the line mean (`hash -p ./x ls`, `printf -v PATH`)."""


@dataclass(frozen=True, slots=True)
class LinePart:
    """One plain command of a line, judged by itself."""

    text: str
    """Its text in the line, without redirections that throw its output away or join it."""
    words: tuple[str, ...]
    stays: tuple[bool, ...]
    """For each word: whether everything in it that could be a path stays in the workspace folder, whatever a shell puts in place of it."""
    globs: tuple[bool, ...]
    """For each word: whether a shell puts names of files in its place."""
    name: str = ""
    """The name by which it is known, if all its words are known to do no more than that."""
    effect: Effect | None = None
    reason: str = ""
    """Why it is not known, in words that follow "because"."""
    moved: bool = False
    """Whether it may run in another folder than the workspace folder, or in a shell that a command before it has changed."""
    leads: bool = False
    """Whether the line begins with it, and it only goes to a folder of the project for the commands that follow (`cd src && …`)."""
    entered: str = ""
    """The folder of the project in which it may run, relative to the workspace folder, if the line went nowhere else; else empty."""
    places: frozenset[int] = frozenset()
    """If it may run in `entered`: the indices of its words that could name a file, there or in the workspace folder."""

    @property
    def harmless(self) -> bool:
        """Whether the command is known to only read."""
        return self.effect in ("reads", "consults")


def parts_of(line: str, site: Site) -> tuple[LinePart, ...] | Unknown:
    """The plain commands of a line, each judged by itself; or why the line is not followed. Looks at the disk, and takes some milliseconds
    at most."""
    if not site.is_followed:
        return Unknown(NOT_KNOWN)
    read = follow(line)
    if isinstance(read, NotFollowed):
        return Unknown(read.reason)
    judging, leading = _Judging(site), Operands(site.folder)
    found: list[LinePart] = []
    lost = entered = ""
    for words, text in zip(read.commands, read.texts(line), strict=True):
        stays = tuple(not lost and _stays(leading, judging, word) for word in words)
        judged: NamedCommand | Unknown = Unknown(lost)
        moved = bool(lost) or judging.moved
        if not lost:
            try:
                judged = judging.command(words)
            except TooMuchToJudge:
                judged = Unknown("it names too many places")
        part = LinePart(text, tuple(word.text for word in words), stays, tuple(word.has_glob for word in words), moved=moved)
        if not isinstance(judged, Unknown) and judged.name == "cd":
            is_first = not found and read.joins(line)[:1] == ("&&",)
            entered = judging.entered if is_first else ""
            part = replace(part, leads=is_first and (bool(entered) or not judging.moved))
        elif moved and entered and not lost:
            part = replace(part, entered=entered, places=_places(leading, judging, words))
        if isinstance(judged, Unknown):
            found.append(replace(part, reason=judged.reason))
            program = words[0].text
            if program in CHANGES_SHELL:
                lost = lost or f"`{program}` before it can change where it runs, or what it is"
        else:
            found.append(replace(part, name=judged.name, effect=judged.effect))
    return tuple(found)


def _places(leading: Operands, judging: _Judging, words: Sequence[Word]) -> frozenset[int]:
    """The indices of the words that could name a file in a folder where the command may run. Words that say what it does are left out."""
    first = subcommands_of([word.text for word in words]) + 1
    try:
        return frozenset(at for at, word in enumerate(words) if not 0 < at < first and leading.may_name(word, judging.folders))
    except TooMuchToJudge:
        return frozenset(range(len(words)))


def is_known(line: str) -> bool:
    """Whether all commands of a line have names that are known, whatever their words."""
    read = follow(line)
    return isinstance(read, ParsedLine) and all(_named(words) is not None for words in read.commands)


def _stays(leading: Operands, judging: _Judging, word: Word) -> bool:
    try:
        return leading.stays(word, judging.folders)
    except TooMuchToJudge:
        return False


def judge(line: str, site: Site) -> tuple[NamedCommand, ...] | Unknown:
    """The commands of a line by their names, or why only the line itself can be allowed. Looks at the disk, and takes some milliseconds at
    most."""
    if not site.is_followed:
        return Unknown(NOT_KNOWN)
    read = follow(line)
    if isinstance(read, NotFollowed):
        return Unknown(read.reason)
    judging = _Judging(site)
    try:
        return judging.line(read.commands)
    except TooMuchToJudge:
        return Unknown("it names too many places")


class _Judging:
    """One line that is being judged, and the folders where its commands could run by now."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._operands = Operands(site.folder)
        self.folders: frozenset[str] = self._operands.start
        self.moved = False

    @property
    def entered(self) -> str:
        """The one folder of the project that the line went to, relative to the workspace folder; empty if rules for the workspace
        folder do not hold there."""
        gone_to = self.folders - self._operands.start
        if len(gone_to) != 1 or not all(Path(place).is_absolute() for place in self._site.search_path.split(os.pathsep)):
            return ""
        return self._operands.within_project(*gone_to)

    def line(self, commands: Sequence[Sequence[Word]]) -> tuple[NamedCommand, ...] | Unknown:
        found: list[NamedCommand] = []
        for words in commands:
            judged = self.command(words)
            if isinstance(judged, Unknown):
                return judged
            found.append(judged)
        return tuple(dict.fromkeys(found))

    def command(self, words: Sequence[Word]) -> NamedCommand | Unknown:
        """Judges the next command of the line; `cd` changes where the following ones could run."""
        named = _named(words)
        if named is None:
            return Unknown(f"`{words[0].text}` is not on the list of harmless commands")
        length, rule = named
        name = " ".join(word.text for word in words[:length])
        reason = self._objection(rule, words[0].text) or self._objection_to_words(rule, name, words[length:])
        if reason:
            return Unknown(reason)
        if name == "cd":
            entered = self._operands.enter(words[-1].text, self.folders)
            if entered is None:
                return Unknown("it leaves the folder")
            self.moved = self.moved or entered != self.folders
            self.folders = entered
        return NamedCommand(name, rule.effect)

    def _objection(self, rule: CommandRule, program: str) -> str:
        if self.moved and rule.here:
            return f"what `{program}` does is said by the folder that it is run in"
        if rule.effect == "consults" and not self._site.caged:
            return f"files of the folder can make `{program}` run programs, and there is no sandbox"
        if rule.effect != "runs" and not is_of_the_system(program, self._site.search_path, self._site.workspaces):
            return f"`{program}` would be a program of the workspace"
        if rule.installed and not (self._site.folder / "node_modules" / ".bin" / rule.installed).exists():
            return f"`{rule.installed}` is not installed in the folder"
        return ""

    def _objection_to_words(self, rule: CommandRule, name: str, words: Sequence[Word]) -> str:
        expanded: list[Word] = []
        for word in words:
            texts = self._operands.expanded(word, self.folders)
            if texts is None or (word.has_glob and any(text.startswith("-") for text in texts)):
                return f"what `{word.text}` stands for is not followed"
            if word.has_glob and not all(self._inside(text) for text in texts):
                return f"`{word.text}` can lead out of the folder"
            expanded.append(word)
        return "" if self._fits(rule, expanded) else f"not all words after `{name}` are known to be harmless"

    def _fits(self, rule: CommandRule, words: Sequence[Word]) -> bool:
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

    def _option(self, rule: CommandRule, text: str) -> Takes | None:
        """What the word after this option has to be; None if the option is not known to be harmless."""
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

    def _are_operands(self, rule: CommandRule, operands: Sequence[Word]) -> bool:
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
                texts = [text for word in operands for text in self._operands.expanded(word, self.folders) or ()]
                return all(self._inside(text, only_files=only_files) for text in texts)

    def _is_value(self, text: str, takes: Takes) -> bool:
        if _NUMBER.fullmatch(text):
            return True
        return not text.startswith(("-", "@")) and (takes in ("text", "perhaps") or self._inside(text))

    def _inside(self, text: str, *, only_files: bool = False) -> bool:
        return self._operands.is_inside(text, self.folders, only_files=only_files)


def _named(words: Sequence[Word]) -> tuple[int, CommandRule] | None:
    """How many of the first words are the name of a known command, and what may follow them; None if none is."""
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
