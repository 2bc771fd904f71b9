"""Names of files that Windows reads otherwise than they look, and paths that are too long for it.

Who names a file may be the model, a workspace or a page of the web. On Windows a name alone can do harm: `\\\\host\\share` makes the system
send the user's login to that host as soon as anybody looks whether the file is there, `\\\\.\\PhysicalDrive0` is a disk, `NUL` a device in
every folder, and `notes.txt:more` a hidden part of a file. On Linux and macOS all of these are plain names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath, PureWindowsPath

from ullage.platforms.system import System

LONGEST = 248
"""The characters from which on Windows wants a path written in another way: MAX_PATH (260) less the 12 that it keeps free in paths of
folders. "Maximum Path Length Limitation" in Microsoft's documentation."""

_DEVICE = re.compile(r"(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9¹²³])[ ]*(?:\..*)?", re.IGNORECASE | re.DOTALL)
"""A device by its name, with any ending. "Naming Files, Paths, and Namespaces" there."""


def trap_in(name: str, roots: Sequence[PurePath], system: System) -> str | None:
    """Why nobody may even look at the file that this path names; None if it may be resolved. `roots` are the workspace folders: one that
    is on a host of the network itself is no trap.

    It looks at the name alone and never at the disk.
    """
    if system is not System.WINDOWS:
        return None
    path = PureWindowsPath(name)
    if path.drive.startswith("\\\\"):
        return None if any(_drive_of(root) == path.drive.casefold() for root in roots) else "it is on another computer, or is a device"
    if path.drive and not path.root:
        return "it is relative to the folder that its drive is in just now"
    for part in path.parts[1 if path.anchor else 0 :]:
        if ":" in part:
            return "`:` in a name means a hidden part of a file"
        if _DEVICE.fullmatch(part):
            return f"`{part}` is the name of a device"
        if part != ".." and part.endswith((" ", ".")):
            return "Windows drops spaces and full stops at the end of a name"
    return None


def _drive_of(root: PurePath) -> str:
    return PureWindowsPath(str(root)).drive.casefold()


def openable(path: PurePath, system: System) -> str:
    """The absolute path as the functions of the system take it, however long it is."""
    text = str(path)
    if system is not System.WINDOWS or len(text) < LONGEST or text.startswith("\\\\?\\"):
        return text
    return f"\\\\?\\UNC\\{text[2:]}" if text.startswith("\\\\") else f"\\\\?\\{text}"
