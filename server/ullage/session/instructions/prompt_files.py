"""Prompts that a project keeps in files: commands that the user types as `/name`, and skills, which the agent takes up by itself, too.

A skill is a folder with a `SKILL.md` (agentskills.io). The agent knows its name and description from the start, and reads the rest where
the work fits. A command is one file. What the user types behind its name is put into its text. Neither runs anything by itself: lines that
other tools would run before (`!`git status``) reach the model as they stand, and it has to ask.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal

from ullage.context.entries import NO_FILE, Attachment
from ullage.context.quoting import in_a_line
from ullage.session.instructions.heads import Head, read_head
from ullage.session.instructions.rules_files import MOST_LOOKED_AT, files_below, read_instructions
from ullage.tools.rules.reading import ReadRules
from ullage.workspace.folders import OWN_FOLDER, Folders, HomeFolder, OutsideWorkspace
from ullage.workspace.text_file import FileTooLarge, NotText

SKILL_FILE = "SKILL.md"

SKILL_FOLDERS = (".agents/skills", ".claude/skills", ".github/skills")
"""Where projects keep skills: the first by the open format, the others as Claude Code and VS Code have them."""

SKILLS_AT_HOME = (f"{OWN_FOLDER}/skills", ".agents/skills", ".claude/skills", ".codex/skills", ".copilot/skills")
"""Where the user keeps skills of their own, in their home folder."""

COMMAND_FOLDERS = (
    (f"{OWN_FOLDER}/commands", ".md"),
    (".claude/commands", ".md"),
    (".cursor/commands", ".md"),
    (".github/prompts", ".prompt.md"),
)
"""Where projects keep commands, and how their files end."""

COMMANDS_AT_HOME = ((f"{OWN_FOLDER}/commands", ".md"), (".claude/commands", ".md"), (".cursor/commands", ".md"), (".codex/prompts", ".md"))

MOST_SKILLS = 100
"""Most skills that the agent knows of: each takes a line of every request."""

DESCRIPTION_CHARACTERS = 1_024
"""The open format allows no longer description."""

HINT_CHARACTERS = 100
"""Most characters of what can follow a name: it stands beside it in a menu."""

TEXT_CHARACTERS = 30_000
"""A longer command or skill is cut where it is called, and says so, as a file that is attached is."""

NAME = r"[a-z0-9](?:[\w:.-]{0,63})"
"""How a command can be named, in any case: without a slash, so that a path is none."""

_NAME = re.compile(NAME, re.IGNORECASE)
_SKILL_NAME = re.compile(r"(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*")
_CALLED = re.compile(rf"/({NAME})(?:\s+(.*))?", re.IGNORECASE | re.DOTALL)
_CALLS = "The user calls the"
"""How the text of a called command begins."""
_ARGUMENT = re.compile(r"\$(ARGUMENTS|[1-9])\b")

Kind = Literal["command", "skill"]


@dataclass(frozen=True, slots=True)
class PromptFile:
    """A command or a skill of the project."""

    kind: Kind
    name: str
    description: str
    """The description, in one line; empty if the file has none."""
    hint: str
    """What can follow the name, for the user; empty if nobody says."""
    shown: str
    """The path of its file, as the user and the model know it."""
    text: str
    """The text of the file, without its head."""
    trouble: str = ""
    """Why it does not count, in words for the user; empty if it does."""
    own: bool = False
    """Whether the user keeps it in their home folder."""
    folder: Path | None = None
    """The folder of a skill in the home folder, as it is named; None for others."""
    note: str = ""
    """What the open format wants otherwise, in words for the user; the skill counts all the same. Empty if that is nothing."""
    by_hand: bool = False
    """Whether the agent does not know of a skill until the user calls it."""


def prompt_files(folders: Folders, may_not_be_read: ReadRules) -> list[PromptFile]:
    """All commands and skills, the user's own first, then by folder and name. Of two of one name the first counts, and the second says
    so."""
    found: list[PromptFile] = []
    for files in _by_folder(folders, may_not_be_read, with_commands=True):
        for each in files:
            first = next((other for other in found if other.name == each.name and not other.trouble), None)
            found.append(each if first is None or each.trouble else _troubled(each, f"{first.shown} has the same name"))
    return found


def skills_for_the_agent(skills: Sequence[PromptFile]) -> str:
    """What the model is told of the skills before any message; empty if there are none."""
    return "\n".join((_SKILLS, *map(in_the_list, skills))) if skills else ""


def skills_in_force(folders: Folders, may_not_be_read: ReadRules) -> Sequence[PromptFile]:
    """The skills that the agent knows of, `MOST_SKILLS` at most."""
    found: dict[str, PromptFile] = {}
    for files in _by_folder(folders, may_not_be_read, with_commands=False):
        for each in files:
            if not each.trouble:
                found.setdefault(each.name, each)
    return [each for each in found.values() if not each.by_hand][:MOST_SKILLS]


def lent_for(skills: Sequence[PromptFile], home: Path) -> tuple[Path, ...]:
    """The folders in which skills of the user's own lie, as they are named and where they lead: the agent may read those."""
    found: dict[Path, None] = {}
    for folder in (each.folder for each in skills if each.folder is not None):
        for place in (folder, folder.resolve()):
            if place.parent != place and not home.is_relative_to(place):  # a link to all of a disk lends nothing
                found[place] = None
    return tuple(found)


