"""What the entries of a log come to, added up one after the other: what a program summary needs of all that was ever said.

It grows with the files that were touched and with the sentences that forbid something, and by some bytes with each message of the user.
Everything else is of the newest of its kind. Texts that are told again are read in the log.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast, overload

from ullage.context.calls import ANSWER_CHARACTERS, Call, one_line, told_answer
from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone
from ullage.context.counting.media import in_words
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import AssistantReply, Attachment, Logged, Notice, ToolReturned, TurnEnded, UserPrompt
from ullage.context.quoting import in_a_line
from ullage.context.summary.command_history import CommandHistory, ErrorHistory
from ullage.context.summary.file_history import FileHistory
from ullage.context.summary.names import ReadEntry
from ullage.context.summary.sentences import ReplySentences, is_strong
from ullage.context.summary.state_of_work import WorkHistory
from ullage.context.summary.task_list import TaskHistory
from ullage.context.view.log_places import entry_at

REPLIES_FOR_DECISIONS = 150
"""Newest replies in which decisions are looked for: the files and the model's own summaries tell of older ones."""
MOST_CONSTRAINTS = 2_000
"""Newest constraints that are kept; a program summary has room for a tenth of them."""
TEXTS_KEPT = 200_000
"""Characters of the user's newest messages that are kept: about twice as many as are quoted whole."""
PASTED_CHARACTERS = 3_000
"""Characters beyond which a message of the user counts as pasted, not typed."""
SHORTENED_CHARACTERS = 200
"""Characters of a message of the user that is quoted in part."""
ERROR_WORDS_CHARACTERS = 200
CALL_CHARACTERS = 200
REASON_CHARACTERS = 400
ASK_USER = "ask_user"
"""Ullage's own tool that asks the user. The entries of its results have the answers in a field of their own."""
NOT_ANSWERED = "The user did not answer"
"""The beginning of its result if the user did not answer."""
ASKING = ("AskUserQuestion", ASK_USER, "ask_followup_question", "request_user_input", "question", "vscode_askQuestions")
"""Tools that ask the user, also those of Claude Code, Gemini CLI, Cline, Codex, OpenCode and VS Code. Their results are the user's
words."""


@dataclass(frozen=True, slots=True)
class EntryWords:
    """Words that a summary may tell, with the entry that they stand in."""

    seq: int
    text: str
    is_aside: bool = False
    """Whether it is a weak constraint out of a pasted text: it stands in a summary only as far as there is room."""


class Settled:
    """What the entries of a log that were added so far tell, all together."""

    def __init__(self) -> None:
        self.entries = 0
        """The number of entries that were added."""
        self.files = FileHistory()
        self.commands = CommandHistory()
        self.errors = ErrorHistory()
        self.at_work = False
        """Whether a turn is running."""
        self.work = WorkHistory()
        self.task_list = TaskHistory()
        self._prompts = Prompts()
        self._constraints: dict[str, EntryWords] = {}
        self._replies: deque[ReadEntry] = deque(maxlen=REPLIES_FOR_DECISIONS)
        self._last_call: Call | None = None
        self._summaries: dict[int, str] = {}
        """The ids of compactions with a summary, by seq."""
        self._undone: set[str] = set()

    def add(self, read: ReadEntry) -> None:
        """Takes in the log's next entry."""
        self.entries += 1
        match read.logged.entry:
            case UserPrompt() as prompt:
                self.at_work = True
                self._prompts.add(read.seq, typed(prompt))
                pasted = len(prompt.text) > PASTED_CHARACTERS
                for sentence in read.constraints:
                    self._forbid(EntryWords(read.seq, sentence, pasted and not is_strong(sentence)))
            case AssistantReply() as reply:
                self.at_work = True
                self._replies.append(read)
                self.task_list.add_reply(reply)
                if read.told is not None and not read.told.announces:
                    self.errors.add_words(one_line(read.told.text, ERROR_WORDS_CHARACTERS))
            case ToolReturned() if read.call is not None:
                self.at_work = True
                self._add_call(read.call)
            case Notice() as notice:
                self.work.add_notice(notice)
            case TurnEnded():
                self.at_work = False
            case Compaction(summarised=told) as made if told is not None:
                self._summaries[read.seq] = made.id
            case CompactionUndone(compaction_id=undone):
                self._undone.add(undone)
            case CompactionRedone(compaction_id=redone):
                self._undone.discard(redone)
            case _:
                pass

    def settle(self) -> None:
        """Drops what was only kept because it might be told of: no entry is held any more, but for the newest of their kind."""
        self.files.settle()
        self.commands.settle()

    def copy(self) -> Settled:
        """A copy that goes on by itself."""
        other = Settled()
        other.entries, other.at_work = self.entries, self.at_work
        other.files, other.commands, other.errors = self.files.copy(), self.commands.copy(), self.errors.copy()
        other._prompts, other._constraints, other._replies = self._prompts.copy(), self._constraints.copy(), self._replies.copy()
        other.work, other.task_list, other._last_call = self.work.copy(), self.task_list.copy(), self._last_call
        other._summaries, other._undone = self._summaries.copy(), self._undone.copy()
        return other

    def asked(self, entries: Sequence[Logged]) -> TypedMessages:
        """The messages that the user typed. `entries` must be those that were added."""
        return TypedMessages(self._prompts, entries)

    @property
    def constraints(self) -> tuple[EntryWords, ...]:
        """The user's constraints. The same sentence is there once, where it was said last."""
        return tuple(self._constraints.values())

    @property
    def decisions(self) -> tuple[EntryWords, ...]:
        """The decisions in the newest replies. The same sentence is there once, where it was said last."""
        newest: dict[str, EntryWords] = {}
        for read in self._replies:
            for sentence in read.decisions:
                _put_last(newest, EntryWords(read.seq, sentence))
        return tuple(newest.values())

    @property
    def told(self) -> tuple[ReplySentences, ...]:
        """What the newest replies said, in their order."""
        return tuple(read.told for read in self._replies if read.told is not None)

    @property
    def last_call(self) -> EntryWords | None:
        """The last tool call, on one line; None if there was none."""
        return None if self._last_call is None else _call_in_a_line(self._last_call)

    @property
    def newest_summary(self) -> int | None:
        """The seq of the newest compaction in force that has a summary; None if there is none."""
        return next((seq for seq, id in reversed(self._summaries.items()) if id not in self._undone), None)

    def _add_call(self, call: Call) -> None:
        self._last_call = call
        self.files.add(call)
        self.commands.add(call)
        self.errors.add(call)
        self.work.add(call)
        self.task_list.add(call)
        for answer in call.returned.answers:
            self._forbid(EntryWords(call.seq, f"Asked by the agent {told_answer(answer)}"))
        if call.returned.tool in ASKING and not call.returned.answers and _tells_an_answer(call.returned):
            self._forbid(EntryWords(call.seq, f"Asked by the agent, the user said: {one_line(call.returned.content, ANSWER_CHARACTERS)}"))
        if call.returned.refusal is not None:
            self._forbid(EntryWords(call.seq, _refusal(call, call.returned.refusal)))

    def _forbid(self, said: EntryWords) -> None:
        _put_last(self._constraints, said)
        if len(self._constraints) > MOST_CONSTRAINTS:
            del self._constraints[next(iter(self._constraints))]


