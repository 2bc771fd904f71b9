"""Clear: old tool results give way to a placeholder.

The results that are in view, each with its call, are what is chosen from (`results_in_view`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ullage.context.blocks import Json, Media, Message, ToolResult, ToolUse
from ullage.context.counting.media import in_words, media_tokens
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import Cleared, Logged, ToolReturned
from ullage.context.moves.cuts import start_of_turns
from ullage.context.policy import ClearNumbers
from ullage.context.view.log_places import clipped_to, entry_at
from ullage.context.view.projection import Projection

CALL_CHARACTERS = 100
"""Of a placeholder, for what the tool was called with."""


def clear(projection: Projection, numbers: ClearNumbers, start: int = 0) -> tuple[Cleared, ...]:
    """The results that can go, in log order; those of the messages from `start`, a legal cut, on.

    Kept is what the numbers spare, what is short, what is cleared already, and what its placeholder would not make shorter.
    """
    shown = results_in_view(projection, start)
    kept = {cleared.seq for compaction in projection.active for cleared in compaction.cleared} | _kept(projection, shown, numbers)
    cleared: list[Cleared] = []
    gain = 0
    for result in shown:
        if result.seq in kept or (len(result.text) <= numbers.minimum_characters and not result.media):
            continue
        placeholder = _placeholder(projection.entries, result, numbers)
        if estimate_text(placeholder) >= _tokens(result) if result.media else len(placeholder) >= len(result.text):
            continue
        cleared.append(Cleared(result.seq, placeholder))
        if numbers.minimum_gain:
            gain += _tokens(result) - estimate_text(placeholder)
    return tuple(cleared) if gain >= numbers.minimum_gain else ()


def _tokens(result: Shown) -> int:
    return estimate_text(result.text) + sum(map(media_tokens, result.media))


def _kept(projection: Projection, shown: Sequence[Shown], numbers: ClearNumbers) -> set[int]:
    """The seqs of the results that the numbers spare."""
    kept = {result.seq for result in shown if not result.answered} if numbers.answered_only else set[int]()
    if numbers.spares_newest_reads:
        kept |= _newest_reads(shown)
    if numbers.keep_results:
        counted = [result for result in shown if result.answered] if numbers.counts_answered else shown
        kept |= {result.seq for result in counted[max(len(counted) - numbers.keep_results, 0) :]}
    spared = set(_spared(projection, shown, numbers))
    kept |= spared
    if numbers.keep_tokens:
        kept |= set(_within(numbers.keep_tokens, (result for result in reversed(shown) if result.seq not in spared)))
    return kept


def _spared(projection: Projection, shown: Sequence[Shown], numbers: ClearNumbers) -> Iterator[int]:
    """Those of tools, newest messages and newest turns that are never cleared."""
    if numbers.spared_tools:
        yield from (result.seq for result in shown if result.returned.tool in numbers.spared_tools)
    first = len(projection.messages) - numbers.spared_messages
    if numbers.spared_turns:  # results in the message that begins a turn are those of the turn before
        first = min(first, start_of_turns(projection, numbers.spared_turns) + 1)
    yield from (result.seq for result in shown if result.message >= first)


def _within(tokens: int, newest_first: Iterable[Shown]) -> Iterator[int]:
    """The newest, as long as all together take no more than `tokens`."""
    for result in newest_first:
        tokens -= _tokens(result)
        if tokens < 0:
            return
        yield result.seq


def _newest_reads(shown: Sequence[Shown]) -> set[int]:
    reads = {touch.path: result.seq for result in shown for touch in result.returned.touched if touch.kind == "read"}
    return set(reads.values())


def _placeholder(entries: Sequence[Logged], result: Shown, numbers: ClearNumbers) -> str:
    head = numbers.placeholder.replace("{tool}", result.returned.tool) if numbers.placeholder else _how_to_get_it_back(entries, result)
    if not numbers.kept_lines:
        return head
    return "\n".join([head, *result.text.splitlines()[-numbers.kept_lines :]])


def _how_to_get_it_back(entries: Sequence[Logged], result: Shown) -> str:
    returned = result.returned
    file = whole_output(entries, result)
    whole = f", or read {file}" if file else ""
    gave = "; ".join(map(in_words, result.media)) or f"{returned.characters:,} characters"
    return (
        f"[Cleared to make room: {returned.tool}{_called_with(result.call.input)} gave {gave}. "
        f"To see them again: recall with tool_use_id {returned.tool_use_id}{whole}]"
    )


def _called_with(call_input: Mapping[str, Json]) -> str:
    """What a tool was called with, in a few words: `(path: src/a.py)`; empty where it was called with nothing."""
    words = ", ".join(f"{name}: {_one_line(value)}" for name, value in call_input.items())
    if not words:
        return ""
    return f"({words})" if len(words) <= CALL_CHARACTERS else f"({words[: CALL_CHARACTERS - 1].rstrip()}…)"


def _one_line(value: Json) -> str:
    """The value's beginning, on one line."""
    return " ".join(str(value)[: 2 * CALL_CHARACTERS].split())


@dataclass(frozen=True, slots=True)
class Shown:
    """A tool's result that is in view, with its call; `text` and `media` are what the model sees of it."""

    seq: int
    returned: ToolReturned
    call: ToolUse
    text: str
    message: int
    """The index of its message."""
    answered: bool
    """Whether the model has replied since."""
    media: tuple[Media, ...] = ()


def results_in_view(projection: Projection, start: int = 0) -> list[Shown]:
    """In log order; those of the messages from `start`, a legal cut, on. Costs what is in view from there on, however long the log is."""
    messages = projection.messages[start:] if start else projection.messages
    last_reply = max((index for index, message in enumerate(messages, start) if message.role == "assistant"), default=0)
    shown: list[Shown] = []
    calls: Mapping[str, ToolUse] = {}
    for index, message in enumerate(messages, start):
        if message.role == "assistant":
            calls = {block.id: block for block in message.blocks if isinstance(block, ToolUse)}
            continue
        shown.extend(_of(message, index, calls, projection.entries, answered=index < last_reply))
    return sorted(shown, key=lambda result: result.seq)


def _of(message: Message, index: int, calls: Mapping[str, ToolUse], entries: Sequence[Logged], *, answered: bool) -> Iterator[Shown]:
    for block, seq in zip(message.blocks, message.sources, strict=True):
        if not isinstance(block, ToolResult):
            continue
        returned = entry_at(entries, seq)
        if isinstance(returned, ToolReturned):
            yield Shown(seq, returned, calls[block.tool_use_id], block.content, index, answered, block.media)


def whole_output(entries: Sequence[Logged], result: Shown) -> str | None:
    """Where the whole of a result is that was clipped; None where the model got all of it."""
    if result.returned.full_output:
        return result.returned.full_output
    clipped = clipped_to(entries, result.seq)
    return clipped.full_output if clipped else None
