"""Tool calls as the log has them: each result beside the call that it answers, and what both say of themselves.

What a shell command is about is told by its text: good enough to rank and to word it, never to allow it. So is which files it prints, as
agents without a tool for reading do it: `cat a.py`, `sed -n '1,80p' a.py && nl -ba b.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ullage.context.blocks import Json, ToolUse
from ullage.context.entries import Answer, AssistantReply, Logged, ToolReturned

COMMAND_CHARACTERS = 90

PATH_KEYS = ("path", "file_path", "notebook_path", "filePath")
"""The keys under which a tool's input names its file: Ullage's and most others'; Claude Code's; Claude Code's for notebooks; OpenCode's."""
COMMAND_KEYS = ("command", "cmd")
"""The keys under which a tool's input has its command: Ullage's, Claude Code's and older Codex'; Codex's since `exec_command`. Either value
may be a list of words."""

EXIT_CODE = re.compile(r"(?i)\(?(?:process |command )?exit(?:ed)?(?: with)?(?: (?:code|status))?[:= ]+(-?\d{1,3})\W*")

NOTE = re.compile(r"\A(?:\s*#[^\n]*\n)+")
GOING_THERE = re.compile(r"""\A\s*cd\s+(?:"[^"]*"|'[^']*'|[^\s;&|]+)\s*(?:&&|;|\n)\s*""")
SENT_AWAY = re.compile(r"(?<!\s)\s*[12&]?>\s*(?:&[12]|/dev/null)(?![\w/.])")
SHOWN_IN_PART = re.compile(r"\|\s*(?:tail|head|cat|less|more)\b[^|&;\n]*")

_QUOTED = re.compile(r"""'[^']*'|"[^"\\]*+(?:\\.[^"\\]*+)*("?)""", re.DOTALL)
_SINGLY = re.compile("'[^']*'")
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
"""For programs of which only some subcommands just look: the pattern of these."""
FAILURE = re.compile(
    r"\bFAIL(?:ED|URE)?\b|^\W*(?:\[[\w:.-]+\] ?)?(?:ERROR|[Ee]rror|fatal|panic)\b[:\[ ]|\b[1-9]\d* (?:failed|failures?|errors?)\b",
    re.MULTILINE,
)
FAILURE_CHARACTERS = 600
"""Characters at the end of what a command printed, in which it says how it went."""
WORDS_LOOKED_AT = 6
"""Words of a command among which its subcommand is looked for: options and their values may stand before it."""

_SHELL_OPTIONS = ("-c", "-lc")

_PRINTING = re.compile(
    r"""(?:^|&&|\|\||[;\n])[ \t]*(?:(?:cat|nl|head|tail|sed\s+-n)\s|git\s+show\s+[\w@^~./-]*:(?=\S))([^|;&<>\n]*)((?<![0-9])>|<<)?"""
)
"""Commands that print files, with their arguments up to the next command. What reads from a pipe names no file, and what is sent into a
file is not shown. `git show main:a.py` prints a file, too."""

_WORD = re.compile(r"[\w.@~+/-]+")
_FILE = re.compile(r"[\w.@~+/-]*[\w@+]\.[A-Za-z]\w{0,9}(?!\w)")
"""The beginning of a word that is a file name with an ending, with or without folders; an option or a line range is none. It is tried once
in each word: so the time grows with the text, whatever stands in it."""


@dataclass(frozen=True)
class Call:
    """A call that has its result. `seq` is the result's entry. What is worked out is kept, since calls are asked again and again."""

    seq: int
    input: Mapping[str, Json]
    returned: ToolReturned

    @cached_property
    def command(self) -> str | None:
        """The command that the call ran; None if it ran none."""
        for key in COMMAND_KEYS:
            command = self.input.get(key)
            if isinstance(command, str) and command.strip():
                return command.strip()
        return None

    @cached_property
    def plain(self) -> str | None:
        """The command without the parts that only say where it ran and how much of its output was wanted; None if the call ran no
        command."""
        return None if self.command is None else plain(self.command)

    @cached_property
    def only_looks(self) -> bool:
        """Whether the call ran a command, and one that changes and checks nothing."""
        return self.command is not None and only_looks(self.command)

    @cached_property
    def hides_its_end(self) -> bool:
        """Whether the call ran a command whose success the log does not tell (`make | tail`)."""
        return self.command is not None and hides_its_end(self.command)

    @property
    def is_of_a_file(self) -> bool:
        """Whether the call's input names one file that it is about."""
        return any(isinstance(self.input.get(key), str) for key in PATH_KEYS)

    @cached_property
    def source(self) -> str:
        """What was called, on one line: the command, shortened, or the tool with its path."""
        if self.plain is not None:
            return one_line(self.plain, COMMAND_CHARACTERS)
        path = next((path for key in PATH_KEYS if isinstance(path := self.input.get(key), str)), None)
        return self.returned.tool if path is None else f"{self.returned.tool} {path}"

    @cached_property
    def exit_code(self) -> int | None:
        """The exit code that the first or last line of the result names, where a command ran; None if none is named."""
        content = self.returned.content
        if self.command is None or ("exit" not in content and "Exit" not in content):
            return None
        content = content.strip()
        for line in (content[content.rfind("\n") + 1 :], content.partition("\n")[0]):
            found = EXIT_CODE.fullmatch(line.strip())
            if found:
                return int(found.group(1))
        return None

    @property
    def failed(self) -> bool:
        """Whether the result says that the call failed: it is an error, or the exit code is not 0."""
        return self.returned.is_error or self.exit_code not in (None, 0)

    @cached_property
    def seems_failed(self) -> bool:
        """Whether the call failed, or hides its success and ends its output with a failure."""
        return self.failed or (self.hides_its_end and not self.only_looks and _tells_of_failure(self.returned.content))

    def look_ahead(self) -> None:
        """Works out now the properties that take longest, so that they are ready when they are asked for."""
        _ = self.plain, self.only_looks, self.exit_code, self.seems_failed


