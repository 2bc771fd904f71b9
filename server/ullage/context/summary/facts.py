"""What a program knows of a session from its log alone: the facts that no summary may lose.

Each kind has its own file: `file_history.py`, `command_history.py`, `state_of_work.py`, `task_list.py`, `sentences.py` and
`names.py`. `settled.py` adds them up entry by entry. `program_summary.py` puts them into words.

What was read out of entries is kept in a `Reading` from one summary to the next. An entry never changes, so each is read once. A `Reading`
is a memory and nothing else: with the same entries a kept one gives what a new one gives. Of the newest entries it keeps what is read in
each (`ReadEntry`), of all before them only what that comes to (`Settled`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from operator import is_

from ullage.context.blocks import ToolUse
from ullage.context.calls import Call
from ullage.context.entries import AssistantReply, Logged, ToolReturned
from ullage.context.summary.command_history import CommandFact, ErrorFact
from ullage.context.summary.file_history import FileFact
from ullage.context.summary.names import NO_INPUT, RECENT_ENTRIES, NamesInUse, ReadEntry, names_in_use
from ullage.context.summary.sentences import ReplySentences
from ullage.context.summary.settled import EntryWords as EntryWords
from ullage.context.summary.settled import Settled
from ullage.context.summary.state_of_work import StateOfWork
from ullage.context.summary.task_list import ListedTask as ListedTask
from ullage.context.view.log_places import root_of

KEPT = 1_000
"""Entries at the end that are kept one by one: names are looked for in the newest of them, and a summary may leave out a few of the
last."""
AT_ONCE = 128
"""Entries that are settled together."""
LEAST = 400
"""Entries at the end that a summary looks at one by one (`names.RECENT_ENTRIES`). A log that ends too early for that is read by itself."""


class Reading:
    """What was read of the entries of one log so far."""

    def __init__(self, kept: int = KEPT, at_once: int = AT_ONCE, least: int = LEAST) -> None:
        self._sizes = kept, at_once, least
        self._root: Hashable | None = None
        self._logged: list[Logged] = []
        """All entries that were read, kept where only its entries tell a log from another."""
        self._settled = Settled()
        self._read: list[ReadEntry] = []
        """The entries after those that are settled."""
        self._uses: dict[str, ToolUse] = {}
        self._ahead = 0
        self._known: Mapping[int, ReadEntry] = {}
        """What was read in another log, used while this one is read."""

    def of(self, entries: Sequence[Logged]) -> list[ReadEntry]:
        """The newest of `entries`, read. Costs only what is new. In another log than before, or one that some entries were left out of,
        those of the newest entries that are the same are recognised by their place."""
        self._go_on(entries)
        return self._read[: max(len(entries) - self._settled.entries, 0)]

    def up_to_end(self, entries: Sequence[Logged]) -> tuple[Settled, list[ReadEntry]]:
        """The sum of all `entries`, and the newest of them one by one."""
        self._go_on(entries)
        reading = self
        if self._settled.entries and len(entries) - self._settled.entries < self._sizes[2]:
            reading = Reading(*self._sizes)
            reading._go_on(entries)
        read = reading.of(entries)
        whole = reading._settled.copy()
        for each in read:
            whole.add(each)
        return whole, read

    def ahead(self, entries: Sequence[Logged]) -> tuple[Sequence[ReadEntry], int]:
        """The newest of `entries` that were not given here before, for whoever reads ahead, and how many entries are new with those that
        are settled already."""
        read = self.of(entries)
        new = max(len(entries) - self._ahead, 0)
        self._ahead = max(len(entries), self._ahead)
        return read[max(len(read) - new, 0) :], new

    def _go_on(self, entries: Sequence[Logged]) -> None:
        if not self._goes_on_in(entries):
            self._begin(entries)
        known = len(self._read) + self._settled.entries
        for logged in entries[known:]:
            if self._root is None:
                self._logged.append(logged)
            self._read.append(self._reading_of(logged))
            if len(self._read) >= self._sizes[0] + self._sizes[1]:
                self._settle()
        self._known = {}

    def _goes_on_in(self, entries: Sequence[Logged]) -> bool:
        """Whether `entries` and what was read are of one log, so that one begins with the other."""
        if root_of(entries) != self._root:
            return False
        if self._root is None:
            return all(map(is_, self._logged, entries))
        newest = entries[self._settled.entries :]
        return all(read.logged is logged or read.logged == logged for read, logged in zip(self._read, newest, strict=False))

    def _begin(self, entries: Sequence[Logged]) -> None:
        self._known = {read.seq: read for read in self._read}
        self._root = root_of(entries)
        self._logged, self._settled, self._read, self._uses, self._ahead = [], Settled(), [], {}, 0

    def _settle(self) -> None:
        old, self._read = self._read[: self._sizes[1]], self._read[self._sizes[1] :]
        for read in old:
            self._settled.add(read)
            if read.call is not None:
                id = read.call.returned.tool_use_id
                if id in self._uses and self._uses[id].input is read.call.input:  # some models use the id of a call again in a later reply
                    del self._uses[id]
        self._settled.settle()

    def _reading_of(self, logged: Logged) -> ReadEntry:
        entry, known = logged.entry, self._known.get(logged.seq)
        if isinstance(entry, AssistantReply):
            self._uses.update((block.id, block) for block in entry.blocks if isinstance(block, ToolUse))
        elif isinstance(entry, ToolReturned):
            use = self._uses.get(entry.tool_use_id)
            if known is None or known.logged is not logged or not known.answers(use):
                return ReadEntry(logged, Call(logged.seq, use.input if use else NO_INPUT, entry))
        return known if known is not None and known.logged is logged else ReadEntry(logged)


@dataclass(frozen=True, slots=True)
class Facts:
    """All facts that the program summary is written from, each kind in the order in which it happened unless said otherwise."""

    asked: Sequence[EntryWords]
    """The user's messages, verbatim; where something was attached, its name stands on a line of its own."""
    constraints: tuple[EntryWords, ...]
    """The user's sentences that say what must or must not be, each once, where it was said last. Also what they refused, and with which
    words."""
    decisions: tuple[EntryWords, ...]
    files: tuple[FileFact, ...]
    """The files that were touched: changed ones first, then the last touched first."""
    commands: tuple[CommandFact, ...]
    errors: tuple[ErrorFact, ...]
    tasks: tuple[ListedTask, ...]
    names: NamesInUse
    told: tuple[ReplySentences, ...]
    """The sentences of the newest replies, in the agent's own words."""
    work: StateOfWork
    last_call: EntryWords | None
    """The last tool call, on one line; None if there is none."""
    cut_at_work: bool
    """Whether a turn was running where the entries end."""
    newest_summary: int | None
    """The seq of the newest compaction in force that has a summary; None if there is none."""
    newest: Sequence[ReadEntry] = ()
    """The entries that names and files are looked for in."""

    @property
    def last_words(self) -> EntryWords | None:
        """The words of the newest reply that says anything; None if there is none."""
        return EntryWords(self.told[-1].seq, self.told[-1].text) if self.told else None


