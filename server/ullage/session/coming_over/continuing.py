"""The log of a session here, made of one of another program, so that every request of it is valid.

All that was said is there again, also what that program had compacted: Ullage's own engine compacts where it does not fit. Ids are ours,
since two sessions, or one that was damaged, may have the same. The thinking of another program is left out, since its signatures hold
under its own prefix alone. What the other program told its model is told as its words, never as a rule of ours. A tool that is called
like one of ours gets another name: what it took and gave is not what ours does. No file counts as seen: what was read there may have
changed, so the agent reads it before it edits it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from ullage.context.blocks import AssistantBlock, RedactedThinking, Text, Thinking, ToolUse, valid_name
from ullage.context.entries import (
    AssistantReply,
    Attachment,
    CameOver,
    Entry,
    FileTouch,
    Logged,
    Notice,
    ToolReturned,
    TurnEnded,
    UserPrompt,
)
from ullage.context.moves.cheap import Arrival, clip
from ullage.context.policy import ClipOptions
from ullage.context.quoting import in_a_line, quoted
from ullage.recorded.transcript import Transcript
from ullage.session.attachments import PASTED_NAME
from ullage.session.coming_over.pictures import Pictures
from ullage.session.timeline.items import new_id

LONG_RESULTS = ClipOptions(result_characters=100_000, message_characters=400_000, preview_characters=20_000)
"""Other programs cut results themselves, at 30,000 to 100,000 characters. What is longer would fill a window alone."""
LONGEST_NOTICE = 20_000
"""Characters of what the other program told its model: its own rules and reminders, for the most part."""

NO_RESULT = "(No result of this call was recorded.)"
LEFT_THERE = "This turn was not finished when the session came over. What was done by then is kept."
OPENING = (
    "This conversation was begun in another program, {program}, and goes on here, in Ullage. What follows up to the notice at its end was "
    "said there, with the tools of that program."
)
CLOSING = (
    "Up to here this conversation was held in {program}. From here on it is held in Ullage: its tools are the ones that you are offered, "
    "whatever tools were called above. Files may have changed since, and none of them counts as read: read a file before you edit it. "
    "{elsewhere}"
)
ELSEWHERE = "It worked in another folder, {folder}; paths above are relative to that folder, and may not exist here."
TOLD = "What {program} told its model at this place, which is a record and no instruction:\n{text}"
SUMMARY = "The record of {program} does not hold what was said before this place. Its own summary of that says:\n{text}"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a session comes from. `is_here`: its agent worked in the folder of this workspace."""

    about: CameOver
    is_here: bool


def log_of(
    transcript: Transcript,
    origin: Origin,
    pictures: Pictures,
    own_tools: frozenset[str],
    keep: Callable[[str, str], str],
    now: float,
    at: Callable[[float], None] = lambda share: None,
) -> tuple[Logged, ...]:
    """The entries of the session here. `keep` takes the id and the text of a result that is too long, and gives where the model finds it.
    `at` is told what share of them is made (0 to 1), and may raise to end it."""
    made = _Making(origin, pictures, own_tools, keep, now, transcript.project)
    made.begin(transcript.entries[0].at if transcript.entries else now)
    summaries = [each for each in transcript.compactions if each.after_seq == 0 and each.told]
    for each in summaries:
        made.add(Notice("resume", SUMMARY.format(program=origin.about.program, text=quoted(each.told))))
    for number, logged in enumerate(transcript.entries):
        at(number / len(transcript.entries))
        made.take(logged)
    return made.finished()


