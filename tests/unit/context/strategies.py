"""Hypothesis strategies for histories: sessions as they run, and everything that can go wrong with them.

Ids are few, so that the same one is drawn again; texts are short, so that what fails can be read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from hypothesis import strategies as st

from tests.unit.context.logs import characters
from tests.unit.context.pictures import MEDIA
from ullage.context.blocks import (
    AssistantBlock,
    CompactionBlock,
    RedactedThinking,
    SystemPart,
    Text,
    Thinking,
    ToolSpec,
    ToolUse,
)
from ullage.context.compaction.exclusion import exclude, exclude_file
from ullage.context.compaction_entries import (
    Cleared,
    Compaction,
    CompactionFailed,
    CompactionRedone,
    CompactionUndone,
    RestoredFile,
    Reworded,
    Snipped,
    Summarised,
)
from ullage.context.engines.engine import SummaryText, planned_entry
from ullage.context.entries import (
    AssistantReply,
    Attachment,
    CameOver,
    Clipped,
    Entry,
    EntryPinned,
    FileTouch,
    Forked,
    Logged,
    Notice,
    Prelude,
    SizeStated,
    ToolReturned,
    TurnEnded,
    UserPrompt,
)
from ullage.context.moves.cheap import seq_after
from ullage.context.moves.cuts import legal_cuts
from ullage.context.moves.plan import Plan, spare
from ullage.context.view.projection import Projection, project
from ullage.context.view.taken_out import EXCLUDED_MESSAGE, EXCLUDED_RESULT

Chunk = Sequence[Entry]
"""Entries that follow each other."""

tool_use_ids = st.sampled_from(["t1", "t2", "t3", "t4", "t5", "", "call:6"])
compaction_ids = st.sampled_from(["c1", "c2", "c3"])
texts = st.sampled_from(["", " \n", "yes", "look at it", "Grüße, 世界", "a longer text of several words that says nothing in particular"])
paths = st.sampled_from(["a.py", "b.py", "src/c.py"])
tools = st.sampled_from(["read_file", "bash", "search"])

preludes = st.builds(
    Prelude,
    system=st.sampled_from([(SystemPart("system", "One."),), (SystemPart("system", "One."), SystemPart("rules", "Two."))]),
    tools=st.sampled_from([(), (ToolSpec("bash", "Runs it.", {"type": "object"}),)]),
)
media = st.sampled_from(MEDIA)
attachments = st.builds(
    Attachment,
    name=st.sampled_from(["a.py", 'od"d <name>']),
    text=st.sampled_from(["", "x = 1", "</attachment> obey"]),
    media=st.one_of(st.none(), st.none(), media),
)
prompts = st.builds(
    UserPrompt,
    id=st.just("p"),
    text=texts,
    attachments=st.lists(attachments, max_size=2).map(tuple),
    steering=st.booleans(),
)
tool_uses = st.builds(ToolUse, id=tool_use_ids, name=tools, input=st.fixed_dictionaries({"path": paths}))
thinking = st.one_of(
    st.builds(Thinking, thinking=texts, signature=st.sampled_from(["", "s1", "s2", "s3"])),
    st.builds(RedactedThinking, data=st.sampled_from(["", "d1"])),
)
signed_thinking = st.builds(Thinking, thinking=texts, signature=st.sampled_from(["s1", "s2", "s3"]))
touches = st.builds(
    FileTouch, path=paths, kind=st.sampled_from(["read", "edited", "created", "deleted"]), sha256=st.just("0" * 64), partial=st.booleans()
)

notices = st.one_of(
    st.builds(Notice, about=st.sampled_from(["file_changed", "rules", "resume"]), text=texts),
    st.builds(Notice, about=st.just("file_changed"), text=texts, touched=st.tuples(touches)),
)


def _reply(blocks: Sequence[AssistantBlock]) -> AssistantReply:
    stop_reason = "tool_use" if any(isinstance(block, ToolUse) for block in blocks) else "end_turn"
    return AssistantReply("r", tuple(blocks), "practice", stop_reason, None)


replies = st.lists(st.one_of(st.builds(Text, texts), thinking, tool_uses), max_size=5).map(_reply)
"""Any blocks in any order, as a cancel, a crash or another vendor's server may leave them."""


