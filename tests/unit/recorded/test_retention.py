"""Which facts are needed after a compaction, in the messages that follow it, and what became of them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.replay.small_sessions import calls, log, notice, prompt, returned, says
from ullage.context.compaction.needed import FactKind
from ullage.context.entries import AssistantReply, Attachment, Entry, Logged, TurnEnded, UserPrompt
from ullage.recorded.retention import (
    AgentSearch,
    Cut,
    Fate,
    Judged,
    KindRetention,
    by_kind,
    entries_after,
    judged,
    needed_after,
    recorded_cuts,
    session_facts,
    shown_text,
    written_text,
)
from ullage.recorded.transcript import RecordedCompaction, Transcript

SESSION = log(
    prompt("one"),  # 1
    says("two"),  # 2
    prompt("three"),  # 3
    calls("Read", {"file_path": "a.py"}),  # 4
    returned("first"),  # 5
    returned("second"),  # 6, of the same message
    notice("and a notice"),  # 7, too
    TurnEnded("end_turn"),  # 8, no message
    says("six"),  # 9
    says("seven"),  # 10
)


@pytest.mark.parametrize(
    ("after_seq", "messages", "expected"),
    [
        (0, 1, [1]),
        (0, 3, [1, 2, 3]),
        (3, 1, [4]),
        (3, 2, [4, 5, 6, 7]),
        (3, 3, [4, 5, 6, 7, 9]),
        (5, 2, [6, 7, 9]),
        (0, 60, [1, 2, 3, 4, 5, 6, 7, 9, 10]),
        (10, 60, []),
    ],
)
def test_a_window_is_so_many_messages(after_seq: int, messages: int, expected: list[int]) -> None:
    assert [logged.seq for logged in entries_after(SESSION, after_seq, messages)] == expected


def test_what_is_written_are_texts_and_every_string_of_an_input() -> None:
    reply = calls("multi", {"path": "a.py", "edits": [{"new_string": "x"}, {"new_string": "y"}], "count": 3, "all": True})
    assert written_text(reply) == "a.py\nx\ny"
    assert written_text(says("words")) == "words"


def test_attachments_are_shown_with_their_prompt() -> None:
    assert shown_text(UserPrompt("p", "look", (Attachment("a.py", "its text"),))) == "look\nits text"
    assert shown_text(TurnEnded("end_turn")) == ""


BEFORE = (
    prompt("Please rename the loader, and keep\nthe old name working"),  # 1
    calls("Bash", {"command": "git log"}),  # 2
    returned("3f2a9c1d0e rename load_old to load_new\nsrc/app/loader.py\ndocs/guide.md\nfatal: could not lock the index"),  # 3
    says("I will change src/app/loader.py, where load_old and SlowPath stand."),  # 4
)
CUT_AT = len(BEFORE)


def fates(after: Sequence[Entry], kept: str, search: AgentSearch | None = None) -> dict[str, Fate]:
    facts = session_facts(log(*BEFORE, *after))
    return {one.needed.fact.text: one.fate for one in judged(facts, [Cut(CUT_AT, kept)], search) if one.needed.used_seq}


@pytest.mark.parametrize(
    ("after", "kept", "expected"),
    [
        ([says("now load_old")], "load_old is left", {"load_old": "in view"}),
        ([says("now load_old")], "load_older is left", {"load_old": "lost"}),
        ([says("now load_old")], "", {"load_old": "lost"}),
        ([returned("load_old:"), says("now load_old")], "", {"load_old": "seen again"}),
        ([says("now load_old"), returned("load_old:"), says("load_old")], "", {"load_old": "lost"}),
        ([calls("Read", {"file_path": "/x/src/app/loader.py"})], "app/loader.py", {"app/loader.py": "in view"}),
        ([calls("Read", {"file_path": "/x/src/app/loader.py"})], "the file loader.py.", {"app/loader.py": "in view"}),
        ([calls("Read", {"file_path": "/x/src/app/loader.py"})], "other/loader.py", {"app/loader.py": "in view"}),
        ([calls("Read", {"file_path": "/x/src/app/loader.py"})], "my_loader.py", {"app/loader.py": "lost"}),
        ([calls("Read", {"file_path": "/x/else/loader.py"})], "", {}),
        ([calls("Bash", {"command": "git show 3f2a9c1d0e"})], "commit 3f2a9c1d0eff", {"3f2a9c1d0e": "in view"}),
        ([says("It said `fatal: could not lock the index`.")], "", {"fatal: could not lock the index": "lost"}),
        (
            [says("fatal: could not lock the index")],
            "It met fatal: could not\n  lock the index",
            {"fatal: could not lock the index": "in view"},
        ),
        ([says("something brand_new")], "", {}),
        ([prompt("what of load_old?")], "", {}),
        ([], "", {}),
    ],
)
def test_a_fact_is_needed_where_it_is_used_later(after: list[Entry], kept: str, expected: dict[str, Fate]) -> None:
    assert fates(after, kept) == expected


def test_what_is_used_beyond_the_window_is_not_needed() -> None:
    pairs = [entry for _ in range(29) for entry in (says("on"), prompt("yes"))]
    assert fates([prompt("yes"), *pairs, says("load_old")], "") == {"load_old": "lost"}  # the 60th message
    assert fates([says("on"), prompt("yes"), *pairs, says("load_old")], "") == {}  # the 61st


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ("They said: Please rename the  loader, and keep the old name working!", KindRetention(in_view=1)),
        ("They want the loader renamed", KindRetention(lost=1)),
    ],
)
def test_a_user_message_is_needed_whether_it_is_repeated_or_not(kept: str, expected: KindRetention) -> None:
    facts = session_facts(log(*BEFORE, says("on")))
    assert by_kind(judged(facts, [Cut(CUT_AT, kept)]))["user message"] == expected


def test_a_user_message_is_asked_for_at_the_first_compaction_after_it() -> None:
    entries = log(prompt("first of all"), says("yes"), prompt("and secondly"), says("done"))
    messages = [one.needed for one in judged(session_facts(entries), [Cut(2, ""), Cut(3, "")]) if one.needed.fact.kind == "user message"]
    assert [(needed.fact.text, needed.after_seq) for needed in messages] == [("first of all", 2), ("and secondly", 3)]


def test_a_long_message_is_no_fact() -> None:
    entries = log(prompt("x" * 1_499), prompt("y" * 1_500), says("yes"))
    assert [needed.fact.text[0] for needed in needed_after(session_facts(entries), 2)] == ["x"]


def test_nothing_is_needed_where_nothing_follows() -> None:
    entries = log(*BEFORE)
    assert list(needed_after(session_facts(entries), len(entries))) == []


def test_a_search_recalls_what_it_finds_in_its_first_five_hits() -> None:
    asked: list[tuple[str, int, int]] = []

    def search(words: str, through_seq: int, limit: int) -> Sequence[str]:
        asked.append((words, through_seq, limit))
        return ["nothing", "nothing", "nothing", "nothing", "of load_old" if words == "load_old" else "nothing", "of SlowPath"]

    after = [returned("SlowPath"), says("load_old, SlowPath and docs/guide.md")]
    assert fates(after, "the guide.md", search) == {"load_old": "recallable", "SlowPath": "seen again", "docs/guide.md": "in view"}
    assert ("load_old", CUT_AT, 5) in asked
    assert all(words != "docs/guide.md" for words, _, _ in asked)


def test_kinds_are_counted_apart_and_add_up() -> None:
    facts = session_facts(log(*BEFORE, says("load_old and SlowPath in src/app/loader.py")))
    kinds = by_kind(judged(facts, [Cut(CUT_AT, "load_old")]))
    assert list(kinds) == ["path", "identifier", "hash", "error", "user message"]
    assert kinds["identifier"] == KindRetention(in_view=1, lost=1)
    assert kinds["identifier"].kept.value == 0.5
    assert kinds["hash"].kept.value is None
    assert kinds["identifier"] + KindRetention(recallable=2, seen_again=1) == KindRetention(1, 2, 1, 1)


def test_a_recorded_compaction_keeps_its_summary() -> None:
    compactions = (RecordedCompaction(2, "the first", True, 160_000, 0.0), RecordedCompaction(5, "", None, None, None))
    assert recorded_cuts(Transcript("s", "codex", (), compactions, (), ())) == (Cut(2, "the first"), Cut(5, ""))


WORDS = st.sampled_from(
    ["load_old", "SlowPath", "src/app.py", "app.py", "lib/io.go", "3f2a9c1", "9c1d0e3f", "error: it is broken again", "please", "do"]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)
ENTRIES = st.lists(
    st.one_of(TEXTS.map(prompt), TEXTS.map(says), TEXTS.map(returned), TEXTS.map(lambda text: calls("Bash", {"command": text}))),
    min_size=2,
    max_size=20,
).map(lambda entries: log(*entries))


def whole_text(entries: Sequence[Logged]) -> str:
    return "\n".join(
        written_text(logged.entry) if isinstance(logged.entry, AssistantReply) else shown_text(logged.entry) for logged in entries
    )


def kinds_after(entries: Sequence[Logged], cut: int, kept: str) -> dict[FactKind, KindRetention]:
    return by_kind(judged(session_facts(entries), [Cut(cut, kept)]))


@given(ENTRIES, TEXTS, st.data())
def test_shares_lie_between_nothing_and_all(entries: tuple[Logged, ...], kept: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(entries)))
    for retention in kinds_after(entries, cut, kept).values():
        assert retention.kept.value is None or 0 <= retention.kept.value <= 1


@given(ENTRIES, TEXTS, TEXTS, st.booleans(), st.data())
def test_more_text_never_lowers_a_share(entries: tuple[Logged, ...], kept: str, more: str, before: bool, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(entries)))
    longer = f"{more}\n{kept}" if before else f"{kept}\n{more}"
    less, greater = kinds_after(entries, cut, kept), kinds_after(entries, cut, longer)
    assert all(greater[kind].in_view >= less[kind].in_view and greater[kind].needed == less[kind].needed for kind in less)


@given(ENTRIES, st.data())
def test_the_whole_history_keeps_everything(entries: tuple[Logged, ...], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(entries)))
    for retention in kinds_after(entries, cut, whole_text(entries[:cut])).values():
        assert retention.in_view == retention.needed


@given(ENTRIES, st.data())
def test_every_needed_fact_has_one_fate(entries: tuple[Logged, ...], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(entries)))
    facts = session_facts(entries)
    judgements: list[Judged] = list(judged(facts, [Cut(cut, "")]))
    assert len({one.needed.fact for one in judgements}) == len(judgements)
    assert sum(retention.needed for retention in by_kind(judgements).values()) == len(judgements)
