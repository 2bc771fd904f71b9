"""A tool call that a model wrote as text is found; code that is shown or asked for is not."""

from __future__ import annotations

import time

import pytest

from tests.deep import many
from ullage.context.blocks import ToolSpec
from ullage.models import written_calls
from ullage.models.written_calls import MOST_PLACES, written_call

TOOLS = (
    ToolSpec("read_file", "", {"type": "object", "properties": {"path": {}, "offset": {}}, "required": ["path"]}),
    ToolSpec("bash", "", {"type": "object", "properties": {"command": {}}, "required": ["command"]}),
)
CALL = '{"name": "read_file", "arguments": {"path": "tank.py"}}'


@pytest.mark.parametrize(
    "said",
    [
        CALL,
        f"```json\n{CALL}\n```",
        f"I shall look at the file.\n\n```json\n{CALL}\n```\n",
        f"```\n[{CALL}]\n```",
        '{"type": "function", "name": "read_file", "parameters": {"path": "tank.py"}}',
        '{"type": "function", "function": {"name": "read_file", "arguments": "{\\"path\\": \\"tank.py\\"}"}}',
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"Let me see.\n<tool_call>\n{CALL}",
        "<tool_call>\n<function=read_file>\n<parameter=path>\ntank.py\n</parameter>\n</function>\n</tool_call>",
        '<function=read_file>{"path": "tank.py"}</function>',
        "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>tank.py</arg_value>\n</tool_call>",
        f"<|python_tag|>{CALL}",
        f"[TOOL_CALLS][{CALL}]",
        '[TOOL_CALLS]read_file[ARGS]{"path": "tank.py"}',
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n```json\n{}\n```<｜tool▁call▁end｜>",
        '<function_calls>\n<invoke name="read_file">\n<parameter name="path">tank.py</parameter>\n</invoke>\n</function_calls>',
        f"<tool_call>\n{CALL}\n</tool_call>\n<tool_call>\n{CALL}\n</tool_call>",
        f"[TOOL_CALLS][{CALL}, {CALL}]",
        f"<|tool_call|>[{CALL}]<|end|>",
        f"Not `<tool_call>`, but:\n<tool_call>{CALL}</tool_call>",
        f"<tool_call>{CALL}</tool_call>\n" * (3 * MOST_PLACES),
        '<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>{"path": "tank.py"}<|call|>',
    ],
)
def test_calls_that_were_written_are_found(said: str) -> None:
    assert written_call(said, "Is the tank full?", TOOLS) == "read_file"


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("The tank is full.", "Is the tank full?"),
        ('```json\n{"name": "tank", "arguments": {"path": "x"}}\n```', "Is it?"),
        ('```json\n{"name": "read_file", "version": 2}\n```', "What is in the manifest?"),
        ('```json\n{"name": "read_file", "arguments": {"file": "x"}}\n```', "What does it send?"),
        (f"```json\n{CALL}\n```\nThis is what the log has in line 4.", "What is in the log?"),
        (f"```json\n{CALL}\n```", "Show me the JSON of a call."),
        (f"```json\n{CALL}\n```", "How would you call read_file?"),
        (f"The parser takes:\n```\n<tool_call>\n{CALL}\n</tool_call>\n```", "What does our parser take?"),
        (f"`<tool_call>{CALL}</tool_call>` is what Qwen writes", "What does Qwen write?"),
        ("```python\nread_file(path)\n```", "How do I read it?"),
        ("{" * 50_000, "Is it?"),
    ],
)
def test_what_is_shown_or_asked_for_is_no_call(said: str, asked: str) -> None:
    assert written_call(said, asked, TOOLS) is None


LONG = many(150_000, deep=400_000)
"""Characters: what takes a time that grows with their square takes minutes."""
MOST_SECONDS = 20
"""Of the processor, for all texts that begin alike; in linear time they take one."""

MARKS = (
    "<tool_call>",
    "<tool_call><function=read_file>",
    "<tool_call>read_file",
    "<function=read_file",
    "<|python_tag|>",
    "[TOOL_CALLS]",
    "[TOOL_CALLS]read_file[ARGS]{",
    "<｜tool▁calls▁begin｜>",
    "<|tool_call_begin|>",
    '<invoke name="read_file',
    "<|tool_call|>",
    "to=functions.read_file {}",
    "```json\n",
    "```\n[",
    "{",
    "[",
    '{"a":',
    '{"name": "read_file", ',
    '"\\"',
    "|>read_file",
    "{}",
    "{ } ",
    "[ ] ",
    " ",
    "\n",
    "\u00a0",
    "`",
    "1",
    "a.-",
)
"""What any of the shapes begins with, ends with or repeats."""


@pytest.mark.deep
@pytest.mark.parametrize(
    "first", ["", "<tool_call>{}", "<tool_call>", "[TOOL_CALLS]", "<｜tool▁calls▁begin｜>", "to=functions.a ", "```\n[]"]
)
def test_no_text_takes_a_time_that_grows_with_its_square(first: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written_calls, "_LONGEST", LONG)
    before = time.process_time()
    for repeated in MARKS:
        for last in ("", "x", "```", "}"):
            said = first + repeated * ((LONG - len(first) - len(last)) // len(repeated)) + last
            assert written_call(said, "Is it?", TOOLS) in (None, "read_file")
    assert time.process_time() - before < MOST_SECONDS