def answered_calls(entries: Sequence[Logged]) -> list[Call]:
    """The calls with a result, in the order of the results. A result whose call is not among `entries` has no input."""
    uses: dict[str, ToolUse] = {}
    calls: list[Call] = []
    for logged in entries:
        entry = logged.entry
        if isinstance(entry, AssistantReply):
            uses.update((block.id, block) for block in entry.blocks if isinstance(block, ToolUse))
        elif isinstance(entry, ToolReturned):
            use = uses.get(entry.tool_use_id)
            calls.append(Call(logged.seq, use.input if use else {}, entry))
    return calls


def strings_of(value: Json | Mapping[str, Json]) -> Iterator[str]:
    """Every string in a JSON value, keys aside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from strings_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings_of(inner)


def one_line(text: str, characters: int) -> str:
    """`text` on one line, in at most `characters` characters; an ellipsis stands for what was cut off."""
    start = " ".join(text[: characters * 4].split())
    if len(start) <= characters and len(text) <= characters * 4:
        return start
    return start[: characters - 1].rstrip() + "…"


def plain(command: str) -> str:
    """The command without the parts that only say where it ran and how much of its output was wanted: two commands that do the same read
    alike."""
    text = GOING_THERE.sub("", NOTE.sub("", command)).strip()
    text = SENT_AWAY.sub("", text)
    return text[: _end_of_work(text)].strip() or command.strip()


def _end_of_work(command: str) -> int:
    """The index in the command at which those programs at its end begin that only show a part of what came before (`| tail`). Each is
    looked at once, however many they are."""
    end = len(command)
    while (bar := command.rfind("|", 0, end)) >= 0 and SHOWN_IN_PART.fullmatch(command, bar, end):
        end = bar
        while end and command[end - 1].isspace():
            end -= 1
    return end


def without_quoted(command: str) -> str:
    """The command with `''` in the place of each text between quotes. A double quote that is never closed counts as any other character, as
    does each one after it."""
    for found in _QUOTED.finditer(command):
        if found[0].startswith('"') and not found[1]:
            return _QUOTED.sub("''", command[: found.start()]) + _SINGLY.sub("''", command[found.start() :])
    return _QUOTED.sub("''", command)


def only_looks(command: str) -> bool:
    """Whether the command changes and checks nothing, as far as its text shows: it lists, prints or searches."""
    bare = SENT_AWAY.sub("", without_quoted(NOTE.sub("", command)))
    if INTO_A_FILE.search(bare):
        return False
    return all(map(_looks, filter(None, (part.strip() for part in PARTS.split(bare)))))


def hides_its_end(command: str) -> bool:
    """Whether the command's exit code is that of a program which only shows what the program before it printed."""
    return "pipefail" not in command and PIPED.search(without_quoted(command)) is not None


def _tells_of_failure(output: str) -> bool:
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


def printing_arguments(input: Mapping[str, Json]) -> list[str]:
    """The arguments of those commands in a call's input that print files; empty where the call runs no command."""
    for key in COMMAND_KEYS:
        if key in input:
            return [arguments for arguments, sent in _PRINTING.findall(_command(input[key])) if not sent]
    return []


def files_printed(input: Mapping[str, Json]) -> tuple[str, ...]:
    """The files that the command in a call's input prints, each once, under the names that the command uses."""
    words = (word for arguments in printing_arguments(input) for word in _WORD.findall(arguments))
    return tuple(dict.fromkeys(found.group() for word in words if (found := _FILE.match(word))))


def _command(value: Json) -> str:
    """The command of a call's input as one text. Of words that call a shell (`["bash", "-lc", "..."]`) it is the last one."""
    words = [word for word in value if isinstance(word, str)] if isinstance(value, list) else [value] if isinstance(value, str) else []
    return words[-1] if len(words) > 1 and words[-2] in _SHELL_OPTIONS else " ".join(words)


ANSWER_CHARACTERS, QUESTION_CHARACTERS = 600, 200
"""Characters of an answer of the user, and of the question that they were asked, where both are told on one line."""


def told_answer(answer: Answer) -> str:
    """What the user answered, on one line, as in: `Which database?`, the user chose `SQLite` and wrote: … The question and the labels come
    from a model, so nothing in them can end the quotation and go on as the user's words."""
    asked, *chosen = (one_line(text, QUESTION_CHARACTERS).replace("`", "'") for text in (answer.question, *answer.chosen))
    said = f"chose {' and '.join(f'`{label}`' for label in chosen)}" if chosen else ""
    wrote = f"wrote: {one_line(answer.text, ANSWER_CHARACTERS)}" if answer.text else ""
    return f"`{asked}`, the user {' and '.join(filter(None, (said, wrote)))}"
