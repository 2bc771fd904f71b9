from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import assume, given

from tests.unit.context.logs import calls, compaction, drawn, log, prompt, returned, says
from tests.unit.context.strategies import planned_histories
from ullage.context.compaction_entries import Compaction, Snipped, Summarised
from ullage.context.entries import Entry, Logged, UserPrompt
from ullage.context.moves.cheap import snip
from ullage.context.moves.cuts import carried
from ullage.context.moves.plan import preview
from ullage.context.policy import SnipOptions
from ullage.context.view.projection import Projection, project


def no_digest(entries: Sequence[Logged]) -> str:
    return ""


def talk(*options: int) -> list[Entry]:
    """Two messages each: a prompt and its answer."""
    return [entry for number in options for entry in (prompt(f"q{number}"), says(f"a{number}"))]


WORK = [prompt("go"), calls("t1"), returned("t1"), calls("t2"), returned("t2"), calls("t3"), returned("t3"), says("done")]


def range_of(entries: Sequence[Entry], options: SnipOptions) -> tuple[int, int] | None:
    snipped = snip(project(log(*entries)), options, no_digest)
    return None if snipped is None else (snipped.first_seq, snipped.last_seq)


@pytest.mark.parametrize(
    ("entries", "options", "expected"),
    [
        (talk(1, 2, 3), SnipOptions(2, 2), (3, 4)),
        (talk(1, 2, 3), SnipOptions(1, 1), (2, 5)),
        (talk(1, 2, 3), SnipOptions(0, 2), (1, 4)),
        (talk(1, 2, 3), SnipOptions(2, 4), None),
        (talk(1, 2, 3), SnipOptions(3, 47), None),
        (WORK, SnipOptions(1, 1), (2, 7)),
        (WORK, SnipOptions(2, 2), (4, 5)),
        (WORK, SnipOptions(3, 4), None),
        ([], SnipOptions(0, 0), None),
    ],
)
def test_the_middle_goes_between_legal_cuts(entries: Sequence[Entry], options: SnipOptions, expected: tuple[int, int] | None):
    assert range_of(entries, options) == expected


def test_the_marker_says_what_went_and_how_to_get_it_back():
    def digest(entries: Sequence[Logged]) -> str:
        return "They asked: " + ", ".join(logged.entry.text for logged in entries if isinstance(logged.entry, UserPrompt))

    snipped = snip(project(log(*talk(1, 2, 3, 4))), SnipOptions(2, 2), digest)
    assert snipped == Snipped(
        3,
        6,
        "[4 earlier messages were taken out here to make room. To see them again: recall from 3 to 6. In short:]\nThey asked: q2, q3",
    )


def test_a_snip_over_an_earlier_one_covers_it_with_all_that_it_stood_for():
    entries = log(*talk(1, 2, 3, 4, 5), compaction("c1", snipped=Snipped(3, 4, "[first]")))
    projection = project(entries)
    assert drawn(projection.messages)[:3] == ["user: q1", "assistant: a1", "user: [first] | q3"]
    again = snip(projection, SnipOptions(2, 2), no_digest)
    assert again is not None
    assert (again.first_seq, again.last_seq) == (3, 8)
    assert again.marker.startswith("[6 earlier messages")
    assert drawn(preview(projection, snipped=again).messages) == [
        "user: q1",
        "assistant: a1",
        f"user: {again.marker} | q5",
        "assistant: a5",
    ]


def test_it_goes_on_after_a_handoff():
    entries = log(*talk(1, 2, 3, 4), compaction("c1", summarised=Summarised(2, "Handoff")))
    assert snip(project(entries), SnipOptions(2, 2), lambda entries: f"{len(entries)} entries") == Snipped(
        5, 6, "[2 earlier messages were taken out here to make room. To see them again: recall from 5 to 6. In short:]\n2 entries"
    )


@given(planned_histories())
def test_only_the_range_goes_and_no_call_is_parted_from_its_result(entries: list[Logged]):
    projection = project(entries)
    snipped = snip(projection, SnipOptions(2, 3), no_digest)
    assume(snipped is not None)
    assert snipped is not None
    after = preview(projection, snipped=snipped)
    stays = {seq for seq in said_by(projection) if not snipped.first_seq <= seq <= snipped.last_seq}
    assert stays <= said_by(after) <= stays | carried(projection)
    assert interruptions(after) <= interruptions(projection)
    assert any(snipped.marker in line for line in drawn(after.messages))
    assert len(after.messages) <= len(projection.messages)


def said_by(projection: Projection) -> set[int]:
    """The entries in view but for what compactions brought."""
    brought = {logged.seq for logged in projection.entries if isinstance(logged.entry, Compaction)}
    return {source for message in projection.messages for source in message.sources} - brought


def interruptions(projection: Projection) -> int:
    return sum(line.count("Interrupted") for line in drawn(projection.messages))
