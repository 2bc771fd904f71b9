"""Claude Code's transcripts: JSONL as it lies in `~/.claude/projects/`, one line for each block and event.

Sub-agents are in the same file (`isSidechain` lines, or the progress lines of older versions) or in one of their own.
What a line is made of and which branch is taken stands in `claude_lines.py`, how lines become entries in `claude_entries.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast, get_args

from ullage.replay.readers.claude_entries import Entries
from ullage.replay.readers.claude_lines import Line, LineKind, continued, line_of, queued_line
from ullage.replay.readers.flaws import ODD_MESSAGE, QUEUED, REPEATED, Tally, unknown
from ullage.replay.readers.values import JsonObject, as_object, as_text, printable
from ullage.replay.transcript import Transcript

_CHAIN_KINDS = frozenset[str](get_args(LineKind))
_OTHER_KINDS = frozenset(
    {
        "summary",
        "file-history-snapshot",
        "file-history-delta",
        "queue-operation",
        "pr-link",
        "custom-title",
        "ai-title",
        "agent-name",
        "agent-color",
        "agent-setting",
        "last-prompt",
        "mode",
        "permission-mode",
        "tag",
        "task-summary",
        "attribution-snapshot",
        "worktree-state",
        "bridge-session",
        "content-replacement",
        "speculation-accept",
    }
)
"""What the program notes for itself. A prompt that was queued and then sent has a line of its own as well."""

NOT_WRITTEN = "System prompt and tools are not in the transcripts of Claude Code: the first request is larger than its messages by them"


def is_line(value: JsonObject) -> bool:
    """Whether a line of a file shows that Claude Code wrote it."""
    kind = value.get("type")
    if kind in ("user", "assistant"):
        return isinstance(value.get("message"), dict) and ("uuid" in value or "sessionId" in value)
    if kind in ("system", "progress", "attachment"):
        return "uuid" in value and "sessionId" in value
    return isinstance(kind, str) and kind in _OTHER_KINDS and ("sessionId" in value or "leafUuid" in value or "messageId" in value)


def read(lines: Iterable[JsonObject], tally: Tally, name: str) -> tuple[Transcript, ...]:
    """The session and its side chains. `tally` has what is wrong with the lines so far; `name` is for one without an id."""
    file = _File(tally)
    for value in lines:
        file.take(value)
    file.settle_queue()
    session = printable(file.session) or name
    folder = next((line.folder for chain in (file.main, *file.sides.values()) for line in chain if line.folder), "")
    chains = [_transcript(session, folder, file.main, tally)] if file.main or not file.sides else []
    for agent, side in file.sides.items():
        # Where there is no main chain, what is wrong with the file is told with the first side chain.
        chains.append(_transcript(f"{session}/{printable(agent)}", folder, side, Tally() if chains else tally))
    return tuple(chains)


class _File:
    """The lines of a file, by the chain that they belong to."""

    def __init__(self, tally: Tally) -> None:
        self.main: list[Line] = []
        self.sides: dict[str, list[Line]] = {}
        self.session = ""
        self._tally = tally
        self._taken = 0
        self._turn = 0
        self._queue: list[str] = []
        self._queue_is_told_of = False
        """Whether prompts that left the queue for the running turn have lines of their own, as newer versions write them."""
        self._uuids: set[str] = set()
        self._agents: dict[str, str] = {}
        """Of each side chain's line, by its uuid, which agent's it is."""

    def take(self, value: JsonObject) -> None:
        kind = as_text(value.get("type"))
        if kind not in _CHAIN_KINDS:
            self._take_queue_operation(value)
            self._tally.count(unknown("lines", kind), int(kind not in _OTHER_KINDS))
            if not as_text(value.get("uuid")):
                return
            kind = "progress"  # nothing is known of what it says, but others may follow it
        line = self._line(value, cast("LineKind", kind))
        self._queue_is_told_of |= kind == "attachment" and line.message.get("type") == "queued_command"
        if kind in ("user", "assistant") and not line.content:
            self._tally.count(ODD_MESSAGE, int(not _is_empty_message(value)))
        if value.get("isSidechain") is True:
            self._take_side(line, self._agent_of(value, line))
            return
        self.session = line.session or self.session
        if self._is_new(line.uuid):
            self.main.append(line)
            self._take_progress(value)

    def settle_queue(self) -> None:
        """Leaves out the prompts that left the queue where they have lines of their own. To be done after the last line."""
        if self._queue_is_told_of:
            self.main = [line for line in self.main if not line.is_queued]
        self._tally.count(QUEUED, sum(line.is_queued for line in self.main))

    def _take_queue_operation(self, value: JsonObject) -> None:
        if value.get("type") != "queue-operation":
            return
        match as_text(value.get("operation")):
            case "enqueue":
                self._queue.append(as_text(value.get("content")))
            case "dequeue":
                del self._queue[:1]
            case "popAll":
                self._queue.clear()
            case "remove" if self._queue:
                before = next((line.uuid for line in reversed(self.main) if line.kind in ("user", "assistant")), "")
                self._taken += 1
                self.main.append(queued_line(self._queue.pop(0), value, before, f"line-{self._taken}"))
            case other:
                self._tally.count(unknown("queue operations", other), int(other != "remove"))

    def _take_progress(self, value: JsonObject) -> None:
        """The message of a sub-agent that a progress line of older versions carries."""
        data = as_object(value.get("data"))
        if value.get("type") != "progress" or data.get("type") != "agent_progress":
            return
        message = as_object(data.get("message"))
        kind = as_text(message.get("type"))
        if kind in ("user", "assistant"):
            self._take_side(self._line(message, cast("LineKind", kind)), as_text(data.get("agentId")) or "agent")
        else:
            self._tally.count(unknown("progress messages", kind))

    def _line(self, value: JsonObject, kind: LineKind) -> Line:
        self._taken += 1
        line = line_of(value, kind, f"line-{self._taken}", self._turn)
        self._turn += kind == "user" and not any(as_object(block).get("type") == "tool_result" for block in line.content)
        return line

    def _take_side(self, line: Line, agent: str) -> None:
        self.session = self.session or line.session
        if self._is_new(line.uuid):
            self._agents[line.uuid] = agent
            self.sides.setdefault(agent, []).append(line)

    def _agent_of(self, value: JsonObject, line: Line) -> str:
        return as_text(value.get("agentId")) or self._agents.get(line.parent) or line.uuid[:8]

    def _is_new(self, uuid: str) -> bool:
        if uuid in self._uuids:
            self._tally.count(REPEATED)
            return False
        self._uuids.add(uuid)
        return True


def _is_empty_message(value: JsonObject) -> bool:
    return as_object(value.get("message")).get("content") in ("", [])


def _transcript(session: str, folder: str, lines: list[Line], tally: Tally) -> Transcript:
    built = Entries(continued(lines, tally), tally)
    tally.note(NOT_WRITTEN if built.log.length else "Nothing is said in it")
    return Transcript(
        session_id=session,
        source="claude-code",
        entries=built.log.entries,
        compactions=tuple(built.compactions),
        repairs=tally.repairs,
        notes=tally.notes,
        estimated_outputs=frozenset(built.log.estimated_outputs),
        media_tokens=built.log.media_tokens,
        project=folder,
    )
