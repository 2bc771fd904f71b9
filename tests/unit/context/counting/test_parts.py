"""What fills the context, part by part: it adds up to the gauge's number, and each part is what it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import compaction, log, prompt, says
from tests.unit.context.pictures import MEDIA
from tests.unit.context.strategies import histories, planned_histories
from tests.unit.context.work import priced, ran, read
from ullage.context.blocks import SystemPart, ToolSpec, Usage
from ullage.context.compaction.exclusion import exclude
from ullage.context.compaction_entries import RestoredFile, Summarised
from ullage.context.counting.accounting import Account, Stated
from ullage.context.counting.fixed_parts import FixedParts
from ullage.context.counting.parts import ContextPart, KeptParts, PartKind, parts_of, totals
from ullage.context.counting.tokens import Calibration, estimate_message
from ullage.context.engines.engine import SummaryText, planned_entry
from ullage.context.entries import AgentRun, AssistantReply, Attachment, EntryPinned, Logged, Notice, Prelude, ToolReturned, UserPrompt
from ullage.context.view.projection import Projection

PRELUDE = Prelude(
    (
        SystemPart("system", "You are an agent. " * 200),
        SystemPart("rules", "Be brief. " * 100, "AGENTS.md"),
        SystemPart("rules", "Use metres. " * 50, "CLAUDE.md"),
    ),
    (ToolSpec("read_file", "Reads. " * 200, {}), ToolSpec("bash", "Runs. " * 100, {})),
)
UNTOLD = Calibration()
AGENT = AgentRun("s2", "explore", 900, 20_000)
About: TypeAlias = Literal["file_changed", "rules", "resume", "command", "hook", "hook_standing"]
ABOUT: Sequence[About] = ("file_changed", "rules", "resume", "command", "hook", "hook_standing")
SERVERS = (SystemPart("system", "files: reads and writes files", "MCP servers"), SystemPart("system", "git: asks git", "MCP servers git"))


class Halves:
    """A tokenizer that has counted every text of even length."""

    @property
    def version(self) -> int:
        return 1

    def known(self, text: str) -> int | None:
        return len(text) // 2 if len(text) % 2 == 0 else None

    def want(self, texts: Sequence[str]) -> None:
        pass


@st.composite
def counted_histories(draw: st.DrawFn) -> list[Logged]:
    """Histories whose replies report any usage that the API could: larger and smaller ones, of one model or another."""
    entries = draw(st.one_of(histories(), planned_histories()))
    usages = st.one_of(st.none(), st.builds(Usage, st.integers(0, 3_000), st.integers(0, 400), st.integers(0, 9_000)))

    agents, about = st.sampled_from([None, AGENT]), st.sampled_from(ABOUT)
    media = st.sampled_from([(), MEDIA[:1], MEDIA[:2]])

    def with_usage(logged: Logged) -> Logged:
        entry = logged.entry
        if isinstance(entry, ToolReturned):
            return replace(logged, entry=replace(entry, agent=draw(agents), media=() if entry.is_error else draw(media)))
        if isinstance(entry, Notice):
            return replace(logged, entry=replace(entry, about=draw(about)))
        if isinstance(entry, Prelude):
            return replace(logged, entry=replace(entry, system=(*entry.system, *draw(st.sampled_from([(), SERVERS])))))
        if not isinstance(entry, AssistantReply):
            return logged
        return replace(logged, entry=replace(entry, usage=draw(usages), model=draw(st.sampled_from(["m", "m", "n"]))))

    return [with_usage(logged) for logged in entries]


def fixed_parts(entries: Sequence[Logged], tokens: int) -> FixedParts:
    known = FixedParts()
    for prelude in {logged.entry for logged in entries if isinstance(logged.entry, Prelude) and not logged.entry.tools}:
        known.take_count(prelude, {"system": tokens})
    return known


@given(
    counted_histories(),
    st.floats(0.5, 2.5),
    st.booleans(),
    st.one_of(st.none(), st.integers(1, 500)),
    st.one_of(st.none(), st.integers(1, 20_000)),
)
def test_the_parts_add_up_to_the_gauge_exactly(
    entries: list[Logged], ratio: float, tokenized: bool, fixed: int | None, stated: int | None
) -> None:
    calibration = Calibration(ratio, counts=Halves() if tokenized else None, fixed=fixed_parts(entries, fixed) if fixed else None)
    account, view, kept = Account(), Projection(), KeptParts()
    for logged in entries:
        view.append(logged)
        counted = account.count(view, calibration)
        if stated is not None and logged.seq == len(entries) // 2:
            account.state(Stated(view.key, logged.seq, stated, counted.categories, calibration.fixed))
            counted = account.count(view, calibration)
        parts = parts_of(view, counted, calibration)
        assert kept.of(view, counted, calibration) == parts, "what is kept from one look to the next changes nothing"
        assert sum(part.tokens for part in parts) == counted.used
        assert all(part.tokens >= 0 for part in parts)
        assert sum(tokens for _, tokens in totals(parts).values()) == counted.used
        in_view = {source for message in view.messages for source in message.sources}
        assert {part.seq for part in parts} - {0} <= in_view


class Learning(Halves):
    """The same, and it learns to count the others."""

    def __init__(self) -> None:
        self.texts = set[str]()

    @property
    def version(self) -> int:
        return len(self.texts)

    def known(self, text: str) -> int | None:
        return len(text) if text in self.texts else super().known(text)


def test_what_a_tokenizer_counted_later_is_taken_in() -> None:
    counts, account, kept = Learning(), Account(), KeptParts()
    calibration = Calibration(counts=counts)
    view = Projection(log(PRELUDE, *(each for turn in range(6) for each in (prompt("odd" * (2 * turn + 1)), says("Yes")))))
    before = kept.of(view, account.count(view, calibration), calibration)
    counts.texts.add("odd" * 5)
    after = kept.of(view, account.count(view, calibration), calibration)
    assert after == parts_of(view, account.count(view, calibration), calibration) != before


def parts(*entries: object) -> dict[tuple[PartKind, str], list[ContextPart]]:
    """By kind and name, in the order of the request."""
    view = Projection(log(*entries))  # type: ignore[arg-type]
    found: dict[tuple[PartKind, str], list[ContextPart]] = {}
    for part in parts_of(view, Account().count(view, UNTOLD), UNTOLD):
        found.setdefault((part.kind, part.name), []).append(part)
    return found


def test_each_part_is_there_under_its_kind() -> None:
    picture = UserPrompt("p2", "Look", (Attachment("gauge.png", "An image", MEDIA[0]), Attachment("tank.py", "x = 1\n" * 50, lines=(2, 9))))
    made = compaction(
        "c", summarised=Summarised(6, "They read the tank."), restored=[RestoredFile("pump.py", "def pump(): ...", "whole", "0")]
    )
    found = parts(
        PRELUDE,
        prompt("Hello"),
        *read("tank.py", "text\n" * 300),
        says("Read."),
        prompt("Go on"),
        made,
        picture,
        *ran("make"),
        says("Done"),
    )
    assert list(found) == [
        ("system", ""),
        ("rules", "AGENTS.md"),
        ("rules", "CLAUDE.md"),
        ("tool", "read_file"),
        ("tool", "bash"),
        ("summary", ""),
        ("file", "pump.py"),
        ("image", "gauge.png"),
        ("file", "tank.py:2-9"),
        ("prompt", ""),
        ("call", ""),
        ("reply", ""),
    ]
    assert found["rules", "AGENTS.md"][0].tokens > 0 < found["tool", "bash"][0].tokens < found["tool", "read_file"][0].tokens
    assert found["file", "tank.py:2-9"][0].paths == ("tank.py",)


def test_a_call_is_one_part_with_its_result() -> None:
    [call] = parts(PRELUDE, prompt("Hello"), *read("tank.py", "text\n" * 300))["call", ""]
    assert (call.seq, call.paths) == (4, ("tank.py",))
    assert call.tokens > 300


def test_what_was_read_is_touched_since_only_if_a_later_call_says_so() -> None:
    first, second, other = parts(PRELUDE, prompt("Hello"), *read("tank.py"), *read("tank.py"), *read("pump.py"))["call", ""]
    assert (first.touched_since, second.touched_since, other.touched_since) == (True, False, False)
    assert parts(PRELUDE, prompt("Hello"), *ran("make"))["call", ""][0].touched_since is None


def test_what_is_pinned_and_what_is_excluded_says_so() -> None:
    entries = [
        PRELUDE,
        prompt("Hello"),
        *read("tank.py", "text\n" * 300),
        *read("pump.py", "text\n" * 300),
        says("Read."),
        EntryPinned(6, True),
    ]
    view = Projection(log(*entries))
    planned = exclude(view, 4, lambda messages: sum(map(estimate_message, messages)))
    assert planned is not None
    gone = planned_entry("c", "manual", planned, SummaryText(""), "moves", policy="user", tokens_before=0)
    out, pinned = parts(*entries, gone)["call", ""]
    assert (out.excluded, out.pinned, pinned.excluded, pinned.pinned) == (True, False, False, True)
    assert out.tokens < pinned.tokens / 5
    assert out.touched_since is None


@pytest.mark.parametrize(
    ("about", "kind"),
    [
        ("file_changed", "file"),
        ("rules", "rules"),
        ("resume", "notice"),
        ("command", "command"),
        ("hook", "hook"),
        ("hook_standing", "hook"),
    ],
)
def test_a_notice_is_what_it_is_about(about: str, kind: PartKind) -> None:
    assert (kind, "") in parts(PRELUDE, prompt("Hello"), says("Yes"), Notice(about, "More of it."))  # type: ignore[arg-type]


def test_the_difference_to_the_apis_count_is_in_the_parts() -> None:
    """The API says that the request took more than the parts do by themselves: all have their share of it."""
    entries = [PRELUDE, prompt("word " * 400), *ran("make", "word " * 400)]
    by_itself = parts(*entries)
    told = parts(*entries, priced("Done", 9_000, 3))
    assert sum(part.tokens for each in told.values() for part in each) == 9_003
    assert told["prompt", ""][0].tokens > 2 * by_itself["prompt", ""][0].tokens
    assert ("rest", "") not in told


def test_servers_and_reports_of_sub_agents_are_parts_of_their_own() -> None:
    call, result = ran("look", "It is in gauge.py. " * 20)
    assert isinstance(result, ToolReturned)
    prelude = replace(PRELUDE, system=(*PRELUDE.system, *SERVERS))
    found = parts(prelude, prompt("Look"), call, replace(result, agent=AGENT), says("Yes"))
    assert [part.name for kind, name in found if kind == "server" for part in found[kind, name]] == ["MCP servers", "MCP servers git"]
    [report] = found["report", ""]
    assert report.call is not None
    assert ("call", "") not in found
