"""In which threads logs are folded anew: what takes long where they are long, and must not hold up the loop."""

from __future__ import annotations

import threading

import pytest

from ullage.context.view.edits import Edits
from ullage.context.view.projection import Projection


def threads_of_folds(monkeypatch: pytest.MonkeyPatch) -> list[threading.Thread]:
    """From now on the thread of each such fold."""
    folds: list[threading.Thread] = []
    refold = Projection._refold  # noqa: SLF001

    def watched(self: Projection, edits: Edits) -> None:
        if self.entries:
            folds.append(threading.current_thread())
        refold(self, edits)

    monkeypatch.setattr(Projection, "_refold", watched)
    return folds
