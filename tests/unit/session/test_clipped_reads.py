"""Files that were read together and clipped, since all of them were too long."""

from __future__ import annotations

from pathlib import Path

from tests.fake_api import Call, Say
from tests.unit.session.harness import calls, stage

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
        await session.prompt("Write it anew")
        session.answer_permission((await here.asked(session)).id, "allow_once")
        await here.idle(session)
        assert "you have seen only a part" in calls(session)[-1].output
        assert (tmp_path / path).read_text().startswith("level_0 = 0\nlevel_1")
