"""The cheap moves, which ask no model: clip, clear and snip.

- **Clip**: a tool result that is too long gives way to its head and its tail, before it is first sent. The whole is in a file by then or
  right after; writing it is not done here.
- **Clear**: old tool results give way to a placeholder. The results that are in view, each with its call, are what is chosen from.
- **Snip**: the middle of a long conversation gives way to a marker that says what went and how to get it back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from ullage.context.blocks import Json, Media, Message, ToolResult, ToolUse
from ullage.context.compaction_entries import Cleared, Snipped
from ullage.context.counting.media import in_words, media_tokens
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import AssistantReply, Logged, Notice, ToolReturned, UserPrompt
from ullage.context.moves.cuts import has_news, legal_cuts, start_of_turns
from ullage.context.policy import ClearOptions, ClipOptions, SnipOptions
from ullage.context.view.log_places import clipped_to, entry_at, place_of, said_of
from ullage.context.view.projection import Projection
from ullage.context.view.quotations import is_anything_excluded, without_excluded

# Clip

LINE_END_WITHIN = 0.5
"""Share of a part. The part is cut at a line's end if at least so much of it is kept then."""


@dataclass(frozen=True)
class Earlier:
    """A text in view. `source` tells in a few words where it stands."""

    source: str
    text: str


@dataclass(frozen=True, slots=True)
class Arrival:
    """A result as the tool gave it, before it is sent."""

    tool_use_id: str
    content: str
    complete: bool = True
    """Whether it is all that there was; else the tool itself kept only parts."""
    earlier: tuple[Earlier, ...] = ()
    """Texts in view that the result may repeat, the likeliest first."""

    @property
    def in_words(self) -> str:
        """The words for what the file holds that keeps `content`."""
        return "The whole output" if self.complete else "What was kept of the output"


@dataclass(frozen=True, slots=True)
class Clip:
    """A result as the model gets it. `characters` is its length before."""

    content: str
    clipped: bool
    characters: int


def clip(arrivals: Sequence[Arrival], options: ClipOptions, path_of: Callable[[str], str]) -> tuple[Clip, ...]:
    """What the model gets of each result of one message, in the same order.

    Results over the limit of a result are clipped, then the largest ones while all together are over the limit of a message. `path_of`
    gives, for a tool use id, the path of the file that holds the whole. A clip is never longer than what it stands for; where it would be,
    the result stays whole.
    """
    clips = [_whole(arrival) for arrival in arrivals]
    largest_first = sorted(range(len(arrivals)), key=lambda index: -clips[index].characters)
    total = sum(clip.characters for clip in clips)
    for index in largest_first:
        if not _is_too_long(clips[index].characters, total, options):
            break
        clips[index] = _clipped(arrivals[index], options, path_of)
        total += len(clips[index].content) - clips[index].characters
    return tuple(clips)


def _whole(arrival: Arrival) -> Clip:
    return Clip(arrival.content, clipped=False, characters=len(arrival.content))


def _is_too_long(characters: int, total: int, options: ClipOptions) -> bool:
    if options.result_characters is not None and characters > options.result_characters:
        return True
    is_over = options.message_characters is not None and total > options.message_characters
    return is_over and characters > options.smallest_characters


def _clipped(arrival: Arrival, options: ClipOptions, path_of: Callable[[str], str]) -> Clip:
    content = arrival.content
    tail_length = int(options.preview_characters * options.tail_share)
    head = _head(content, options.preview_characters - tail_length)
    tail = _tail(content, tail_length)
    left_out = len(content) - len(head) - len(tail)
    lines = len(content.splitlines())
    line = (
        f"[{left_out:,} characters are left out here. {arrival.in_words}, {len(content):,} characters in {lines:,} lines, "
        f"is in {path_of(arrival.tool_use_id)}]"
    )
    shorter = "\n".join(part for part in (head.rstrip("\r\n"), line, tail.rstrip("\r\n")) if part)
    if left_out <= 0 or len(shorter) >= len(content):
        return _whole(arrival)
    return Clip(shorter, clipped=True, characters=len(content))


def _head(content: str, length: int) -> str:
    """The beginning of the text, at most `length` characters of it; whole lines if that keeps enough."""
    part = content[:length]
    line_end = part.rfind("\n") + 1
    return part[:line_end] if line_end >= length * LINE_END_WITHIN else part


def _tail(content: str, length: int) -> str:
    """The end of the text, at most `length` characters of it; whole lines if that keeps enough."""
    part = content[max(len(content) - length, 0) :]
    line_start = part.find("\n") + 1
    return part[line_start:] if 0 < line_start <= len(part) - length * LINE_END_WITHIN else part


# Clear

CALL_CHARACTERS = 100
"""Characters of a placeholder that tell what the tool was called with."""


