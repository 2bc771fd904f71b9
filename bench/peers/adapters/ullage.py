"""Ullage: projection, account and the trigger's comparison before each call; plan, summary and the new view in a compaction.

The only file of `bench/peers` that touches the pipeline. It needs nothing installed: `ullage.context` imports no other package.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.entries import PRELUDE, Writer
from bench.peers.measuring import NO_LINE, SUMMARY, Message, main
from ullage.context.blocks import Message as Shown
from ullage.context.compaction_entries import Compaction, Summarised
from ullage.context.counting.accounting import Account
from ullage.context.counting.tokens import Calibration, estimate_message
from ullage.context.engines.engine import Covered, Occasion
from ullage.context.entries import Entry, Logged
from ullage.context.policies.table import BUILT_IN
from ullage.context.view.projection import Projection
from ullage.context.view.request import build_request

CALIBRATION = Calibration()
ENGINE = BUILT_IN["ullage"].engine


class Pipeline:
    """What `session/` does with the log, without the disk."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self._projection = Projection([Logged(1, 0.0, PRELUDE)])
        self._account = Account()
        self._writer = Writer()
        self._used = 0

    def hold(self, messages: Sequence[Message]) -> int:
        """Folds the history and counts it once, as opening a session does."""
        self._start()
        self._append(self.prepare(messages))
        self._used = self._account.count(self._projection, CALIBRATION).used
        return len(self._projection.messages)

    def prepare(self, messages: Sequence[Message]) -> list[Entry]:
        """The new entries."""
        return [entry for message in messages for entry in self._writer.entries(message)]

    def turn(self, new: Any) -> int:
        """Append, count, compare, build."""
        self._append(new)
        if self._account.count(self._projection, CALIBRATION).used >= NO_LINE:
            return 0
        return len(build_request(self._projection).messages)

    def before_compaction(self) -> None:
        """Nothing is to be done: `compact` leaves what is held as it is."""

    def compact(self) -> int:
        """The history just fills the line, and a summary is wanted in any case."""
        entries = self._projection.entries
        line = self._used
        planned = ENGINE.plan(Occasion(self._projection, "manual", self._used, line, line, _count))
        if planned is None or planned.summarise_to is None:
            return 0
        to = planned.summarise_to
        covered = [logged for logged in entries if logged.seq <= to]
        told = ENGINE.summarise(Covered(covered, planned, SUMMARY, "", line // 3))
        made = Compaction(
            id="compaction",
            trigger="manual",
            rung="model",
            through=planned.through,
            cleared=planned.cleared,
            snipped=planned.snipped,
            summarised=Summarised(to, told.text, planned.covers),
            restored=(),
            resume="",
            focus="",
            policy="ullage",
            tokens_before=self._used,
            estimated_after=0,
        )
        after = self._projection.with_appended(Logged(entries[-1].seq + 1, 0.0, made))
        Account().count(after, CALIBRATION)
        return len(build_request(after).messages)

    def _append(self, new: Sequence[Entry]) -> None:
        for entry in new:
            self._projection.append(Logged(len(self._projection.entries) + 1, 0.0, entry))


def _count(messages: Sequence[Shown]) -> int:
    return CALIBRATION.apply(sum(estimate_message(message) for message in messages))


if __name__ == "__main__":
    main((), {"pipeline": Pipeline})
