"""What came of carrying a recorded session through a policy, as values that can be added up, sent between processes and shown.

`simulating/simulation.py` makes them, `retaining.py` finds what was kept, and `reporting/` shows them. Tokens and dollars are
predictions of the cost model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ullage.context.blocks import Usage
from ullage.context.compaction.needed import FactKind
from ullage.context.compaction_entries import Rung, Trigger
from ullage.recorded.retention import Acquired, HitShare, KindRetention, by_kind
from ullage.replay.measuring.files_and_names import NamedInSummaries
from ullage.replay.pricing.cost import Dollars

Places: TypeAlias = Literal["policy", "recorded"]
"""Where compactions are made: where the policy would, or where the transcript recorded one."""

Summaries: TypeAlias = Literal["recorded", "digest", "none"]
"""What stands for a model-written summary: the recorded one, the program summary, or a blank of fixed size (for cost alone)."""


@dataclass(frozen=True, slots=True)
class RequestPoint:
    """One request of the agent as it would have been. `seq` is the transcript's entry of its reply, `at` Unix seconds (0.0: unknown)."""

    seq: int
    at: float
    context_tokens: int
    """The tokens sent with it."""
    usage: Usage
    fits: bool
    """Whether it is within the model's window; one that is not would have been refused."""


@dataclass(frozen=True, slots=True)
class CompactionPoint:
    """One compaction as it would have been made. Tokens are those of the whole context."""

    after_seq: int
    """The transcript's entry after which it stands."""
    at: float
    trigger: Trigger
    rung: Rung
    tokens_before: int
    tokens_after: int
    summary_characters: int
    """The characters of the text that takes the place of what was summarised; 0 if nothing was."""
    upkeep: bool
    """Made before a call because the policy does so before every call, not because the context was full."""
    stood_in: str
    """What stood for the model's summary: `recorded`, `digest`, `blank`; empty if no model would have been asked."""


@dataclass(frozen=True, slots=True)
class Retained:
    """What was needed after the compactions of a run, and what of it was in view.

    `in_summary` counts only what stood in the summary itself, `kinds` all that was in view without the files that were put back,
    `with_files` all that was in view.
    """

    compactions: int = 0
    """The number of compactions after which the session went on."""
    kinds: Mapping[FactKind, KindRetention] = field(default_factory=lambda: by_kind(()))
    in_summary: Mapping[FactKind, KindRetention] = field(default_factory=lambda: by_kind(()))
    tied: HitShare = field(default_factory=HitShare)
    restored: HitShare = field(default_factory=HitShare)
    """The share of the files read again within the window after them that stood in view: put back, or whole in a message that stayed."""
    with_files: Mapping[FactKind, KindRetention] = field(default_factory=lambda: by_kind(()))
    named: NamedInSummaries = field(default_factory=NamedInSummaries)
    """The summaries, and the names in them."""
    acquired: Acquired = field(default_factory=Acquired)
    """Text that tools gave again, and what of it stood in view."""

    def __add__(self, other: Retained) -> Retained:
        return Retained(
            self.compactions + other.compactions,
            {kind: kept + other.kinds[kind] for kind, kept in self.kinds.items()},
            {kind: kept + other.in_summary[kind] for kind, kept in self.in_summary.items()},
            self.tied + other.tied,
            self.restored + other.restored,
            {kind: kept + other.with_files[kind] for kind, kept in self.with_files.items()},
            self.named + other.named,
            self.acquired + other.acquired,
        )


@dataclass(frozen=True, slots=True)
class Run:
    """One session under one policy. `failure` says why there is nothing else in it (a policy that raised)."""

    policy: str
    session_id: str
    requests: tuple[RequestPoint, ...] = ()
    compactions: tuple[CompactionPoint, ...] = ()
    usage: Usage = field(default_factory=lambda: Usage(0, 0))
    """The tokens of the agent's own requests."""
    dollars: Dollars = field(default_factory=Dollars)
    """The dollars of the agent's own requests."""
    summaries: Dollars = field(default_factory=Dollars)
    """The dollars of the calls that wrote the summaries, as the policy makes them, with the prompt cache as it was then."""
    summaries_cold: Dollars = field(default_factory=Dollars)
    """The dollars of the same calls, had nothing of them been in the cache."""
    retained: Retained = field(default_factory=Retained)
    forgetting: float = 0.0
    """Dollars for getting again from tools what was not in view after the compactions; not in `total`."""
    violations: tuple[str, ...] = ()
    """Rules of the API that requests would have broken, in words; none where all is well."""
    seconds: float = 0.0
    """The seconds that the policy's own work took (planning, program summaries, folding), all turns together."""
    failure: str = ""
    line: int = 0
    """Tokens at which the policy would compact, in the session's (largest) window; 0: it has none, or it is not known."""
    window: int = 0
    """Tokens that the session's model takes; 0: not known."""

    @property
    def total(self) -> float:
        """Dollars of everything: the agent's requests and the summaries."""
        return self.dollars.total + self.summaries.total
