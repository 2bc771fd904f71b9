"""The practice model as a `Model`: finds out where the request stands, chooses the next step, and plays it like a stream."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

from ullage.context import commit_prompt
from ullage.context.blocks import AssistantBlock, Message, Text, Thinking, ToolUse, Usage
from ullage.context.counting.tokens import estimate_block, estimate_message, estimate_prelude
from ullage.context.entries import Prelude
from ullage.context.policy import LARGEST_HEADROOM_SHARE, BelowWindow
from ullage.context.view.request import Request
from ullage.models.errors import PromptTooLong
from ullage.models.model import (
    ModelCard,
    ModelEvent,
    Prices,
    Reply,
    TextDelta,
    ThinkingDelta,
    ToolInputDelta,
    ToolUseStarted,
)
from ullage.models.practice import looking_around
from ullage.models.practice.scenario import PlayMark, Scenario, ScenarioStep, Situation, situation_of

NAME = "practice"
FULL_AT = 38_000
"""The tokens at which the context is full: so few that it is full in the tour, after the edit, and the compaction can be watched."""
WINDOW = min(FULL_AT + BelowWindow().reserve + BelowWindow().margin, int(FULL_AT / (1 - LARGEST_HEADROOM_SHARE)))
"""The window in tokens. By it the threshold of the policy `ullage` is `FULL_AT`, whatever that policy keeps free."""
MAX_OUTPUT = 8_000
CHUNK_SECONDS = 0.02
"""Seconds between two chunks of text at the usual pace: a little faster than anybody reads."""

_CHUNK = re.compile(r".{1,24}(?:\s+|$)|.{1,24}", re.DOTALL)
_FREE = Prices(0.0, 0.0, 0.0, 0.0, 0.0)


class PracticeModel:
    """Plays `scenarios`, and looks around for everything else.

    `pace` multiplies all waiting: 0 plays without any, 1 like a model that types.
    """

    def __init__(self, scenarios: Sequence[Scenario], *, pace: float = 1.0, window: int = WINDOW) -> None:
        self._scenarios = {scenario.name: scenario for scenario in reversed(scenarios)}
        self._in_order = tuple(scenarios)
        self._endings = (*(ending for scenario in scenarios for ending in scenario.endings), looking_around.HOW_TO_GET_A_MODEL)
        self._pace = pace
        self._usage = SimulatedUsage()
        self._card = ModelCard(
            name=NAME,
            display_name="Practice (demo, not an AI)",
            window=window,
            max_output=MAX_OUTPUT,
            prices=_FREE,
            source="practice",
            practice=True,
            writes_summaries=False,
            adaptive_thinking=False,
        )

    def expected(self) -> ModelCard:
        """The card, which is always the same."""
        return self._card

    async def card(self) -> ModelCard:
        """The card, which is always the same."""
        return self._card

    async def stream(self, request: Request, max_output_tokens: int) -> AsyncGenerator[ModelEvent, None]:
        """Plays the next step. `max_output_tokens` is not looked at: no step is long."""
        used = self._usage.of_request(request)
        if used.total_input_tokens > self._card.window:
            raise PromptTooLong(
                f"The conversation is too long for the practice model (prompt is too long: {used.total_input_tokens} tokens"
                f" > {self._card.window} maximum). Compact it or begin a new session.",
                window=self._card.window,
            )
        mark, step = self._next(request)
        blocks = _blocks(mark, step)
        await self._wait(step.delay)
        for index, block in enumerate(blocks):
            async for event in self._played(index, block):
                yield event
        stop_reason = "tool_use" if step.calls else "end_turn"
        yield Reply(blocks, NAME, stop_reason, self._usage.with_output(used, blocks))

    async def count(self, request: Request) -> int | None:
        """The tokens of input that a call would report."""
        return _count_of(request)

    async def aclose(self) -> None:
        """Does nothing: there is nothing to free."""

    def _next(self, request: Request) -> tuple[PlayMark, ScenarioStep]:
        if request.system and request.system[0].text == commit_prompt.SYSTEM:
            return PlayMark(looking_around.PLAY, 0), ScenarioStep(text=_commit_message(request))
        situation = situation_of(request, self._in_order, self._endings)
        tools = [tool.name for tool in request.tools]
        if situation.played is not None and situation.wants_to_go_on:
            mark, step = self._continued(situation.played, situation, request, tools)
        else:
            mark, step = self._begun(situation.prompt, tools)
        missing = [call.name for call in step.calls if call.name not in tools]
        if missing:
            return mark, ScenarioStep(text=_without(missing))
        return mark, step if not situation.aside else _heard(step, situation.aside)

    def _begun(self, prompt: str, tools: Sequence[str]) -> tuple[PlayMark, ScenarioStep]:
        for scenario in self._in_order:
            if scenario.is_asked_for(prompt):
                return PlayMark(scenario.name, 0), scenario.steps[0]
        return PlayMark(looking_around.PLAY, 0), looking_around.first_step(prompt, tools)

    def _continued(self, played: PlayMark, situation: Situation, request: Request, tools: Sequence[str]) -> tuple[PlayMark, ScenarioStep]:
        scenario = self._scenarios.get(played.play)
        if scenario is None or played.step >= len(scenario.steps) - 1:
            following = PlayMark(looking_around.PLAY, played.step + 1)
            return following, looking_around.next_step(played.step, request, situation.results, tools)
        step = scenario.steps[played.step]
        if situation.was_interrupted or _is_due_again(step, situation):
            return played, step
        following = PlayMark(played.play, played.step + 1)
        unmet = _unmet(step, situation)
        return following, ScenarioStep(text=unmet) if unmet else scenario.steps[following.step]

    async def _played(self, index: int, block: AssistantBlock) -> AsyncGenerator[ModelEvent, None]:
        match block:
            case Thinking(thinking, _):
                for chunk in _CHUNK.findall(thinking):
                    yield ThinkingDelta(index, chunk)
                    await self._wait(CHUNK_SECONDS)
            case Text(text):
                for chunk in _CHUNK.findall(text):
                    yield TextDelta(index, chunk)
                    await self._wait(CHUNK_SECONDS)
            case ToolUse(id, name, input):
                yield ToolUseStarted(index, id, name)
                for chunk in _CHUNK.findall(json.dumps(input, ensure_ascii=False)):
                    yield ToolInputDelta(index, chunk)
                    await self._wait(CHUNK_SECONDS / 2)
            case _:
                pass

    async def _wait(self, seconds: float) -> None:
        await asyncio.sleep(seconds * self._pace)


def _blocks(mark: PlayMark, step: ScenarioStep) -> tuple[AssistantBlock, ...]:
    """The step as a reply. Its thinking has no signature: it is for the user and never goes back to any model."""
    thinking = (Thinking(step.thinking, ""),) if step.thinking else ()
    text = (Text(step.text),) if step.text else ()
    return (*thinking, *text, *(ToolUse(mark.new_id(), call.name, call.input) for call in step.calls))


def _commit_message(request: Request) -> str:
    """A commit message made of the names of the files, since nobody here understands the change."""
    told = "\n".join(block.text for message in request.messages for block in message.blocks if isinstance(block, Text))
    names = [name.rpartition("/")[2] for name in commit_prompt.names_in(told)]
    others = f" and {len(names) - 1} other {'file' if len(names) == 2 else 'files'}" if len(names) > 1 else ""
    return f"Change {names[0] if names else 'files'}{others}"


def _is_due_again(step: ScenarioStep, situation: Situation) -> bool:
    """Whether the step asks to be played again after such results; not more than once."""
    return bool(step.again_if) and situation.plays < 2 and any(step.again_if in result.content for result in situation.results)


def _unmet(step: ScenarioStep, situation: Situation) -> str:
    """The text to say where the results are not as expected; empty if they are, or where a compaction took them."""
    if not situation.results:
        return ""
    everything = "\n".join(result.content for result in situation.results)
    any_failed = any(result.is_error for result in situation.results)
    return next((each.otherwise for each in step.expects if not each.holds(everything, any_failed)), "")


def _heard(step: ScenarioStep, aside: str) -> ScenarioStep:
    said = " ".join(aside.split())
    note = f"(You said: {said[:200]} As the practice model I can only go on with what I was doing.)"
    return replace(step, text=f"{note}\n\n{step.text}".strip())


def _without(missing: Sequence[str]) -> str:
    names = ", ".join(f"`{name}`" for name in dict.fromkeys(missing))
    return (
        f"The next step needs {names}, which is not available here (in a workspace that is not trusted nothing is written or run),"
        f" so I end it. {looking_around.HOW_TO_GET_A_MODEL}"
    )


def _count_of(request: Request) -> int:
    """The tokens of input that a call would report."""
    return estimate_prelude(Prelude(request.system, request.tools)) + sum(estimate_message(message) for message in request.messages)


class SimulatedUsage:
    """Counts requests one after the other. What a request shares with the one before, from its beginning, is read from the cache."""

    def __init__(self) -> None:
        self._prelude: Prelude | None = None
        self._messages: Sequence[Message] = ()
        self._counted: dict[int, tuple[Message, int]] = {}

    def of_request(self, request: Request) -> Usage:
        """The usage of a call's input; the output is still 0."""
        prelude = Prelude(request.system, request.tools)
        shared = self._shared(request.messages) if prelude == self._prelude else 0
        ahead = estimate_prelude(prelude)
        counts = [self._count(message) for message in request.messages]
        read = ahead + sum(counts[:shared]) if prelude == self._prelude else 0
        self._prelude, self._messages = prelude, request.messages
        self._counted = {id(message): (message, count) for message, count in zip(request.messages, counts, strict=True)}
        return Usage(input_tokens=0, output_tokens=0, cache_read_tokens=read, cache_write_5m_tokens=ahead + sum(counts) - read)

    def with_output(self, used: Usage, blocks: Sequence[AssistantBlock]) -> Usage:
        """The usage of a call with the output that came back."""
        return replace(used, output_tokens=sum(estimate_block(block) for block in blocks))

    def _shared(self, messages: Sequence[Message]) -> int:
        """How many messages at the beginning are those of the request before."""
        shared = 0
        for now, before in zip(messages, self._messages, strict=False):
            if now is not before and now.blocks != before.blocks:
                break
            shared += 1
        return shared

    def _count(self, message: Message) -> int:
        known = self._counted.get(id(message))
        return known[1] if known else estimate_message(message)
