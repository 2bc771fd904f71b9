"""What went wrong with a file, in words for the model."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path

from ullage.tools.media import NotShown
from ullage.tools.tool import ToolOutcome
from ullage.workspace.editor import EditorChanged
from ullage.workspace.files import ChangedMeanwhile, EditorRefused
from ullage.workspace.folders import Folders, OutsideWorkspace
from ullage.workspace.media_file import DamagedMedia
from ullage.workspace.text_file import NotEncodable, NotText, TooLarge
from ullage.workspace.without_links import LedElsewhere

FILE_ERRORS = (
    OSError,
    OutsideWorkspace,
    NotText,
    DamagedMedia,
    NotShown,
    TooLarge,
    NotEncodable,
    ChangedMeanwhile,
    EditorChanged,
    EditorRefused,
)
"""Everything that reading or writing a file can meet and the model can mend."""


NOT_FOUND = re.compile(r"`[^`\n]*` does not exist\b")
"""How the outcome begins that says that a file is not there."""


def file_failure(error: Exception, name: str, folders: Folders) -> ToolOutcome:
    """An outcome that says why `name` could not be used and what can be done instead."""
    return ToolOutcome(_message(error, name, folders), is_error=True)


def _message(error: Exception, name: str, folders: Folders) -> str:
    match error:
        case OutsideWorkspace():
            return str(error)
        case LedElsewhere():
            return f"`{name}` leads elsewhere than a moment ago: somebody put a link on its way. Nothing was read or written."
        case FileNotFoundError():
            return f"`{name}` does not exist{_similar(name, folders)}"
        case IsADirectoryError():
            return f"`{name}` is a folder. Use list_files to see what is in it."
        case NotADirectoryError():
            return f"`{name}` cannot be there: a part of its path is a file"
        case PermissionError():
            return f"`{name}` may not be accessed: {error.strerror or 'permission denied'}"
        case DamagedMedia():
            return f"`{name}` is {error}. Use bash to look into it."
        case NotShown():
            return f"`{name}`, {error}"
        case NotText():
            return f"`{name}` is {error}, not text. Use bash to look into it."
        case TooLarge():
            return f"`{name}` is too large ({error}). Use bash to find and read a part of it; search leaves such files out."
        case NotEncodable():
            return f"`{name}` was not changed: {error}"
        case ChangedMeanwhile() | EditorChanged():
            return f"`{name}` was changed by someone else in this very moment, so nothing was written. Read it again."
        case EditorRefused():
            return f"`{name}` has unsaved changes in the editor, and the editor did not take the edit. Ask the user to save it."
        case _:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            return f"`{name}` cannot be used: {reason}"


def _similar(name: str, folders: Folders) -> str:
    try:
        path = folders.resolve(name)
        siblings = {sibling.name: sibling for sibling in path.parent.iterdir()}
    except (OSError, OutsideWorkspace):
        return ""
    close = get_close_matches(Path(name).name, siblings, n=3, cutoff=0.6)
    if not close:
        return ""
    return f". Similar names there: {', '.join(f'`{folders.show(siblings[each])}`' for each in close)}"