def facts(entries: Sequence[Logged], reading: Reading | None = None) -> Facts:
    """Reads the facts out of `entries`, which should begin with the session's first.

    `reading` is what was read of the same log before: it saves time and changes nothing.
    """
    found, newest = (reading or Reading()).up_to_end(entries)
    return Facts(
        asked=found.asked(entries),
        constraints=found.constraints,
        decisions=found.decisions,
        files=found.files.facts(),
        commands=found.commands.facts(),
        errors=found.errors.facts(),
        tasks=found.task_list.tasks,
        names=names_in_use(newest),
        told=found.told,
        work=found.work.state(),
        last_call=found.last_call,
        cut_at_work=found.at_work,
        newest_summary=found.newest_summary,
        newest=newest[-RECENT_ENTRIES:],
    )


def read_ahead(entries: Sequence[Logged], reading: Reading) -> int:
    """Reads now what the program summary of `entries` and of some more will need from them, so that it need not wait for that.

    Costs only what was not read ahead yet; gives how many entries these were.
    """
    new, count = reading.ahead(entries)
    for entry in new:
        _ = entry.constraints
        if entry.call is not None:
            entry.call.look_ahead()
    for entry in new[-RECENT_ENTRIES:]:
        _ = entry.mentions, entry.decisions, entry.told
    return count
