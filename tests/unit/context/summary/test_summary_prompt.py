"""The request for a summary, and what is accepted as one."""

from __future__ import annotations

import pytest

from tests.unit.context.logs import calls, prompt, returned, says, session, thought, use
from ullage.context.blocks import AssistantBlock, Text, ToolResult
from ullage.context.summary.summary_prompt import BEGIN, END, Form, Rejected, accept, summary_request
from ullage.context.view.projection import Projection
from ullage.context.view.request import Request, build_request

OWN = Form(marked=True)
BODY = "## Decisions and why\nThe raw value is used, since the filter lags behind by a second.\n\n## Next step\nRun the tests."


def asked_after_a_result() -> Request:
    return build_request(Projection(session(prompt("Look"), calls("t1"), returned("t1"))))


def test_the_prefix_is_the_same_but_for_one_text_at_the_end():
    request = asked_after_a_result()
    asking = summary_request(request, "", "")
    assert (asking.system, asking.tools, asking.breakpoints) == (request.system, request.tools, request.breakpoints)
    assert list(asking.messages[:-1]) == list(request.messages[:-1])
    assert asking.messages[-1].blocks[:-1] == request.messages[-1].blocks
    assert isinstance(asking.messages[-1].blocks[0], ToolResult)
    assert isinstance(asking.messages[-1].blocks[-1], Text)
    assert len(asking.messages[-1].sources) == len(asking.messages[-1].blocks)


def test_the_request_itself_is_left_alone():
    request = asked_after_a_result()
    before = list(request.messages)
    summary_request(request, "", "")
    assert list(request.messages) == before


def test_after_a_reply_the_text_is_a_message_of_its_own():
    view = Projection(session(prompt("Look"), says("Done")))
    prelude = view.prelude
    assert prelude is not None
    asking = summary_request(Request(prelude.system, prelude.tools, view.messages, ()), "", "")
    assert [message.role for message in asking.messages] == ["user", "assistant", "user"]


def text_of(request: Request) -> str:
    block = request.messages[-1].blocks[-1]
    assert isinstance(block, Text)
    return block.text


def test_the_text_names_the_markers_that_are_looked_for():
    text = text_of(summary_request(asked_after_a_result(), "", ""))
    assert BEGIN in text
    assert END in text


def test_the_focus_is_passed_on():
    assert text_of(summary_request(asked_after_a_result(), "", " the pump ")).endswith("Give most room to this: the pump")


@pytest.mark.parametrize(
    "said",
    [
        f"{BEGIN}\n{BODY}\n{END}",
        f"Here it is.\n{BEGIN}\n{BODY}\n{END}\nAnything else?",
        f"I will put it between {BEGIN} and {END}.\n{BEGIN}\n{BODY}\n{END}",
        f"{BEGIN} {BODY} {END}",
        f"```\n{BEGIN}\n{BODY}\n{END}\n```",
        f"{BODY}\n{END}",
    ],
)
def test_a_summary_is_taken_without_its_markers(said: str):
    assert accept([thought("hm"), Text(said)], "end_turn", OWN, "") == BODY


@pytest.mark.parametrize("quoted", [f"It begins with `{BEGIN}` and ends with `{END}`.", f"{BEGIN}\nas an example\n{END}"])
def test_a_summary_that_speaks_of_its_markers_stays_whole(quoted: str):
    body = f"{BODY}\n{quoted}\nThat is how it was decided."
    assert accept([Text(f"{BEGIN}\n{body}\n{END}")], "end_turn", OWN, "") == body


@pytest.mark.parametrize(
    ("blocks", "stop_reason", "reason"),
    [
        ([], "end_turn", "empty"),
        ([thought("a long thought " * 50)], "end_turn", "empty"),
        ([Text("Sure.")], "end_turn", "form"),
        ([Text(f"{BEGIN}\n\n{END}")], "end_turn", "empty"),
        ([Text(f"{BEGIN}\n{BODY}")], "end_turn", "cut off"),
        ([Text(f"{BEGIN}\n{BODY}\n{END}")], "max_tokens", "cut off"),
        ([Text(BODY)], "model_context_window_exceeded", "cut off"),
        ([Text(BODY)], "end_turn", "form that was asked for"),
        ([Text(BODY), use("t1")], "tool_use", "called a tool"),
        ([Text(BODY)], "refusal", "declined"),
    ],
)
def test_what_is_not_a_summary_is_rejected_with_a_reason(blocks: list[AssistantBlock], stop_reason: str, reason: str):
    result = accept(blocks, stop_reason, OWN, "")
    assert isinstance(result, Rejected)
    assert reason in result.reason
