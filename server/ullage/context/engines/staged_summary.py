"""The summary of a staged engine, from its plan to its text.

The plan says what the summary stands for, what stays, and what a model is asked for it. The text is what the model wrote or, without a
model, what a program writes, in the same shape.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from ullage.context.blocks import Message, Text
from ullage.context.compaction_entries import Cleared, Compaction, CompactionRedone, CompactionUndone
from ullage.context.counting.tokens import estimate_text
from ullage.context.engines.conversation_text import FITS, conversation_text
from ullage.context.engines.engine import Covered, Occasion, summary_room
from ullage.context.engines.staged_options import OwnText, SummaryShape
from ullage.context.entries import Logged, UserPrompt
from ullage.context.moves.cheap import messages_in, seq_after
from ullage.context.moves.cuts import Tail, cut_before, has_news, legal_cuts
from ullage.context.moves.plan import SMALLEST_SUMMARY, SUMMARY_SHARE, Asked, Plan, preview
from ullage.context.policy import SummaryOptions
from ullage.context.quoting import quoted
from ullage.context.redact import redact
from ullage.context.summary.facts import facts
from ullage.context.summary.program_summary import PROGRAM_TOKENS, brief, program_sections
from ullage.context.summary.quotes import quote
from ullage.context.view.log_places import entry_at, place_of, said_of
from ullage.context.view.projection import Projection
from ullage.context.view.quotations import excluded

SHORTER_TAIL = Tail(share_of_view=0.2)
"""The tail where the usual one leaves nothing to summarise."""

EVERYTHING = sys.maxsize
"""Tokens: more than there can ever be."""

EARLIER_SUMMARY = "[summary so far]"

BY_PROGRAM = "(Written by program from the log: no model was asked, or what it wrote could not be used.)"
EARLIER = "# What a model wrote for an earlier summary"
USER_SHARE, PROGRAM_SHARE, EARLIER_SHARE = 0.5, 0.25, 0.15
"""Shares of the room for the parts of a summary by program; its ceilings are those of Ullage's own program summary."""
USER_TOKENS, EARLIER_TOKENS = 20_000, 4_000
MESSAGE_TOKENS = SummaryOptions().message_tokens
BRIEF_BELOW = 1_500
"""Tokens of room. With fewer a program summary would not fit, and a few lines must do."""
LEFT_OUT = "\n… ({characters:,} characters left out) …\n"


def first_cut(view: Projection, keep_first: int) -> int:
    """The first legal cut with at least `keep_first` messages before it; the one after all messages if there is none."""
    return next((cut for cut in legal_cuts(view.messages) if cut >= keep_first), len(view.messages)) if keep_first else 0


def summarised(at: Occasion, cleared: tuple[Cleared, ...], shape: SummaryShape) -> Plan | None:
    """The plan with a summary; None if no summary would gain more than the cheap moves alone."""
    view = preview(at.projection, cleared) if cleared else at.projection
    if not view.messages:
        return None
    alone = at.count(view.messages)
    staying = _last_prompt(view) if shape.carries_last_prompt else frozenset[int]()
    for head, cut in _ranges(at, view, shape, staying):
        if head < cut:
            plan = _with_summary(at, view, cleared, shape, head, cut, staying)
            if plan is not None and plan.estimated_after < alone:
                return plan
    return None


def _ranges(at: Occasion, view: Projection, shape: SummaryShape, staying: frozenset[int]) -> Iterator[tuple[int, int]]:
    """The ranges to try to summarise, each as two cuts. They take in more and more of what should stay, for where the first ones gain
    nothing or leave too much after a refusal."""
    head = first_cut(view, shape.keep_first)
    usual = shape.reactive_tail if at.trigger == "reactive" and shape.reactive_tail else shape.tail
    if shape.acknowledgement and not staying:  # else the acknowledgement, which is the assistant's, would be the last word
        usual = replace(usual, unanswered=True)
    none = Tail(unanswered=usual.unanswered)
    for tail in (usual, replace(usual, at_prompts=False), SHORTER_TAIL, none):
        cut = cut_before(tail, view, at.threshold, at.count)
        if at.trigger != "reactive" or at.count(view.messages[:head]) + at.count(view.messages[cut:]) < at.threshold:
            yield head, cut
    yield head, cut_before(none, view, at.threshold, at.count)
    yield 0, cut_before(none, view, at.threshold, at.count)


