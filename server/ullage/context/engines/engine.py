"""The one seam between a policy and whoever carries it out, live (`session/`) or over a recorded session (`replay/`).

An engine is data with four answers. It reads no file and calls no model: what a model is to be asked it says in a `Plan`, and what came
back it gets as text. What an engine keeps from one compaction to the next it reads out of the log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from ullage.context.blocks import CompactionBlock
from ullage.context.entries import Logged, Trigger
from ullage.context.moves.clip import Arrival, Clip
from ullage.context.moves.plan import Count, Plan
from ullage.context.record.reading import Reading
from ullage.context.view.projection import Projection

PathOf: TypeAlias = Callable[[str], str]
"""The path of the file that holds the whole output of a tool use id."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """A boundary at which an engine is asked. Tokens throughout."""

    projection: Projection
    trigger: Trigger
    used: int
    """How much the context holds, by the policy's own measure."""
    line: int
    """Where it counts as full, by the same measure."""
    window: int
    """The model's."""
    count: Count
    """What messages take, as the model counts (an estimate)."""


@dataclass(frozen=True, slots=True)
class Covered:
    """What a summary is to be written of, and what there is for it."""

    entries: Sequence[Logged]
    """The whole log up to the last entry that the summary stands for, from the session's first."""
    plan: Plan
    model_text: str | None
    """What the model wrote; None where none was asked, or none could be used."""
    focus: str
    """What the user or the model wants favoured; may be empty."""
    room: int
    """Tokens that there are for it."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """The source texts of the workspace by path (relative, with `/`), for an engine with `wants_files`; none in replay."""
    tail: Sequence[Logged] = ()
    """The entries after those, up to when it was planned: they stay in view, and the record may speak of them all the same."""
    reading: Reading | None = None
    """What was read of this log for an earlier digest: it saves time and changes nothing."""


@dataclass(frozen=True, slots=True)
class Handoff:
    """The text that takes the place of what is summarised."""

    text: str
    acknowledgement: str = ""
    """What the assistant is shown to have answered to it; empty: nothing."""
    resume: str = ""
    """What is said after all that stays; empty: nothing."""
    block: CompactionBlock | None = None
    """The API's own summary, which takes their place; `text` then completes it, after the turns that stay."""


class Engine(Protocol):
    """How a policy is carried out. A frozen value; every answer depends on the arguments alone."""

    def arrive(self, arrivals: Sequence[Arrival], path_of: PathOf) -> tuple[Clip, ...]:
        """What the model gets of each result of one message, before it is first sent; in the same order."""
        ...

    def upkeep(self, at: Occasion) -> Plan | None:
        """What is done before every model call, however full the context is; without a summary. None: nothing."""
        ...

    def plan(self, at: Occasion) -> Plan | None:
        """What is done where the context is full, where the API refused it (`reactive`), or where somebody asked for it.

        None: there is nothing to gain. Where somebody asked (`manual`, `tool`) whether it is full does not matter.
        """
        ...

    def handoff(self, covered: Covered) -> Handoff:
        """The text of a planned summary, with what the model wrote for it or, without that, by program."""
        ...


def tools_wanted(engine: Engine) -> frozenset[str]:
    """The names of tools that are offered to the model only under this engine: its attribute `tools`, where it has one.

    Live, `session/` gives them to `build_tools` beside those that every session has; a replay ignores them.
    """
    return getattr(engine, "tools", frozenset[str]())


def wants_files(engine: Engine) -> bool:
    """Whether a handoff is to be given the workspace's source texts (`Covered.files`): its attribute `wants_files`."""
    return getattr(engine, "wants_files", False)


def sweeps(engine: Engine) -> int:
    """How many compactions may be made at one boundary, one after the other, as long as `plan` still gives one: its attribute `sweeps`."""
    return getattr(engine, "sweeps", 1)


class Unchanging:
    """An engine that does nothing: for policies that never compact, and to begin one's own with.

    Where an engine leaves `upkeep` as it is here, nobody has to ask it before every call (`has_upkeep`).
    """

    def arrive(self, arrivals: Sequence[Arrival], path_of: PathOf) -> tuple[Clip, ...]:
        """Results as they came."""
        return tuple(Clip(arrival.content, clipped=False, characters=len(arrival.content)) for arrival in arrivals)

    def upkeep(self, at: Occasion) -> Plan | None:
        """Nothing."""
        return None

    def plan(self, at: Occasion) -> Plan | None:
        """Nothing."""
        return None

    def handoff(self, covered: Covered) -> Handoff:
        """The model's text as it came."""
        return Handoff(covered.model_text or "")


def has_upkeep(engine: Engine) -> bool:
    """Whether it may do anything before a call that finds room (asking it costs a fold of the whole log): its attribute `keeps_up`.

    An engine without one does where it does not leave `upkeep` as it is in `Unchanging`.
    """
    return getattr(engine, "keeps_up", getattr(type(engine), "upkeep", None) is not Unchanging.upkeep)
