"""What each turn cost, from the usage that its replies and compactions report: the log folded into one sum a turn.

A turn counts from its prompt to its end. A compaction counts for the turn in which it was logged. One that was made between two turns, or
for a prompt that had not begun, belongs to none: its own item says what it cost. So the turns and those items add up to what
the session cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ullage.context.blocks import Usage
from ullage.context.compaction_entries import Compaction, SpentInVain
from ullage.context.entries import AssistantReply, CameOver, Entry, Forked, Notice, Prelude, ToolReturned, TurnEnded, UserPrompt

_NOTHING = Usage(0, 0)


@dataclass(frozen=True, slots=True)
class TurnCost:
    """What one turn took of the model so far. Tokens as the API reports them."""

    usage: Usage = _NOTHING
    """The usage of all calls that reported any, those for compactions too."""
    calls: int = 0
    """How many calls reported a usage."""
    dollars: float | None = None
    """What the turn cost, at the prices of the day; None if no call had a price."""
    unpriced: int = 0
    """How many of the `calls` have no known price: `dollars` has nothing of them."""
    unreported: int = 0
    """How many replies reported nothing: they were cut off, or their endpoint never reports. Nobody knows what they cost."""
    compactions: int = 0
    """How many of the `calls` were for compactions."""
    compaction_dollars: float | None = None
    """What the calls for compactions cost, which is in `dollars`, too; None if none had a price."""
    agents: int = 0
    """How many sub-agents worked for the turn. Their calls and tokens stand in logs of their own, not here."""
    agent_dollars: float | None = None
    """What the sub-agents cost, which is in `dollars`, too; None if nobody knows."""

    def with_call(self, usage: Usage | None, cost: float | None, *, compaction: bool) -> TurnCost:
        """The cost with one more call; `usage` is None if the call reported nothing, `cost` is in dollars, None if it has no price."""
        if usage is None or not usage.can_be:
            return self if compaction else replace(self, unreported=self.unreported + 1)
        return replace(
            self,
            usage=self.usage + usage,
            calls=self.calls + 1,
            dollars=_sum(self.dollars, cost),
            unpriced=self.unpriced + (cost is None),
            compactions=self.compactions + compaction,
            compaction_dollars=_sum(self.compaction_dollars, cost) if compaction else self.compaction_dollars,
        )

    def with_agent(self, cost: float | None) -> TurnCost:
        """The cost with one more sub-agent, which cost so many dollars (None: nobody knows)."""
        return replace(self, agents=self.agents + 1, dollars=_sum(self.dollars, cost), agent_dollars=_sum(self.agent_dollars, cost))


def _sum(before: float | None, more: float | None) -> float | None:
    return before if more is None else (before or 0.0) + more


NO_COST = TurnCost()


class TurnCosts:
    """The costs of all turns of one session, by the ids of the prompts with which they began."""

    def __init__(self) -> None:
        self._ended: dict[str, TurnCost] = {}
        self._prompt = ""
        self._running: TurnCost | None = None
        """The cost of the turn that runs; None between two turns."""
        self._is_elsewhere = False
        """Whether what is taken was said in another program (`CameOver`), whose costs nobody counts here. Our first prelude ends that."""

    def add(self, entry: Entry) -> str | None:
        """Takes an entry that was logged. Gives the id of the prompt whose turn it ended; None if it ended none that cost anything."""
        match entry:
            case CameOver():
                self._is_elsewhere = True
            case Prelude():
                self._is_elsewhere = False
            case AssistantReply() if self._is_elsewhere:
                pass
            case UserPrompt() if self._running is None or not entry.steering:
                ended = self._end()
                self._prompt, self._running = entry.id, NO_COST
                return ended
            case Notice(about="resume"):
                self._go_on()
            case AssistantReply():
                self._go_on()
                self._count(entry.usage, entry.cost, compaction=False)
            case ToolReturned() if self._running is not None:
                self._running = replace(self._running, dollars=_sum(self._running.dollars, entry.cost))
                if entry.agent is not None:
                    self._running = self._running.with_agent(entry.agent.cost)
            case Compaction() | SpentInVain() if self._running is not None:
                self._count(entry.usage, entry.cost, compaction=True)
            case Forked():  # another session has paid for what came before it
                self._running = None if self._running is None else NO_COST
            case TurnEnded():
                return self._end()
            case _:
                pass
        return None

    def of(self, prompt_id: str) -> TurnCost | None:
        """The cost of the turn that began with that prompt; None while it has no end, and if it cost nothing."""
        return self._ended.get(prompt_id)

    @property
    def all(self) -> Mapping[str, TurnCost]:
        """The costs of the turns that have ended, by the ids of their prompts."""
        return self._ended

    @property
    def prompt_id(self) -> str:
        """The id of the prompt with which the newest turn began; empty before the first."""
        return self._prompt

    def _go_on(self) -> None:
        if self._running is None:
            self._running = self._ended.get(self._prompt, NO_COST)

    def _count(self, usage: Usage | None, cost: float | None, *, compaction: bool) -> None:
        self._running = (self._running or NO_COST).with_call(usage, cost, compaction=compaction)

    def _end(self) -> str | None:
        cost, self._running = self._running, None
        if cost is None or cost == NO_COST or not self._prompt:
            return None
        self._ended[self._prompt] = cost
        return self._prompt
