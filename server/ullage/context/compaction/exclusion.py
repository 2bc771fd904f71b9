"""Excluding: a message, a tool result or a file that the user does not want the model to see any longer. The same live and in replay.

`exclude` and `exclude_file` plan the compaction that does it, and `as_planned` is its entry.

Earlier compactions may tell of what is excluded. `rewordings` has their texts as they read without it. What the program wrote it writes
anew, without these entries. From what a model wrote, and from the texts of other policies, whatever repeats their words goes. No program
can find or change what a model tells in its own words, or the API in a signed block (`tells_in_own_words`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from posixpath import normpath

from ullage.context.blocks import ToolUse
from ullage.context.calls import PATH_KEYS, files_printed
from ullage.context.compaction.api_summary import ELSEWHERE, completing
from ullage.context.compaction.seen import texts_in
from ullage.context.compaction.undoing import by_hand
from ullage.context.compaction_entries import Cleared, Compaction, FileTakenOut, Reworded, Snipped, Summarised
from ullage.context.counting.tokens import estimate_text
from ullage.context.engines.engine import Covered, Engine, SummaryText
from ullage.context.entries import AssistantReply, Logged, ToolReturned, UserPrompt
from ullage.context.moves.plan import Count, Plan, preview
from ullage.context.summary.nearby import nearby_text
from ullage.context.summary.whole_summary import LOGGED, WRITTEN, is_whole_summary
from ullage.context.view.log_places import entry_at, place_of
from ullage.context.view.projection import Projection
from ullage.context.view.quotations import Quotations, excluded, log_without_excluded, what_is_gone
from ullage.context.view.taken_out import EXCLUDED_MESSAGE, EXCLUDED_RESULT, FilePart, Gone, files_shown, gone_by, seq_of

IN_OWN_WORDS = (
    "A summary that a model wrote may still mention it in its own words, which a program cannot find. To remove these as well, undo that "
    "compaction and compact again."
)


def as_planned(id: str, planned: Plan, tokens_before: int) -> Compaction:
    """The log entry that excludes what was planned, before it is known how many tokens it leaves (`weighed`)."""
    entry = by_hand(id, planned.through, tokens_before)
    return replace(entry, cleared=planned.cleared, snipped=planned.snipped, without_files=planned.without_files)


def weighed(entry: Compaction, after: Projection, tokens: int) -> Compaction:
    """The entry with how many tokens it leaves, and with a note where a summary may still tell of what it excludes. `after` is the view
    that it leaves."""
    gone = gone_by(entry)
    skipped = (IN_OWN_WORDS,) if gone and tells_in_own_words(after, gone) else ()
    return replace(entry, estimated_after=tokens, skipped=skipped)


def exclude(projection: Projection, seq: int, count: Count) -> Plan | None:
    """The moves that take entry `seq` out of the view. A result gives way to a line that says so. A prompt goes as a whole, a reply with
    the results of its calls. An entry that a summary or a snip covers can be taken out, too: a program summary may tell of it. None if it
    is out already, or cannot be taken out."""
    entries, entry = projection.entries, entry_at(projection.entries, seq)
    if seq in excluded(projection):
        return None
    cleared: tuple[Cleared, ...] = ()
    snipped: Snipped | None = None
    match entry:
        case ToolReturned():
            cleared = (Cleared(seq, EXCLUDED_RESULT),)
        case UserPrompt():
            snipped = Snipped(seq, seq, EXCLUDED_MESSAGE)
        case AssistantReply():
            snipped = _with_results(entries, seq, entry)
        case _:
            return None
    after = preview(projection, cleared, snipped)
    return Plan(entries[-1].seq, cleared, snipped, None, 0, count(after.messages))


def exclude_file(projection: Projection, path: str, count: Count, named: Callable[[str], str] = normpath) -> Plan | None:
    """The moves that take the text of a file out of the view, wherever it came from: results that showed it give way to a line that says
    so, and so does its text where it was attached, where a notice has it and where a compaction read it again. Calls stay, and what they
    wrote into it; so do searches of more than this file. None if nothing shows it but what is out already.

    `path` is as tools show it (`FileTouch`); `named` turns the name that a call gives a file into such a path.
    """
    out, paths_out = excluded(projection), projection.paths_out
    cleared: list[Cleared] = []
    parts: list[int] = []
    calls: dict[str, ToolUse] = {}
    opened: set[str] = set()
    for logged in projection.entries:
        seq, entry = logged.seq, logged.entry
        if isinstance(entry, AssistantReply):
            calls |= {block.id: block for block in entry.blocks if isinstance(block, ToolUse)}
        elif isinstance(entry, ToolReturned):
            call = calls.get(entry.tool_use_id)
            if any(touch.path == path for touch in entry.touched) or (call is not None and _shows(call, path, opened, named)):
                opened.add(entry.tool_use_id)
                cleared += [Cleared(seq, EXCLUDED_RESULT)] if seq not in out else []
        elif path in files_shown(entry) and path not in paths_out.get(seq, ()) and seq not in out:
            parts.append(seq)
    if not cleared and not parts:
        return None
    without = (FileTakenOut(path, tuple(parts)),)
    after = preview(projection, tuple(cleared), without_files=without)
    return Plan(projection.entries[-1].seq, tuple(cleared), None, None, 0, count(after.messages), without_files=without)


def _shows(call: ToolUse, path: str, opened: Collection[str], named: Callable[[str], str]) -> bool:
    """Whether the result of a call shows the file: the call names its path, runs a command that prints it, or recalls a result that showed
    it (one of `opened`)."""
    paths = (value for key in PATH_KEYS if isinstance(value := call.input.get(key), str))
    return call.input.get("tool_use_id") in opened or any(named(each) == path for each in (*paths, *files_printed(call.input)))


def _with_results(entries: Sequence[Logged], seq: int, reply: AssistantReply) -> Snipped:
    waiting = {block.id for block in reply.blocks if isinstance(block, ToolUse)}
    last = seq
    between: list[int] = []
    others: list[int] = []
    for index in range(place_of(entries, seq + 1), len(entries)):
        logged = entries[index]
        if not waiting or isinstance(logged.entry, AssistantReply):
            break
        if isinstance(logged.entry, ToolReturned) and logged.entry.tool_use_id in waiting:
            waiting.discard(logged.entry.tool_use_id)
            last = logged.seq
            between += others
            others = []
        else:
            others.append(logged.seq)
    return Snipped(seq, last, EXCLUDED_MESSAGE, tuple(between))


# What earlier compactions say without it


def rewordings(after: Projection, engine: Engine, room: int) -> Iterator[Reworded]:
    """The entries that have to be logged before the change that `after` already has: new texts for those in view that tell of what is taken
    out.

    `engine` is Ullage's own, `room` how many tokens there are for its program summary.
    """
    for seq, without in after.to_reword.items():
        made = entry_at(after.entries, seq)
        if isinstance(made, Compaction):
            yield _reworded(seq, made, without, after, engine, room)


def tells_in_own_words(after: Projection, gone: Iterable[Gone]) -> bool:
    """Whether a summary in view may still tell of what is gone, because a model that saw it wrote the summary."""
    first = min(map(seq_of, gone))
    shown = {source for message in after.messages for source in message.sources}
    made = (each for seq, each in after.active_by_seq.items() if seq in shown and first <= each.through)
    return any(_has_part_of_a_model(each) for each in made)


def _has_part_of_a_model(made: Compaction) -> bool:
    if made.summarised is not None and made.summarised.block is not None:
        return True
    text = made.summarised.text if made.summarised is not None else ""
    return f"\n{WRITTEN}, as of entry #" in text if is_whole_summary(text) else made.rung == "model"


def _reworded(seq: int, made: Compaction, without: frozenset[Gone], after: Projection, engine: Engine, room: int) -> Reworded:
    quotations = Quotations(what_is_gone(without, after.entries))
    seqs = sorted(each for each in without if isinstance(each, int))
    files = _by_path(each for each in without if not isinstance(each, int))
    told = made.summarised
    summary, nearby = told.text if told is not None else "", ""
    if told is not None and is_whole_summary(summary) and f"\n{LOGGED}\n" in summary:
        entries = log_without_excluded(after, after.entries[: place_of(after.entries, made.through + 1)], seqs)
        anew = _written_anew(made, told, entries, engine, room)
        summary = completing(anew.text) if told.block is not None else anew.text
        nearby = _nearby(seq, made, anew, after)
        before, begun, rest = summary.partition(f"\n{WRITTEN}")
        part, ended, rest = rest.partition(f"\n{LOGGED}\n")
        summary = f"{before}{begun}{quotations.taken_from(part)}{ended}{rest}"
    else:
        summary = quotations.taken_from(summary)
    marker = quotations.taken_from(made.snipped.marker) if made.snipped is not None else ""
    return Reworded(made.id, tuple(seqs), summary, marker, quotations.taken_from(made.resume), files, nearby)


def _by_path(parts: Iterable[FilePart]) -> tuple[FileTakenOut, ...]:
    found: dict[str, list[int]] = {}
    for seq, path in sorted(parts):
        found.setdefault(path, []).append(seq)
    return tuple(FileTakenOut(path, tuple(seqs)) for path, seqs in sorted(found.items()))


def _written_anew(made: Compaction, told: Summarised, entries: Sequence[Logged], engine: Engine, room: int) -> SummaryText:
    """The program summary of a compaction by Ullage's own policy, written again from `entries` alone."""
    plan = Plan(made.through, made.cleared, None, told.last_seq, told.messages, 0, carried=told.carried)
    cut = place_of(entries, told.last_seq + 1)
    covered, tail = entries[:cut], entries[cut:]
    by_model = ELSEWHERE if told.block is not None else _part_of_a_model(told.text) if made.rung == "model" else None
    return engine.summarise(Covered(covered, plan, by_model, made.focus, room, tail=tail))


def _nearby(seq: int, made: Compaction, anew: SummaryText, after: Projection) -> str:
    """The list of files near the work without what is taken out, in no more tokens than it had."""
    if not made.nearby:
        return ""
    beside = (text for source, text in texts_in(after) if source != seq)
    standing = "\n".join((anew.text, *(file.text for file in made.restored), *beside))
    return nearby_text(anew.nearby, standing, estimate_text(made.nearby))


def _part_of_a_model(summary: str) -> str:
    _, _, rest = summary.partition(f"\n{WRITTEN}, as of entry #")
    return rest.partition("\n")[2].partition(f"\n{LOGGED}\n")[0].strip()