def _put_last(newest: dict[str, EntryWords], said: EntryWords) -> None:
    key = said.text.casefold()
    newest.pop(key, None)
    newest[key] = said


class Prompts:
    """The messages of the user: their seqs, their tokens, whole and shortened; and the texts of the newest."""

    def __init__(self) -> None:
        self.seqs, self.sizes, self.shortened = array("q"), array("q"), array("q")
        self.texts: dict[int, str] = {}
        """The texts of the first message and of the newest, by their place among all messages of the user."""
        self._characters = 0

    def add(self, seq: int, text: str) -> None:
        """Takes in the user's next message."""
        place = len(self.seqs)
        self.seqs.append(seq)
        self.sizes.append(estimate_text(text))
        self.shortened.append(estimate_text(one_line(text, SHORTENED_CHARACTERS)))
        self.texts[place] = text
        self._characters += len(text) if place else 0
        while self._characters > TEXTS_KEPT and len(self.texts) > 2:
            oldest = next(each for each in self.texts if each)
            self._characters -= len(self.texts.pop(oldest))

    def copy(self) -> Prompts:
        """A copy that goes on by itself."""
        other = Prompts()
        other.seqs, other.sizes, other.shortened = self.seqs[:], self.sizes[:], self.shortened[:]
        other.texts, other._characters = self.texts.copy(), self._characters
        return other


class TypedMessages(Sequence[EntryWords]):
    """The messages of the user as they were typed, each read in the log when it is asked for."""

    def __init__(self, prompts: Prompts, entries: Sequence[Logged]) -> None:
        self._prompts = prompts
        self._entries = entries

    def size(self, place: int) -> int:
        """Tokens of the message at that place (estimate)."""
        return self._prompts.sizes[place]

    def shortened_size(self, place: int) -> int:
        """Tokens of the beginning of the message at that place (estimate)."""
        return self._prompts.shortened[place]

    @overload
    def __getitem__(self, index: int) -> EntryWords: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[EntryWords]: ...
    def __getitem__(self, index: int | slice) -> EntryWords | Sequence[EntryWords]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        seq, text = self._prompts.seqs[place], self._prompts.texts.get(place)
        if text is None:
            prompt = entry_at(self._entries, seq)
            text = typed(prompt) if isinstance(prompt, UserPrompt) else ""
        return EntryWords(seq, text)

    def __len__(self) -> int:
        return len(self._prompts.seqs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*cast("Sequence[object]", other)]

    def __repr__(self) -> str:
        return f"Asked({len(self)} messages)"


def _tells_an_answer(returned: ToolReturned) -> bool:
    return not returned.is_error and bool(returned.content.strip()) and not returned.content.startswith(NOT_ANSWERED)


def _refusal(call: Call, reason: str) -> str:
    called = one_line(call.source, 80).replace("`", "'")  # a model wrote it: it cannot end where it is quoted and go on as the user
    what = f"Refused: `{called}`"
    return f"{what}, saying: {one_line(reason, REASON_CHARACTERS)}" if reason.strip() else what


def typed(prompt: UserPrompt) -> str:
    """The text that the user typed; if something was attached, its name stands on a line of its own."""
    if not prompt.attachments:
        return prompt.text
    names = (_attached(each) for each in prompt.attachments)
    return f"{prompt.text}\n(attached: {', '.join(names)})"


def _attached(attachment: Attachment) -> str:
    name = in_a_line(attachment.title)
    return name if attachment.media is None else f"{name}: {in_words(attachment.media)}"


def _call_in_a_line(call: Call) -> EntryWords:
    wanted = ", ".join(f"{key}: {one_line(str(value), 80)}" for key, value in list(call.input.items())[:3])
    outcome = "was refused by the user" if call.returned.refusal is not None else "failed" if call.returned.is_error else "answered"
    return EntryWords(call.seq, one_line(f"{call.returned.tool}({wanted}) {outcome}", CALL_CHARACTERS))
