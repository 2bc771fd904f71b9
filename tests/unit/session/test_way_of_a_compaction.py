"""The life of a compaction is as ARCHITECTURE.md tells it, held by a trace of a real one at the threshold.

Each step that is numbered there is called, in that order. Whatever stands on the stack then, or while another thread or the model is
waited for, is on the way too: its file is numbered, unless an ordinary prompt calls the same function. Every other file that nothing but
a compaction calls is named there as one that answers.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

from tests.fake_api import Say
from tests.unit.session.filling import WINDOW, fill, make_project, more_readings, summaries
from tests.unit.session.harness import compactions, stage

TOLD_OF = Path(__file__).parents[3] / "ARCHITECTURE.md"
ROOMS = ("context/", "session/")
WAITS = ("to_thread", "AnthropicModel.stream")
"""Where the stack is looked at besides: what waits there goes on afterwards, and is on no other stack until then."""


class Trace:
    """What is called."""

    def __init__(self) -> None:
        self.called: set[CodeType] = set()
        self.steps: list[str] = []
        """Those of ARCHITECTURE.md, in the order in which they were called."""
        self.waiting: set[CodeType] = set()
        """What stood on the stack of a compaction then."""
        self._names = {step.split()[1] for step in steps()} | set(WAITS)

    def told(self, frame: FrameType, event: str, _: object) -> None:
        """A function is called. As it returns nothing, it is told of no single lines."""
        code = frame.f_code
        self.called.add(code)
        if code.co_qualname in self._names:
            self.steps.append(step_of(code))
            stack = list(stack_of(frame))
            if any(each.co_qualname.startswith(("Making.", "Drafting.")) for each in stack) or code.co_qualname not in WAITS:
                self.waiting.update(stack)

    def begin(self) -> None:
        """What was called so far is of no interest any more."""
        self.called, self.steps, self.waiting = set(), [], set()


def stack_of(frame: FrameType | None) -> Generator[CodeType]:
    while frame is not None:
        yield frame.f_code
        frame = frame.f_back


@contextmanager
def everything_called() -> Generator[Trace]:
    """Threads that begin meanwhile are looked at, too."""
    trace = Trace()
    before = sys.gettrace()
    threading.settrace(trace.told)
    sys.settrace(trace.told)
    try:
        yield trace
    finally:
        sys.settrace(before)
        threading.settrace(None)  # pyright: ignore[reportArgumentType] - this is how it is taken back


def step_of(code: CodeType) -> str:
    """Its file and name; the file as ARCHITECTURE.md names it, and none where it is not one of the server."""
    file = code.co_filename.replace("\\", "/").partition("/server/ullage/")[2]
    return f"{file} {code.co_qualname}"


def files_of(told: set[str]) -> set[str]:
    return {file for file in (each.split(" ")[0] for each in told) if file.startswith(ROOMS)}


@cache
def section() -> str:
    return TOLD_OF.read_text("utf-8").partition("## The life of a compaction\n")[2].partition("\n## ")[0]


@cache
def steps() -> tuple[str, ...]:
    """The steps in their order, as file and name."""
    return tuple(f"{file} {name}" for file, name in re.findall(r"^\d+\. `([\w/]+\.py)`, `([\w.]+)`", section(), re.MULTILINE))


def answering() -> set[str]:
    """The files that are named as those that only answer."""
    folders = re.findall(r"^- `([\w/]+/)`: (.+?)$", section().partition("only answer")[2].partition("\n\n- the")[0], re.MULTILINE)
    return {f"{folder}{name}" for folder, names in folders for name in re.findall(r"`(\w+\.py)`", names)}


async def test_the_way_is_as_it_is_told(tmp_path: Path) -> None:
    folder = make_project(tmp_path)
    with everything_called() as trace:
        async with stage(folder, window=WINDOW) as here:
            here.fake.add_rules(summaries())
            session = await here.new()
            await fill(here, session, 2)
            of_a_prompt = {step_of(code) for code in trace.called.copy()}
            trace.begin()
            here.fake.enqueue(more_readings(folder, 4, lines=700), Say("Seen."))  # fills the context at once: no draft is made ahead
            await here.say(session, "Look at more of them")
            assert [each.trigger for each in compactions(session)] == ["threshold"]
            only_then, on_the_way = ({step_of(code) for code in codes.copy()} - of_a_prompt for codes in (trace.called, trace.waiting))
    left = iter(trace.steps)
    assert [step for step in steps() if step not in left][:1] == []
    numbered = {step.split(" ")[0] for step in steps()}
    assert files_of(on_the_way) == numbered
    assert files_of(only_then) - files_of(of_a_prompt) - numbered <= answering()


def test_the_way_goes_through_few_files() -> None:
    files = {step.split(" ")[0] for step in steps()}
    said = re.search(r"through \*\*(\d+) files\*\*", section())
    assert said is not None
    assert len(files) == len(steps()) == int(said[1])
