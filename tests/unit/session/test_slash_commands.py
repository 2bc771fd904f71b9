"""Commands that are typed in place of a prompt, by a front end that knows none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fake_api import Call, Say
from tests.unit.session.filling import make_project
from tests.unit.session.harness import Stage, compactions, items, notices, stage
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.slash_commands import COMMANDS, Typed, carry_out, typed_command


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("/compact", Typed("compact", "")),
        ("  /compact the failing test  ", Typed("compact", "the failing test")),
        ("/compact first line\nsecond line", Typed("compact", "first line\nsecond line")),
        ("/search dip_mm", Typed("search", "dip_mm")),
        ("/undo", Typed("undo", "")),
        ("/clear", Typed("new", "")),
        ("/model claude-haiku-5-5", Typed("model", "claude-haiku-5-5")),
        ("/undo the last change in tank.py", None),
        ("/timeline of the bug in tank.py", None),
        ("/etc/hosts is wrong", None),
        ("/etc", None),
        ("/compact/x", None),
        ("/unknown", None),
        ("/compacted", None),
        ("please /compact", None),
        ("/", None),
        ("", None),
    ],
)
def test_what_is_a_command_and_what_is_a_prompt(text: str, typed: Typed | None) -> None:
    assert typed_command(text) == typed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


async def told(here: Stage, session: Session, text: str) -> str:
    typed = typed_command(text)
    assert typed is not None
    answer = await carry_out(typed, here.sessions, session)
    session.answer_command(answer.text)
    return notices(session)[-1].text


async def test_every_command_of_the_list_does_something(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue(*(Say(f"Answer {number}: the pump is primed. " * 200) for number in range(4)))
        for number in range(4):
            await here.say(session, f"Tell me about pump {number}. " * 200)
        asked = len(here.fake.requests)
        assert "tokens, at which it compacts" in await told(here, session, "/context")
        assert "Compacting now" in await told(here, session, "/preview the pump")
        assert ". the beginning; 4 requests; now" in await told(here, session, "/timeline")
        assert session.id in await told(here, session, "/search primed")
        assert "Nothing found" in await told(here, session, "/search unheardofword")
        assert "answers. /model NAME" in await told(here, session, "/model")
        help = await told(here, session, "/help")
        assert [command.name for command in COMMANDS if f"`/{command.name}" not in help] == []
        assert len(here.fake.requests) == asked  # the model hears of none of it
        before = {summary.session_id for summary in here.sessions.summaries()}
        await told(here, session, "/fork")
        await told(here, session, "/new")
        assert len({summary.session_id for summary in here.sessions.summaries()} - before) == 2
        await told(here, session, "/compact the pump")
        await here.idle(session)
        assert [each.status for each in compactions(session)] == ["completed"]
        await told(here, session, "/undo")
        assert [each.status for each in compactions(session)] == ["undone"]
        await told(here, session, "/redo")
        assert [each.status for each in compactions(session)] == ["completed"]
        shown = {item.id for item in items(session)}
        assert {notice.id for notice in notices(session)} <= shown


async def test_a_command_that_cannot_be_done_is_refused_as_its_request_is(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        for text, reason in (("/compact", "nothing_to_compact"), ("/undo", "nothing_to_undo"), ("/search", "invalid")):
            with pytest.raises(SessionError) as refused:
                await told(here, session, text)
            assert refused.value.reason == reason
        assert notices(session) == []


async def test_effort_is_chosen_by_its_name_and_what_a_change_costs_is_said_before(tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        session = await here.new()
        await here.say(session, "Hello")
        listed = await carry_out(Typed("effort", ""), here.sessions, session)
        dearer = session.snapshot().gauge.anew_cost
        assert dearer is not None and dearer > 0
        assert f"about ${dearer:.2f} more, once" in listed.text
        assert "`/effort max`" in listed.text
        await carry_out(Typed("effort", "High"), here.sessions, session)
        assert session.snapshot().model.effort == "high"
        await carry_out(Typed("effort", "default"), here.sessions, session)
        assert session.snapshot().model.effort is None
        with pytest.raises(SessionError, match="has no effort huge"):
            await carry_out(Typed("effort", "huge"), here.sessions, session)


async def test_rules_files_are_listed_with_what_they_take(folder: Path) -> None:
    (folder / "CLAUDE.md").write_text("Use uv. @docs/style.md")
    (folder / "docs").mkdir()
    (folder / "docs" / "style.md").write_text("Two spaces.")
    (folder / ".cursorrules").write_text("Two spaces.")
    (folder / ".cursor" / "rules").mkdir(parents=True)
    (folder / ".cursor" / "rules" / "csv.mdc").write_text("---\nglobs: *.csv\n---\nNever change a reading.")
    async with stage(folder) as here:
        session = await here.new()
        before = await told(here, session, "/rules")
        here.fake.enqueue([Call("read_file", {"path": "readings.csv"})], Say("Read."))
        await here.say(session, "Look at the readings.")
        after = await told(here, session, "/rules")
        sent = here.fake.requests[-1].body
    assert [line for line in before.splitlines() if "tokens" not in line] == [
        "  It is imported by `CLAUDE.md`.",
        "- `.cursorrules`: not in force",
        "  Mind: says the same as docs/style.md.",
        "- `.cursor/rules/csv.mdc`: in force once the agent touches a file that fits *.csv",
    ]
    assert "tokens: in force for *.csv" in after
    assert "Never change a reading." in str(sent["messages"])
    assert str(sent["system"]).count("Two spaces.") == 1


async def test_a_project_without_rules_files_says_which_count(folder: Path) -> None:
    async with stage(folder) as here:
        assert "AGENTS.md" in await told(here, await here.new(), "/rules")
