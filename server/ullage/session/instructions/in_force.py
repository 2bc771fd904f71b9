"""Which rules the agent was told of: the workspace's own from the start, others once it touches a file that they are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import FileTouch, Logged, ToolReturned
from ullage.context.quoting import in_a_line
from ullage.session.instructions.rules_files import Always, ByHand, ForFiles, OnRequest, RulesFile, folders_of, rules_at_home, rules_in
from ullage.tools.rules.reading import ReadRules, ReadRulesNow
from ullage.workspace.folders import Folders

ALL_CHARACTERS = 120_000
"""Most characters of all rules that are in force from the start, about 30,000 tokens. What is beyond is named, so that the agent can read
it."""

LATE_CHARACTERS = 60_000
"""Most characters of all rules that come into force later, about 15,000 tokens: they stand among the messages, and come again after each
compaction."""

MOST_NAMED = 30
"""Most files that are named where there is no room for what they say."""

_LATER = "More rules of this workspace, each for some kind of work. Read the file before you begin such work:"
_LEFT_OUT = "There is no room here for these rules of the workspace. Read them where they may matter: {}"


def rules_from_the_start(folders: Folders, may_not_be_read: ReadRules) -> list[tuple[str, str]]:
    """What the model is told of the rules of the workspace folders and the user's own before any message, each text with the name of its
    file. A text from no file has an empty name."""
    own = rules_at_home(folders, may_not_be_read)
    files = [*own, *(file for root in folders.roots for file in rules_in(root, folders, may_not_be_read))]
    fitting, left_out = _in_room((file for file in files if isinstance(file.when, Always)), ALL_CHARACTERS)
    told = [(file.shown, file.told) for file in fitting]
    later = [in_the_list(file) for file in files if isinstance(file.when, OnRequest) and file.text]
    if later:
        told.append(("", "\n".join((_LATER, *later))))
    if left_out:
        told.append(("", left_out))
    return told


def _in_room(files: Iterable[RulesFile], room: int) -> tuple[list[RulesFile], str]:
    """The files that can be told in that many characters, and a sentence that names the others; empty if there are none."""
    fitting: list[RulesFile] = []
    others: list[str] = []
    for file in files:
        if file.text and len(file.told) <= room:
            fitting.append(file)
            room -= len(file.told)
        elif file.text:
            others.append(f"`{in_a_line(file.shown)}`")
    more = f" and {len(others) - MOST_NAMED:,} more" if len(others) > MOST_NAMED else ""
    return fitting, _LEFT_OUT.format(", ".join(others[:MOST_NAMED]) + more) if others else ""


def in_the_list(file: RulesFile) -> str:
    """The line by which the agent knows of rules that it may read."""
    about = file.when.description if isinstance(file.when, OnRequest) else ""
    return f"- `{in_a_line(file.shown)}`: {about}"


@dataclass(frozen=True, slots=True)
class ListedRules:
    """One rules file, for the user."""

    shown: str
    tokens: int
    """An estimate of what it takes of every request; 0 while it takes nothing."""
    state: str
    """Whether it is in force, and why, in words for the user."""
    trouble: str
    """What is wrong with it, in words for the user; empty if nothing is."""
    source: str
    """The file that imports it; empty if it stands where such files stand."""


class RulesInForce:
    """The rules of one session, and which of them the model was told of."""

    def __init__(self, folders: Folders, read_rules: ReadRulesNow, entries: Sequence[Logged] = ()) -> None:
        """`entries` is the log of a session that goes on: what its files brought into force is so still."""
        self._folders = folders
        self._read_rules = read_rules
        self._at_home = None if folders.home is None else folders.home.path
        at_home = () if self._at_home is None else (self._at_home,)
        self._known: dict[Path, dict[Path, RulesFile]] = {root: self._read(root) for root in (*at_home, *folders.roots)}
        """The rules files of each folder, by path: of the user's home, of the workspace folders, and of those below with a file that was
        touched."""
        self._met: set[Path] = set()
        """The rules files with patterns that a touched file fits."""
        self._told_late: dict[Path, int] = {}
        """How many characters the model was told of each file since the beginning or the last compaction."""
        self._in_force_with(
            {touch.path: None for logged in entries if isinstance(logged.entry, ToolReturned) for touch in logged.entry.touched}
        )

    def met(self, touches: Iterable[FileTouch]) -> str:
        """The rules that come into force with these touches, as text for the model; empty if there are none."""
        return self._tell(self._in_force_with(touch.path for touch in touches))

    def _in_force_with(self, names: Iterable[str]) -> list[RulesFile]:
        """The rules that come into force with these files, which may say nothing."""
        found: list[RulesFile] = []
        for name in names:
            path = self._absolute(name)
            if path is None:
                continue
            for folder in self._below_roots(path):
                if folder not in self._known:
                    self._known[folder] = self._read(folder)
                    found += [file for file in self._known[folder].values() if isinstance(file.when, Always)]
            for file in self._fitting(path):
                self._met.add(file.path)
                found.append(file)
        return found

    def changed(self, names: Iterable[str]) -> tuple[str, ...]:
        """What the model is told when files were changed that may be rules files: a text for each folder with news. It counts as told."""
        now = {folder: self._read(folder) for folder in self._folders_with(names)}
        told = self._told_of(now)
        self._known.update(now)
        return told

    def changing(self, names: Iterable[str]) -> tuple[str, ...]:
        """What `changed` would give now. It does not count as told."""
        return self._told_of({folder: self._read(folder) for folder in self._folders_with(names)})

    def nested(self) -> str:
        """All rules in force that do not stand before the messages, as they are now, as text for the model: those of folders below, and
        those for files that were touched. They count as told."""
        for folder in self._known:
            self._known[folder] = self._read(folder)
        self._told_late.clear()
        return self._tell(file for file in self._all() if self._holds(file) and not self._is_from_the_start(file))

    def _tell(self, files: Iterable[RulesFile]) -> str:
        """What the model is told of rules that come into force now, as far as there is room for it. It counts as told."""
        fitting, left_out = _in_room(files, LATE_CHARACTERS - sum(self._told_late.values()))
        self._told_late.update((file.path, len(file.told)) for file in fitting)
        return "\n\n".join(text for text in (*(file.told for file in fitting), left_out) if text)

    def listed(self) -> Sequence[ListedRules]:
        """The rules files that there are now, for the user: what each takes, and whether it is in force."""
        now = (file for folder in self._known for file in self._read(folder).values())
        return [ListedRules(file.shown, self._takes(file), self._state(file), file.trouble, file.source) for file in now]

    def _takes(self, file: RulesFile) -> int:
        if file.text and isinstance(file.when, OnRequest):
            return estimate_text(in_the_list(file))
        return estimate_text(file.told) if file.text and self._holds(file) else 0

    def _state(self, file: RulesFile) -> str:
        if not file.text:
            return "not in force"
        match file.when:
            case Always():
                return "in force"
            case ForFiles(patterns):
                which = ", ".join(patterns)
                return f"in force for {which}" if file.path in self._met else f"in force once the agent touches a file that fits {which}"
            case OnRequest(description):
                return f"the agent reads it where it fits: {description}"
            case ByHand():
                return "not in force: name it with @ to use it"

    def _all(self) -> list[RulesFile]:
        return [file for files in self._known.values() for file in files.values()]

    def _holds(self, file: RulesFile) -> bool:
        return isinstance(file.when, Always) or file.path in self._met

    def _is_from_the_start(self, file: RulesFile) -> bool:
        return isinstance(file.when, Always) and file.base in self._folders.roots

    def _fitting(self, path: Path) -> list[RulesFile]:
        """The rules files for certain files, not in force yet, whose patterns a touched file fits."""
        return [
            file
            for file in self._all()
            if isinstance(file.when, ForFiles)
            and file.path not in self._met
            and path.is_relative_to(file.base)
            and file.when.fits(path.relative_to(file.base).as_posix())
        ]

    def _folders_with(self, names: Iterable[str]) -> list[Path]:
        """The known folders whose rules the changed files may be part of."""
        found: dict[Path, None] = {}
        for path in filter(None, map(self._absolute, names)):
            homes = folders_of(path)
            found.update((folder, None) for folder, files in self._known.items() if folder in homes or path in files)
        return list(found)

    def _told_of(self, now: Mapping[Path, dict[Path, RulesFile]]) -> tuple[str, ...]:
        return tuple(text for folder, files in now.items() if (text := self._news(self._known[folder], files)))

    def _news(self, before: Mapping[Path, RulesFile], now: Mapping[Path, RulesFile]) -> str:
        """What became of a folder's rules in force, as text for the model; empty if nothing did."""
        changed = (
            file
            for path, file in now.items()
            if self._holds(file) and (path not in before or before[path].text != file.text or before[path].when != file.when)
        )
        fitting, left_out = _in_room(changed, LATE_CHARACTERS)
        told = [f"The rules changed. From now on:\n\n{file.told}" for file in fitting]
        told += [left_out] if left_out else []
        told += [
            f"The rules of {in_a_line(file.shown)} no longer hold: they were removed."
            for path, file in before.items()
            if file.text and self._holds(file) and (path not in now or not now[path].text)
        ]
        return "\n\n".join(told)

    def _below_roots(self, path: Path) -> list[Path]:
        """The folders above a file, below its workspace folder, outermost first."""
        roots = self._folders.roots
        return [up for up in reversed(path.parents) if any(up != root and up.is_relative_to(root) for root in roots)]

    def _absolute(self, name: str) -> Path | None:
        return self._folders.first / name if self._folders.first is not None else None

    def _read(self, folder: Path) -> dict[Path, RulesFile]:
        rules = self._read_rules()
        found = rules_at_home(self._folders, rules) if folder == self._at_home else rules_in(folder, self._folders, rules)
        return {file.path: file for file in found}
