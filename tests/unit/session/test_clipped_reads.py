"""What was clipped since it was too long: not overwritten unseen, and found by `recall`."""

from __future__ import annotations

from pathlib import Path

from tests.fake_api import Call, Say
from tests.unit.session.harness import calls, stage
from ullage.session.settings import Settings

NAMES = [f"tank{number}.py" for number in range(11)]


async def test_what_was_clipped_away_is_not_overwritten(tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).write_text("".join(f"level_{number} = 0\n" for number in range(1_100)))
    async with stage(tmp_path) as here:
        here.fake.enqueue([Call("read_file", {"path": name}) for name in NAMES], Say("Read."))
        session = await here.new()
        await here.say(session, "Read all of them")
        path = next(call.title.removeprefix("Read ") for call in calls(session) if call.full_output)
        here.fake.enqueue(Call("write_file", {"path": path, "content": "level = 0\n"}), Say("Refused."))
        await here.say(session, "Write it anew")  # what cannot be done is not asked for
        assert "you have seen only a part" in calls(session)[-1].output
        assert (tmp_path / path).read_text().startswith("level_0 = 0\nlevel_1")


async def test_recall_finds_what_stood_in_the_part_that_was_clipped_away_after_a_compaction_too(tmp_path: Path) -> None:
    lines = [f"line {number} of the log\n" for number in range(2_000)]
    (tmp_path / "tank.log").write_text("".join((*lines, "fill_height_mm = 731\n", *lines)))
    async with stage(tmp_path, settings=Settings(summary_engine="digest")) as here:
        here.fake.enqueue(Call("bash", {"command": "cat tank.log"}), Say("Read."))
        session = await here.new()
        await session.prompt("Print the log")
        session.answer_permission((await here.asked(session)).id, "allow_once")
        await here.idle(session)
        assert calls(session)[0].full_output
        assert "fill_height_mm" not in str(here.fake.requests[-1].body)
        session.compact()
        await here.idle(session)
        here.fake.enqueue(Call("recall", {"query": "fill_height_mm"}), Say("On."))
        await here.say(session, "Go on")
        assert "fill_height_mm" in calls(session)[-1].output
