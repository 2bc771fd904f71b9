"""What a program knows of a session from its log alone: the facts that no summary may lose.

Each kind has its own file: `file_history.py`, `command_history.py`, `sentences.py`, `names.py`; here they come together.
How they are put into words is in `digest.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ullage.context.blocks import Json, Text, ToolUse
from ullage.context.entries import AssistantReply, Logged, ToolReturned, TurnEnded, UserPrompt
from ullage.context.record.calls import Call, answered_calls, one_line
from ullage.context.record.command_history import CommandFact, ErrorFact, command_history, error_history, source_of
from ullage.context.record.file_history import FileFact, file_history
from ullage.context.record.names import NameFact, names_in_use
from ullage.context.record.sentences import constraints_in, decisions_in

TEXTS_FOR_DECISIONS = 500
"""Of the assistant, the newest: of a decision that is older, the files and the model's own summaries speak."""
LAST_WORDS_CHARACTERS = 1_500
CALL_CHARACTERS = 200
REASON_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class Said:
    """Words with the entry that they stand in."""

    seq: int
    text: str


@dataclass(frozen=True, slots=True)
class Task:
    """One task of the agent's list, as it was last written."""

    content: str
    status: str
    """`pending`, `in_progress` or `completed`."""

    @property
    def is_open(self) -> bool:
        """Whether there is still something to do."""
        return self.status != "completed"


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that the digest is written from, each kind in the order in which it happened unless said otherwise."""

    asked: tuple[Said, ...]
    """What the user typed, verbatim; where something was attached, its name on a line of its own."""
    constraints: tuple[Said, ...]
    """Sentences of the user; the same sentence only once, where it was said last. What they refused, and with which words."""
    decisions: tuple[Said, ...]
    files: tuple[FileFact, ...]
    """Changed ones first, then the last touched first."""
    commands: tuple[CommandFact, ...]
    errors: tuple[ErrorFact, ...]
    tasks: tuple[Task, ...]
    names: tuple[NameFact, ...]
    """The ones most likely to be needed first."""
    last_words: Said | None
    """The end of the assistant's last text."""
    last_call: Said | None
    """The last tool call, in a line."""
    cut_at_work: bool
    """Whether a turn was running where the entries end."""


def facts(entries: Sequence[Logged]) -> Facts:
    """Reads the facts out of `entries`, which should begin with the session's first."""
    calls = answered_calls(entries)
    asked = tuple(Said(logged.seq, _typed(logged.entry)) for logged in entries if isinstance(logged.entry, UserPrompt))
    return Facts(
        asked=asked,
        constraints=_once(_constraints(asked, calls)),
        decisions=_once(
            [Said(said.seq, sentence) for said in _told(entries)[-TEXTS_FOR_DECISIONS:] for sentence in decisions_in(said.text)]
        ),
        files=file_history(calls),
        commands=command_history(calls),
        errors=error_history(calls),
        tasks=_tasks(entries),
        names=names_in_use(entries),
        last_words=_last_words(entries),
        last_call=_last_call(calls),
        cut_at_work=_cut_at_work(entries),
    )


def _constraints(asked: Sequence[Said], calls: Sequence[Call]) -> list[Said]:
    wished = [Said(said.seq, sentence) for said in asked for sentence in constraints_in(said.text)]
    refused = [Said(call.seq, _refusal(call, call.returned.refusal)) for call in calls if call.returned.refusal is not None]
    return sorted((*wished, *refused), key=lambda said: said.seq)


def _refusal(call: Call, reason: str) -> str:
    what = f"Refused: `{one_line(source_of(call), 80)}`"
    return f"{what}, saying: {one_line(reason, REASON_CHARACTERS)}" if reason.strip() else what


def _typed(prompt: UserPrompt) -> str:
    if not prompt.attachments:
        return prompt.text
    return f"{prompt.text}\n(attached: {', '.join(attachment.name for attachment in prompt.attachments)})"


def _told(entries: Sequence[Logged]) -> list[Said]:
    return [
        Said(logged.seq, block.text)
        for logged in entries
        if isinstance(logged.entry, AssistantReply)
        for block in logged.entry.blocks
        if isinstance(block, Text)
    ]


def _once(sayings: Sequence[Said]) -> tuple[Said, ...]:
    newest: dict[str, Said] = {}
    for said in sayings:
        key = said.text.casefold()
        newest.pop(key, None)
        newest[key] = said
    return tuple(newest.values())


def _tasks(entries: Sequence[Logged]) -> tuple[Task, ...]:
    """From the input of the last `todo` call."""
    for logged in reversed(entries):
        if not isinstance(logged.entry, AssistantReply):
            continue
        for block in reversed(logged.entry.blocks):
            if isinstance(block, ToolUse) and block.name == "todo":
                return tuple(_read_tasks(block.input))
    return ()


def _read_tasks(input: Mapping[str, Json]) -> list[Task]:
    todos = input.get("todos")
    tasks: list[Task] = []
    for todo in todos if isinstance(todos, list) else []:
        content = todo.get("content") if isinstance(todo, dict) else None
        status = todo.get("status") if isinstance(todo, dict) else None
        if isinstance(content, str) and content.strip():
            tasks.append(Task(" ".join(content.split()), status if isinstance(status, str) else "pending"))
    return tasks


def _last_words(entries: Sequence[Logged]) -> Said | None:
    for logged in reversed(entries):
        if not isinstance(logged.entry, AssistantReply):
            continue
        for block in reversed(logged.entry.blocks):
            if isinstance(block, Text) and block.text.strip():
                return Said(logged.seq, block.text.strip()[-LAST_WORDS_CHARACTERS:])
    return None


def _last_call(calls: Sequence[Call]) -> Said | None:
    if not calls:
        return None
    call = calls[-1]
    wanted = ", ".join(f"{key}: {one_line(str(value), 80)}" for key, value in list(call.input.items())[:3])
    outcome = "was refused by the user" if call.returned.refusal is not None else "failed" if call.returned.is_error else "answered"
    return Said(call.seq, one_line(f"{call.returned.tool}({wanted}) {outcome}", CALL_CHARACTERS))


def _cut_at_work(entries: Sequence[Logged]) -> bool:
    for logged in reversed(entries):
        if isinstance(logged.entry, TurnEnded):
            return False
        if isinstance(logged.entry, UserPrompt | AssistantReply | ToolReturned):
            return True
    return False
