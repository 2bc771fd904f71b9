"""Tool calls as the log has them: each result beside the call that it answers. Nothing is judged here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ullage.context.blocks import Json, ToolUse
from ullage.context.entries import AssistantReply, Logged, ToolReturned


@dataclass(frozen=True, slots=True)
class Call:
    """A call that has its result. `seq` is the result's entry."""

    seq: int
    input: Mapping[str, Json]
    returned: ToolReturned


PATH_KEYS = ("path", "file_path", "notebook_path")
"""How tools call the file that they are about: Ullage's and most others', Claude Code's, Claude Code's for notebooks."""
COMMAND_KEYS = ("command", "cmd")
"""How tools call what they run: Ullage's and most others', Codex's."""


def strings_of(value: Json | Mapping[str, Json]) -> Iterator[str]:
    """Every string in a JSON value, keys aside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from strings_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings_of(inner)


def answered_calls(entries: Sequence[Logged]) -> list[Call]:
    """The calls with a result, in the order of the results. A result whose call is not among `entries` has no input."""
    uses: dict[str, ToolUse] = {}
    calls: list[Call] = []
    for logged in entries:
        entry = logged.entry
        if isinstance(entry, AssistantReply):
            uses.update((block.id, block) for block in entry.blocks if isinstance(block, ToolUse))
        elif isinstance(entry, ToolReturned):
            use = uses.get(entry.tool_use_id)
            calls.append(Call(logged.seq, use.input if use else {}, entry))
    return calls


def command_of(call: Call) -> str | None:
    """The command that the call ran; None where it ran none."""
    for key in COMMAND_KEYS:
        command = call.input.get(key)
        if isinstance(command, str) and command.strip():
            return command.strip()
    return None


EXIT_CODE = re.compile(r"(?i)\(?(?:process |command )?exit(?:ed)?(?: with)?(?: (?:code|status))?[:= ]+(-?\d{1,3})\W*")


def exit_code(call: Call) -> int | None:
    """The exit code that the first or last line of the result names, where a command ran; None where none is named."""
    content = call.returned.content
    if command_of(call) is None or ("exit" not in content and "Exit" not in content):
        return None
    lines = content.strip().splitlines()
    for line in (lines[-1], lines[0]) if lines else ():
        found = EXIT_CODE.fullmatch(line.strip())
        if found:
            return int(found.group(1))
    return None


def failed(call: Call) -> bool:
    """Whether the call says of itself that it failed."""
    return call.returned.is_error or exit_code(call) not in (None, 0)


def one_line(text: str, characters: int) -> str:
    """`text` on one line, at most so long; an ellipsis stands for what was cut off."""
    start = " ".join(text[: characters * 4].split())
    if len(start) <= characters and len(text) <= characters * 4:
        return start
    return start[: characters - 1].rstrip() + "…"


def path_in_a_line(path: str) -> str:
    """A path as it can stand in a line: a name may hold line ends, and must not begin a line of its own."""
    return " ".join(path.splitlines())
