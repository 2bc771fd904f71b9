from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.context.logs import compaction, prompt, returned, says, session
from ullage.context.blocks import CompactionBlock
from ullage.context.compaction_entries import Snipped, Summarised
from ullage.context.view.projection import Projection
from ullage.context.view.quotations import Quotations, to_be_read
from ullage.context.view.taken_out import EXCLUDED_MESSAGE

OUT = Quotations(
    [
        prompt("The keeper of the lock lives behind panel seven of the sluice. Mind the wet sluice!\nGo on, please."),
        returned("t1", "level = 7\nThe dip is a bit off"),
        says("Yes."),
    ]
)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Nothing of it.", "Nothing of it."),
        ("- The stick is wet.\n- the keeper of the lock lives there.\n- Done.", "- The stick is wet.\n- Done."),
        ("The stick is wet. They said: mind the wet sluice. So be it.", "The stick is wet. So be it."),
        ("Go on, please. And then?", "And then?"),
        ("They asked to go on, please, and we did.", "They asked to go on, please, and we did."),
        ("The keeper of the house was there.", "The keeper of the house was there."),
        ("Yes. It is so.", "Yes. It is so."),
        ("- the dip is a bit off", ""),
    ],
    ids=[
        "none",
        "a run of words",
        "a sentence within another",
        "a short one",
        "of a short one within",
        "too few words",
        "one word",
        "a result",
    ],
)
def test_sentences_that_repeat_what_was_said_go(text: str, left: str):
    assert OUT.taken_from(text) == left


def test_what_the_api_wrote_is_read_without_what_is_taken_out_and_sent_as_it_is():
    block = CompactionBlock('{"type":"compaction","content":"The dip is 7. They said: mind the wet sluice.","signature":"s"}', "m")
    made = replace(compaction("c", summarised=Summarised(3, "The record", block=block)), through=3)
    entries = session(prompt("Mind the wet sluice"), says("I do"), made)
    view = Projection(entries)
    assert to_be_read(view.active_by_seq, entries) == view.active_by_seq
    view = Projection(session(*(each.entry for each in entries[1:]), compaction("x", snipped=Snipped(2, 2, EXCLUDED_MESSAGE))))
    read = to_be_read(view.active_by_seq, view.entries)[4].summarised
    assert read is not None and read.words == "The dip is 7. \n\nThe record"
    assert view.messages[0].blocks == (block,)


def test_who_quotes_a_file_does_not_quote_the_numbers_of_its_lines():
    shown = Quotations([returned("t1", "     1\tKEEPER = 'behind panel seven'\n     2\tLEVEL = 7")])
    assert shown.taken_from("- It has KEEPER = 'behind panel seven'.\n- The stick is wet.") == "- The stick is wet."