def clear(projection: Projection, options: ClearOptions, start: int = 0) -> tuple[Cleared, ...]:
    """The results that can be cleared, in log order: those of the messages from `start`, a legal cut, on.

    Results are kept that the options spare, that are short or cleared already, or that the placeholder would not make shorter.
    """
    shown = _results_in_view(projection, start)
    kept = {cleared.seq for compaction in projection.active for cleared in compaction.cleared} | _kept(projection, shown, options)
    cleared: list[Cleared] = []
    gain = 0
    for result in shown:
        if result.seq in kept or (len(result.text) <= options.minimum_characters and not result.media):
            continue
        placeholder = _placeholder(projection.entries, result, options)
        if estimate_text(placeholder) >= _tokens(result) if result.media else len(placeholder) >= len(result.text):
            continue
        cleared.append(Cleared(result.seq, placeholder))
        if options.minimum_gain:
            gain += _tokens(result) - estimate_text(placeholder)
    return tuple(cleared) if gain >= options.minimum_gain else ()


def clear_one(projection: Projection, seq: int) -> Cleared | None:
    """The clearing of one result that somebody wants cleared. None if it is not in view as it came, holds what the user answered, or would
    be no shorter."""
    result = next((each for each in _results_in_view(projection) if each.seq == seq), None)
    if result is None or result.returned.answers or is_cleared(projection, seq):
        return None
    placeholder = _how_to_get_it_back(projection.entries, result)
    shorter = estimate_text(placeholder) < _tokens(result) if result.media else len(placeholder) < len(result.text)
    return Cleared(seq, placeholder) if shorter else None


def is_cleared(projection: Projection, seq: int) -> bool:
    """Whether a placeholder stands in the place of that result already."""
    return any(each.seq == seq for compaction in projection.active for each in compaction.cleared)


PLACEHOLDER_TOKENS = 50
"""About how many tokens a placeholder takes."""


def _tokens(result: ResultInView) -> int:
    return estimate_text(result.text) + sum(map(media_tokens, result.media))


def _kept(projection: Projection, shown: Sequence[ResultInView], options: ClearOptions) -> set[int]:
    """The seqs of the results that the options spare."""
    kept = {result.seq for result in shown if not result.answered} if options.answered_only else set[int]()
    if options.spares_newest_reads:
        kept |= _newest_reads(projection.entries, shown)
    if options.keep_results:
        counted = [result for result in shown if result.answered] if options.counts_answered else shown
        kept |= {result.seq for result in counted[max(len(counted) - options.keep_results, 0) :]}
    spared = set(_spared(projection, shown, options))
    kept |= spared
    if options.keep_tokens:
        kept |= set(_within(options.keep_tokens, (result for result in reversed(shown) if result.seq not in spared)))
    return kept


def _spared(projection: Projection, shown: Sequence[ResultInView], options: ClearOptions) -> Iterator[int]:
    """The seqs of results that are never cleared: answers of the user, and those of the spared tools, newest messages and newest turns."""
    yield from (result.seq for result in shown if result.returned.answers)  # answers are words of the user: they stay, whatever the policy
    if options.spared_tools:
        yield from (result.seq for result in shown if result.returned.tool in options.spared_tools)
    first = len(projection.messages) - options.spared_messages
    if options.spared_turns:  # results in the message that begins a turn are those of the turn before
        first = min(first, start_of_turns(projection, options.spared_turns) + 1)
    yield from (result.seq for result in shown if result.message >= first)


def _within(tokens: int, newest_first: Iterable[ResultInView]) -> Iterator[int]:
    """The seqs of the newest results that all together take no more than `tokens`."""
    for result in newest_first:
        tokens -= _tokens(result)
        if tokens < 0:
            return
        yield result.seq


def _newest_reads(entries: Sequence[Logged], shown: Sequence[ResultInView]) -> set[int]:
    """The seqs of the newest results that show each file. A result that is clipped, or refers to an earlier one, does not stand for the
    text."""
    whole = (result for result in shown if _whole_output(entries, result) is None)
    reads = {touch.path: result.seq for result in whole for touch in result.returned.touched if touch.kind == "read"}
    return set(reads.values())


def _placeholder(entries: Sequence[Logged], result: ResultInView, options: ClearOptions) -> str:
    head = options.placeholder.replace("{tool}", result.returned.tool) if options.placeholder else _how_to_get_it_back(entries, result)
    if not options.kept_lines:
        return head
    return "\n".join([head, *result.text.splitlines()[-options.kept_lines :]])


def _how_to_get_it_back(entries: Sequence[Logged], result: ResultInView) -> str:
    returned = result.returned
    file = _whole_output(entries, result)
    whole = f", or read {file}" if file else ""
    gave = "; ".join(map(in_words, result.media)) or f"{returned.characters:,} characters"
    return (
        f"[Cleared to make room: {returned.tool}{_called_with(result.call.input)} gave {gave}. "
        f"To see them again: recall with tool_use_id {returned.tool_use_id}{whole}]"
    )


def _called_with(call_input: Mapping[str, Json]) -> str:
    """The input that a tool was called with, in a few words: `(path: src/a.py)`; empty if it had none."""
    words = ", ".join(f"{name}: {_one_line(value)}" for name, value in call_input.items())
    if not words:
        return ""
    return f"({words})" if len(words) <= CALL_CHARACTERS else f"({words[: CALL_CHARACTERS - 1].rstrip()}…)"


