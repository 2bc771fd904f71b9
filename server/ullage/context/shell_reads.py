"""Which files a shell command prints, as agents without a tool for reading do it: `cat a.py`, `sed -n '1,80p' a.py && nl -ba b.py`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ullage.context.blocks import Json

_COMMAND_KEYS = ("command", "cmd")
"""Claude Code, Ullage and older Codex; Codex since `exec_command`. Either may be a list of words."""

_SHELL_OPTIONS = ("-c", "-lc")

_PRINTING = re.compile(r"""(?:^|&&|\|\||[;\n])[ \t]*(?:cat|nl|head|tail|sed\s+-n)\s([^|;&<>\n]*)((?<![0-9])>|<<)?""")
"""Up to the next command; what reads from a pipe names no file, and what is sent into a file is not shown."""

_FILE = re.compile(r"(?<![\w-])[\w.@~+/-]*[\w@+]\.[A-Za-z]\w{0,9}(?!\w)")
"""A name with an ending, with or without folders; an option or a line range is none."""


def printing_arguments(input: Mapping[str, Json]) -> list[str]:
    """What the printing commands in a call's input are called with; none where it runs no command."""
    for key in _COMMAND_KEYS:
        if key in input:
            return [arguments for arguments, sent in _PRINTING.findall(_command(input[key])) if not sent]
    return []


def files_printed(input: Mapping[str, Json]) -> tuple[str, ...]:
    """The files that the command in a call's input prints, as it names them, each once."""
    return tuple(dict.fromkeys(name for arguments in printing_arguments(input) for name in _FILE.findall(arguments)))


def _command(value: Json) -> str:
    """What the shell runs, where words call one (`["bash", "-lc", "..."]`); else the words themselves."""
    words = [word for word in value if isinstance(word, str)] if isinstance(value, list) else [value] if isinstance(value, str) else []
    return words[-1] if len(words) > 1 and words[-2] in _SHELL_OPTIONS else " ".join(words)
