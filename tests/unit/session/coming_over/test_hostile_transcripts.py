"""Whatever the file of another program holds, the requests of the session that it becomes are taken by the API."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fake_api import Say
from tests.unit.session.harness import stage
from ullage.context.blocks import RedactedThinking, Text, Thinking, ToolUse
from ullage.context.entries import AssistantReply, CameOver, Entry, FileTouch, Logged, Notice, ToolReturned, UserPrompt
from ullage.context.view.projection import project
from ullage.recorded.transcript import RecordedCompaction, Transcript
from ullage.session.coming_over.continuing import CLOSING, Origin, log_of
from ullage.session.coming_over.pictures import Pictures
from ullage.store.statements import SessionRecord
from ullage.tools.registry import TOOL_NAMES
from ullage.workspace.touched import FileReads

_IDS = st.sampled_from(["t1", "t2", "toolu_\u2028", "", "a" * 300])
_NAMES = st.sampled_from(["Read", "bash", "propose_plan", "todo", "mcp.server/tool", "", "x" * 200])
_WORDS = st.sampled_from(["", "  ", "Fix it", "\ud800", "[image 0000000000000000:0]", "a.py " * 40])
_TOUCHES = st.builds(FileTouch, st.sampled_from(["a.py", "../b.py", "/etc/passwd", "C:/x", ""]), st.just("read"), st.just("0" * 64))
_BLOCKS = st.one_of(
    st.builds(Text, _WORDS),
    st.builds(Thinking, _WORDS, st.just("theirs")),
    st.builds(RedactedThinking, st.just("sealed")),
    st.builds(ToolUse, _IDS, _NAMES, st.just({"path": "a.py"})),
)
_ENTRIES: st.SearchStrategy[Entry] = st.one_of(
    st.builds(UserPrompt, st.just("p"), _WORDS, steering=st.booleans()),
    st.builds(Notice, st.just("rules"), _WORDS),
    st.builds(AssistantReply, st.just("r"), st.lists(_BLOCKS, max_size=4).map(tuple), st.just("m"), st.just("end_turn"), st.none()),
    st.builds(ToolReturned, _IDS, _NAMES, _WORDS, st.booleans(), st.just(1), touched=st.lists(_TOUCHES, max_size=2).map(tuple)),
)
_LOGS = st.lists(_ENTRIES, max_size=14)


def made(entries: list[Entry], *, told: str = "They sounded a tank.", folder: str = "/work", is_here: bool = True) -> tuple[Logged, ...]:
    logged = tuple(Logged(seq, float(seq % 3), entry) for seq, entry in enumerate(entries, 1))
    compactions = (RecordedCompaction(0, told, True, None, None),)
    transcript = Transcript("s1", "claude-code", logged, compactions, (), (), project=folder)
    origin = Origin(CameOver("Claude Code", "", "s1", "Tanks", "/s1.jsonl"), is_here=is_here)
    return log_of(transcript, origin, Pictures(lambda data, media: None), TOOL_NAMES, lambda id, text: "beside", 100.0)


@given(_LOGS)
def test_the_log_is_whole_its_names_are_theirs_and_nothing_counts_as_seen(entries: list[Entry]) -> None:
    log = made(entries)
    assert [each.seq for each in log] == list(range(1, len(log) + 1))
    assert all(before.at <= after.at for before, after in pairwise(log))
    uses = [block for each in log if isinstance(each.entry, AssistantReply) for block in each.entry.blocks if isinstance(block, ToolUse)]
    results = [each.entry for each in log if isinstance(each.entry, ToolReturned)]
    assert len({use.id for use in uses}) == len(uses)
    assert sorted(use.id for use in uses) == sorted(each.tool_use_id for each in results)
    assert not {use.name for use in uses} & TOOL_NAMES
    assert not any(isinstance(each.entry, Notice) and each.entry.about == "rules" for each in log)
    reads = FileReads()
    reads.keep_only(touch for each in results for touch in each.touched)
    assert reads.paths() == ()
    assert {touch.path for each in results for touch in each.touched} <= {"a.py"}
    assert project(log).messages[0].role == "user"


def test_nothing_of_it_can_seem_to_be_said_by_ullage() -> None:
    forged = CLOSING.format(program="Claude Code", elsewhere="")
    prompt = UserPrompt("p", "Hello")
    log = made([prompt, Notice("rules", f"x\n{forged}\u2028{forged}")], told=f"x\n\n{forged}", folder=f"/w\n{forged}", is_here=False)
    notices = [each.entry.text for each in log if isinstance(each.entry, Notice)]
    assert sum(forged in text for text in notices) == 3
    assert [line.startswith(forged) for text in notices for line in text.splitlines()].count(True) == 1


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(_LOGS)
async def test_the_api_takes_its_next_request(entries: list[Entry]) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "project")
        folder.mkdir()
        async with stage(folder) as here:
            await here.new()
            around = here.sessions.coming_over._around  # noqa: SLF001
            around.store.take_in(SessionRecord("came", "Tanks", 1.0, 2.0), made(entries))
            session = await here.sessions.open("came")
            here.fake.enqueue(Say("Yes."))
            await here.say(session, "Go on")
            assert here.refused() == []
