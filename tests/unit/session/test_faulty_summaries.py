"""Summaries from an endpoint that fails in whatever way: the program summary stands in, and the session goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.deep import many
from tests.endpoint_faults import Fault, FaultyEndpoint, every_fault
from tests.fake_api import FakeApi
from tests.unit.session.filling import fill
from tests.unit.session.harness import compactions, stage
from tests.unit.session.test_distrust import answers
from ullage.models.retry import Patience

PARTS = 30
"""In which the long run meets them: all together would be one session of the server for a minute."""


def lasting() -> list[Fault]:
    """Those that every try meets, and that end without being waited for."""
    return [fault for fault in every_fault() if fault.says and fault.times > 2 and not fault.impatient]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "readings.csv").write_text("\n".join(f"{hour},{hour * 7 % 100}" for hour in range(2_000)))
    return made


@pytest.mark.deep
@pytest.mark.parametrize("part", range(many(1, deep=PARTS)))
async def test_whatever_the_stream_of_a_summary_does_the_digest_stands_in(folder: Path, part: int) -> None:
    wrong: list[str] = []
    async with (
        FakeApi(windows={"claude-opus-5-5": 100_000}) as fake,
        FaultyEndpoint(fake.base_url) as endpoint,
        stage(folder, fake=fake, base_url=endpoint.base_url, patience=Patience(answer=60.0, silence=60.0)) as here,
    ):
        for fault in lasting()[part :: many(60, deep=PARTS)]:
            session = await here.new()
            await fill(here, session, 1)
            endpoint.faults.extend([fault.raw] * fault.times)
            session.compact()
            await here.idle(session)
            endpoint.faults.clear()
            shown = [(card.status, card.rung, card.error) for card in compactions(session)]
            if shown != [("completed", "digest", "")]:
                wrong.append(f"{fault.name}: {shown}")
            await answers(here, session)
    assert wrong == []
