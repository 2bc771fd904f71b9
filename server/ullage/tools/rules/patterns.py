"""The patterns of rules: how the user writes them, what each means in words, and what it matches. Pure.

- Of a command it is the words of one plain command (`npm test *`). `*` stands for any words that stay in the workspace folder, `**` for any
  words at all, and a `*` within a word for the rest of that word. It is compared word by word with a command that was followed to the last
  character (`command_lines/`), never with the text of the line. So nothing can be chained, substituted or redirected behind it.
- `exactly: LINE` is a whole line as it stands, also one that is not followed.
- `harmless: NAME` and `runs: NAME` are what an earlier version kept: commands of that name, with words that are known to do no more.
- Of an edit it is a path with `*`, `?` and `**`, as in settings of the editor. Of a connection it is a host, or `*.` before one.
- Of a search of the web it is `*`: all of them, or none.
- Of a call of an MCP server it is `SERVER/TOOL`, where a `*` stands for any characters of the tool's name.

A pattern that cannot be followed is refused with the reason, in words for the user.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from ullage.tools.command_lines.judge import CHANGES_SHELL, LinePart
from ullage.tools.command_lines.parsing import NotFollowed, Word, read_characters
from ullage.tools.sandbox.network.hosts import BadHost, parse_host

RuleAction: TypeAlias = Literal["command", "edit", "host", "read", "mcp", "agent", "search"]
"""The kind of action that a rule is about. Reading is free, so a rule for it can only refuse."""

EXACTLY, HARMLESS, RUNS = "exactly: ", "harmless: ", "runs: "

LONGEST_PATTERN = 1_000
"""The most characters of a pattern; for a line that is allowed as it stands there is no limit here."""

ANY_WORDS, ANY_WORDS_AT_ALL = "*", "**"


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


RUNS_OTHERS = _names(
    """
    ash awk bash bun bunx busybox cmd csh dash deno docker doas env eval exec expect fish gawk gdb ksh lua make mawk nc
    ncat nice node nohup npx nsenter osascript perl php pipx pnpx podman powershell pwsh py python python2 python3
    rlwrap rsync ruby script sed setsid sh socat ssh sshpass strace su sudo tar tclsh time timeout tmux uvx vi vim watch
    xargs zsh
    """
)
"""Programs that start another program, or run code, that their words name."""

TAKES_CODE = frozenset({"git", "find", "npm", "pnpm", "yarn", "uv", "go", "cargo"})
"""Programs with options or subcommands that do so (`git -c`, `find -exec`, `npm exec`)."""


class BadRulePattern(ValueError):
    """The text cannot be the pattern of a rule; the message says why, in words for the user."""


@dataclass(frozen=True, slots=True)
class CommandPattern:
    """The commands that a rule covers: a whole line, those with a known name, or those whose words match."""

    exact: str | None = None
    known: str = ""
    """The name of a command, each further word of which has to be known to do no more; empty for another kind of pattern."""
    reads: bool = False
    """Whether that name was kept as one that only reads: for the words in which it is explained."""
    words: tuple[str | re.Pattern[str], ...] = ()
    """The words of the pattern. `ANY_WORDS` and `ANY_WORDS_AT_ALL` stand as they are; a regular expression stands for one word."""
    literal: tuple[bool, ...] = ()
    """For each word: whether it stands for nothing but itself."""

    def matches(self, part: LinePart) -> bool:
        """Whether the pattern covers that command of a line. A command that may run elsewhere is not covered, except in a folder of the
        project that the line went to first: there, no word of the pattern stands for a file."""
        if self.exact is not None:
            return False
        if self.known:
            return part.name == self.known and (part.effect == "runs" or (self.reads and part.effect is not None))
        return (not part.moved or part.entered != "") and self._match(part)

    def _match(self, part: LinePart) -> bool:
        """Whether the words of a command match those of the pattern, one after the other. `reached` are the numbers of the command's words
        that the words of the pattern so far can have covered."""
        reached = {0}
        for word, literal in zip(self.words, self.literal, strict=True):
            if literal:
                reached = {at + 1 for at in reached if at < len(part.words) and part.words[at] == word and _is_itself(part, at)}
            elif isinstance(word, re.Pattern):
                fitting = {at for at in reached if at < len(part.words) and part.stays[at] and word.fullmatch(part.words[at])}
                reached = {at + 1 for at in fitting if at not in part.places}
            else:
                reached = _through(reached, part, at_all=word == ANY_WORDS_AT_ALL)
            if not reached:
                return False
        return len(part.words) in reached


def _is_itself(part: LinePart, at: int) -> bool:
    return not part.globs[at] and at not in part.places


def _through(reached: set[int], part: LinePart, *, at_all: bool) -> set[int]:
    found: set[int] = set()
    for start in reached:
        found.add(start)
        for at in range(start, len(part.words)):
            if not at_all and not part.stays[at]:
                break
            found.add(at + 1)
    return found


@lru_cache(maxsize=2_000)
def command_pattern(text: str) -> CommandPattern:
    """The pattern for commands that a text means. Raises `BadRulePattern`."""
    if text.startswith(EXACTLY):
        line = text.removeprefix(EXACTLY)
        if not line.strip():
            raise BadRulePattern("Write the command behind `exactly:`")
        if not line.replace("\n", "").replace("\t", "").isprintable():
            raise BadRulePattern("It holds characters that nobody sees")
        return CommandPattern(exact=line)
    for prefix in (HARMLESS, RUNS):
        if text.startswith(prefix) and text.removeprefix(prefix).strip():
            return CommandPattern(known=text.removeprefix(prefix).strip(), reads=prefix == HARMLESS)
    return _of_words(text)


def _of_words(text: str) -> CommandPattern:
    words = _words(text)
    first = words[0]
    if first.has_glob:
        raise BadRulePattern("The first word has to be the name of a program. A rule for every program would allow everything")
    if "=" in first.text:
        raise BadRulePattern(f"`{first.text}` sets a variable. Write the program first, or keep `exactly:` before the whole line")
    found = [_word(word) for word in words]
    return CommandPattern(words=tuple(word for word, _ in found), literal=tuple(literal for _, literal in found))


def _words(text: str) -> Sequence[Word]:
    if not text.strip():
        raise BadRulePattern("Write a command, such as `npm test *`")
    if len(text) > LONGEST_PATTERN:
        raise BadRulePattern(f"It has more than {LONGEST_PATTERN:,} characters")
    read = read_characters(text)
    if isinstance(read, NotFollowed):
        raise BadRulePattern(f"This cannot be a pattern: {read.reason}. `{EXACTLY.strip()}` before it allows just this line")
    if any(kind == "redirection" for kind, _, _ in read.spans):
        raise BadRulePattern(
            "Leave the redirection out: output that is thrown away does not matter to a rule, and no rule covers another one"
        )
    if len(read.commands) != 1 or any(kind == "operator" for kind, _, _ in read.spans):
        raise BadRulePattern("A rule is for one command. Make one for each of these; a line is allowed if all of its commands are")
    return read.commands[0]


def _word(word: Word) -> tuple[str | re.Pattern[str], bool]:
    if not word.has_glob:
        return word.text, True
    if "?" in word.text:
        raise BadRulePattern("`?` has no meaning in a rule for commands. Use `*`, or quote the word if it is meant as it stands")
    if word.text in (ANY_WORDS, ANY_WORDS_AT_ALL):
        return word.text, False
    if "**" in word.text:
        raise BadRulePattern("`**` stands for words, so it has to be a word of its own")
    return re.compile(".*".join(map(re.escape, word.text.split("*"))), re.DOTALL), False


# Paths

_STARS = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")


@lru_cache(maxsize=2_000)
def path_pattern(text: str) -> re.Pattern[str]:
    """A regular expression for the files that a pattern covers, by their paths as they are shown: relative to the first workspace folder.
    Raises `BadRulePattern`."""
    if not text.strip():
        raise BadRulePattern("Write a file or a folder, such as `src/**`")
    if text != text.strip() or not text.isprintable() or len(text) > LONGEST_PATTERN:
        raise BadRulePattern("It has blanks at its ends, characters that nobody sees, or too many")
    if "\\" in text:
        raise BadRulePattern("Write `/` between folders, also on Windows")
    if "{" in text or "}" in text:
        raise BadRulePattern("Braces are not followed in a rule. Make a rule for each")
    names = text.split("/")
    if any(name in ("..", ".") for name in names):
        raise BadRulePattern("`.` and `..` are not followed. Write the path from the workspace folder on")
    if any("**" in name and name != "**" for name in names):
        raise BadRulePattern("`**` has to stand between slashes: `src/**/*.py`")
    if any(not name for name in names[1:-1]):
        raise BadRulePattern("It has two slashes in a row")
    whole = f"{text}**" if text.endswith("/") else text
    return re.compile("".join(map(_glob, _STARS.findall(whole))), re.DOTALL)


def _glob(piece: str) -> str:
    match piece:
        case "**/":
            return "(?:[^/]+/)*"
        case "**":
            return ".+"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
        case _:
            return re.escape(piece)


# Hosts


def host_matches(pattern: str, host: str) -> bool:
    """Whether the host is the one of the pattern, or below it if the pattern begins with `*.`. The ports have to be the same. Raises
    `BadRulePattern`."""
    wanted = host_pattern(pattern)
    if not wanted.startswith("*."):
        return wanted == host
    name, _, port = wanted[2:].partition(":")
    named, _, asked_port = host.partition(":")
    return port == asked_port and named.endswith(f".{name}")


def host_pattern(text: str) -> str:
    """The pattern for hosts in the form in which hosts are compared. Raises `BadRulePattern`."""
    below = text.startswith("*.")
    try:
        host = parse_host(text.removeprefix("*.").strip())
    except BadHost as error:
        raise BadRulePattern(str(error).removesuffix(", with no pattern in it")) from error
    if "*" in host.name or (below and ("." not in host.name or host.name.replace(".", "").isdigit() or ":" in host.name)):
        raise BadRulePattern("`*.` has to stand before a domain with a dot in it, such as `*.example.org`")
    return f"*.{host}" if below else str(host)


# Tools of MCP servers

_MCP = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,47})/([A-Za-z0-9_./*-]{1,128})")


@lru_cache(maxsize=2_000)
def mcp_pattern(text: str) -> re.Pattern[str]:
    """A regular expression for the tools that a pattern covers, each as `SERVER/TOOL`. Raises `BadRulePattern`."""
    match = _MCP.fullmatch(text)
    if match is None:
        raise BadRulePattern("Write the name of the server and of the tool, such as `git/git_log`, or `git/*` for all of its tools")
    return re.compile(re.escape(match[1]) + "/" + ".*".join(map(re.escape, match[2].split("*"))))


def tools_in_words(text: str) -> str:
    """The tools that a pattern is about, in words for the user."""
    server, _, tool = text.partition("/")
    if tool == "*":
        return f"all tools of the MCP server `{server}`"
    return (
        f"tools of the MCP server `{server}` whose names fit `{tool}`" if "*" in tool else f"the tool `{tool}` of the MCP server `{server}`"
    )


# In words


def check_pattern(action: RuleAction, text: str) -> None:
    """Raises `BadRulePattern` if the text cannot be the pattern of a rule for that action."""
    match action:
        case "command":
            command_pattern(text)
        case "edit":
            path_pattern(text)
        case "host":
            host_pattern(text)
        case "mcp":
            mcp_pattern(text)
        case "agent":
            path_pattern(text)
            if "*" in text or "?" in text:
                raise BadRulePattern("Write the path of the one file that defines the sub-agent, such as `.ullage/agents/fixer.md`")
        case "search":
            if text != "*":
                raise BadRulePattern("A rule about searches is for all of them: write `*`")
        case "read":
            raise BadRulePattern("Files of the workspace are read without a question. A rule for reading can only refuse")


def explained(action: RuleAction, text: str) -> str:
    """What a rule with that pattern lets run, in a sentence with backticks around what is literal."""
    if action == "host":
        below = text.removeprefix("*.")
        if below == text:
            return f"Lets commands connect to `{text}`, and pages be fetched from there."
        return f"Lets commands connect to every host below `{below}`, and pages be fetched from there."
    if action == "edit":
        return f"Lets the agent write {files_in_words(text)}, but none that run by themselves or steer a tool."
    if action == "mcp":
        if "*" in text:
            return f"Lets the agent call {tools_in_words(text)}, with any arguments, while the configuration of that server stays the same."
        return f"Lets the agent call {tools_in_words(text)}, with any arguments, while that tool stays the same."
    if action == "agent":
        return f"Lets the sub-agent that `{text}` defines act while that file stays as it is. Its calls are asked about as ever."
    if action == "search":
        return "Lets the agent search the web, for any words. Each search costs money."
    read = command_pattern(text)
    if read.exact is not None:
        return "Runs just this line, as it stands."
    if read.known:
        what = "only read" if read.reads else "run what this folder says"
        return f"Runs `{read.known}` with words that are known to do no more: it can {what}."
    return f"Runs {_command(text, read)}."


def files_in_words(text: str) -> str:
    """The files that a pattern is about, in words for the user."""
    if text in ("**", "**/*"):
        return "all files of the workspace"
    if text.endswith(("/**", "/")) and not set("*?") & set(text.removesuffix("**")):
        return f"all files below `{text.removesuffix('**').rstrip('/')}`"
    return f"files whose path fits `{text}`" if set("*?") & set(text) else f"`{text}`"


def _command(text: str, read: CommandPattern) -> str:
    *words, last = read.words
    if all(read.literal):
        return f"`{text}` with no other words"
    if all(read.literal[:-1]) and words and last in (ANY_WORDS, ANY_WORDS_AT_ALL):
        kind = "any words at all" if last == ANY_WORDS_AT_ALL else "any words that stay in the workspace folder"
        return f"`{text.rstrip().rstrip('*').rstrip()}` with {kind}"
    return f"commands that fit `{text}` word by word"


def warning_of(action: RuleAction, text: str) -> str:
    """A warning that a pattern allows much, in words for the user; empty if it does not."""
    if action == "mcp" and text.endswith("/*"):
        return "The server can add tools at any time. They are allowed, too."
    if action != "command":
        return "" if text not in ("**", "**/*") else "That is nearly everything in the workspace."
    read = command_pattern(text)
    if not read.words or (all(read.literal) and not _takes_input(read)):
        return ""
    program = str(read.words[0]).rsplit("/", 1)[-1]
    if re.sub(r"[\d.]+$", "", program) in RUNS_OTHERS or program in RUNS_OTHERS:
        return f"`{program}` runs whatever its words or its input say. This allows any program."
    if program in CHANGES_SHELL:
        return f"`{program}` is part of the shell. It only counts where it is the whole line."
    if program in TAKES_CODE and len(read.words) == 2 and not read.literal[1]:
        example = f"{program} {_SUBCOMMANDS[program]} *"
        return f"`{program}` has options and subcommands that run other programs. Name the subcommand, such as `{example}`."
    if ANY_WORDS_AT_ALL in read.words:
        return "`**` also takes paths that lead out of the workspace folder."
    return ""


_SUBCOMMANDS = {
    "git": "commit",
    "find": ". -name",
    "npm": "test",
    "pnpm": "test",
    "yarn": "test",
    "uv": "sync",
    "go": "test",
    "cargo": "test",
}


def _takes_input(read: CommandPattern) -> bool:
    """Whether a pattern is the name of a program alone, which then may run what comes in through a pipe (`curl … | sh`)."""
    return len(read.words) == 1