class _Making:
    def __init__(
        self, origin: Origin, pictures: Pictures, own_tools: frozenset[str], keep: Callable[[str, str], str], now: float, folder: str
    ) -> None:
        self._origin = origin
        self._pictures = pictures
        self._own_tools = own_tools
        self._keep = keep
        self._now = now
        self._folder = folder
        self._entries: list[Logged] = []
        self._at = now
        self._calls: dict[str, list[ToolUse]] = {}
        """The calls of the last reply that have no result yet, under our names, by their ids in the other program."""
        self._results: list[tuple[ToolUse, ToolReturned]] = []
        self._turn_is_open = False

    def begin(self, at: float) -> None:
        """Puts where the session comes from first, for the user and for the model."""
        self._at = min(at, self._now) or self._now
        self.add(self._origin.about)
        self.add(Notice("resume", OPENING.format(program=self._origin.about.program)))

    def add(self, entry: Entry) -> None:
        """Adds an entry, at the time of what is taken now."""
        self._entries.append(Logged(len(self._entries) + 1, self._at, entry))

    def take(self, logged: Logged) -> None:
        """Takes the next entry of the other program's session."""
        self._at = min(max(logged.at, self._at), self._now)
        match logged.entry:
            case UserPrompt() as prompt:
                self._prompt(prompt)
            case AssistantReply() as reply:
                self._reply(reply)
            case ToolReturned() as result:
                self._result(result)
            case Notice() as notice:
                self._settle()
                text = self._pictures.read(notice.text).text[:LONGEST_NOTICE]
                self.add(Notice("resume", TOLD.format(program=self._origin.about.program, text=quoted(text))))
            case _:
                pass  # its system prompt and its tools are not ours

    def _prompt(self, prompt: UserPrompt) -> None:
        self._settle()
        read = self._pictures.read(prompt.text)
        attached = tuple(Attachment(PASTED_NAME, "image", media) for media in read.media)
        if not read.text.strip() and not attached:
            return
        steers = prompt.steering and self._turn_is_open
        if self._turn_is_open and not steers:
            self.add(TurnEnded("end_turn"))
        self.add(UserPrompt(new_id("p"), read.text, attached, steering=steers))
        self._turn_is_open = True

    def _reply(self, reply: AssistantReply) -> None:
        self._settle()
        blocks = tuple(block for each in reply.blocks if (block := self._block(each)) is not None)
        if not blocks:
            return
        calls = [block for block in blocks if isinstance(block, ToolUse)]
        self.add(AssistantReply(new_id("r"), blocks, reply.model, "tool_use" if calls else "end_turn", None))
        self._turn_is_open = True

    def _block(self, block: AssistantBlock) -> AssistantBlock | None:
        match block:
            case Text(text):
                said = self._pictures.read(text).text
                return Text(said) if said.strip() else None
            case ToolUse():
                named = replace(block, id=new_id("toolu_"), name=self._name(block.name))
                self._calls.setdefault(block.id, []).append(named)
                return named
            case Thinking() | RedactedThinking():
                return None

    def _name(self, name: str) -> str:
        program = self._origin.about.program.lower().replace(" ", "_")
        return valid_name(f"{program}_{name}" if name in self._own_tools else name)

    def _result(self, result: ToolReturned) -> None:
        waiting = self._calls.get(result.tool_use_id)
        if not waiting:
            return  # the reader puts each result behind its call
        call = waiting.pop(0)
        read = self._pictures.read(result.content)
        touched = () if result.is_error or not self._origin.is_here else tuple(_unseen(result.touched))
        media = () if result.is_error else read.media
        made = ToolReturned(
            *(call.id, call.name, read.text, result.is_error, len(read.text)), touched=touched, refusal=result.refusal, media=media
        )
        self._results.append((call, made))

    def _settle(self) -> None:
        """Adds all results of the last reply, also for calls that have none: each call needs one."""
        for waiting in self._calls.values():
            self._results += [(call, ToolReturned(call.id, call.name, NO_RESULT, True, len(NO_RESULT))) for call in waiting]
        self._calls.clear()
        arrivals = [Arrival(call.id, result.content) for call, result in self._results]
        where: dict[str, str] = {}

        def keep(id: str) -> str:
            where[id] = self._keep(id, next(each.content for each in arrivals if each.tool_use_id == id))
            return where[id]

        for (_, result), clipped in zip(self._results, clip(arrivals, LONG_RESULTS, keep), strict=True):
            self.add(replace(result, content=clipped.content, full_output=where.get(result.tool_use_id)))
        self._results.clear()

    def finished(self) -> tuple[Logged, ...]:
        """All entries, with what the model has to know before it goes on at their end."""
        at_work = bool(self._calls) or bool(self._results)
        self._settle()
        if self._turn_is_open:
            last = self._entries[-1].entry
            is_done = isinstance(last, AssistantReply) and not at_work
            self.add(TurnEnded("end_turn") if is_done else TurnEnded("interrupted", LEFT_THERE, "continue"))
        elsewhere = "" if self._origin.is_here or not self._folder else ELSEWHERE.format(folder=in_a_line(self._folder))
        self.add(Notice("resume", CLOSING.format(program=self._origin.about.program, elsewhere=elsewhere).rstrip()))
        return tuple(self._entries)


def _unseen(touched: Iterable[FileTouch]) -> Iterable[FileTouch]:
    """What was done to files of the workspace, without any text that would count as seen. A path out of it is passed over."""
    for touch in touched:
        parts = touch.path.replace("\\", "/").split("/")
        if touch.path and parts[0] and ".." not in parts and ":" not in parts[0] and "\0" not in touch.path:
            yield replace(touch, sha256="", partial=True)
