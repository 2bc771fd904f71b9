"""What can be wrong with a transcript: flaws, each with what follows from it for the figures, and the error for what is no transcript."""

from __future__ import annotations

from dataclasses import dataclass

from ullage.recorded.readers.values import printable
from ullage.recorded.transcript import Repair

MOST_KINDS = 50
"""Kinds of flaws that are named one by one; the rest is counted together."""
LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Flaw:
    """`what` names it in the plural, as in "3 …"; `follows` is what it means for the figures, a sentence without its full stop."""

    what: str
    follows: str


NO_JSON = Flaw("lines that are no JSON object", "what they said is missing from the session")
CUT_LINE = Flaw("last lines that are cut off", "the last step of the session is missing")
LONG_LINE = Flaw("lines over 64 MiB", "they were passed over, and what they said is missing from the session")
BREAKS_OFF = Flaw("places where the file breaks off or is no JSON", "what comes after is missing from the session")
NO_OBJECT = Flaw("parts of a list that are no JSON object", "what they said is missing from the session")
NOT_UTF8 = Flaw("lines with bytes that are no UTF-8", "those bytes were replaced; nothing else follows")
DAMAGED_ARCHIVE = Flaw("places where the compressed file is cut or damaged", "what comes after is missing from the session")
REPEATED = Flaw("lines that repeat the id of an earlier line", "they were taken once")
BROKEN_CHAIN = Flaw("lines whose predecessor is not in the file", "they were taken to follow the line before them")
OTHER_BRANCH = Flaw("messages on branches that were not continued", "their calls were paid for but are in no figure")
QUEUED = Flaw(
    "prompts given to the running turn that only its queue tells of",
    "they are put where they left the queue, which is where the model read them within a message or two",
)
NO_TIME = Flaw("entries without a time", "for them the prompt cache is taken to be as it was at the entry before")
NO_USAGE = Flaw("replies without token counts", "their tokens and cost can only be estimated")
PLACEHOLDER_OUTPUT = Flaw(
    "replies whose final output tokens were not recorded",
    "their output is estimated from what they say, input and cache figures are as recorded",
)
SYNTHETIC = Flaw("replies that the program wrote itself (API errors)", "no model made them, they were left out")
ORPHAN_RESULT = Flaw("tool results without their call", "they were left out; the model may have seen them")
REPEATED_RESULT = Flaw("second results of one call", "they were left out; the model may have seen them")
NO_RESULT = Flaw("tool calls without a result", "the model is taken to have been told that they were interrupted")
REPEATED_CALL = Flaw("tool calls that repeat an earlier call's id", "they get an id of their own when they are sent")
NOT_A_FILE = Flaw("files of messages that cannot be read whole", "what they said is missing from the session")
ODD_MESSAGE = Flaw("messages of a shape that no known version writes", "what could not be read of them is missing from the session")
ODD_NAME = Flaw("tool calls whose tool has a name that the API does not take", "they were given another one")
PROVIDER_TOOL = Flaw(
    "calls of tools that the provider runs itself", "their results are not recorded, so the context is estimated too small after them"
)
USAGE_ALONE = Flaw("calls whose tokens are recorded but not their reply", "their tokens are in no figure")
CLEARED = Flaw(
    "old tool results that the program cleared or shortened later",
    "recorded input is smaller after that than what the log holds",
)
ABORTED = Flaw("calls that failed or were broken off without a reply", "they are in no figure")
NOT_WRITTEN_BACK = Flaw(
    "databases whose newest entries still lie in a file beside them (-wal)",
    "they were not read; end the program that wrote them, and read again",
)
ROLLED_BACK = Flaw("turns that the user took back", "they were left out, and their calls are in no figure")
MICRO = Flaw("clearings of old tool results by Claude Code", "recorded input is smaller after them than what the log holds")
NO_SUMMARY = Flaw("compactions whose summary is not recorded", "what they kept cannot be measured")
SEALED_SUMMARY = Flaw(
    "compactions whose summary is sealed by the provider",
    "what it kept cannot be told; under a policy at recorded places the program summary stands for it",
)
KEPT_MESSAGES = Flaw("compactions that kept some messages as they were", "beside the summary more was in view than is shown")
SMALL = Flaw(
    "clearings before a call (upkeep) or by the user's hand",
    "they are not among the recorded compactions; recorded input is smaller after them than what the log holds",
)
UNDONE = Flaw("compactions that were undone", "they are not among the recorded ones")
COUNTED_ELSEWHERE = Flaw(
    "replies that another session of this log has, from which this one was forked", "their tokens and cost are in its figures alone"
)
DAMAGED_ENTRY = Flaw("entries of the log that cannot be read", "what they said is missing from the session")


UNKNOWN_KIND = "of the unknown kind"
"""Words that are in the name of each flaw that `unknown` makes."""


def unknown(of_what: str, name: str) -> Flaw:
    """The flaw that lines, blocks or events (`of_what`) are of a kind that no known version writes."""
    shown = printable(" ".join(name.split())[:LONGEST_NAME]) or "(none)"
    return Flaw(f'{of_what} {UNKNOWN_KIND} "{shown}"', "they were left out; if the model read them, its context was larger than is shown")


def not_recorded(kind: str) -> Flaw:
    """The flaw that the program told the model something of that kind, and the transcript does not hold its text."""
    shown = printable(" ".join(kind.split())[:LONGEST_NAME]) or "(none)"
    return Flaw(f'attachments of kind "{shown}" without readable text', "the context was larger by them than is shown")


class FlawTally:
    """Counts the flaws of one transcript."""

    def __init__(self) -> None:
        self._counts: dict[Flaw, int] = {}
        self._first: dict[Flaw, int] = {}
        """The line of the first flaw of each kind, from 1, where it is known."""
        self._extra: list[str] = []

    def count(self, flaw: Flaw, number: int = 1, line: int = 0) -> None:
        """Counts `number` more flaws of that kind. `line` is where in the file, from 1; 0 if that is not known."""
        if number <= 0:
            return
        if flaw not in self._counts and len(self._counts) >= MOST_KINDS:
            flaw = Flaw("things of further unknown kinds", "they were left out")
        self._counts[flaw] = self._counts.get(flaw, 0) + number
        if line:
            self._first.setdefault(flaw, line)

    def note(self, text: str) -> None:
        """Adds something else that the user should know of this transcript. The same text is kept once."""
        if text not in self._extra:
            self._extra.append(text)

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The flaws that were mended, each with its number, in the order in which they were met first."""
        return tuple(Repair(flaw.what, number) for flaw, number in self._counts.items())

    @property
    def notes(self) -> tuple[str, ...]:
        """The flaws with what follows from each, then the other notes; for the user."""
        return (*(f"{number} {flaw.what}: {flaw.follows}{self._where(flaw)}" for flaw, number in self._counts.items()), *self._extra)

    def _where(self, flaw: Flaw) -> str:
        return f" (the first at line {self._first[flaw]:,})" if flaw in self._first else ""


class NotATranscript(Exception):
    """This file is no transcript that can be read. `str()` names the file and says why."""
