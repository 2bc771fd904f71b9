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

NEVER_OPEN = _words(
    ". alias awk bash builtin bun bunx chmod chown command coproc cp csh curl dash dd declare deno doas docker enable env eval exec export "
    "find fish gawk hash install kill killall ksh kubectl ln mawk mv nice node nohup osascript parallel perl php pkill powershell pwsh "
    "python python3 rm rmdir rsync ruby scp sed set setsid sh shopt shred source ssh su sudo tclsh tee time timeout trap truncate typeset "
    "unset watch wget xargs zsh"
)
"""Programs that run what they are given, delete, overwrite or send away: only their exact command can be remembered."""

KEYWORDS = _words("! [[ case do done elif else esac fi for function if in select then time until while { }")
"""Words of the shell's own language, after which anything may be run."""

SEPARATORS = frozenset({";", "&&", "||", "|", "&"})

NOT_PLAIN = frozenset("$`\\\n\r<>()")
"""Characters with which a command is more than its words. Some uses are harmless; then it is only asked once more."""

HARMLESS_REDIRECTION = re.compile(r"(?<!\S)(?:[12&]?>>?\s*/dev/null|2>&1)(?=[\s;&|]|$)")


def command_patterns(command: str) -> tuple[str, ...]:
    """One pattern for each part of the command, without repetitions; the whole command where it is not plain."""
    command = command.strip()
    parts = _parts(command)
    if parts is None:
        return (command,)
    return tuple(dict.fromkeys(_pattern(words) for words in parts))


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
    if program in {"python", "python3"} and words[1:2] == ["-m"] and len(words) > 2 and _is_plain_name(words[2]):
        return f"{program} -m {words[2]} *"
    if not _is_plain_name(program) or program in NEVER_OPEN:
        return shlex.join(words)
    if program not in WITH_SUBCOMMAND:
        return f"{program} *"
    named = 3 if words[1:2] and words[1] in RUNNERS else 2
    taken = words[:named]
    if len(words) < named or not all(map(_is_plain_name, taken)) or NEVER_OPEN.intersection(taken):
        return shlex.join(words)
    return f"{' '.join(taken)} *"


def _is_plain_name(word: str) -> bool:
    """A name and not an option, an assignment (`PATH=. x`) or a path, behind which anything may stand."""
    return word.replace("-", "").replace("_", "").replace(".", "").replace(":", "").isalnum() and not word.startswith("-")
