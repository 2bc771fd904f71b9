"""A deleted session leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

from tests.fake_api import Call, Say
from tests.unit.session.harness import stage


async def test_a_deleted_session_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    for number in range(12):
        (folder / f"big{number}.txt").write_text("".join(f"{number} {line} secretword\n" for line in range(1_600)))
    async with stage(folder) as here:
        reads = [Call("read_file", {"path": f"big{number}.txt"}) for number in range(12)]
        here.fake.enqueue(reads, Call("bash", {"command": "seq 1 20000"}), Say("Much."))
        session = await here.new()
        await session.prompt("Read all")
        session.answer_permission((await here.asked(session)).id, "allow_once")
        await here.idle(session)
        outputs = folder / ".ullage" / "tool-results"
        assert len(list(outputs.iterdir())) > 1
        await here.sessions.delete(session.id)
        assert list(outputs.iterdir()) == []
        assert here.sessions.summaries() == []
