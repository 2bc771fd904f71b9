"""What a program knows of a session from its log alone: the facts that no summary may lose.

Each kind has its own file: `file_history.py`, `command_history.py`, `sentences.py`, `names.py`; here they come together.
How they are put into words is in `digest.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ullage.context.blocks import Json, Text, ToolUse
from ullage.context.calls import Call, one_line
from ullage.context.counting.media import in_words
from ullage.context.entries import AssistantReply, Attachment, Logged, ToolReturned, TurnEnded, UserPrompt
from ullage.context.quoting import in_a_line
from ullage.context.summary.command_history import CommandFact, ErrorFact, command_history, error_history
from ullage.context.summary.file_history import FileFact, file_history
from ullage.context.summary.names import RECENT_ENTRIES, NamesInUse, names_in_use
from ullage.context.summary.reading import TASK_LIST, ReadEntry, Reading

REPLIES_FOR_DECISIONS = 150
"""The newest: of a decision that is older, the files and the model's own summaries speak."""
CALLS_FOR_ERRORS = 1_000
"""The newest: an error that was not met again since has gone, or `recall` finds it."""
LAST_WORDS_CHARACTERS = 700
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
    names: NamesInUse
    last_words: Said | None
    """The end of the assistant's last text."""
    last_call: Said | None
    """The last tool call, in a line."""
    cut_at_work: bool
    """Whether a turn was running where the entries end."""
    compactions: tuple[Logged, ...]
    """Compactions, and what was undone and redone."""


def facts(entries: Sequence[Logged], reading: Reading | None = None) -> Facts:
    """Reads the facts out of `entries`, which should begin with the session's first.

    `reading` is what was read of the same log before: it saves time and changes nothing.
    """
    reading = reading or Reading()
    read = reading.of(entries)
    kinds = reading.kinds(entries)
    calls = [call for entry in kinds.results if (call := entry.call) is not None]
    return Facts(
        asked=tuple(Said(each.seq, _typed(each.logged.entry)) for each in kinds.prompts if isinstance(each.logged.entry, UserPrompt)),
        constraints=_once(_constraints(kinds.told)),
        decisions=_once(_decisions(kinds.replies)),
        files=file_history(calls),
        commands=command_history(calls),
        errors=error_history(calls[-CALLS_FOR_ERRORS:]),
        tasks=_tasks(kinds.task_lists),
        names=names_in_use(read),
        last_words=_last_words(entries),
        last_call=_last_call(calls),
        cut_at_work=_cut_at_work(entries),
        compactions=tuple(each.logged for each in kinds.compactions),
    )


def read_ahead(entries: Sequence[Logged], reading: Reading) -> int:
    """Reads now what the digest of `entries` and of some more will ask of them, so that it need not wait for that.

    Costs what was not read ahead yet; gives how many entries these were.
    """
    new = reading.ahead(entries)
    for entry in new:
        _ = entry.constraints
        if entry.call is not None:
            entry.call.look_ahead()
    for entry in new[-RECENT_ENTRIES:]:
        _ = entry.mentions, entry.decisions
    return len(new)


def _constraints(told: Sequence[ReadEntry]) -> Iterator[Said]:
    for entry in told:
        if isinstance(entry.logged.entry, UserPrompt):
            yield from (Said(entry.seq, sentence) for sentence in entry.constraints)
        elif entry.call is not None and entry.call.returned.refusal is not None:
            yield Said(entry.seq, _refusal(entry.call, entry.call.returned.refusal))


def _decisions(replies: Sequence[ReadEntry]) -> Iterator[Said]:
    for entry in replies[-REPLIES_FOR_DECISIONS:]:
        yield from (Said(entry.seq, sentence) for sentence in entry.decisions)


def _refusal(call: Call, reason: str) -> str:
    what = f"Refused: `{one_line(call.source, 80)}`"
    return f"{what}, saying: {one_line(reason, REASON_CHARACTERS)}" if reason.strip() else what


def _typed(prompt: UserPrompt) -> str:
    if not prompt.attachments:
        return prompt.text
    names = (_attached(each) for each in prompt.attachments)
    return f"{prompt.text}\n(attached: {', '.join(names)})"


def _attached(attachment: Attachment) -> str:
    name = in_a_line(attachment.name)
    return name if attachment.media is None else f"{name}: {in_words(attachment.media)}"


def _once(sayings: Iterable[Said]) -> tuple[Said, ...]:
    newest: dict[str, Said] = {}
    for said in sayings:
        key = said.text.casefold()
        newest.pop(key, None)
        newest[key] = said
    return tuple(newest.values())


def _tasks(task_lists: Sequence[ReadEntry]) -> tuple[Task, ...]:
    """From the input of the last call that wrote the list."""
    last = task_lists[-1].logged.entry if task_lists else None
    for block in reversed(last.blocks if isinstance(last, AssistantReply) else ()):
        if isinstance(block, ToolUse) and block.name == TASK_LIST:
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
