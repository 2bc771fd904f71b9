"""A compaction before it is made, as a user is shown it: part by part, with tokens and dollars.

What the parts are called, and which of them count as messages, is said here for the timeline, too (`epochs.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ullage.context.blocks import Block, Text, ToolUse, Usage
from ullage.context.compaction.economy import CACHE_SECONDS, SUMMARY_OUTPUT_TOKENS, took
from ullage.context.compaction_entries import BY_THE_USER, Compaction, MessageCounts, Rung
from ullage.context.counting.tokens import Calibration, estimate_block
from ullage.context.entries import AssistantReply, Entry, Logged, Notice, ToolReturned, UserPrompt
from ullage.context.view.fates import Fate, FateKind, fates, is_message
from ullage.context.view.log_places import place_of
from ullage.context.view.projection import Projection
from ullage.context.view.taken_out import all_taken_out
from ullage.models.model import ModelCard
from ullage.session.history.places import item_of_message, items_of_entry
from ullage.session.timeline.items import RestoredFileItem
from ullage.session.timeline.timeline import Timeline

Part: TypeAlias = Literal["user", "assistant", "tool", "notice", "record"]
"""The first three are messages as a user counts them; `record` is what an earlier compaction left in the place of some."""

TITLE_CHARACTERS = 120
SUMMARY_PROMPT_TOKENS = 1_000
"""What asking for a summary adds to the conversation: about the length of the prompt."""


@dataclass(frozen=True, slots=True)
class PreviewLine:
    """One part of what the model sees now, and what would become of it (tokens). `item_id` is None if no item shows it."""

    item_id: str | None
    role: Part
    title: str
    tokens_before: int
    tokens_after: int
    fate: FateKind


@dataclass(frozen=True, slots=True)
class PreviewCost:
    """Dollars: of the summary's call, of the very next request, and of each one after it, without a compaction and with."""

    summary: float
    next_before: float
    next_after: float
    later_before: float
    later_after: float
    estimate: str = ""
    """What the price of the summary rests on, in words; empty if none has to be written."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a compaction would do. Tokens; `nothing` says why nothing would change, and is empty if something would."""

    policy: str
    rung: Rung
    tokens_before: int
    tokens_after: int
    threshold: int
    summary: str
    """The summary as the program would write it."""
    counts: MessageCounts
    """How many messages it would take out of view."""
    lines: tuple[PreviewLine, ...]
    restored: tuple[RestoredFileItem, ...]
    cost: PreviewCost | None
    """None if the prices are not known."""
    nothing: str = ""


@dataclass(frozen=True, slots=True)
class ItemFate:
    """What became of an item, and what it is, in a few words."""

    item_id: str
    fate: FateKind
    compaction_id: str | None
    role: Part
    title: str
    restored: str | None = None
    """The file of a result that the compaction read again in its place; None if there is none, or where that is not told."""


def lines_of(before: Projection, after: Projection, calibration: Calibration, timeline: Timeline) -> tuple[PreviewLine, ...]:
    """The parts of `before` in the order in which the model sees them, and what `after` makes of each.

    A call of which nothing was said is part of its result, as it is in the conversation that the user sees.
    """
    entries = before.entries
    become, out = fates(after), all_taken_out(before.active)
    shown_by = _results_of_bare_calls(before.entries)
    left = _tokens_by_part(after, shown_by)
    lines: list[PreviewLine] = []
    for seq, tokens in _tokens_by_part(before, shown_by).items():
        logged = entries[place_of(entries, seq)]
        remaining = calibration.apply(left.get(seq, 0))
        fate = become[seq].kind if seq in become else _fate_of_summary(remaining)
        part, title = part_of(logged.entry), title_of_entry(logged, timeline)
        if seq in out:
            part, title = "record", f"Placeholder for what you excluded: {title}"
        item_id = item_of_message(logged.entry)
        lines.append(PreviewLine(item_id, part, title, calibration.apply(tokens), remaining, fate))
    return tuple(lines)


def _results_of_bare_calls(entries: Iterable[Logged]) -> Mapping[int, int]:
    """The first result of each reply that calls tools without a word, by the reply; both by seq."""
    waiting: dict[str, int] = {}
    found: dict[int, int] = {}
    for logged in entries:
        if isinstance(logged.entry, AssistantReply) and not is_message(logged.entry):
            waiting |= {block.id: logged.seq for block in logged.entry.blocks if isinstance(block, ToolUse)}
        elif isinstance(logged.entry, ToolReturned):
            reply = waiting.pop(logged.entry.tool_use_id, None)
            if reply is not None:
                found.setdefault(reply, logged.seq)
    return found


def fates_of(projection: Projection, timeline: Timeline, since: int = 0) -> tuple[ItemFate, ...]:
    """What became of all items that the model does not see as they were, in the order of the log, from entry `since` on.

    What the user took out stays taken out by them, whatever a later compaction makes of what is around it.
    """
    entries = projection.entries
    found = {**fates(projection, since), **by_hand(projection.active)}
    told = ((entries[place], fate) for seq, fate in found.items() if (place := place_of(entries, seq)) < len(entries) and seq >= since)
    return tuple(
        ItemFate(item_id, fate.kind, fate.compaction_id, part_of(logged.entry), title_of_entry(logged, timeline))
        for logged, fate in told
        if fate.kind != "kept"
        for item_id in items_of_entry(logged.entry)
    )


