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
    """Who may write summaries besides the program: as far as the model in use can, and the user allows it."""

    model: bool
    api: bool


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """What the model wrote, and the tokens that it used. `text` is None in replay, where the program's text stands for it."""

    text: str | None
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class ApiSummary:
    """A summary that the API wrote, and the plan as it was carried out: the first `cut` messages of the request give way to the block."""

    plan: Plan
    cut: int
    block: CompactionBlock
    usage: Usage | None


class SummaryModel(Protocol):
    """Asks a model for a summary of the conversation as it was when this object was made, whatever is logged meanwhile."""

    @property
    def messages(self) -> Sequence[Message]:
        """The messages of the conversation at that time."""
        ...

    async def model(self, draft: Draft, asked: Asked) -> WrittenSummary:
        """Asks the model for its part of a summary. Raises `SummaryFailed`."""
        ...

    async def api(self, draft: Draft, asked: Asked) -> ApiSummary:
        """Asks the API for its own summary. Raises `SummaryFailed` and `NotForTheApi`."""
        ...

    def cost(self, usage: Usage | None) -> float | None:
        """The dollars that the tokens cost; None if nothing was spent or prices are not known."""
        ...


class DraftSlot(Protocol):
    """Keeps the draft that is made ahead, in the background. There is one at most."""

    @property
    def begun(self) -> bool:
        """Whether a draft is in work, ready or has failed."""
        ...

    def outcome(self) -> Draft | BaseException | None:
        """The draft that is ready, or the error that it failed with; None if one is still in work or none was begun."""
        ...

    def start(self, work: Coroutine[None, None, Draft]) -> None:
        """Begins a draft, in the background. The slot must be empty."""
        ...

    async def take(self) -> Draft | None:
        """Takes the draft out of the slot, waiting for one that is in work; None if there is none or it failed."""
        ...

    def drop(self) -> Draft | None:
        """Empties the slot, and ends a draft that is in work; gives the one that was ready, None if none was."""
        ...


class Telling(Protocol):
    """Tells whoever waits for a compaction how it goes."""

    def being_made(self, wanted: WantedCompaction) -> AbstractContextManager[None]:
        """A context in which a compaction is shown as being made."""
        ...

    def not_made(self, wanted: WantedCompaction, error: BaseException) -> None:
        """Tells that a compaction came to nothing and why, where somebody wants to know. May raise the error."""
        ...

    def not_proved(self, error: Exception) -> None:
        """Tells that an error kept a compaction from being checked, and that it is made without. May raise the error."""
        ...

    def was_told(self, wanted: WantedCompaction) -> bool:
        """Whether the user was told that this compaction failed."""
        ...


class Means(Protocol):
    """All that making a compaction needs around it, for one log under the policy in force."""

    @property
    def slot(self) -> DraftSlot:
        """The place where the draft that is made ahead is kept."""
        ...

    @property
    def telling(self) -> Telling:
        """The object that tells those who wait how a compaction goes."""
        ...

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        ...

    @property
    def view(self) -> Projection:
        """What the model sees of the log as it is now."""
        ...

    def sizes(self) -> DraftSizes:
        """How full the context is, in the numbers to plan by."""
        ...

    def fullness(self) -> Fullness:
        """How full the context is, in the numbers to decide by."""
        ...

    def weigh(self, entry: Compaction) -> int:
        """Tokens that the context would hold with one more compaction. Nothing changes."""
        ...

    def now(self) -> float:
        """The time, in Unix seconds."""
        ...

    def new_id(self) -> str:
        """An id for a new compaction."""
        ...

    def writers(self) -> Writers:
        """Who may write summaries besides the program."""
        ...

    def asking(self) -> SummaryModel:
        """An object that asks for summaries of the conversation as it is now."""
        ...

    async def ask_engine(self, policy: Policy, question: Callable[[], Answer], *, counts: bool) -> Answer:
        """The answer of a policy's engine to `question`. Raises `PolicyFailed`. With `counts` a failure counts, and after some the engine
        rests."""
        ...

    async def summarise(self, policy: Policy, covered: Covered, *, counts: bool) -> SummaryText:
        """The text of a summary by the policy's engine, as `summary_by` gives it, with what was read of the log ahead. Raises
        `PolicyFailed`, and counts, as `ask_engine` does."""
        ...

    async def sources(self) -> Mapping[str, str]:
        """The texts of the repository's files by path, as far as they are known."""
        ...

    def engine_served(self) -> None:
        """Notes that the engine in force gave answers that can be used."""
        ...

    async def files(self, after: Projection, options: RestoreOptions) -> tuple[RestoredFile, ...]:
        """The files that are likely to be needed and that `after` does not show, read again."""
        ...

    def fetched_again(self) -> FetchedAgain | None:
        """What the agent fetched again since the newest compaction in force; None if there is none."""
        ...

    def resume(self, *, at_work: bool) -> str:
        """The text that tells the model how to go on. `at_work`: it goes on by itself."""
        ...

    async def with_counts(self, entry: Compaction) -> Compaction:
        """The entry with the number of messages that it takes out of view."""
        ...

    async def set_aside(self) -> None:
        """Writes the messages in view into a transcript file, before a summary takes their place."""
        ...

    async def objection(self, wanted: WantedCompaction) -> str:
        """The reason why somebody does not want a compaction that can wait (`economy`, `idle`), for the user; empty if nobody objects."""
        ...

    async def in_force(self, entry: Compaction) -> None:
        """Is told that the compaction is in force. Raises nothing."""
        ...

    def commit(self, draft: Draft, entry: Compaction) -> None:
        """Logs the compaction. Raises what the store raises, and has then changed nothing."""
        ...

    def spent_in_vain(self, usage: Usage | None, cost: float | None) -> None:
        """Counts tokens and dollars that were spent for nothing."""
        ...
