"""The proof of a compaction: what the newest messages needed is in view without them, or is put into the summary."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import calls, compaction, log, prompt, reply, returned, says
from ullage.context.blocks import ToolUse
from ullage.context.compaction import proof
from ullage.context.compaction.draft import with_entry
from ullage.context.compaction.needed import Fact, KeptText, facts_in
from ullage.context.compaction.proof import prove, with_proof
from ullage.context.compaction.seen import texts_in
from ullage.context.compaction_entries import Compaction, Held, RestoredFile, Summarised
from ullage.context.entries import Entry
from ullage.context.summary.whole_summary import HEADING
from ullage.context.view.projection import Projection

BEFORE: tuple[Entry, ...] = (
    prompt("Mend the gauge"),
    calls("t1"),
    returned("t1", "see src/tank.py and src/valve.py, which call read_level; broken since 3f2a9c1d"),
    says("I look further."),
)
"""Entries 1 to 4."""
FIRST = "src/pump.py, as before\nsays set_flow(level)\n" + "\n".join(f"line {n} of the pump's long table" for n in range(6))


def summarised(text: str, last: int, through: int) -> Compaction:
    return replace(compaction("c1", summarised=Summarised(last, text, last)), through=through, policy="ullage")


def test_what_was_used_since_the_draft_was_planned_and_is_missing_is_added() -> None:
    view = Projection(log(*BEFORE, says("src/valve.py calls read_level, not new_name, since 3f2a9c1d; src/tank.py is fine.")))
    made = summarised("So far: tank.py is read.", 4, 4)
    found = prove(view, made)
    assert (found.checked.ahead, found.checked.messages) == (True, 1)
    assert (found.checked.paths, found.checked.names, found.checked.hashes) == (Held(1, 2), Held(0, 1), Held(0, 1))
    assert found.missing == ((Fact("path", "src/valve.py"), 3), (Fact("identifier", "read_level"), 3), (Fact("hash", "3f2a9c1d"), 3))
    proved = with_proof(made, found)
    assert proved.summarised is not None
    assert proved.summarised.text == (
        f"So far: tank.py is read.\n\n{HEADING}\n"
        f"- Files {proof.USED}: `src/valve.py` (#3)\n- Names {proof.USED}: `read_level` (#3)\n- Hashes {proof.USED}: `3f2a9c1d` (#3)"
    )
    assert proved.checked is not None
    assert (proved.checked.paths, proved.checked.added) == (Held(2, 2), 3)
    assert prove(view, proved).missing == ()


def test_what_is_kept_or_read_again_is_not_missing() -> None:
    view = Projection(log(*BEFORE, prompt("Also src/pump.py"), says("src/valve.py and src/pump.py need read_level.")))
    made = summarised("So far.", 4, 5)
    file = RestoredFile("src/valve.py", "src/valve.py: def read_level()", "whole", "")
    assert {fact.text for fact, _ in prove(view, made).missing} == {"src/valve.py", "read_level"}
    assert prove(view, replace(made, restored=(file,))).missing == ()


def test_one_that_is_made_at_once_is_checked_against_the_messages_that_it_keeps() -> None:
    view = Projection(log(*BEFORE, prompt("Go on"), says("src/valve.py it is."), prompt("And now?")))
    found = prove(view, summarised("So far.", 4, 7))
    assert (found.checked.ahead, found.checked.messages) == (False, 3)
    assert [fact.text for fact, _ in found.missing] == ["src/valve.py"]


def test_text_that_came_from_tools_again_is_counted() -> None:
    lines = FIRST.split("\n")
    view = Projection(log(prompt("Look"), calls("t1"), returned("t1", FIRST), says("Seen."), calls("t2"), returned("t2", FIRST)))
    checked = prove(view, summarised("So far.", 4, 4)).checked
    assert checked.characters == Held(0, sum(len(line) + 1 for line in lines))
    held = replace(summarised("So far.", 4, 4), restored=(RestoredFile("src/pump.py", FIRST, "whole", ""),))
    assert prove(view, held).checked.characters == Held(checked.characters.used, checked.characters.used)


@pytest.mark.parametrize(("used", "overtaken"), [(15, False), (16, True)])
def test_a_draft_that_lacks_most_of_what_many_messages_used_is_overtaken(used: int, overtaken: bool) -> None:
    names = [f"read_level_{number}" for number in range(used)]
    view = Projection(log(prompt(" ".join(names)), says("Yes."), says(" ".join(names))))
    assert prove(view, summarised("So far.", 2, 2)).lacks_much == overtaken
    assert not prove(view, summarised(" ".join(names[: used // 2]), 2, 2)).lacks_much


PATHS = [f"{folder}/{name}.{suffix}" for folder in ("src", "lib/deep") for name in ("tank", "valve", "pump") for suffix in ("py", "ts")]
some_paths = st.lists(st.sampled_from(PATHS), max_size=3).map(", ".join)


@st.composite
def drafts(draw: st.DrawFn) -> tuple[Projection, Compaction]:
    """A log, and a draft that was planned somewhere in it."""
    entries: list[Entry] = [prompt(f"Begin {draw(some_paths)}")]
    for number in range(draw(st.integers(1, 8))):
        path = draw(st.sampled_from(PATHS))
        entries += [reply(ToolUse(f"t{number}", "read_file", {"path": path})), returned(f"t{number}", draw(some_paths))]
        entries += [says(draw(some_paths) or "So."), prompt(draw(some_paths) or "Go on")]
    turns = [seq for seq, entry in enumerate(entries, 1) if isinstance(entry, type(entries[0]))]
    through = draw(st.sampled_from(turns))
    last = draw(st.sampled_from([seq for seq in turns if seq <= through]))
    return Projection(log(*entries)), summarised(f"So far: {draw(some_paths)}", last, through)


@given(drafts())
def test_no_proof_passes_a_draft_that_lacks_a_path_the_newest_messages_used(given: tuple[Projection, Compaction]) -> None:
    view, made = given
    proved = with_proof(made, prove(view, made))
    assert proved.checked is not None and made.summarised is not None
    since = made.through if proved.checked.ahead else made.summarised.last_seq
    texts = [*texts_in(view)]
    used = {fact for logged in view.entries if logged.seq > since for fact in _used(logged.entry)}
    only_replaced = used & facts_in("\n".join(text for seq, text in texts if seq <= since))
    beside = [text for seq, text in texts_in(with_entry(view, proved)) if seq <= since or seq > view.entries[-1].seq]
    kept = KeptText("\n".join(beside))
    assert [fact for fact in only_replaced if not kept.holds(fact)] == []


def _used(entry: Entry) -> set[Fact]:
    blocks = getattr(entry, "blocks", ())
    return {fact for block in blocks for fact in facts_in(block.text if hasattr(block, "text") else str(block.input["path"]))}
