"""What a call has to be allowed, in which words the user is asked, and what is remembered where they always allow it.

Where it is kept is not known here; never in the workspace, since a repository could bring its own. `command_lines/` judges command lines.
Two more things are looked at before a command:

- What a call asks for beyond the sandbox: hosts to reach, and files to change that steer tools. It is asked for at each call.
- The files of the workspace that the line names, as they are now: what is allowed as `sh build.sh` is that script. Every word that could
  be a file is looked at, by a splitting that is only to find candidates: one that is none costs nothing. What such a script reads or runs
  in turn is not followed.

`rules/` says what rules cover.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from ullage.context.blocks import Json
from ullage.platforms.names import trap_in
from ullage.platforms.system import HERE
from ullage.tools.command_lines.judge import NOT_KNOWN, NamedCommand, Site, Unknown, is_known, judge, parts_of
from ullage.tools.rules.naming import files_named
from ullage.tools.rules.patterns import EXACTLY, HARMLESS, RUNS
from ullage.tools.sandbox.network.hosts import MOST_HOSTS, BadHost, Host, parse_host
from ullage.tools.steering import steers
from ullage.tools.tool import BadToolInput, PermissionNeed
from ullage.workspace.regular_files import open_regular

SHOWN_CHARACTERS = 100
"""The most characters of an exact command that is repeated in the button; the panel shows all of it above."""


def edit_need(path: str, *, at_top: bool = False, is_new: bool = False) -> PermissionNeed:
    """What editing a file, or making it, needs, `path` as `Folders.show` gives it. Allowing it always allows all files of its folder.

    At the top of a workspace folder (`at_top`) it allows that file alone: its folder would be all of the workspace. The top of the first
    folder is known by its empty parent, too.
    """
    pure = PurePosixPath(path)
    reason = steers(pure)
    if reason is not None:
        asked = f"Edit {path} (asked each time, because {reason})"
        if is_new:
            asked = f"Create {path} (asked each time, because {reason})"
        return PermissionNeed("edit", "", asked, subject=path, unfollowed=f"{reason}. It is asked each time")
    folder = pure.parent.as_posix()
    pattern = path if at_top or folder == "." else f"{folder}/**"
    asked = f"Create {path}" if is_new else f"Edit {path}"
    return PermissionNeed("edit", f"edits of `{pattern}`", asked, (pattern,), subject=path)


def shown_rule(action: str, pattern: str, files: str = "") -> str:
    """A rule as the user reads it in the list of what is always allowed; `files` is the digest of those that it names."""
    if action == "command":
        shown = shown_pattern(pattern)
        return f"{shown}, while the files that it names stay the same" if files else shown
    if action == "host":
        return f"connections to `{pattern}`"
    if action == "read":
        return f"reading of `{pattern}`"
    if action == "mcp":
        several = f"calls of `{pattern}`, while the configuration of that server stays the same"
        return several if "*" in pattern else f"calls of `{pattern}`, while that tool stays the same"
    if action == "agent":
        return f"the sub-agent of `{pattern}`, while that file stays the same"
    if action == "search":
        return "searches of the web"
    return f"edits of `{pattern}`" if action == "edit" else f"`{pattern}`"


def hosts_need(hosts: Sequence[str]) -> PermissionNeed:
    """What connecting to these hosts needs. Allowing it always allows each of them, whatever command connects."""
    named = f"connections to {', '.join(f'`{host}`' for host in hosts)}"
    return PermissionNeed("host", named, f"Make {named}", tuple(hosts))


def named_patterns(commands: Sequence[NamedCommand]) -> tuple[str, ...]:
    """The patterns that allow these commands by their names, one for each."""
    return tuple(f"{RUNS if command.effect == 'runs' else HARMLESS}{command.name}" for command in commands)


def exact_pattern(line: str) -> tuple[str, ...]:
    """The pattern that allows a line as it stands; empty if it holds characters that nobody sees: what is allowed for ever has to be what
    was read."""
    return (f"{EXACTLY}{line}",) if line.replace("\n", "").replace("\t", "").isprintable() else ()


def shown_pattern(pattern: str) -> str:
    """A pattern as the user reads it on the button, and in the list of what is always allowed."""
    if pattern.startswith(HARMLESS):
        return f"`{pattern.removeprefix(HARMLESS)} *`"
    if pattern.startswith(RUNS):
        return f"`{pattern.removeprefix(RUNS)} *` (runs code of this folder)"
    if not pattern.startswith(EXACTLY):
        return f"`{pattern}`"
    command = pattern.removeprefix(EXACTLY)
    can_be_shown = len(command) <= SHOWN_CHARACTERS and not set("\n`") & set(command)
    return f"exactly `{command}`" if can_be_shown else "exactly this command"


# What running a command needs

ASKED_CHARACTERS = 300
"""The most characters of a command that is repeated in the question; the panel shows all of it above."""

MOST_FILES = 20

EXTRA_PROPERTIES: dict[str, Json] = {
    "network": {
        "type": "array",
        "items": {"type": "string", "minLength": 1},
        "description": (
            "Hosts that it has to reach, each as `example.org` (ports 80 and 443) or `example.org:8443`. There is no network without; "
            "the user is asked for these."
        ),
    },
    "steering_files": {
        "type": "array",
        "items": {"type": "string", "minLength": 1},
        "description": (
            "Files or folders that it has to make or change although they run programs or steer tools later (`.git` for `git init`, "
            "`.github/workflows`). The user is asked for these."
        ),
    },
}
"""The properties of a tool's input by which a call asks for hosts and files."""

