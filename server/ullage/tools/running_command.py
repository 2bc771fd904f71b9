"""The `running_command` tool: reads, waits for and stops commands that were left running."""

from __future__ import annotations

from collections.abc import Mapping

from ullage.context.blocks import Json, ToolSpec
from ullage.context.running_commands import how_long
from ullage.tools.line_matching import BadLinePattern, LineMatcher, matcher
from ullage.tools.running import RunningCommands, until
from ullage.tools.started_command import New, StartedCommand, plain_text
from ullage.tools.tool import BadToolInput, PermissionNeed, ToolCall, ToolKind, ToolOutcome, check_input, description, integer, text

USUAL_SECONDS, MOST_SECONDS = 60, 600

MOST_CHARACTERS = 20_000
"""The most characters of one reading, the newest ones."""

FIRST_CHARACTERS = 2_000
"""How many characters are told from the beginning of a longer reading."""


class RunningCommandTool:
    """Reads, waits for and stops the commands of one session. Waits are in seconds."""

    kind: ToolKind = "other"

    def __init__(self, commands: RunningCommands) -> None:
        self._commands = commands
        self.spec = ToolSpec(
            "running_command",
            description("running_command"),
            {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "minLength": 1, "description": "`run1`"},
                    "action": {"type": "string", "enum": ["read", "wait", "stop"]},
                    "pattern": {"type": "string", "minLength": 1, "description": "Regular expression."},
                    "seconds": {"type": "integer", "minimum": 1, "description": f"{USUAL_SECONDS} if left out."},
                },
                "required": ["id", "action"],
            },
        )

    def title(self, input: Mapping[str, Json]) -> str:
        """The title of a call: `Wait for run1: npm run dev`."""
        id = text(input, "id")
        command = self._commands.get(id)
        line = "" if command is None else command.line[:100]
        match text(input, "action"):
            case "wait":
                return f"Wait for {id}: {line}" if line else f"Wait for {id}"
            case "stop":
                return f"Stop {id}: {line}" if line else f"Stop {id}"
            case _:
                return f"Read the output of {id}: {line}" if line else f"Read the output of {id}"

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """Always None: a command that was allowed to run may be read and ended."""
        return None

    async def run(self, call: ToolCall) -> ToolOutcome:
        """The new output of a command, and whether it still runs. Raises `BadToolInput`."""
        check_input(self.spec.input_schema, call.input)
        command = self._commands.get(text(call.input, "id"))
        if command is None:
            running = ", ".join(each.id for each in self._commands.now() if not each.ended)
            what = f"There run: {running}" if running else "Nothing runs in the background"
            return ToolOutcome(f"No command {text(call.input, 'id')!r} can be read (any more). {what}.", is_error=True)
        action, pattern = text(call.input, "action"), text(call.input, "pattern")
        if pattern and action != "wait":
            raise BadToolInput("`pattern` belongs to the action `wait`")
        if action == "stop":
            await self._commands.stop(command)
            return self._told(command, "")
        waited = ""
        if action == "wait":
            seconds = min(integer(call.input, "seconds", USUAL_SECONDS), MOST_SECONDS)
            try:
                waited = await self._wait(command, pattern, seconds)
            except BadLinePattern as error:
                raise BadToolInput(str(error)) from error
        return self._told(command, waited)

    async def _wait(self, command: StartedCommand, pattern: str, seconds: float) -> str:
        """Waits for a line or for the end; gives how the wait went in words, empty if that need not be said."""
        interrupted = self._commands.interrupted
        if pattern:
            async with matcher(pattern) as lines:
                found = await until(command, interrupted, seconds, _Looking(command, lines).finds)
        else:
            found = await until(command, interrupted, seconds, _Ended(command).has_ended)
        if found or command.outcome is not None:
            return "" if found or not pattern else "No line has that pattern."
        if interrupted.is_set():
            return "The wait was ended: the user has something to say."
        return f"{'No line has that pattern' if pattern else 'It has not ended'} after {seconds:g} seconds."

    def _told(self, command: StartedCommand, waited: str) -> ToolOutcome:
        new = command.read()
        parts = [_shortened(new) or "(nothing new)"]
        if waited:
            parts.append(f"({waited})")
        if command.outcome is None:
            parts.append(f"({command.id} runs, for {how_long(self._commands.seconds(command))}.)")
        else:
            parts += [f"({command.id} has ended: {command.how_it_ended}.)", *command.outcome.notes]
            self._commands.know(command)
        return ToolOutcome("\n".join(parts))


class _Ended:
    def __init__(self, command: StartedCommand) -> None:
        self._command = command

    async def has_ended(self) -> bool:
        """Whether the command has ended, by itself or not."""
        return self._command.outcome is not None


class _Looking:
    """Looks at each new line once, and at the last one again as long as it grows."""

    def __init__(self, command: StartedCommand, lines: LineMatcher) -> None:
        self._command = command
        self._lines = lines
        self._seen = 0

    async def finds(self) -> bool:
        """Whether a line that was not read has the pattern."""
        text, dropped = self._command.peek(), self._command.unread_dropped
        new = text[max(0, self._seen - dropped) :]
        if not new:
            return False
        self._seen = dropped + len(text) - len(new.rpartition("\n")[2])
        return await self._lines.finds(plain_text(new).split("\n"))


def _shortened(new: New) -> str:
    """The new output, at most `MOST_CHARACTERS` of it: the newest, and its beginning if that was kept. It says how much was left out."""
    whole = new.text.rstrip()
    if not new.dropped and len(whole) <= MOST_CHARACTERS:
        return whole
    if new.dropped:
        last = whole[-MOST_CHARACTERS:]
        return f"[{new.dropped + len(whole) - len(last):,} characters before this were left out]\n{last}"
    first, last = whole[:FIRST_CHARACTERS], whole[FIRST_CHARACTERS - MOST_CHARACTERS :]
    return f"{first}\n[{len(whole) - len(first) - len(last):,} characters were left out here]\n{last}"
