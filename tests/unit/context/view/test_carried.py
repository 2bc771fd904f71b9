from __future__ import annotations

from tests.unit.context.logs import compaction, drawn, prompt, says, session
from ullage.context.compaction_entries import Snipped, Summarised
from ullage.context.view.projection import Projection

# 1 the prelude, 2 a prompt, 3 a word, 4 a prompt, 5 a word
TALK = (prompt("one"), says("two"), prompt("three"), says("four"))


def test_what_a_summary_carries_beyond_its_range_a_later_snip_still_takes_out():
    summary = compaction("c", summarised=Summarised(2, "The record", carried=(2, 5)))
    cut = compaction("d", snipped=Snipped(4, 5, "[cut]"))
    shown = drawn(Projection(session(*TALK, summary, cut, prompt("five"))).messages)
    assert shown == ["user: The record | one", "assistant: two", "user: [cut] | five"]
