"""What a command asks for beyond the sandbox: hosts to reach, and files to change that steer tools. Asked for at each call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ullage.context.blocks import Json
from ullage.tools.sandbox.network.hosts import MOST_HOSTS, BadHost, Host, parse_host
from ullage.tools.tool import BadToolInput

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
"""Of the tool's input."""


@dataclass(frozen=True, slots=True)
class Extras:
    """What one call asks for."""

    hosts: tuple[Host, ...] = ()
    files: tuple[Path, ...] = ()
    asked: str = ""
    """In words for the user; empty where nothing is asked for."""

    def may_steer(self, path: Path) -> bool:
        """Whether a file that steers tools may be made or changed."""
        return any(path.is_relative_to(file) or file.is_relative_to(path) for file in self.files)


def extras_of(input: Mapping[str, Json], folder: Path | None) -> Extras:
    """Reads them from a checked input; files are relative to `folder`. Raises `BadToolInput`."""
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
    shown = [f"`{path.relative_to(folder).as_posix()}`" for path in paths] if folder is not None else []
    asked = [f"with access to {', '.join(host.asked for host in hosts)}"] if hosts else []
    asked += [f"and let it change {', '.join(shown)} (files that can run programs or control tools later)"] if shown else []
    return Extras(hosts, tuple(paths), ", ".join(asked))


def _strings(input: Mapping[str, Json], name: str, most: int) -> list[str]:
    found = input.get(name)
    strings = [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
    if len(strings) > most:
        raise BadToolInput(f"`{name}` has more than {most} entries")
    return strings
