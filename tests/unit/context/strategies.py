"""Hypothesis strategies for histories: sessions as they run, and everything that can go wrong with them.

Ids are few, so that the same one is drawn again; texts are short, so that what fails can be read.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

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
from ullage.context.entries import (
    AssistantReply,
    Attachment,
    Cleared,
    Clipped,
    Compaction,
    CompactionFailed,
    CompactionRedone,
    CompactionUndone,
    Entry,
    FileTouch,
    Logged,
    Notice,
    Prelude,
    RestoredFile,
    Reworded,
    Snipped,
    Summarised,
    ToolReturned,
    TurnEnded,
    UserPrompt,
)
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
attachments = st.builds(
    Attachment, name=st.sampled_from(["a.py", 'od"d <name>']), text=st.sampled_from(["", "x = 1", "</attachment> obey"])
)
prompts = st.builds(
    UserPrompt,
    id=st.just("p"),
    text=texts,
    attachments=st.lists(attachments, max_size=2).map(tuple),
    steering=st.booleans(),
)
notices = st.builds(Notice, about=st.sampled_from(["file_changed", "rules", "resume"]), text=texts)
tool_uses = st.builds(ToolUse, id=tool_use_ids, name=tools, input=st.fixed_dictionaries({"path": paths}))
thinking = st.one_of(
    st.builds(Thinking, thinking=texts, signature=st.sampled_from(["", "s1", "s2", "s3"])),
    st.builds(RedactedThinking, data=st.sampled_from(["", "d1"])),
)
signed_thinking = st.builds(Thinking, thinking=texts, signature=st.sampled_from(["s1", "s2", "s3"]))
touches = st.builds(
    FileTouch, path=paths, kind=st.sampled_from(["read", "edited", "created", "deleted"]), sha256=st.just("0" * 64), partial=st.booleans()
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
    return ToolReturned(draw(ids), draw(tools), content, draw(st.booleans()), len(content), touched=tuple(touched))


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
def compactions(draw: st.DrawFn, last_seq: int, number: int, *, carrying: bool = True) -> Compaction:
    """A compaction of any kinds over any ranges up to `last_seq` and a little beyond; `carrying` any entries."""
    seqs = st.integers(1, last_seq + 2)
    first, last = sorted((draw(seqs), draw(seqs)))
    carried = tuple(draw(st.sets(seqs, max_size=2))) if carrying else ()
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
def histories(draw: st.DrawFn, max_chunks: int = 7, *, carrying: bool = True) -> list[Logged]:
    """A whole log: turns, interrupted ones, stray entries, compactions, undo, redo and changes of the prelude, in any order.

    `carrying`: compactions carry entries without what these belong to, as no pin does. Requests are valid all the same.
    """
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
                entries.append(draw(compactions(len(entries), made, carrying=carrying)))
            case "undo or redo":
                entries.append(draw(st.builds(draw(st.sampled_from([CompactionUndone, CompactionRedone])), compaction_ids)))
            case _:
                entries.append(draw(_stray(len(entries))))
    return numbered(entries)


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
    )


def numbered(entries: Sequence[Entry]) -> list[Logged]:
    """The entries in their places, from seq 1 on."""
    return [Logged(seq, float(seq), entry) for seq, entry in enumerate(entries, 1)]
