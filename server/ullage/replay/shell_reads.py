"""Which files a shell command of a recorded session prints, by the names that facts go by. The commands: `context/shell_reads.py`."""

from __future__ import annotations

from collections.abc import Mapping

from ullage.context.blocks import Json
from ullage.context.shell_reads import printing_arguments
from ullage.replay.fact_patterns import paths_in


def files_printed(input: Mapping[str, Json]) -> list[str]:
    """The last two components of each file that the command in a call's input prints; none where it runs no command."""
    return sorted({path for arguments in printing_arguments(input) for path in paths_in(arguments)})