MOST_WORDS = 4_000
"""How many words of a line are looked up as files: as many as the longest hook has."""

MOST_FOLDERS = 50
"""In how many folders they are looked up: a line may go into a folder first."""

MOST_BYTES = 10_000_000
"""The most bytes of all files together that are read. A file beyond them counts by its identity, time and size, not by its content."""

_SEPARATORS = re.compile(r"[\s;&|<>()`'\"$=,:{}]+")


def command_need(command: str, site: Site | None) -> PermissionNeed:
    """What running a command needs. Allowing it always allows each of its known parts in any combination, or just this line.

    Without a `site` it is not known what it does: there is no folder.
    """
    judged = Unknown(NOT_KNOWN) if site is None else judge(command, site)
    each = Unknown(NOT_KNOWN) if site is None else parts_of(command, site)
    files = ""
    if isinstance(judged, Unknown):
        parts, harmless = exact_pattern(command), False
        files = "" if site is None else digest_of_files_named(command, site.folder, site.workspaces)
    else:
        parts, harmless = named_patterns(judged), all(part.effect != "runs" for part in judged)
    return PermissionNeed(
        "command",
        " and ".join(map(shown_pattern, parts)),
        _question(command),
        parts,
        harmless,
        files=files,
        line=command,
        names=files_named(command, () if isinstance(each, Unknown) else each, site),
        judged=() if isinstance(each, Unknown) else each,
        unfollowed=each.reason if isinstance(each, Unknown) else "",
        folder="" if site is None else str(site.folder),
        sandboxed=site is not None and site.caged,
    )


def with_extras(need: PermissionNeed, command: str, extras: Extras) -> PermissionNeed:
    """What the command needs with these hosts and files. A command that is known to only read counts as itself alone once it may connect.
    One that may change files that steer tools is asked about each time."""
    if not extras.asked:
        return need
    need = replace(need, harmless=False, hosts=tuple(map(str, extras.hosts)), description=extras.asked_beside(need.description))
    if extras.files:
        return replace(need, pattern="", parts=(), steers=True)
    if any(part.startswith(HARMLESS) for part in need.parts):
        parts = exact_pattern(command)
        return replace(need, pattern=" and ".join(map(shown_pattern, parts)), parts=parts)
    return need


def _question(command: str) -> str:
    """The question to the user. The card shows the whole command; the question leaves it out if it does not fit into a sentence, or could
    end its quotation."""
    if len(command) <= ASKED_CHARACTERS and not set("`\n") & set(command):
        return f"Run `{command}`"
    lines = command.count("\n") + 1
    return f"Run this command ({f'{lines:,} lines, ' if lines > 1 else ''}{len(command):,} characters)"


@dataclass(frozen=True, slots=True)
class Extras:
    """The hosts and files for which one call asks beyond the sandbox."""

    hosts: tuple[Host, ...] = ()
    files: tuple[Path, ...] = ()
    shown_files: tuple[str, ...] = ()
    """The files, by their paths in the workspace folder."""

    @property
    def asked(self) -> bool:
        """Whether any host or file is asked for."""
        return bool(self.hosts or self.files)

    def asked_beside(self, description: str) -> str:
        """The description of a call, and behind it what else it asks for, in words for the user."""
        if self.hosts:
            description = f"{description}, with access to {', '.join(host.asked for host in self.hosts)}"
        if self.shown_files:
            files = ", ".join(f"`{file}`" for file in self.shown_files)
            description = f"{description}, and let it change {files} (files that can run programs or control tools later)"
        return description

    def may_steer(self, path: Path) -> bool:
        """Whether a file that steers tools may be made or changed by this call."""
        return any(path.is_relative_to(file) or file.is_relative_to(path) for file in self.files)