def by_hand(active: Iterable[Compaction]) -> Mapping[int, Fate]:
    """What became of what the user took out with some of these compactions, by seq."""
    made = [compaction for compaction in active if compaction.policy == BY_THE_USER]
    cleared = {each.seq: Fate("cleared", compaction.id) for compaction in made for each in compaction.cleared}
    snips = [(compaction.id, compaction.snipped) for compaction in made if compaction.snipped is not None]
    snipped = {
        seq: Fate("snipped", compaction_id)
        for compaction_id, snip in snips
        for seq in range(snip.first_seq, snip.last_seq + 1)
        if seq not in snip.carried
    }
    return {**cleared, **snipped}


def cost_of(
    before: Projection, entry: Compaction, rung: Rung, card: ModelCard, now: float, categories: Sequence[tuple[str, int]]
) -> PreviewCost | None:
    """What the compaction would cost and save; None if the prices are not known. `categories` are the gauge's (tokens)."""
    if card.prices is None:
        return None
    used, after = entry.tokens_before, entry.estimated_after
    fixed = sum(tokens for name, tokens in categories if name in ("system", "rules", "tools"))
    warm = now - _last_reply(before.entries) < CACHE_SECONDS
    summary, estimate = 0.0, ""
    if rung in ("model", "api"):
        known = took((logged.entry for logged in before.entries if isinstance(logged.entry, Compaction)), entry.policy)
        output, source = (
            (known, "as earlier ones took in this session")
            if known
            else (SUMMARY_OUTPUT_TOKENS, "since none was written in this session yet")
        )
        estimate = f"An estimate: {output:,} tokens are assumed for the summary, {source}."
        asked = _sent(used, used if warm else 0)
        summary = card.prices.cost(Usage(SUMMARY_PROMPT_TOKENS, output, asked.cache_read_tokens, asked.cache_write_5m_tokens))
        warm = True  # the call itself has just read, or written, what comes before the messages
    return PreviewCost(
        summary=summary,
        next_before=card.prices.cost(_sent(used, used if now - _last_reply(before.entries) < CACHE_SECONDS else 0)),
        next_after=card.prices.cost(_sent(after, min(fixed, after) if warm else 0)),
        later_before=card.prices.cost(_sent(used, used)),
        later_after=card.prices.cost(_sent(after, after)),
        estimate=estimate,
    )


def _sent(tokens: int, read: int) -> Usage:
    """The usage of a request of that many tokens of which the cache holds `read`; the rest is written to it."""
    return Usage(0, 0, cache_read_tokens=read, cache_write_5m_tokens=tokens - read)


def _last_reply(entries: Sequence[Logged]) -> float:
    return next((logged.at for logged in reversed(entries) if isinstance(logged.entry, AssistantReply)), 0.0)


def _tokens_by_part(projection: Projection, shown_by: Mapping[int, int]) -> Mapping[int, int]:
    """The estimated tokens of each part, in the order in which the parts stand: by the seq of the entry that brought it, or of the one by
    which that is `shown_by`."""
    tokens: dict[int, int] = {}
    for source, block in _blocks(projection):
        seq = shown_by.get(source, source)
        tokens[seq] = tokens.get(seq, 0) + estimate_block(block)
    return tokens


def _blocks(projection: Projection) -> Iterator[tuple[int, Block]]:
    for message in projection.messages:
        yield from zip(message.sources, message.blocks, strict=True)


def _fate_of_summary(tokens_after: int) -> FateKind:
    """What becomes of what an earlier compaction left."""
    return "kept" if tokens_after else "summarised"


def part_of(entry: Entry) -> Part:
    """Who said what the entry holds, or what else it is."""
    match entry:
        case AssistantReply():
            return "assistant"
        case ToolReturned():
            return "tool"
        case Compaction():
            return "record"
        case Notice():
            return "notice"
        case _:
            return "user"


_NOTICES = {
    "file_changed": "A file changed",
    "rules": "Rules",
    "resume": "Went on",
    "command": "A command ended",
    "hook": "A hook said something",
    "hook_standing": "A hook said something",
}


def title_of_entry(logged: Logged, timeline: Timeline) -> str:
    """What an entry is, in one line."""
    entry = logged.entry
    match entry:
        case UserPrompt():
            return _short(entry.text)
        case AssistantReply():
            said = next((block.text for block in entry.blocks if isinstance(block, Text) and block.text.strip()), "")
            called = ", ".join(dict.fromkeys(block.name for block in entry.blocks if isinstance(block, ToolUse)))
            return _short(said) or (f"Calls {called}" if called else "Thinks")
        case ToolReturned():
            return timeline.title_of_call(entry.tool_use_id) or f"Result of {entry.tool}"
        case Compaction():
            return _title_of_summary(entry)
        case Notice():
            return _NOTICES[entry.about]
        case _:
            return ""


def _title_of_summary(left_by: Compaction) -> str:
    if left_by.policy == BY_THE_USER:
        return "Placeholder for what you excluded"
    if left_by.summarised is None and left_by.rung == "moves":
        return "Placeholder for what an earlier compaction cut out"
    return "Summary of an earlier compaction"


def _short(text: str) -> str:
    line = " ".join(text[: 4 * TITLE_CHARACTERS].split())
    return line if len(line) <= TITLE_CHARACTERS else f"{line[: TITLE_CHARACTERS - 1].rstrip()}…"