def _by_folder(folders: Folders, may_not_be_read: ReadRules, *, with_commands: bool) -> Iterator[Iterator[PromptFile]]:
    """The skills, and the commands if these are wanted, of each folder, the user's home first."""
    home = () if folders.home is None else (folders.home,)
    for within in (*home, folders):
        own = isinstance(within, HomeFolder)
        for root in within.roots:
            yield _skills(root, within, may_not_be_read, SKILLS_AT_HOME if own else SKILL_FOLDERS)
            if with_commands:
                yield _commands(root, within, may_not_be_read, COMMANDS_AT_HOME if own else COMMAND_FOLDERS)


def in_the_list(skill: PromptFile) -> str:
    """The line by which the agent knows of a skill."""
    return f"- {skill.name} (`{in_a_line(skill.shown)}`): {skill.description}"


_SKILLS = (
    "Skills: instructions for certain kinds of work. Where your work fits a description, read that file before you "
    "begin. Paths in it start from its folder."
)


def called(text: str, files: Sequence[PromptFile]) -> Attachment | None:
    """What is attached to a prompt that calls a command or a skill by its name; None if it calls none."""
    match = _CALLED.fullmatch(text.strip())
    file = None if match is None else next((each for each in files if each.name == match[1].lower() and not each.trouble), None)
    if match is None or file is None:
        return None
    said = with_arguments(file.text[:TEXT_CHARACTERS], (match[2] or "").strip())
    if len(file.text) > TEXT_CHARACTERS or len(said) > TEXT_CHARACTERS:
        said = f"{said[:TEXT_CHARACTERS]}\n[cut: the file has {len(file.text):,} characters; read it for the rest]"
    whose = "their own" if file.own else "this project"
    what = f"{_CALLS} {file.kind} `/{file.name}` of {whose}. It stands in `{in_a_line(file.shown)}`"
    return Attachment(f"{NO_FILE}/{file.name}", f"{what}, and says:\n\n{said}")


BUILT_IN = frozenset(
    (
        *("compact", "preview", "undo", "redo", "timeline", "search", "context", "rules", "hooks", "model", "mode", "effort"),
        *("mcp", "running", "web", "rewind", "fork", "new", "clear", "help"),
    )
)
"""The names of Ullage's own commands (`slash_commands.py`), which go before those of a project."""


def is_built_in(name: str) -> bool:
    """Whether Ullage itself has a command of that name."""
    return name in BUILT_IN


def is_called(attachment: Attachment) -> bool:
    """Whether `called` made the attachment. When the prompt is sent again, it is made anew."""
    named = attachment.name.removeprefix(NO_FILE)
    return named != attachment.name and _CALLED.fullmatch(named) is not None and attachment.text.startswith(_CALLS)


def with_arguments(text: str, typed: str) -> str:
    """The text with what was typed in place of `$ARGUMENTS`, and its words in place of `$1` to `$9`. If the text has no such place, it
    stands at the end."""
    if _ARGUMENT.search(text) is None:
        return f"{text}\n\nArguments: {typed}" if typed else text
    places = {"ARGUMENTS": typed, **{str(number): word for number, word in enumerate(_words(typed), 1)}}
    said: list[str] = []
    length = 0
    for number, piece in enumerate(_ARGUMENT.split(text)):  # every second one is a place
        if length > TEXT_CHARACTERS:  # a few words of a file could make gigabytes of it
            break
        said.append(places.get(piece, "") if number % 2 else piece)
        length += len(said[-1])
    return "".join(said)


def _words(typed: str) -> list[str]:
    """What was typed, parted into words as a shell would; at blanks if a quote has no end."""
    try:
        return shlex.split(typed)
    except ValueError:
        return typed.split()


def _skills(root: Path, folders: Folders, may_not_be_read: ReadRules, places: Sequence[str]) -> Iterator[PromptFile]:
    own = isinstance(folders, HomeFolder)
    for place in places:
        for file in (*_skill_files(root / place), *(_linked_skills(root / place) if own else ())):
            shown = folders.show(file)
            text = text_of(file, folders, may_not_be_read)
            if isinstance(text, str):
                skill = _skill(file.parent.name, shown, read_head(text))
                yield replace(skill, own=True, folder=file.parent) if own else skill
            elif text.trouble:
                yield PromptFile("skill", file.parent.name, "", "", shown, "", text.trouble, own)


def _skill_files(folder: Path) -> Sequence[Path]:
    if folder.is_symlink():
        return ()
    return [file for file in files_below(folder, SKILL_FILE) if file.name == SKILL_FILE and file.parent != folder]


