from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.unit.context.logs import PRELUDE, calls, drawn, log, prompt, returned, says
from ullage.context.entries import Entry
from ullage.context.view.projection import project
from ullage.context.view.request import Breakpoint, build_request


def test_it_holds_the_prelude_the_messages_and_the_marks():
    request = build_request(project(log(PRELUDE, prompt("go"), says("ok"), prompt("on"))))
    assert (request.system, request.tools) == (PRELUDE.system, PRELUDE.tools)
    assert drawn(request.messages) == ["user: go", "assistant: ok", "user: on"]
    assert request.breakpoints == (Breakpoint(0, 0), Breakpoint(2, 0))


def test_calls_that_were_interrupted_are_answered():
    request = build_request(project(log(PRELUDE, prompt("go"), calls("t1", "t2"), returned("t1"))))
    assert drawn(request.messages)[-1].startswith("user: =t1 text of t1 | =t2 ! Interrupted")


def test_a_request_stays_as_it_is_while_the_log_grows():
    entries = log(PRELUDE, prompt("go"), says("ok"), prompt("on"), says("done"), prompt("more"))
    projection = project(entries[:2])
    request = build_request(projection)
    for logged in entries[2:]:
        projection.append(logged)
    assert drawn(request.messages) == ["user: go"]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([prompt("go")], "no system prompt"),
        ([PRELUDE], "nobody has said anything"),
        ([PRELUDE, prompt("  ")], "nobody has said anything"),
        ([PRELUDE, prompt("go"), says("ok")], "has answered everything"),
    ],
)
def test_where_there_is_nothing_to_ask_it_says_so(entries: Sequence[Entry], message: str):
    with pytest.raises(ValueError, match=message):
        build_request(project(log(*entries)))
