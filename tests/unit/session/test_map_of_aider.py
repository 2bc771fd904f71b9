"""The repository map of `aider` in a session: of the workspace's files as they are when a summary is made."""

from __future__ import annotations

from pathlib import Path

from tests.unit.session.filling import WINDOW, fill, make_project
from tests.unit.session.harness import compactions, stage
from ullage.context.policies.aider.policy import MAP
from ullage.session.settings import Settings


async def test_the_map_of_the_workspace_stands_beside_the_summary(tmp_path: Path) -> None:
    folder = make_project(tmp_path)
    (folder / "src").mkdir()
    (folder / "src" / "pump.py").write_text("def open_valve():\n    return 1\n")
    (folder / "src" / "main.ts").write_text("export class Gauge {\n  read() {}\n}\n")
    async with stage(folder, window=WINDOW, settings=Settings(policy_name="aider", summary_engine="digest")) as here:
        session = await here.new()
        await fill(here, session, 6)
        session.compact()
        await here.idle(session)
        _, _, shown = compactions(session)[-1].summary.partition(f"{MAP}\n\n")
        assert "src/main.ts:\n1: export class Gauge {\n2:   read() {}\nsrc/pump.py:\n1: def open_valve():" in shown
        assert here.refused() == []
