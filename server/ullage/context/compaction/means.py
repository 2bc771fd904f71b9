"""What making a compaction needs done around it: live over the session (`session/compacting/`), in replay over a transcript.

Everything that asks a model, reads a file or the clock, or writes the log is behind these four. `making.py` decides what follows from it,
the same for both. Live these really wait. In replay nothing waits, and the whole of it is done in one go.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ullage.context.blocks import CompactionBlock, Message, Usage
from ullage.context.compaction.decide import Fullness
from ullage.context.compaction.draft import Draft, DraftSizes, WantedCompaction
from ullage.context.compaction_entries import Compaction, FetchedAgain, RestoredFile
from ullage.context.engines.engine import Covered, SummaryText
from ullage.context.moves.plan import Asked, Plan
from ullage.context.policy import Policy, RestoreOptions
from ullage.context.view.projection import Projection

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Writers:
    """Who writes summaries besides the program, as the model in use can and the user lets it."""

    model: bool
    api: bool


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """What the model wrote, and what it used. None: in replay the program's text stands for it."""

    text: str | None
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class ApiSummary:
    """A block of the API's, and the plan as it was carried out: the first `cut` messages of the request give way to it."""

    plan: Plan
    cut: int
    block: CompactionBlock
    usage: Usage | None


class SummaryModel(Protocol):
    """Asks the model on the conversation as it was when this was made, whatever is logged meanwhile."""

    @property
    def messages(self) -> Sequence[Message]:
        """Those of the conversation then."""
        ...

    async def model(self, draft: Draft, asked: Asked) -> WrittenSummary:
        """The model's part of a summary. Raises `SummaryFailed`."""
        ...

    async def api(self, draft: Draft, asked: Asked) -> ApiSummary:
        """The API's own summary. Raises `SummaryFailed` and `NotForTheApi`."""
        ...

    def cost(self, usage: Usage | None) -> float | None:
        """Dollars; None if nothing was spent or prices are not known."""
        ...


class DraftSlot(Protocol):
    """Keeps a draft that is made ahead, in the background: at most one."""

    @property
    def begun(self) -> bool:
        """Whether one is in work, ready or has failed."""
        ...

    def outcome(self) -> Draft | BaseException | None:
        """The draft that is ready, or why there is none; None if one is in work or none was begun."""
        ...

    def start(self, work: Coroutine[None, None, Draft]) -> None:
        """Begins one. There is none before."""
        ...

    async def take(self) -> Draft | None:
        """The draft, waited for where it is in work, and not kept; None if there is none or it failed."""
        ...

    def drop(self) -> Draft | None:
        """Ends what is in work, and keeps none; gives the one that was ready."""
        ...


class Telling(Protocol):
    """Tells whoever waits for a compaction how it goes."""

    def being_made(self, wanted: WantedCompaction) -> AbstractContextManager[None]:
        """While a compaction is made: it is shown."""
        ...

    def not_made(self, wanted: WantedCompaction, error: BaseException) -> None:
        """It did not come about: says why, where somebody wants to know. May raise the error."""
        ...

    def not_proved(self, error: Exception) -> None:
        """An error kept its check from being done, and it goes on without. May raise the error."""
        ...

    def was_told(self, wanted: WantedCompaction) -> bool:
        """Whether the user was told that it failed."""
        ...


class Means(Protocol):
    """What the making of a compaction needs around it, for one log under the policy in force."""

    @property
    def slot(self) -> DraftSlot:
        """Where the draft is kept that is made ahead."""
        ...

    @property
    def telling(self) -> Telling:
        """Who is told how it goes."""
        ...

    @property
    def policy(self) -> Policy:
        """The one in force."""
        ...

    @property
    def view(self) -> Projection:
        """The log as it is now."""
        ...

    def sizes(self) -> DraftSizes:
        """How full the context is, to plan by."""
        ...

    def fullness(self) -> Fullness:
        """How full it is, to decide by."""
        ...

    def weigh(self, entry: Compaction) -> int:
        """What the context would hold with one more compaction (tokens); nothing changes."""
        ...

    def now(self) -> float:
        """Unix seconds."""
        ...

    def new_id(self) -> str:
        """Of a compaction."""
        ...

    def writers(self) -> Writers:
        """Who writes summaries."""
        ...

    def asking(self) -> SummaryModel:
        """Asks on the conversation as it is now."""
        ...

    async def ask_engine(self, policy: Policy, question: Callable[[], Answer], *, counts: bool) -> Answer:
        """An answer of a policy's engine. Raises `PolicyFailed`; it rests after some failures that count (`counts`)."""
        ...

    async def summarise(self, policy: Policy, covered: Covered, *, counts: bool) -> SummaryText:
        """The same of a summary: `summary_by`, with what was read of the log ahead."""
        ...

    async def sources(self) -> Mapping[str, str]:
        """The texts of the repository by path, as far as they are known."""
        ...

    def engine_served(self) -> None:
        """The engine in force gave answers that can be used."""
        ...

    async def files(self, after: Projection, options: RestoreOptions) -> tuple[RestoredFile, ...]:
        """The files that are likely to be needed and that `after` does not hold."""
        ...

    def fetched_again(self) -> FetchedAgain | None:
        """What the agent got again since the newest compaction in force; None if there is none."""
        ...

    def resume(self, *, at_work: bool) -> str:
        """What the model is told of how to go on."""
        ...

    async def with_counts(self, entry: Compaction) -> Compaction:
        """The entry with how many messages it takes out of view."""
        ...

    async def set_aside(self) -> None:
        """Writes down the messages in view, before a summary takes their place."""
        ...

    async def objection(self, wanted: WantedCompaction) -> str:
        """Why somebody does not want one that can wait (`economy`, `idle`), for the user; empty if it is made."""
        ...

    async def in_force(self, entry: Compaction) -> None:
        """It is in force. Nothing is raised."""
        ...

    def commit(self, draft: Draft, entry: Compaction) -> None:
        """Logs the compaction. Raises what the store raises, and has then changed nothing."""
        ...

    def spent_in_vain(self, usage: Usage | None, cost: float | None) -> None:
        """Nothing comes of what was spent."""
        ...
