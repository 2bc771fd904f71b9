"""Tool calls as the log has them: each result beside the call that it answers, and what both say of themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ullage.context.blocks import Json, ToolUse
from ullage.context.entries import AssistantReply, Logged, ToolReturned
from ullage.context.record.shell import hides_its_end, only_looks, plain, tells_of_failure

COMMAND_CHARACTERS = 90

PATH_KEYS = ("path", "file_path", "notebook_path")
"""How tools call the file that they are about: Ullage's and most others'; Claude Code's; Claude Code's for notebooks."""
COMMAND_KEYS = ("command", "cmd")
"""How tools call what they run: Ullage's and most others'; Codex's."""


@dataclass(frozen=True)
class Call:
    """A call that has its result. `seq` is the result's entry. What is worked out is kept, since calls are asked again and again."""

    seq: int
    input: Mapping[str, Json]
    returned: ToolReturned

    @cached_property
    def command(self) -> str | None:
        """The command that the call ran; None where it ran none."""
        for key in COMMAND_KEYS:
            command = self.input.get(key)
            if isinstance(command, str) and command.strip():
                return command.strip()
        return None

    @cached_property
    def plain(self) -> str | None:
        """The command without what only says where it ran and how much of its output was wanted; None where there is none."""
        return None if self.command is None else plain(self.command)

    @cached_property
    def only_looks(self) -> bool:
        """Whether it ran a command that changes and checks nothing."""
        return self.command is not None and only_looks(self.command)

    @cached_property
    def hides_its_end(self) -> bool:
        """Whether it ran a command of whose end the log does not tell (`make | tail`)."""
        return self.command is not None and hides_its_end(self.command)

    @property
    def is_of_a_file(self) -> bool:
        """Whether it names one file that it is about."""
        return any(isinstance(self.input.get(key), str) for key in PATH_KEYS)

    @cached_property
    def source(self) -> str:
        """What was called, in a line: the command, shortened, or the tool with its path."""
        if self.plain is not None:
            return one_line(self.plain, COMMAND_CHARACTERS)
        path = next((path for key in PATH_KEYS if isinstance(path := self.input.get(key), str)), None)
        return self.returned.tool if path is None else f"{self.returned.tool} {path}"

    @cached_property
    def exit_code(self) -> int | None:
        """The exit code that the first or last line of the result names, where a command ran; None where none is named."""
        content = self.returned.content
        if self.command is None or ("exit" not in content and "Exit" not in content):
            return None
        content = content.strip()
        for line in (content[content.rfind("\n") + 1 :], content.partition("\n")[0]):
            found = EXIT_CODE.fullmatch(line.strip())
            if found:
                return int(found.group(1))
        return None

    @property
    def failed(self) -> bool:
        """Whether the call says of itself that it failed."""
        return self.returned.is_error or self.exit_code not in (None, 0)

    @cached_property
    def seems_failed(self) -> bool:
        """Whether it failed, or hides how it ended and printed at its end that it failed."""
        return self.failed or (self.hides_its_end and not self.only_looks and tells_of_failure(self.returned.content))

    def look_ahead(self) -> None:
        """Works out now what takes longest."""
        _ = self.plain, self.only_looks, self.exit_code, self.seems_failed


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


EXIT_CODE = re.compile(r"(?i)\(?(?:process |command )?exit(?:ed)?(?: with)?(?: (?:code|status))?[:= ]+(-?\d{1,3})\W*")


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


def one_line(text: str, characters: int) -> str:
    """`text` on one line, at most so long; an ellipsis stands for what was cut off."""
    start = " ".join(text[: characters * 4].split())
    if len(start) <= characters and len(text) <= characters * 4:
        return start
    return start[: characters - 1].rstrip() + "…"
