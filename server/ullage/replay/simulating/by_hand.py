"""What the user of a recorded session did by hand, done in the simulated one: exclusions, undo and redo.

An exclusion applies under every policy: the user did not want the model to see that, whatever was compacted. It is planned anew, so it also
takes out what this policy's own compactions read again of a file.

Undo and redo speak of one compaction. They apply where the simulated session has a counterpart of it. At recorded places that is the one
that was made at its place. Where the policy decides it is the one of the same number, if all compactions so far stand at the recorded
places. Elsewhere the user of this session would have had nothing to undo, so nothing is done.

`context/compaction/` makes entries of that, as for a live session.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from posixpath import isabs, normpath

from ullage.context.blocks import Message
from ullage.context.compaction.draft import counting
from ullage.context.compaction.exclusion import as_planned, exclude, exclude_file, rewordings, weighed
from ullage.context.compaction.undoing import again, as_new, made_to_fit, tokens_of
from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone
from ullage.context.engines.engine import summary_room
from ullage.context.policies.ullage import ULLAGE
from ullage.context.view.projection import Projection
from ullage.recorded.readers.entries import relative
from ullage.recorded.transcript import ByHand, RecordedCompaction, RecordedExclusion, RecordedReversal, Transcript
from ullage.replay.simulating.means import ReplayMeans


class HandsOfTheUser:
    """Does in one simulated session what the user of the recorded one did."""

    def __init__(self, means: ReplayMeans, transcript: Transcript) -> None:
        self._means = means
        self._project = transcript.project
        self._recorded = transcript.happened
        self._ids: dict[str, str] = {}
        """The ids here, by the recorded ones, of exclusions and of compactions whose counterparts are known."""

    def has_made(self, recorded: RecordedCompaction, made: Compaction) -> None:
        """Notes that `made` is the counterpart of a recorded compaction."""
        self._ids[recorded.id] = made.id

    def do(self, what: ByHand) -> None:
        """Does what the user did by hand, where it means anything here."""
        if isinstance(what, RecordedExclusion):
            self._exclude(what)
        else:
            self._take_back(what)

    def know_counterparts(self, before: ByHand) -> None:
        """Learns which compactions are counterparts where the policy decides: those made so far are those that were recorded before
        `before`, if they stand at the same places."""
        recorded = self._recorded[: self._recorded.index(before)]
        places = [each for each in recorded if isinstance(each, RecordedCompaction)]
        made = self._means.made_at
        if [each.after_seq for each in places] == [after for after, _ in made]:
            self._ids.update(zip((each.id for each in places), (id for _, id in made), strict=True))

    # Exclusion

    def _exclude(self, what: RecordedExclusion) -> None:
        means, view = self._means, self._means.view
        seq = means.carried.seq_of(what.seq)
        planned = exclude_file(view, what.path, self._count, self._named) if what.path else exclude(view, seq, self._count)
        if planned is None:
            return
        entry = as_planned(means.new_id(), planned, self._tokens(view))
        self._reword(entry)
        after = means.carried.with_entry(entry, means.at)
        self._ids[what.id] = entry.id
        means.log_by_hand(what, weighed(entry, after, self._tokens(after)))

    def _named(self, path: str) -> str:
        """The path as tools name a file: relative to the project, where it is absolute."""
        return normpath(relative(path, self._project) if isabs(path) else path)

    # Undo and redo

    def _take_back(self, what: RecordedReversal) -> None:
        id, view = self._ids.get(what.of), self._means.view
        among = view.undone if what.redo else view.active
        found = next((each for each in among if each.id == id), None)
        if found is None:
            return
        if not what.redo:
            self._make(what, CompactionUndone(found.id))
            return
        back = CompactionRedone(found.id)
        self._reword(back)
        reads = self._with(back).in_force(found.id)
        made = again(reads, view, self._count)
        if made is reads:
            self._make(what, back)
        elif made is not None:
            made = as_new(made, self._means.new_id(), self._tokens(view), view)
            self._make(what, replace(made, estimated_after=self._tokens(self._with(made))))
        self._ids[what.id] = made.id if made is not None else found.id

    def _make(self, what: RecordedReversal, entry: Compaction | CompactionUndone | CompactionRedone) -> None:
        """Makes a reversal, and makes the conversation fit the window where it does not, as the user was told. What cannot be made to fit
        is not done."""
        means = self._means
        self._reword(entry)
        view, model = self._with(entry), means.request.model
        tokens, window = means.measures.after(view, model), means.measures.window(model)
        fitted = None
        if tokens > window:
            fitted = made_to_fit(f"c{view.entries[-1].seq + 1}", view, tokens, window, self._count)
            if fitted is None:
                return
        means.log_by_hand(what, *((entry,) if fitted is None else (entry, fitted)))

    # How things are

    def _reword(self, entry: Compaction | CompactionUndone | CompactionRedone) -> None:
        """Logs how the summaries in view read without what is taken out once that is in force."""
        room = summary_room(self._means.sizes().threshold)
        for reworded in rewordings(self._with(entry), ULLAGE.engine, room):
            self._means.carried.log(reworded, self._means.at)

    def _with(self, entry: Compaction | CompactionUndone | CompactionRedone) -> Projection:
        return self._means.carried.with_entry(entry, self._means.at)

    def _tokens(self, view: Projection) -> int:
        return tokens_of(view, self._means.view, self._means.sizes().used, self._count)

    def _count(self, messages: Sequence[Message]) -> int:
        return counting(self._means.sizes().calibration)(messages)
