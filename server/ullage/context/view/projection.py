"""What the model sees: the log folded into the messages of the next request.

`Projection` does it entry by entry, so that a turn costs what is new; `project` does it for a whole log, and both give
the same view (a property test holds that). Nothing here reads a file, a clock or a wire.

`fold.py` makes valid messages of entries, and its `Folds` let undo and redo go without folding again. `edits.py` has what compactions
replace, `epoch.py` what is in force.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ullage.context.blocks import Message, Text, ToolResult, ToolUse
from ullage.context.compaction_entries import Compaction
from ullage.context.entries import AssistantReply, Clipped, Logged, Notice, Prelude, ToolReturned, UserPrompt
from ullage.context.view.edits import Edits, Replacement, applied, edits_of, hidden, shown
from ullage.context.view.epoch import EpochKey, EpochState
from ullage.context.view.fold import Fold, Folds, prompt_blocks, replayed, spoken
from ullage.context.view.log_places import Entries, EntriesMissing, entry_at
from ullage.context.view.paged_log import Log
from ullage.context.view.pins import PinnedEntries, Pins, paths_touched
from ullage.context.view.taken_out import Gone, as_they_read, is_written, spoken_of, told_of, without_texts

__all__ = ["EpochKey", "Projection", "project"]


class Projection:
    """What the model sees of one log.

    A reply is taken to answer the request of the entries before it. So nothing that the model reads may be logged while
    a call of it runs: what was logged between the request and the reply would stand before the reply without having been sent.
    """

    def __init__(self, entries: Iterable[Logged] = (), log: Log | None = None) -> None:
        """Folds `entries` at once. Raises `ValueError` if they are not in the order of their seqs.

        They are put into `log`, which must be empty. If it can read them again, few of them stay in memory.
        """
        self._entries = Log() if log is None else log
        self._entries.will_be_asked(paths_touched)
        self._last = 0
        self._keys: list[tuple[int, EpochKey]] = []
        """The keys under which replies were made, each with the seq of the first such reply."""
        self._hidden: tuple[tuple[int, int], ...] = ()
        self._epoch = EpochState()
        self._pins = Pins()
        self._pinned = PinnedEntries()
        self._folds = Folds()
        for logged in entries:
            self._log(logged)
        self._refold(self._edits_in_force())

    def let_go(self) -> None:
        """Lets what is long out of view leave memory now. Else that happens by itself once more is logged."""
        self._entries.let_go(self._hidden)

    def append(self, logged: Logged) -> None:
        """Takes in the next entry. Costs what is new, and a whole fold only if the key changes to one that is not known (`learn`).

        Raises `ValueError` if its seq is not beyond the last.
        """
        key_before = self.key
        self._log(logged)
        if self.key == key_before:
            self._show(logged)
        else:
            self._folds.set_aside(key_before, self._fold, len(self._entries) - 1, self._active)
            self._fold_again()
        if self._entries.ends_a_page:
            self._entries.let_go(self._hidden)

    def learn(self, ahead: Projection) -> None:
        """Keeps what `ahead`, this log with one more entry (`with_appended`), made of that entry: to log such an entry then folds
        nothing."""
        folded = len(ahead.entries) - (0 if isinstance(ahead.entries[-1].entry, Compaction) else 1)
        if ahead.key != self.key:
            self._folds.set_aside(ahead.key, ahead.fold, folded, ahead.active_by_seq)

    def with_appended(self, logged: Logged) -> Projection:
        """A projection of the same log and one more entry; this one stays as it is. Costs a fold where the key changes."""
        other = self.copy()
        other.append(logged)
        return other

    def copy(self) -> Projection:
        """Another projection of the same log, which does not grow with this one; costs copies of lists, no folding."""
        other = Projection()
        other._entries = self._entries.copy()
        other._last, other._keys, other._hidden = self._last, self._keys.copy(), self._hidden
        other._epoch, other._active, other._pins = self._epoch, self._active, self._pins
        other._placeholders, other._paths_out = self._placeholders, self._paths_out
        other._fold = self._fold.copy()
        other._folds = self._folds.copy()
        other._pinned = self._pinned.copy()
        return other

    def key_at(self, seq: int) -> EpochKey:
        """The key under which the reply of entry `seq` was made. Raises `KeyError` if that is no reply."""
        if not isinstance(entry_at(self._entries, seq), AssistantReply):
            raise KeyError(seq)
        return self._made_under(seq)

    def _made_under(self, seq: int) -> EpochKey:
        return self._keys[bisect_right(self._keys, seq, key=_first_of) - 1][1]

    def last_seq_before(self, cut: int) -> int:
        """The seq of the last entry that the messages before message `cut` stand for; 0 if there are none."""
        return 0 if cut == 0 else self._fold.end_of(cut - 1)

    @property
    def entries(self) -> Entries:
        """The log so far, which grows; a part of it (`entries[:]`) stays as it is."""
        return self._entries

    @property
    def in_memory(self) -> Iterator[Logged]:
        """The entries that are in memory, for good or for a while."""
        return self._entries.in_memory

    @property
    def fold(self) -> Fold:
        """The fold that makes the messages, as it is now: a copy that goes on by itself."""
        return self._fold.copy()

    @property
    def messages(self) -> Sequence[Message]:
        """The messages as they are now, in an unchanging sequence that costs no copy.

        Calls that are still running have no result yet. Until the key changes only the last message changes, and more follow.
        """
        return self._fold.messages

    @property
    def complete_messages(self) -> Sequence[Message]:
        """The messages as they can be sent: a call without a result has one that says so."""
        return self._fold.complete_messages

    @property
    def prelude(self) -> Prelude | None:
        """The system prompt and the tools in force; None if none were logged yet."""
        return self._epoch.prelude

    @property
    def key(self) -> EpochKey:
        """The key of the epoch in force."""
        return self._epoch.key

    @property
    def active(self) -> tuple[Compaction, ...]:
        """The compactions in force, in log order. Those that show in the view have their texts, as the model reads them."""
        return tuple(self._active.values())

    def in_force(self, compaction_id: str) -> Compaction:
        """The compaction with that id, which must be in force, with its texts as the model would read them, whether they show or not."""
        read = as_they_read(self._epoch, lambda seq, each: self._whole(seq) if each.id == compaction_id else each)
        return next(each for each in read.values() if each.id == compaction_id)

    @property
    def active_by_seq(self) -> Mapping[int, Compaction]:
        """The compactions in force as in `active`, by the seq of their entry."""
        return self._active

    @property
    def to_reword(self) -> Mapping[int, frozenset[Gone]]:
        """What was taken out since, by the seq of each compaction in view whose texts may tell of it and were not reworded for just
        that."""
        told = spoken_of(self._epoch)
        shown = {source for message in self.messages for source in message.sources} if told else set[int]()
        return {
            seq: without for seq, without in told.items() if seq in shown and not is_written(self._epoch, self._active[seq].id, without)
        }

    @property
    def paths_out(self) -> Mapping[int, frozenset[str]]:
        """The files whose texts the user took out of a prompt, a notice or a compaction, by the seq of that entry."""
        return self._paths_out

    @property
    def undone(self) -> tuple[Compaction, ...]:
        """The compactions that were undone, in log order, without their texts."""
        return self._epoch.undone

    @property
    def pins(self) -> Pins:
        """The entries and files that the user has pinned."""
        return self._pins

    @property
    def pinned_entries(self) -> frozenset[int]:
        """The seqs of all entries that must stay because of pins. Costs what was logged since they were last asked for."""
        return self._pinned.of(self._entries, self._pins)

    @property
    def pending_tool_uses(self) -> tuple[ToolUse, ...]:
        """The calls of the last reply that have no result yet, as they were logged."""
        return self._fold.pending

    def _log(self, logged: Logged) -> None:
        if logged.seq <= self._last:
            raise ValueError(f"entry {logged.seq} comes after entry {self._last}")
        self._entries.append(logged)
        self._last = logged.seq
        self._epoch = self._epoch.after(logged)
        self._pins = self._pins.after(logged)
        if isinstance(logged.entry, AssistantReply) and (not self._keys or self._keys[-1][1] is not self._epoch.key):
            self._keys.append((logged.seq, self._epoch.key))

    def _edits_in_force(self) -> Edits:
        in_view = shown(self._epoch.active) | told_of(self._epoch)
        self._active = as_they_read(self._epoch, lambda seq, each: self._whole(seq) if seq in in_view else each)
        edits = edits_of(self._active)
        self._placeholders, self._paths_out = edits.placeholders, edits.paths_out
        self._hidden = hidden(edits)
        return edits

    def _whole(self, seq: int) -> Compaction:
        made = entry_at(self._entries, seq)
        if not isinstance(made, Compaction):
            raise EntriesMissing(f"Entry {seq} is no compaction")
        return made

    def _fold_again(self) -> None:
        """Folds under a new key. If that was in force lately, it goes on from the fold that was kept."""
        edits = self._edits_in_force()
        known = self._folds.take(self.key, self._active)
        if known is None:
            self._refold(edits)
            return
        self._fold, shown = known
        for index in range(shown, len(self._entries)):
            self._show(self._entries[index])

    def _refold(self, edits: Edits) -> None:
        self._fold = Fold()
        self._entries.bring_back(self._hidden)
        for piece in applied(edits, self._entries):
            if isinstance(piece, Replacement) and piece.block is not None:
                self._fold.add_block(piece.source, piece.block, piece.last)
            elif isinstance(piece, Replacement):
                self._fold.add_text(piece.source, piece.text, piece.last)
                self._fold.add_acknowledgement(piece.source, piece.acknowledgement, piece.last)
            else:
                self._show(piece)

    def _show(self, logged: Logged) -> None:
        seq, entry = logged.seq, without_texts(logged.entry, self._paths_out.get(logged.seq, ()))
        match entry:
            case UserPrompt():
                self._fold.add_words(seq, prompt_blocks(entry))
            case Notice():
                self._fold.add_words(seq, (Text(entry.text),))
            case AssistantReply():
                may_think = self._epoch.holds(self._made_under(seq), seq, entry.model)
                self._fold.add_reply(seq, replayed(entry) if may_think else spoken(entry))
            case ToolReturned():
                placeholder = self._placeholders.get(seq)
                content, media = (entry.content, entry.media) if placeholder is None else (placeholder, ())
                media = () if entry.is_error else media
                self._fold.add_result(seq, ToolResult(entry.tool_use_id, content, entry.is_error, media))
            case Clipped() if entry.seq not in self._placeholders:
                self._fold.shorten_result(entry.seq, entry.content)
            case Compaction() if seq in self._active:
                made = self._active[seq]
                told = made.summarised
                completing = told.text if told is not None and told.block is not None else ""
                for text in (completing, *(file.text for file in made.restored), made.nearby, made.resume):
                    self._fold.add_text(seq, text, seq)
            case _:
                pass


def _first_of(made_under: tuple[int, EpochKey]) -> int:
    return made_under[0]


def project(entries: Iterable[Logged]) -> Projection:
    """The view of a whole log."""
    return Projection(entries)
