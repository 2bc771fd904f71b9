"""Files of the workspace as a client or a tool call names them."""

from __future__ import annotations

from ullage.session.errors import SessionError
from ullage.workspace.folders import Folders, OutsideWorkspace


class NamedFiles:
    """By an absolute path, or one relative to any workspace folder."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders

    def file_of(self, named: str) -> str:
        """A file that is there, as tools show it. Raises `SessionError`."""
        for root in self._folders.roots:
            found = self.path_of(str(root / named))
            if (self._folders.roots[0] / found).is_file():
                return found
        raise SessionError("invalid", f"There is no file {named} in the workspace")

    def path_of(self, named: str) -> str:
        """The same of one that need not be there. Raises `SessionError`."""
        if not named.strip():
            raise SessionError("invalid", "No file is named")
        try:
            return self._folders.show(self._folders.resolve(named))
        except OutsideWorkspace as error:
            raise SessionError("invalid", str(error)) from error

    def as_shown(self, named: str) -> str:
        """A file of a call as tools show it; as it is named where it could be none of the workspace."""
        try:
            return self.path_of(named)
        except (SessionError, OSError, ValueError):
            return named