def _with_summary(
    at: Occasion, view: Projection, cleared: tuple[Cleared, ...], shape: SummaryShape, head: int, cut: int, staying: frozenset[int]
) -> Plan | None:
    """The plan to summarise the messages between two cuts; None if all of them stay."""
    first = seq_after(view, head) if head else 0
    to = view.last_seq_before(cut)
    entries = view.entries[place_of(view.entries, first) : place_of(view.entries, to + 1)]
    # What an earlier cut carried stands after its marker, but its entries are before: it stays.
    covered = _only(view.messages[head:cut], lambda seq: seq >= first)
    carried_before = _only(view.messages[head:cut], lambda seq: seq < first)
    if not has_news(view, covered, staying):
        return None
    tokens = at.count(covered)
    output = shape.tokens.of(at.window, tokens)
    carried = tuple(sorted(seq for seq in staying if first <= seq <= to))
    stays = at.count((*view.messages[:head], *carried_before)) + at.count(view.messages[cut:])
    stays += at.count(_only(view.messages, lambda seq: seq in carried))
    if shape.user_message_tokens:
        said = verbatim(entries, min(shape.user_message_tokens, summary_room(at.threshold)))
        stays += at.count([Message("user", tuple(map(Text, said)), (0,) * len(said))]) if said else 0
    return Plan(
        through=at.projection.entries[-1].seq,
        cleared=tuple(each for each in cleared if not first <= each.seq <= to),
        snipped=None,
        summarise_to=to,
        covers=messages_in(entries),
        estimated_after=stays + min(output, max(SMALLEST_SUMMARY, int(SUMMARY_SHARE * tokens))),
        summarise_from=first,
        asked=_asked(at, view, shape, view.messages[:head], covered, _only(at.projection.messages, lambda seq: first <= seq <= to), output),
        carried=carried,
    )


def _last_prompt(view: Projection) -> frozenset[int]:
    """The seq of the user's last prompt, if the model is still at it; else empty. A prompt that was taken out of the conversation does not
    count."""
    if view.messages[-1].role == "assistant":
        return frozenset()
    out = excluded(view)
    prompts = (each for each in reversed(view.entries) if isinstance(each.entry, UserPrompt) and each.entry.text.strip())
    return next((frozenset({each.seq}) for each in prompts if each.seq not in out), frozenset[int]())


def _asked(
    at: Occasion,
    view: Projection,
    shape: SummaryShape,
    before: Sequence[Message],
    covered: Sequence[Message],
    uncleared: Sequence[Message],
    output: int,
) -> Asked | None:
    """The request to the model for the summary; None if no model is asked. `uncleared` are the covered messages as they were before this
    compaction's cheap moves."""
    if at.trigger == "reactive" and not shape.reactive_by_model:
        return None
    overflows = at.trigger == "reactive" or at.used + output > at.window
    if shape.reads is None and not overflows:
        return Asked(shape.prompt, output, check=shape.check, sections=shape.sections)
    own = shape.reads or OwnText()  # where the warm conversation does not fit, the oldest is left out first
    room = int(at.window * FITS) - output
    earlier = _earlier_in_view(view, shape, (*before[-1:], *covered))
    text = _said(view, uncleared, own, EVERYTHING) if own.uncleared else ""
    if not text or estimate_text(text) > room:
        text = _said(view, covered, own, room)
    if earlier:
        text = f"{EARLIER_SUMMARY}\n{quoted(earlier)}\n\n{text}"
    return Asked(shape.update if earlier and shape.update else shape.prompt, output, text, shape.check, shape.sections)


def _said(view: Projection, messages: Sequence[Message], own: OwnText, room: int) -> str:
    """The text of what was said in the messages, without earlier summaries."""
    said = _only(messages, lambda seq: not isinstance(entry_at(view.entries, seq), Compaction))
    return conversation_text(said, view.entries, own, room)


def _earlier_in_view(view: Projection, shape: SummaryShape, messages: Sequence[Message]) -> str:
    """The newest summary among what the messages show; empty if there is none."""
    for message in reversed(messages):
        for block, source in zip(reversed(message.blocks), reversed(message.sources), strict=True):
            entry = entry_at(view.entries, source)
            if isinstance(entry, Compaction) and isinstance(block, Text) and block.text == written(entry):
                return _summary_in(shape, block.text)
    return ""


def _only(messages: Iterable[Message], wanted: Callable[[int], bool]) -> list[Message]:
    """What those entries say in the messages whose seqs are `wanted`; messages that then are empty are left out."""
    said: list[Message] = []
    for message in messages:
        kept = [(block, source) for block, source in zip(message.blocks, message.sources, strict=True) if wanted(source)]
        if kept:
            said.append(Message(message.role, tuple(block for block, _ in kept), tuple(source for _, source in kept)))
    return said


