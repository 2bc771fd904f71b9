"""What running a command has to be allowed, and in which words the user is asked.

How a line is judged is said in `command_lines/`; whether something remembered covers it, in `permission.py`.
"""

from __future__ import annotations

from dataclasses import replace

from ullage.tools.command_extras import Extras
from ullage.tools.command_lines.judge import Site, Unknown, judge
from ullage.tools.command_lines.patterns import HARMLESS, exact_pattern, named_patterns, shown_pattern
from ullage.tools.files_named import digest_of_files_named
from ullage.tools.tool import PermissionNeed

SHOWN_CHARACTERS = 300
"""A longer command is not repeated in the question; the panel shows all of it above."""


def command_need(command: str, site: Site | None) -> PermissionNeed:
    """What running a command needs. Allowing it always allows each of its known parts in any combination, or just this line.

    Without a `site` it is not known what it does: another shell than that of Unix reads it, or there is no folder.
    """
    judged = Unknown("it is not known what it does") if site is None else judge(command, site)
    files = ""
    if isinstance(judged, Unknown):
        parts, harmless = exact_pattern(command), False
        files = "" if site is None else digest_of_files_named(command, site.folder, site.workspaces)
    else:
        parts, harmless = named_patterns(judged), all(part.effect != "runs" for part in judged)
    return PermissionNeed("command", " and ".join(map(shown_pattern, parts)), _question(command), parts, harmless, files=files)


def with_extras(need: PermissionNeed, command: str, extras: Extras) -> PermissionNeed:
    """What it needs with these hosts and files. A command that is known to only read is not, once it may connect: it is only itself then.
    What may change files that steer tools is asked for each time."""
    if not extras.asked:
        return need
    need = replace(need, harmless=False, hosts=tuple(map(str, extras.hosts)), description=f"{need.description}, {extras.asked}")
    if extras.files:
        return replace(need, pattern="", parts=())
    if any(part.startswith(HARMLESS) for part in need.parts):
        parts = exact_pattern(command)
        return replace(need, pattern=" and ".join(map(shown_pattern, parts)), parts=parts)
    return need


def _question(command: str) -> str:
    """What is asked. The card shows the whole command; one that does not fit into a sentence, or could end its quotation, is not in it."""
    if len(command) <= SHOWN_CHARACTERS and not set("`\n") & set(command):
        return f"Run `{command}`"
    lines = command.count("\n") + 1
    return f"Run this command ({f'{lines:,} lines, ' if lines > 1 else ''}{len(command):,} characters)"
