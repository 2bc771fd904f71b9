from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import calls, characters, compaction, drawn, log, prompt, returned, says
from tests.unit.context.strategies import planned_histories
from tests.unit.context.validity import problems
from ullage.context.compaction.undoing import fitting
from ullage.context.entries import Entry, EntryPinned, Logged
from ullage.context.moves.plan import Plan
from ullage.context.policy import ClearOptions, SnipOptions, SummaryOptions, UllageOptions
from ullage.context.view.projection import Projection, project
from ullage.context.view.request import build_request

OPTIONS = replace(
    UllageOptions(),
    clear=ClearOptions(keep_results=1, minimum_characters=120),
    snip=SnipOptions(keep_first=2, keep_last=4),
    summary=SummaryOptions(reactive_keep_messages=2),
)


def no_digest(entries: Sequence[Logged]) -> str:
    return ""


def talk(count: int, size: int) -> list[Entry]:
    return [entry for number in range(count) for entry in (prompt(f"q{number}"), says(f"a{number} " + "a" * size))]


def fitted(entries: Sequence[Logged], too_many: int) -> Plan | None:
    return fitting(project(entries), too_many, OPTIONS, characters, no_digest)


def after(entries: Sequence[Logged], made: Plan) -> Projection:
    view = project(entries)
    return view.with_appended(Logged(entries[-1].seq + 1, 0.0, compaction("fit", cleared=made.cleared, snipped=made.snipped)))


def test_where_old_results_are_enough_no_message_is_cut_out():
    results = [entry for number in range(4) for entry in (calls(f"t{number}"), returned(f"t{number}", "r" * 500))]
    made = fitted(log(prompt("go"), *results, says("done"), *talk(4, 100)), 800)
    assert made is not None
    assert len(made.cleared) == 3
    assert made.snipped is None


def test_where_they_are_not_as_little_of_the_middle_as_serves_is_cut_out():
    entries = log(*talk(10, 1_000))
    made = fitted(entries, 2_500)
    assert made is not None
    assert made.snipped is not None
    left = "\n".join(drawn(after(entries, made).messages))
    assert [number for number in range(10) if f"a{number} " not in left] == [1, 2, 3]


def test_the_first_messages_and_the_last_stay_or_nothing_helps():
    entries = log(*talk(10, 1_000))
    assert fitted(entries, 9_500) is None
    made = fitted(entries, 7_500)
    assert made is not None
    left = "\n".join(drawn(after(entries, made).messages))
    assert "a0 " in left
    assert "a9 " in left


def test_what_is_pinned_stays_and_counts():
    entries = log(*talk(10, 1_000))
    pinned = [*entries, *(Logged(100 + number, 0.0, EntryPinned(seq, True)) for number, seq in enumerate(range(3, 19)))]
    assert fitted(pinned, 3_000) is None


@given(planned_histories(), st.integers(1, 3_000))
def test_what_it_promises_comes_true_and_the_next_request_is_valid(entries: list[Logged], too_many: int):
    made = fitted(entries, too_many)
    if made is None:
        return
    view = after(entries, made)
    assert characters(view.messages) == made.estimated_after <= characters(project(entries).messages) - too_many
    last = view.entries[-1].seq
    assert problems(build_request(view.with_appended(Logged(last + 1, 0.0, prompt("on"))))) == []