def staged_text(shape: SummaryShape, covered: Covered) -> str:
    """The whole text of a summary: the user's own messages where they are kept, the preface, the summary."""
    said = ""
    if shape.user_message_tokens:
        said = "\n\n".join(verbatim(covered.entries, min(shape.user_message_tokens, covered.room)))
    summary = covered.model_text if covered.model_text is not None else _by_program(shape, covered)
    return "\n\n".join(part for part in (said, shape.preface, summary) if part)


def _summary_in(shape: SummaryShape, text: str) -> str:
    """The summary alone, taken out of a text that `staged_text` made."""
    return text.rpartition(shape.preface)[2].strip() if shape.preface else text.strip()


def verbatim(entries: Sequence[Logged], tokens: int) -> list[str]:
    """The newest of the user's messages that fit into `tokens` tokens, in the order in which they were said.

    The one that does not fit any more loses its middle, and older ones are left out.
    """
    kept: list[str] = []
    prompts = (logged.entry for logged in reversed(entries) if isinstance(logged.entry, UserPrompt))
    for text in (prompt.text for prompt in prompts if prompt.text.strip()):
        size = estimate_text(text)
        if size > tokens:
            kept.append(_without_middle(text, tokens, size))
            break
        kept.append(text)
        tokens -= size
    return [text for text in reversed(kept) if text]


def _without_middle(text: str, tokens: int, size: int) -> str:
    half = int(len(text) * max(tokens, 0) / size / 2)
    if not half:
        return ""
    return text[:half] + LEFT_OUT.format(characters=len(text) - 2 * half) + text[len(text) - half :]


def _by_program(shape: SummaryShape, covered: Covered) -> str:
    entries = covered.entries[place_of(covered.entries, covered.plan.summarise_from) :]
    parts = [BY_PROGRAM]
    earlier = _earlier_in_log(shape, covered)
    if earlier:
        parts += [EARLIER, earlier]
    if covered.room < BRIEF_BELOW:
        return "\n\n".join((*parts, brief(entries)))
    # The reading is of the whole log, so it serves only where the whole log is summarised.
    found = facts(entries, None if covered.plan.summarise_from else covered.reading)
    words = 0 if shape.user_message_tokens else min(USER_TOKENS, int(covered.room * USER_SHARE))
    quotes = quote(found.asked if words else (), words, MESSAGE_TOKENS)
    sections = program_sections(found, quotes, covered.focus, min(PROGRAM_TOKENS, int(covered.room * PROGRAM_SHARE)))
    return redact("\n\n".join((*parts, *(section.markdown() for section in sections))))


def _earlier_in_log(shape: SummaryShape, covered: Covered) -> str:
    """The newest summary in force that a model wrote, cut off where there is no room for more; empty if there is none."""
    in_force = (entry_at(covered.entries, seq) for seq in reversed(_in_force(covered.entries)))
    newest = next((each for each in in_force if isinstance(each, Compaction) and each.rung == "model" and written(each)), None)
    if newest is None:
        return ""
    text = _summary_in(shape, written(newest))
    size = estimate_text(text)
    tokens = min(EARLIER_TOKENS, int(covered.room * EARLIER_SHARE))
    return text if size <= tokens else text[: int(len(text) * tokens / size)].rstrip() + " …"


def written(compaction: Compaction) -> str:
    """The text of a compaction that took the place of messages; empty if it summarised nothing."""
    if compaction.summarised is not None:
        return compaction.summarised.text
    return compaction.snipped.marker if compaction.snipped is not None and compaction.rung != "moves" else ""


def _in_force(entries: Sequence[Logged]) -> list[int]:
    """The seqs of the compactions in force."""
    made: dict[int, str] = {}
    undone: set[str] = set()
    for seq, compaction_id, kind in (each for stretch in said_of(entries, _made_and_undone) for each in stretch):
        if kind is Compaction:
            made[seq] = compaction_id
        elif kind is CompactionUndone:
            undone.add(compaction_id)
        else:
            undone.discard(compaction_id)
    return [seq for seq, compaction_id in made.items() if compaction_id not in undone]


def _made_and_undone(entries: Sequence[Logged]) -> tuple[tuple[int, str, type], ...]:
    """The compactions among these entries, and their undos and redos: the seq, the compaction's id, and the entry's type."""
    found: list[tuple[int, str, type]] = []
    for logged in entries:
        match logged.entry:
            case Compaction(id=compaction_id) | CompactionUndone(compaction_id) | CompactionRedone(compaction_id):
                found.append((logged.seq, compaction_id, type(logged.entry)))
            case _:
                pass
    return tuple(found)
