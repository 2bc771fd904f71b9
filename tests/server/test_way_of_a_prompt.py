"""The way of a prompt is as ARCHITECTURE.md tells it: each function that it names is called in that order for a real prompt."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import CodeType, FrameType

from tests.fake_api import FakeApi, Say
from tests.server import forked
from tests.server.client import editor_window

MOST_FILES = 18

TOLD_OF = Path(__file__).parents[2] / "ARCHITECTURE.md"


def trace(told: Path, wanted: frozenset[str]) -> None:
    """In the process of the server: each call of a step is written to that file as it is made."""
    calls = told.open("w", buffering=1, encoding="utf-8")
    names: dict[CodeType, str] = {}

    def called(frame: FrameType, event: str, _: object) -> None:  # as it returns nothing, it is told of calls alone
        code = frame.f_code
        name = names.get(code)
        if name is None:
            name = f"{Path(code.co_filename).as_posix().rpartition('/server/ullage/')[2]} {code.co_qualname}"
            names[code] = name
        if name in wanted:
            calls.write(f"{name}\n")

    threading.settrace(called)
    sys.settrace(called)


async def calls_for_a_prompt(folder: Path, state: Path, told: Path) -> list[str]:
    """Every call of a step, from the start of the server to the end of its first turn, as its file and name."""

    start = partial(forked.start, before=partial(trace, told, frozenset(steps())))
    async with FakeApi() as fake:
        settings = {"model": {"baseUrl": fake.base_url, "provider": "anthropic"}, "bash": {"sandbox": "off"}}
        async with editor_window(folder, state, settings=settings, start=start) as client:
            fake.enqueue(Say("It holds 100."))
            opened = await client.open()
            await client.prompt(opened.session_id, "How much does the tank hold?")
            await client.until_idle()
        assert len(fake.requests) == 1
    return told.read_text("utf-8").splitlines()


def steps() -> list[str]:
    """The steps on the server, in their order, as file and name."""
    section = TOLD_OF.read_text("utf-8").partition("## The way of a prompt\n")[2].partition("\nThe reply comes back")[0]
    return [f"{file} {name}" for file, name in re.findall(r"^\d+\. `([\w/]+\.py)`, `([\w.]+)`", section, re.MULTILINE)]


async def test_every_step_is_taken_and_in_that_order(folder: Path, state: Path, tmp_path: Path) -> None:
    calls = await calls_for_a_prompt(folder, state, tmp_path / "calls")
    at = calls.index("session/session.py Session.prompt")
    way = steps()
    before, after = way[: way.index(calls[at])], way[way.index(calls[at]) :]
    assert taken(list(reversed(calls[:at])), list(reversed(before))) == []
    assert taken(calls[at:], after) == []


def taken(calls: Sequence[str], way: Sequence[str]) -> list[str]:
    """The first step that does not follow the ones before it; none where all do."""
    left = iter(calls)
    return [step for step in way if step not in left][:1]


def test_the_way_goes_through_few_files() -> None:
    files = {step.split()[0] for step in steps()}
    said = re.search(r"through \*\*(\d+) files\*\*", TOLD_OF.read_text("utf-8"))
    assert said is not None
    assert len(files) == int(said[1]) <= MOST_FILES
