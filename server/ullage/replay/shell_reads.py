"""Which files a shell command prints, as agents without a tool for reading do it: `cat a.py`, `sed -n '1,80p' a.py && nl -ba b.py`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ullage.context.blocks import Json
from ullage.replay.fact_patterns import paths_in
from ullage.replay.windows import strings_of

_COMMAND_KEYS = ("command", "cmd")
"""Claude Code, Ullage and older Codex; Codex since `exec_command`. Either may be a list of words."""

_SHELL_OPTIONS = ("-c", "-lc")

_PRINTING = re.compile(r"""(?:^|&&|\|\||[;\n])[ \t]*(?:cat|nl|head|tail|sed\s+-n)\s([^|;&<>\n]*)((?<![0-9])>|<<)?""")
"""Up to the next command; what reads from a pipe names no file, and what is sent into a file is not shown."""


def files_printed(input: Mapping[str, Json]) -> list[str]:
    """The last two components of each file that the command in a call's input prints; none where it runs no command."""
    for key in _COMMAND_KEYS:
        if key in input:
            found = _PRINTING.findall(_command(list(strings_of(input[key]))))
            return sorted({path for arguments, sent in found if not sent for path in paths_in(arguments)})
    return []


def _command(words: list[str]) -> str:
    """What the shell runs, where the words call one (`bash -lc "..."`); else the words themselves."""
    return words[-1] if len(words) > 1 and words[-2] in _SHELL_OPTIONS else " ".join(words)
