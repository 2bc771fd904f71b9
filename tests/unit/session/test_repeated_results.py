"""A file that is read again, live: the model gets a reference, the log keeps the whole, and the same call again gives it."""

from __future__ import annotations

from pathlib import Path

from tests.fake_api import Call, Say
from tests.unit.session.harness import calls, stage

TEXT = "\n".join(f"level_{line} = {line * 31 % 97}  # of the tank" for line in range(60))


async def test_a_file_read_three_times_stands_in_view_whole_at_last(tmp_path: Path) -> None:
    (tmp_path / "tank.py").write_text(TEXT)
    async with stage(tmp_path) as here:
        session = await here.new()
        for number in range(3):
            here.fake.enqueue([Call("read_file", {"path": "tank.py"})], Say(f"Seen {number}."))
            await here.say(session, "Look at it.")
        assert here.refused() == []
        first, second, third = calls(session)
        assert second.output.startswith("[The same 60 lines stand above, unchanged: the result of `read_file tank.py`.")
        assert first.output == third.output != second.output
        assert second.full_output is not None and Path(second.full_output).read_text() == first.output


async def test_its_text_may_be_written_over_after_a_reference_to_it(tmp_path: Path) -> None:
    (tmp_path / "tank.py").write_text(TEXT)
    async with stage(tmp_path) as here:
        session = await here.new()
        for _ in range(2):
            here.fake.enqueue([Call("read_file", {"path": "tank.py"})], Say("Seen."))
            await here.say(session, "Look at it.")
        here.fake.enqueue([Call("write_file", {"path": "tank.py", "content": "level = 1\n"})], Say("Written."))
        await session.prompt("Write it anew.")
        asked = await here.asked(session)
        session.answer_permission(asked.id, "allow_once", permission_id=asked.permission_id)
        await here.idle(session)
        assert (tmp_path / "tank.py").read_text() == "level = 1\n"