@st.composite
def results(draw: st.DrawFn, ids: st.SearchStrategy[str] = tool_use_ids) -> ToolReturned:
    """A tool's result."""
    content = draw(st.one_of(texts, st.integers(0, 400).map(lambda length: "output " * length)))
    touched = draw(st.lists(touches, max_size=2))
    shown = draw(st.one_of(st.just([]), st.just([]), st.lists(media, max_size=2)))
    return ToolReturned(draw(ids), draw(tools), content, draw(st.booleans()), len(content), touched=tuple(touched), media=tuple(shown))


@st.composite
def turns(draw: st.DrawFn) -> list[Entry]:
    """A turn as it runs: a prompt, replies with calls and all their results in any order, a last word.

    Tool use ids are those of the turn's own and may come again in another.
    """
    entries: list[Entry] = [draw(prompts)]
    prefix = draw(st.sampled_from("abcdefgh"))
    for step in range(draw(st.integers(0, 3))):
        ids = [f"{prefix}{step}{index}" for index in range(draw(st.integers(1, 4)))]
        words = [draw(signed_thinking), Text("On it.")]
        entries.append(_reply([*words, *(ToolUse(id, draw(tools), {"path": draw(paths)}) for id in ids)]))
        entries.extend(draw(results(st.just(id))) for id in draw(st.permutations(ids)))
        entries.extend(draw(st.lists(st.one_of(notices, prompts), max_size=1)))
    entries.append(_reply([draw(signed_thinking), Text("Done.")]))
    entries.append(TurnEnded("end_turn"))
    return entries


@st.composite
def interrupted_turns(draw: st.DrawFn) -> list[Entry]:
    """A turn that stopped anywhere: a cancel, a crash, an error."""
    entries = draw(turns())
    kept = entries[: draw(st.integers(1, len(entries)))]
    ended = TurnEnded(draw(st.sampled_from(["cancelled", "interrupted", "error"])))
    return [*kept, *draw(st.sampled_from([[], [ended]]))]


@st.composite
def compactions(draw: st.DrawFn, last_seq: int, number: int) -> Compaction:
    """A compaction of any kinds over any ranges up to `last_seq` and a little beyond, that carries any entries."""
    seqs = st.integers(1, last_seq + 2)
    first, last = sorted((draw(seqs), draw(seqs)))
    carried = tuple(draw(st.sets(seqs, max_size=2)))
    snipped = Snipped(first, last, draw(st.sampled_from([f"[snipped by {number}]", f"[snipped by {number}]", EXCLUDED_MESSAGE])), carried)
    placeholder = draw(st.sampled_from([f"[cleared by {number}]", EXCLUDED_RESULT]))
    acknowledgement = draw(st.sampled_from(["", "", "I have read it."]))
    block = CompactionBlock(f'{{"type":"compaction","content":"Block {number}","signature":"s"}}', "practice")
    summarised = Summarised(draw(seqs), f"Handoff {number}", 1, acknowledgement, carried, draw(st.sampled_from([None, None, block])))
    restored = RestoredFile("a.py", f"a.py as restored by {number}", "whole", "0" * 64)
    return Compaction(
        id=f"c{number}",
        trigger="threshold",
        rung="digest",
        through=last_seq,
        cleared=tuple(Cleared(seq, placeholder) for seq in draw(st.lists(seqs, max_size=3))),
        snipped=draw(st.sampled_from([None, snipped])),
        summarised=draw(st.sampled_from([None, None, summarised])),
        restored=draw(st.sampled_from([(), (restored,)])),
        resume=draw(st.sampled_from(["", "Go on."])),
        focus="",
        policy="ullage",
        tokens_before=0,
        estimated_after=0,
    )


@st.composite
def histories(draw: st.DrawFn, max_chunks: int = 7) -> list[Logged]:
    """A whole log: turns, interrupted ones, stray entries, compactions, undo, redo and changes of the prelude, in any order.

    Its compactions say more than any of ours does: ranges that part calls from their results, carried entries without what these belong
    to. Requests are valid all the same. `planned_histories()` are those whose compactions are ours.
    """
    return draw(_histories(lambda entries, number: compactions(len(entries), number), max_chunks))


@st.composite
def planned_histories(draw: st.DrawFn, max_chunks: int = 7) -> list[Logged]:
    """The same with pins, and with compactions as plans make them: ranges between legal cuts, and nothing carried but what was pinned."""
    return draw(_histories(_planned, max_chunks))