def _one_line(value: Json) -> str:
    """The value's beginning, on one line."""
    return " ".join(str(value)[: 2 * CALL_CHARACTERS].split())


@dataclass(frozen=True, slots=True)
class ResultInView:
    """A tool's result that is in view, with its call. `text` and `media` are what the model sees of it."""

    seq: int
    returned: ToolReturned
    call: ToolUse
    text: str
    message: int
    """The index of the message that it stands in."""
    answered: bool
    """Whether the model has replied since."""
    media: tuple[Media, ...] = ()


def _results_in_view(projection: Projection, start: int = 0) -> list[ResultInView]:
    """The results in the messages from `start`, a legal cut, on, in log order. Costs what is in view from there on, however long the log
    is."""
    messages = projection.messages[start:] if start else projection.messages
    last_reply = max((index for index, message in enumerate(messages, start) if message.role == "assistant"), default=0)
    shown: list[ResultInView] = []
    calls: Mapping[str, ToolUse] = {}
    for index, message in enumerate(messages, start):
        if message.role == "assistant":
            calls = {block.id: block for block in message.blocks if isinstance(block, ToolUse)}
            continue
        shown.extend(_of(message, index, calls, projection.entries, answered=index < last_reply))
    return sorted(shown, key=lambda result: result.seq)


def _of(message: Message, index: int, calls: Mapping[str, ToolUse], entries: Sequence[Logged], *, answered: bool) -> Iterator[ResultInView]:
    for block, seq in zip(message.blocks, message.sources, strict=True):
        if not isinstance(block, ToolResult):
            continue
        returned = entry_at(entries, seq)
        if isinstance(returned, ToolReturned):
            yield ResultInView(seq, returned, calls[block.tool_use_id], block.content, index, answered, block.media)


def _whole_output(entries: Sequence[Logged], result: ResultInView) -> str | None:
    """The path of the file with the whole of a clipped result; None if the model got all of it."""
    if result.returned.full_output:
        return result.returned.full_output
    clipped = clipped_to(entries, result.seq)
    return clipped.full_output if clipped else None


# Snip


def snip(projection: Projection, options: SnipOptions, digest: Callable[[Sequence[Logged]], str]) -> Snipped | None:
    """The range of messages that can be cut out; None if the conversation is short or no legal cuts leave anything new between them.

    `digest` tells in a few lines what stands in a range of the log: the user's words, the files touched.
    """
    messages = projection.messages
    if len(messages) <= options.keep_first + options.keep_last:
        return None
    cuts = legal_cuts(messages)
    first = min((cut for cut in cuts if cut >= options.keep_first), default=len(messages))
    last = max(cut for cut in cuts if cut <= len(messages) - options.keep_last)
    return between(projection, first, last, digest)


def between(projection: Projection, first: int, last: int, digest: Callable[[Sequence[Logged]], str]) -> Snipped | None:
    """The messages between two legal cuts, as a range to be cut out; None if nothing new is between them."""
    if first >= last or not has_news(projection, projection.messages[first:last]):
        return None
    first_seq = seq_after(projection, first)
    last_seq = projection.last_seq_before(last)
    entries = projection.entries
    gone = entries[place_of(entries, first_seq) : place_of(entries, last_seq + 1)]
    told = without_excluded(projection, gone) if is_anything_excluded(projection) else gone
    return Snipped(first_seq, last_seq, _marker(gone, digest(told)))


def seq_after(projection: Projection, cut: int) -> int:
    """The seq at which a range begins that starts at a legal cut. A snipped range right before the cut belongs to it, with its marker."""
    first = projection.last_seq_before(cut) + 1
    before = [
        compaction.snipped.first_seq
        for compaction in projection.active
        if compaction.snipped and not compaction.snipped.carried and compaction.snipped.first_seq < first == compaction.snipped.last_seq + 1
    ]
    return min(before, default=first)


def messages_in(entries: Sequence[Logged]) -> int:
    """The number of messages that the entries make: stretches of what one side said without a break."""
    runs = 0
    by_model: bool | None = None
    for begun, ended, count in filter(None, said_of(entries, _runs)):
        runs += count - (1 if begun == by_model else 0)
        by_model = ended
    return runs


def _runs(entries: Sequence[Logged]) -> tuple[bool, bool, int] | None:
    """Whether the model speaks first in these entries, whether it speaks last, and the number of stretches that one side says; None if
    nobody speaks."""
    said = [logged.entry for logged in entries if isinstance(logged.entry, UserPrompt | AssistantReply | ToolReturned | Notice)]
    sides = [by_model for by_model, _ in groupby(said, key=lambda entry: isinstance(entry, AssistantReply))]
    return (sides[0], sides[-1], len(sides)) if sides else None


def _marker(gone: Sequence[Logged], digest: str) -> str:
    first, last = gone[0].seq, gone[-1].seq
    head = f"[{messages_in(gone)} earlier messages were taken out here to make room. To see them again: recall from {first} to {last}."
    return f"{head} In short:]\n{digest}" if digest.strip() else f"{head}]"