def _linked_skills(folder: Path) -> Sequence[Path]:
    """The skill files that a link in the user's own folder leads to, as programs that install skills make them."""
    try:
        with os.scandir(folder) as listing:
            names = sorted(each.name for each in islice(listing, MOST_LOOKED_AT) if folder.is_symlink() or each.is_symlink())
    except OSError:
        return ()
    return [folder / name / SKILL_FILE for name in names[:MOST_SKILLS]]


def _skill(folder: str, shown: str, head: Head) -> PromptFile:
    name = head.text("name").strip().lower()
    whole = plain(head.text("description"))
    description = whole[:DESCRIPTION_CHARACTERS]
    trouble = head.trouble
    if not trouble and not description:
        trouble = "its head has no description, by which the agent would know when to use it"
    if not trouble and _NAME.fullmatch(name or folder.lower()) is None:
        trouble = "its name has other characters than letters, digits and hyphens"
    return PromptFile(
        "skill",
        name or folder.lower(),
        description,
        plain(head.as_written("argument-hint"))[:HINT_CHARACTERS],
        shown,
        head.body.strip(),
        trouble,
        note="" if trouble else _against_the_format(head.text("name").strip(), folder, len(whole)),
        by_hand=head.flag("disable-model-invocation"),
    )


def _against_the_format(name: str, folder: str, length: int) -> str:
    """What a skill has otherwise than agentskills.io wants it, for the user; empty if that is nothing."""
    if not name:
        return "its head has no name, so that of its folder counts"
    if _SKILL_NAME.fullmatch(name) is None:
        return "the format wants lower case letters, digits and single hyphens in a name"
    if name != folder:
        return "the format wants it to have the name of its folder"
    return f"only the first {DESCRIPTION_CHARACTERS:,} characters of its description count" if length > DESCRIPTION_CHARACTERS else ""


def _commands(root: Path, folders: Folders, may_not_be_read: ReadRules, places: Sequence[tuple[str, str]]) -> Iterator[PromptFile]:
    own = isinstance(folders, HomeFolder)
    for place, ending in places:
        for file in files_below(root / place, ending):
            shown = folders.show(file)
            name = ":".join(file.relative_to(root / place).parts).removesuffix(ending).lower()
            text = text_of(file, folders, may_not_be_read)
            if isinstance(text, str):
                yield replace(_command(name, shown, read_head(text)), own=own)
            elif text.trouble:
                yield PromptFile("command", name, "", "", shown, "", text.trouble, own)


def _command(name: str, shown: str, head: Head) -> PromptFile:
    body = head.body.strip()
    first = next((line.lstrip("# ").strip() for line in body.splitlines() if line.strip("# \t")), "")
    description = plain(head.text("description") or first)[:DESCRIPTION_CHARACTERS]
    hint = plain(head.as_written("argument-hint"))[:HINT_CHARACTERS] or ("[arguments]" if _ARGUMENT.search(body) else "")
    trouble = head.trouble or ("" if body else "it is empty")
    if not trouble and _NAME.fullmatch(name) is None:
        trouble = "its name has other characters than letters, digits and hyphens"
    return PromptFile("command", name, description, hint, shown, body, trouble)


def plain(text: str) -> str:
    """The text in one line, without characters that cannot be seen: it stands in menus and lists."""
    return " ".join("".join(filter(str.isprintable, word)) for word in text.split())


def _troubled(file: PromptFile, trouble: str) -> PromptFile:
    return replace(file, text="", trouble=trouble)


@dataclass(frozen=True, slots=True)
class NotRead:
    """An instructions file that gives no text."""

    trouble: str
    """Why it gives none, in words for the user; empty if there is nothing to tell: there is no such file, or it lies elsewhere."""


def text_of(named: Path, folders: Folders, may_not_be_read: ReadRules) -> str | NotRead:
    """The text of an instructions file, or why there is none."""
    try:
        path = _resolved(named, folders)
        if path is None:
            return NotRead("")
        if may_not_be_read.refusing(path, str(named)) is not None:
            return NotRead("one of your rules refuses to have it read")
        return read_instructions(path)
    except (OutsideWorkspace, FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return NotRead("")
    except (OSError, NotText, FileTooLarge) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return NotRead(f"it cannot be read: {reason}")


def _resolved(named: Path, folders: Folders) -> Path | None:
    """The place of a file, its links resolved; None if a link leads it elsewhere. The agent cannot reach into `.ullage`, but commands and
    sub-agents may stand there. Raises `OutsideWorkspace`."""
    for root in folders.roots:
        for own in (root / OWN_FOLDER / name for name in ("commands", "agents")):
            if not isinstance(folders, HomeFolder) and named.is_relative_to(own):
                path = named.resolve()
                return path if path.is_relative_to(own) and not folders.is_private(path) else None
    return folders.resolve(str(named))
