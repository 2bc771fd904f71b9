"""The one number: what was reported, what came since, and by category."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import PRELUDE, calls, compaction, log, prompt, returned, says, session
from tests.unit.context.pictures import DOCUMENT, IMAGE
from tests.unit.context.strategies import histories
from tests.unit.context.work import priced, ran, read, work
from ullage.context.blocks import Message, SystemPart, ToolSpec
from ullage.context.compaction_entries import CompactionRedone, CompactionUndone, RestoredFile, Reworded, Snipped, Summarised
from ullage.context.counting.accounting import Account, Counted, prompt_tokens
from ullage.context.counting.media import LIMITS, LIMITS_BEFORE, ImageLimits, media_tokens
from ullage.context.counting.tokens import Calibration, estimate_message, estimate_prelude
from ullage.context.entries import Attachment, Entry, Logged, Notice, Prelude, ToolReturned, UserPrompt
from ullage.context.view.projection import Projection
from ullage.context.view.taken_out import EXCLUDED_MESSAGE

PLAIN = Calibration()
ratios = st.floats(0.5, 2.5).map(Calibration)


def counted(entries: list[Logged], calibration: Calibration = PLAIN) -> Counted:
    return Account().count(Projection(entries), calibration)


def test_nothing_takes_nothing():
    assert counted([]) == Counted(0, 0, (), None)


def test_without_a_priced_reply_all_is_estimated():
    entries = session(prompt("Hello"), says("Hello yourself"))
    view = Projection(entries)
    expected = estimate_prelude(PRELUDE) + sum(estimate_message(message) for message in view.messages)
    result = counted(entries)
    assert (result.used, result.estimated, result.priced) == (expected, True, None)


def test_a_priced_reply_is_taken_as_reported():
    result = counted(session(prompt("Hello"), priced("Hello yourself", 5_000, 70)))
    assert (result.used, result.estimated) == (5_070, False)


def test_what_came_since_a_priced_reply_is_estimated_and_calibrated():
    entries = session(prompt("Hello"), priced("Yes?", 5_000, 70), prompt("one two three " * 100))
    added = estimate_message(Projection(entries).messages[-1])
    result = counted(entries, Calibration(1.5))
    assert result.used == 5_070 + round(1.5 * added)
    assert result.guess == round(1.5 * added)
    assert result.estimated


@pytest.mark.parametrize("attached", [(), (Attachment("tank.png", "An image", IMAGE), Attachment("tank.pdf", "A document", DOCUMENT))])
@pytest.mark.parametrize("ratio", [1.0, 1.5])
def test_what_is_foreseen_of_a_prompt_is_what_the_gauge_then_shows_more(attached: tuple[Attachment, ...], ratio: float):
    calibration, before = Calibration(ratio), session(prompt("Hello"), priced("Yes?", 5_000, 70))
    asked = UserPrompt("p", "What is on these? " * 20, attached)
    after = [*before, Logged(before[-1].seq + 1, 0.0, asked)]
    assert prompt_tokens(asked, calibration) == counted(after, calibration).used - counted(before, calibration).used


def test_a_few_words_since_a_priced_reply_make_no_estimate_of_the_number():
    result = counted(session(prompt("Hello"), priced("Yes?", 5_000, 70), prompt("Go on")))
    assert 0 < result.guess < 50
    assert not result.estimated


def test_the_newest_priced_reply_counts():
    result = counted(session(prompt("a"), priced("b", 5_000, 70), prompt("c"), priced("d", 6_000, 10)))
    assert result.used == 6_010
    assert result.priced is not None
    assert result.priced.seq == 5


def test_what_a_calibration_learns_from_is_the_request_alone():
    entries = session(prompt("Hello"), priced("A reply that is not part of the request", 5_000, 70))
    result = counted(entries)
    assert result.priced is not None
    assert result.priced.estimated == estimate_prelude(PRELUDE) + estimate_message(Projection(entries).messages[0])
    assert result.priced.reported == 5_000


def test_a_compaction_makes_the_number_an_estimate_until_the_next_reply():
    before = session(prompt("Hello"), priced("Yes?", 5_000, 70))
    compacted = [*before, Logged(4, 4.0, compaction("c", summarised=Summarised(3, "They said hello.")))]
    result = counted(compacted)
    assert result.estimated
    assert result.used < 5_070
    priced_again = [*compacted, Logged(5, 5.0, prompt("Go on")), Logged(6, 6.0, priced("Done", 900, 5))]
    result = counted(priced_again)
    assert (result.used, result.estimated) == (905, False)


def test_after_an_undo_the_old_price_holds_again():
    entries = session(
        prompt("Hello"),
        priced("Yes?", 5_000, 70),
        compaction("c", summarised=Summarised(3, "They said hello.")),
        CompactionUndone("c"),
    )
    assert counted(entries).used == 5_070


def test_another_prelude_makes_the_number_an_estimate():
    entries = log(PRELUDE, prompt("Hello"), priced("Yes?", 5_000, 70), Prelude((SystemPart("system", "Another."),), ()))
    assert counted(entries).estimated


def test_everything_has_its_category():
    prelude = Prelude((SystemPart("system", "You are an agent."), SystemPart("rules", "Be brief.")), (ToolSpec("read_file", "Reads.", {}),))
    file = RestoredFile("a.py", '<file path="a.py">x = 1</file>', "whole", "0")
    result = counted(
        log(
            prelude,
            prompt("An old message"),
            says("An old answer"),
            compaction("c", summarised=Summarised(3, "The record."), restored=[file], resume="Go on."),
            UserPrompt("p", "Look at this", (Attachment("b.py", "y = 2"),)),
            calls("t1"),
            returned("t1", "z = 3"),
            Notice("rules", "A nested rules file says: be kind."),
        )
    )
    names = [name for name, _ in result.categories]
    assert names == ["system", "rules", "tools", "summary", "files", "user", "assistant", "tool results: read_file"]
    assert all(tokens > 0 for _, tokens in result.categories)


def test_what_is_attached_counts_as_files():
    typed = counted(session(prompt("Look at this")))
    attached = counted(session(UserPrompt("p", "Look at this", (Attachment("b.py", "y = 2\n" * 100),))))
    assert dict(attached.categories)["user"] == dict(typed.categories)["user"]
    assert dict(attached.categories)["files"] > 100


def test_results_are_by_tool_the_largest_first():
    names = [name for name, _ in counted(work(PRELUDE, prompt("Go"), read("a.py", "x"), ran("make", "word " * 500))).categories]
    assert names[-2:] == ["tool results: bash", "tool results: read_file"]


@given(histories(), ratios)
def test_categories_add_up_to_the_number(entries: list[Logged], calibration: Calibration):
    result = counted(entries, calibration)
    assert sum(tokens for _, tokens in result.categories) == result.used
    assert all(tokens >= 0 for _, tokens in result.categories)


@given(histories(), ratios)
def test_counting_entry_by_entry_gives_the_same_as_counting_at_once(entries: list[Logged], calibration: Calibration):
    account = Account()
    view = Projection()
    for logged in entries:
        view.append(logged)
        account.count(view, calibration)
    assert account.count(view, calibration) == counted(entries, calibration)


def test_what_was_counted_under_a_key_is_not_counted_again(monkeypatch: pytest.MonkeyPatch):
    weighed: list[Message] = []

    def watched(self: Account, tally: Any, projection: Projection, message: Message) -> None:
        weighed.append(message)
        add(self, tally, projection, message)

    add = Account._add  # noqa: SLF001
    monkeypatch.setattr(Account, "_add", watched)
    view = Projection(session(*(entry for turn in range(50) for entry in (prompt(f"{turn}"), says("Yes")))))
    account = Account()
    before = account.count(view, PLAIN)
    view.append(Logged(102, 0.0, compaction("c", summarised=Summarised(90, "All."))))
    after = account.count(view, PLAIN)
    for seq, entry, expected in ((103, CompactionUndone("c"), before), (104, CompactionRedone("c"), after)):
        weighed.clear()
        view.append(Logged(seq, 0.0, entry))
        assert account.count(view, PLAIN) == expected
        assert weighed == list(view.messages[-1:])


def test_a_view_that_reads_otherwise_is_counted_anew():
    entries = session(*(entry for turn in range(9) for entry in (prompt(f"{turn}"), says("Yes"))))
    out = compaction("out", cleared=(), snipped=Snipped(4, 4, EXCLUDED_MESSAGE))
    entries.append(Logged(20, 0.0, compaction("c", summarised=Summarised(15, "All of it."))))
    entries.append(Logged(21, 0.0, out))
    view, account = Projection(entries), Account()
    account.count(view, PLAIN)
    told = Reworded("c", (4,), record="A record of all but what was taken out, which is longer than the first.")
    for seq, entry in enumerate((CompactionUndone("out"), told, CompactionRedone("out")), 22):
        view.append(Logged(seq, 0.0, entry))
        assert account.count(view, PLAIN) == counted(list(view.entries))
        assert list(view.messages) == list(Projection(view.entries).messages)


@given(histories(), st.data())
def test_what_was_counted_ahead_changes_nothing(entries: list[Logged], data: st.DataObject):
    cut = data.draw(st.integers(0, max(0, len(entries) - 1)))
    view, account = Projection(entries[:cut]), Account()
    account.count(view, PLAIN)
    for logged in entries[cut:]:
        ahead, other = view.with_appended(logged), Account()
        other.count(ahead, PLAIN)
        if data.draw(st.booleans()):
            view.learn(ahead)
        account.learn(other)
        assert account.copy().count(ahead, PLAIN) == counted(list(ahead.entries))
        view.append(logged)
        assert account.count(view, PLAIN) == counted(list(view.entries))


LARGE = replace(IMAGE, width=1_920, height=1_080)


def with_image(*more: Entry) -> list[Logged]:
    shown = ToolReturned("t1", "read_file", "image", is_error=False, characters=5, media=(LARGE,))
    attached = UserPrompt("p", "What is it?", (Attachment("a.pdf", "PDF", DOCUMENT),))
    return log(PRELUDE, attached, calls("t1"), shown, *more)


@pytest.mark.parametrize("limits", [LIMITS, LIMITS_BEFORE])
@pytest.mark.parametrize("ratio", [1.0, 0.5, 2.0])
def test_images_count_by_their_formula_whatever_the_ratio(limits: ImageLimits, ratio: float) -> None:
    entries = with_image()
    bare = [replace(each, entry=without_media(each.entry)) for each in entries]
    calibration = Calibration(ratio, images=limits)
    with_it, without = counted(entries, calibration), counted(bare, calibration)
    assert with_it.used - without.used == media_tokens(LARGE, limits) + media_tokens(DOCUMENT)
    assert sum(tokens for _, tokens in with_it.categories) == with_it.used
    grown = {name: tokens - dict(without.categories).get(name, 0) for name, tokens in with_it.categories}
    assert grown["files"] > 0.9 * media_tokens(DOCUMENT)
    assert grown["tool results: read_file"] > 0.9 * media_tokens(LARGE, limits)


def test_no_ratio_is_learned_from_images() -> None:
    reported = 10_000 + media_tokens(LARGE) + media_tokens(DOCUMENT)
    bare = [replace(each, entry=without_media(each.entry)) for each in with_image(priced("A chart.", 10_000, 9))]
    learned, usual = counted(with_image(priced("A chart.", reported, 9))).priced, counted(bare).priced
    assert learned is not None
    assert usual is not None
    assert (learned.estimated, learned.reported) == (usual.estimated, usual.reported)


def without_media(entry: Entry) -> Entry:
    if isinstance(entry, ToolReturned):
        return replace(entry, media=())
    return replace(entry, attachments=(Attachment("a.pdf", "PDF"),)) if isinstance(entry, UserPrompt) else entry