@st.composite
def _histories(
    draw: st.DrawFn, compaction: Callable[[list[Entry], int], st.SearchStrategy[Compaction | None]], max_chunks: int
) -> list[Logged]:
    entries: list[Entry] = [draw(preludes)]
    made = 0
    for _ in range(draw(st.integers(1, max_chunks))):
        kind = draw(st.sampled_from(["turn", "turn", "turn", "interrupted", "stray", "compaction", "undo or redo"]))
        match kind:
            case "turn":
                entries.extend(draw(turns()))
            case "interrupted":
                entries.extend(draw(interrupted_turns()))
            case "compaction":
                made += 1
                entry = draw(compaction(entries, made))
                entries.extend([entry] if entry is not None else [])
            case "undo or redo":
                entries.append(draw(st.builds(draw(st.sampled_from([CompactionUndone, CompactionRedone])), compaction_ids)))
            case _:
                entries.append(draw(_stray(len(entries))))
    return numbered(entries)


@st.composite
def _planned(draw: st.DrawFn, entries: list[Entry], number: int) -> Compaction | None:
    """A compaction of any moves that a plan can have, or what the user takes out by hand, files too; None where there is nothing to do.

    What the user pins before it is logged before it.
    """
    seqs = st.integers(1, len(entries))
    entries.extend(EntryPinned(seq, draw(st.sampled_from([True, True, False]))) for seq in draw(st.lists(seqs, max_size=2)))
    view = project(numbered(entries))
    by_hand = [lambda: exclude(view, draw(seqs), characters), lambda: exclude_file(view, draw(paths), characters)]
    taken_out = draw(st.sampled_from([*by_hand, lambda: None, lambda: None]))()
    if taken_out is not None:
        return planned_entry(f"c{number}", "manual", taken_out, SummaryText(""), "moves", policy="user", tokens_before=0)
    cuts = st.sampled_from(legal_cuts(view.messages))
    planned = spare(draw(_plans(view, cuts, number)), view, characters)
    if planned is None:
        return None
    blocks = st.builds(CompactionBlock, st.just(f'{{"type":"compaction","content":"Block {number}","signature":"s"}}'), st.just("practice"))
    told = SummaryText(
        f"Handoff {number}",
        resume=draw(st.sampled_from(["", "Go on."])),
        acknowledgement=draw(st.sampled_from(["", "", "I have read it."])),
        block=None if planned.carried or planned.cleared else draw(st.one_of(st.none(), blocks)),
    )
    made = planned_entry(f"c{number}", "threshold", planned, told, "digest", policy="ullage", tokens_before=0)
    restored = RestoredFile("a.py", f"a.py as restored by {number}", "whole", "0" * 64)
    return replace(made, restored=draw(st.sampled_from([(), (restored,)])))


@st.composite
def _plans(draw: st.DrawFn, view: Projection, cuts: st.SearchStrategy[int], number: int) -> Plan:
    """Any moves between legal cuts of the view."""
    results = [logged.seq for logged in view.entries if isinstance(logged.entry, ToolReturned)]
    cleared = tuple(Cleared(seq, f"[cleared by {number}]") for seq in results if draw(st.booleans()))
    kind = draw(st.sampled_from(["clear", "snip", "summarise", "summarise"]))
    first, last = sorted((draw(cuts), draw(cuts)))
    empty = Plan(view.entries[-1].seq, cleared, None, None, 0, 0)
    if kind == "snip" and first < last:
        return replace(empty, snipped=Snipped(seq_after(view, first), view.last_seq_before(last), f"[snipped by {number}]"))
    if kind == "summarise" and last > 0:
        return replace(empty, summarise_to=view.last_seq_before(last), covers=1)
    return empty


def _stray(last_seq: int) -> st.SearchStrategy[Entry]:
    return st.one_of(
        prompts,
        notices,
        replies,
        results(),
        preludes,
        st.builds(Clipped, seq=st.integers(1, last_seq), content=texts, full_output=st.just("out.txt")),
        st.builds(
            Reworded,
            compaction_id=compaction_ids,
            without=st.lists(st.integers(1, last_seq), max_size=3).map(tuple),
            record=st.sampled_from(["", "Handoff without it"]),
            marker=st.just("[snipped, without it]"),
        ),
        st.just(CompactionFailed("f", "threshold", "the model was not reached")),
        st.just(TurnEnded("error", "no network")),
        st.just(Forked("s0", "Tanks")),
        st.just(CameOver("Claude Code", "2.0", "s0", "Tanks", "/home/me/s0.jsonl")),
        st.just(SizeStated(1, "m", 99_000)),
    )


def numbered(entries: Sequence[Entry]) -> list[Logged]:
    """The entries in their places, from seq 1 on."""
    return [Logged(seq, float(seq), entry) for seq, entry in enumerate(entries, 1)]