def extras_of(input: Mapping[str, Json], folder: Path | None) -> Extras:
    """The hosts and files in a checked input of a tool; files are relative to `folder`. Raises `BadToolInput`."""
    names, files = _strings(input, "network", MOST_HOSTS), _strings(input, "steering_files", MOST_FILES)
    try:
        hosts = tuple(dict.fromkeys(map(parse_host, names)))
    except BadHost as error:
        raise BadToolInput(str(error)) from error
    paths: dict[Path, None] = {}
    for file in files:
        if folder is None or ".." in Path(file).parts or not (folder / file).is_relative_to(folder) or folder / file == folder:
            raise BadToolInput(f"`steering_files`: `{file}` is no file of the workspace folder")
        paths[folder / file] = None
    shown = [path.relative_to(folder).as_posix() for path in paths] if folder is not None else []
    return Extras(hosts, tuple(paths), tuple(shown))


def _strings(input: Mapping[str, Json], name: str, most: int) -> list[str]:
    found = input.get(name)
    strings = [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
    if len(strings) > most:
        raise BadToolInput(f"`{name}` has more than {most} entries")
    return strings


def digest_of_files_named(line: str, folder: Path, workspaces: Sequence[Path], its_folder: Sequence[str] = ("PWD",)) -> str:
    """A digest of the files that a line names: the same as long as the files are the same; empty if the line names none.

    `its_folder` are the variables that stand for `folder`. For another thread.
    """
    digest = hashlib.sha256()
    left = MOST_BYTES
    found = False
    for path in _files(_without_variables(line, its_folder), folder, workspaces):
        found = True
        content, left = _content(path, left)
        named = path.relative_to(folder) if path.is_relative_to(folder) else path
        digest.update(f"{named}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
    return digest.hexdigest()[:24] if found else ""


def digest_for_rule(pattern: str, folder: Path, workspaces: Sequence[Path]) -> str:
    """The digest of the files that the pattern of a rule names; empty for a known command, which is judged by its words each time, so that
    its files do not matter."""
    line = pattern.removeprefix(EXACTLY)
    if pattern.startswith((HARMLESS, RUNS)) or is_known(line):
        return ""
    return digest_of_files_named(line, folder, workspaces)


def _without_variables(line: str, its_folder: Sequence[str]) -> str:
    """The line with the values of the variables for its folder and for the home folder."""
    names = "|".join(map(re.escape, its_folder))
    line = re.sub(rf"\$\{{(?:{names})\b[^{{}}]*\}}|\$(?:env:)?(?:{names})\b|%(?:{names})%", ".", line)
    home = str(Path.home()).replace("\\", "/")
    return re.sub(r"\$\{HOME\}|\$HOME\b|(?<![^\s'\"=:])~(?=/)", lambda _: home, line)


def _files(line: str, folder: Path, workspaces: Sequence[Path]) -> Iterator[Path]:
    words = [word for word in dict.fromkeys(_words(line)) if word and trap_in(word, workspaces, HERE) is None][:MOST_WORDS]
    folders = [folder, *(folder / word for word in words if _is_folder(folder / word))][:MOST_FOLDERS]  # `cd sub && sh s.sh`
    seen: set[Path] = set()
    for base in folders:
        for word in words:
            path = _file(base / word, workspaces)
            if path is not None and path not in seen:
                seen.add(path)
                yield path


def _words(line: str) -> Iterator[str]:
    """All that could be a path in a line, however it is quoted: `"scripts"/a.sh`, `'a script.sh'`."""
    for text in (line.replace("\\", ""), line.replace("\\", "/")):  # as a Unix shell reads it, and as Windows does
        yield from _SEPARATORS.split(text)
        yield from _SEPARATORS.split(re.sub(r"['\"]", "", text))
    shell = shlex.shlex(line, posix=True, punctuation_chars=True)
    shell.whitespace_split, shell.commenters = True, ""
    with suppress(ValueError):  # a quotation has no end
        for word in shell:
            yield word
            yield word.rpartition("=")[2]  # `--config=FILE`


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _file(path: Path, workspaces: Sequence[Path]) -> Path | None:
    try:
        resolved = path.resolve()
        inside = any(resolved.is_relative_to(root) for root in workspaces)
        return resolved if inside and resolved.is_file() else None
    except (OSError, RuntimeError, ValueError):
        return None


def _content(path: Path, left: int) -> tuple[bytes, int]:
    """The content of a file, or what stands for it if it is too long or cannot be read, and how many bytes may still be read."""
    try:
        with open_regular(path) as file:
            content = file.read(left + 1)
        if len(content) <= left:
            return content, left - len(content)
        status = path.stat()
    except OSError:
        return b"not readable", left
    return f"{status.st_ino} {status.st_ctime_ns} {status.st_size}".encode(), 0  # a program can set st_mtime as it likes
