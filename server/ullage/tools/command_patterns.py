"""What a shell command would have to be allowed as: the pattern of each of its parts.

A pattern is either the first words of a command and ` *` (`git status *`: whatever follows), or a command's exact text.
Only commands of plain words become the first kind; whatever a shell would expand, redirect or run in turn stays exact.
This decides what need not be asked again, not what is safe: every pattern was first allowed by the user.
"""

from __future__ import annotations

import re
import shlex


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


WITH_SUBCOMMAND = _words(
    "apt apt-get brew bundle cargo composer dotnet gh git go gradle helm make mvn npm npx pip pip3 pipx pnpm poetry rustup swift "
    "terraform uv uvx yarn"
)
"""Programs whose second word says what they do; a pattern takes both."""

RUNNERS = frozenset({"run", "exec", "dlx"})
"""Second words that run what the third one names; a pattern takes all three."""

CLOSED_SUBCOMMANDS = _words(
    """
    api apply auth bisect checkout ci clean clone config create delete deploy destroy difftool fetch filter-branch grep init
    login mergetool publish pull push rebase remote remove reset restore secret set submodule token uninstall update upgrade x
    """
)
"""Second words that set what will be run, run what they are given, delete, overwrite or send away, as those below."""

NEVER_OPEN = _words(
    """
    . ack ag alias at awk bash batch bind bsdtar builtin bun bunx busybox chmod chown chroot command compgen complete coproc cp
    cpio crontab csh curl dash dd declare deno doas docker emacs enable entr env eval exec expect export fd fdfind find fish
    flock ftp gawk gdb getopts hash iex install ionice ipython irb julia kill killall ksh kubectl launchctl less let lldb ln
    local ltrace lua luajit man mapfile mawk more mosh mv mysql nano nc ncat netcat nice node nodejs nohup nsenter nvim open
    osascript parallel perl php pkexec pkill powershell printf psql pwsh py pypy python r read readarray readonly rg rm rmdir
    rscript rsync ruby runuser scp screen script sed set setarch setpriv setsid sftp sh shopt shred socat sort source sqlite ssh
    start stdbuf strace su sudo systemctl systemd-run tar taskset tclsh tee telnet time timeout tmux trap truncate ts-node tsx
    typeset unset unshare vi view vim vimdiff watch watchexec wget xargs xdg-open zip zsh
    cprofile code http.server pdb profile runpy timeit trace
    """
)
"""Programs that run what they are given, delete, overwrite or send away: only their exact command can be remembered. Names
are without the version that may end them (`python3.12`); the last line are modules, after `python -m`."""

KEYWORDS = _words("! [[ case do done elif else esac fi for function if in select then time until while { }")
"""Words of the shell's own language, after which anything may be run."""

SEPARATORS = frozenset({";", "&&", "||", "|", "&"})

OPEN_END = " *"

NOT_PLAIN = frozenset("$`\\\n\r<>()")
"""Characters with which a command is more than its words. Some uses are harmless; then it is only asked once more."""

NOT_LITERAL = frozenset("'\"*?[{}~#")
"""Characters that are lost or mean another thing once a command was taken apart into words."""

VERSION = re.compile(r"[\d.]*(?:\.exe)?$", re.IGNORECASE)

HARMLESS_REDIRECTION = re.compile(r"(?<!\S)(?:[12&]?>>?\s*/dev/null|2>&1)(?=[\s;&|]|$)")


def command_patterns(command: str) -> tuple[str, ...]:
    """One pattern for each part of the command, without repetitions; the whole command where it is not plain.

    So is one with a part that only its exact text can stand for, where the words alone would not say it: `rm '*'` is not `rm *`.
    """
    command = command.strip()
    parts = _parts(command)
    if parts is None:
        return (command,)
    patterns = tuple(dict.fromkeys(_pattern(words) for words in parts))
    is_open = all(pattern.endswith(OPEN_END) for pattern in patterns)
    return patterns if is_open or not NOT_LITERAL.intersection(command) else (command,)


def _parts(command: str) -> list[list[str]] | None:
    """The words of each part of a command of plain words; None for any other."""
    harmless = HARMLESS_REDIRECTION.sub(" ", command)
    if NOT_PLAIN.intersection(harmless):
        return None
    lexer = shlex.shlex(harmless, posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:  # a quotation that does not end
        return None
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token in SEPARATORS:
            parts.append([])
        elif set(token) <= set(";&|"):
            return None
        else:
            parts[-1].append(token)
    if not parts[-1] and len(parts) > 1:
        parts.pop()  # a separator at the end
    return parts if all(words and words[0] not in KEYWORDS for words in parts) else None


def _pattern(words: list[str]) -> str:
    program = words[0]
    if _kind(program) == "python" and words[1:2] == ["-m"] and len(words) > 2:
        return f"{program} -m {_pattern(words[2:])}"
    telling = _words_that_say_what_is_done(words)
    return f"{' '.join(words[:telling])}{OPEN_END}" if telling else shlex.join(words)


def _words_that_say_what_is_done(words: list[str]) -> int:
    """How many of the first words; 0 where all of them do."""
    count = 1 if words[0] not in WITH_SUBCOMMAND else 3 if words[1:2] and words[1] in RUNNERS else 2
    taken = words[:count]
    if len(taken) < count or not all(map(_is_plain_name, taken)) or not NEVER_OPEN.isdisjoint(map(_kind, taken)):
        return 0
    return 0 if count == 2 and taken[1] in CLOSED_SUBCOMMANDS else count


def _kind(program: str) -> str:
    """The program's name as it stands in the lists here."""
    return VERSION.sub("", program).casefold() or program


def _is_plain_name(word: str) -> bool:
    """A name and not an option, an assignment (`PATH=. x`) or a path, behind which anything may stand."""
    return word.replace("-", "").replace("_", "").replace(".", "").replace(":", "").isalnum() and not word.startswith("-")
