"""A workspace on this machine with sessions in it, for the tests of the team's store."""

from __future__ import annotations

from pathlib import Path

from ullage.context.blocks import Text, ToolUse
from ullage.context.entries import AssistantReply, Entry, ToolReturned, TurnEnded, UserPrompt
from ullage.store.folder import prepare_for
from ullage.store.log_store import LogStore
from ullage.store.plain_files import MediaFiles, ResultFiles
from ullage.store.team.passing import Here
from ullage.store.versions import Versions


def turn(number: int, said: str = "Why does the parser hang?") -> list[Entry]:
    """The entries of a turn."""
    used = ToolUse(f"t{number}", "bash", {"command": "ls"})
    return [
        UserPrompt(f"p{number}", said),
        AssistantReply(f"r{number}a", (Text("I look."), used), "m", "tool_use", None),
        ToolReturned(used.id, "bash", "nothing", is_error=False, characters=7),
        AssistantReply(f"r{number}b", (Text("Done."),), "m", "end_turn", None),
        TurnEnded("end_turn"),
    ]


class Machine:
    """What one machine keeps of the workspace `folder`."""

    def __init__(self, folder: Path, location: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder, self.location = folder, location
        self.kept = prepare_for(folder, location, (folder,))
        self.log = LogStore.open(self.kept)
        self.media, self.results, self.versions = MediaFiles(self.kept), ResultFiles(self.kept), Versions.open(self.kept)
        self.here = Here(self.log.rows, self.results, self.media, self.versions, self.kept)

    def close(self) -> None:
        self.versions.close()
        self.log.close()
