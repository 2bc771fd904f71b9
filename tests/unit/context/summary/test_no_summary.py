"""Which replies are summaries, and which only look like one: real shapes of small models, for every policy that asks for one."""

from __future__ import annotations

import json

import pytest

from ullage.context.blocks import Text
from ullage.context.engines.staged import Staged
from ullage.context.policies.memory_blocks import ASKED as FACTS_ASKED
from ullage.context.policies.table import BUILT_IN
from ullage.context.summary.summary_prompt import BEGIN, END, Form, Rejected, accept, asking, why_no_summary

OWN_HEADINGS = (
    "Decisions and why",
    "What was agreed along the way",
    "What was changed and how it works now",
    "What was tried and did not work",
    "What was learned",
    "State of the work",
    "Next step",
)
OWN = Form(marked=True)
SAID = "The raw value is used, since the filter lags behind by a second."
OPEN = "The tests of `pump.py` are still to be run."


def under_headings(*said: str) -> str:
    return "\n\n".join(f"## {heading}\n{text}" for heading, text in zip(OWN_HEADINGS, (*said, *["none"] * 7), strict=False))


FENCED_JSON_AND_NONE = "```json\n" + json.dumps(dict.fromkeys(OWN_HEADINGS, "none"), indent=2) + "\n```"

NO_SUMMARIES = {
    "fenced JSON and seven times none": (FENCED_JSON_AND_NONE, "json"),
    "JSON": (json.dumps({"decisions": [SAID], "next": OPEN}), "JSON"),
    "broken JSON": ('{"decisions": ["' + SAID, "JSON"),
    "a list of JSON": (json.dumps([SAID, OPEN]), "JSON"),
    "an unnamed fence of JSON": (f"```\n{json.dumps({'decisions': [SAID]})}\n```", "JSON"),
    "code": (f"```python\nprint({SAID!r})\nprint({OPEN!r})\n```", "block of python"),
    "a tool call in words": ('<tool_call>\n{"name": "read_file", "arguments": {"path": "pump.py"}}\n</tool_call>', "tool call"),
    "a function in words": ("<function=read_file>\n<parameter=path>\npump.py\n</parameter>\n</function>", "tool call"),
    "none seven times": (under_headings(), "nothing under them"),
    "none in bold, with full stops": ("\n".join(f"**{heading}**\n- None.\n" for heading in OWN_HEADINGS), "nothing under them"),
    "n/a on the headings' lines": (
        "\n".join(f"{index}. {heading}: N/A" for index, heading in enumerate(OWN_HEADINGS, 1)),
        "nothing under them",
    ),
    "none in brackets": ("\n".join(f"### {heading}\n(none yet)" for heading in OWN_HEADINGS), "nothing under them"),
    "keine in German": ("\n".join(f"## {heading}\nKeine." for heading in OWN_HEADINGS), "nothing under them"),
    "headings alone": ("\n".join(f"## {heading}" for heading in OWN_HEADINGS), "nothing under them"),
    "one word again and again": ("none " * 200, "next to nothing"),
    "one line again and again": ("The tank.\n" * 200, "next to nothing"),
    "rules of dashes": ("---\n" * 60, "next to nothing"),
    "an apology": (
        "I'm sorry, but I can't help with summarising this conversation because I do not have access to it.",
        "apologised",
    ),
    "an apology and an offer": (
        "I apologize for the confusion. There is no conversation above that I could summarize.\n\nCould you please paste the text?",
        "apologised",
    ),
    "an offer": ("Sure, I can help you with that!\n\nWhat would you like me to write the summary about today?", "apologised"),
    "as an AI": ("As an AI language model I am not able to remember our earlier conversation, so I cannot write it down.", "apologised"),
}

SUMMARIES = {
    "under the headings": under_headings(SAID, "none", "none", "none", "none", OPEN),
    "a single thing under one heading": under_headings(SAID),
    "prose": f"{SAID} {OPEN}",
    "in a fence": f"```markdown\n## Decisions and why\n{SAID}\n```",
    "with JSON in it": f"{SAID} Its configuration is:\n```json\n{json.dumps({'filter': None})}\n```\n{OPEN}",
    "that begins with a link": f"[pump.py](src/pump.py) has it: {SAID}",
    "that speaks of an apology": f"Sorry was said to the user for the lag. {SAID}\n\n## Next step\n{OPEN}",
    "in German": "## Entscheidungen\nDer rohe Wert wird genommen, weil der Filter um eine Sekunde nachhinkt.",
    "in Chinese": "## 决定\n" + "使用原始值,因为滤波器滞后一秒。" * 3,
    "a long one that begins politely": f"Sure, here it is.\n\n{SAID} " + " ".join(f"Step {n} measured tank {n}." for n in range(60)),
    "labels with what is under them": f"Goal: measure the tank in millimetres\nState: {OPEN}\nFiles: pump.py, tank.py",
}


@pytest.mark.parametrize("shape", NO_SUMMARIES)
def test_what_tells_nothing_is_no_summary(shape: str):
    text, why = NO_SUMMARIES[shape]
    assert why in (why_no_summary(text, asking("", "")) or "taken for a summary")


@pytest.mark.parametrize("shape", SUMMARIES)
def test_what_tells_something_is_one(shape: str):
    assert why_no_summary(SUMMARIES[shape], asking("", "")) is None


@pytest.mark.parametrize("shape", NO_SUMMARIES)
@pytest.mark.parametrize("put", ["{}", f"{BEGIN}\n{{}}\n{END}", f"Here:\n{BEGIN}\n{{}}\n{END}\nDone."])
def test_markers_do_not_make_a_summary_of_it(shape: str, put: str):
    assert isinstance(accept([Text(put.replace("{}", NO_SUMMARIES[shape][0]))], "end_turn", OWN, asking("", "")), Rejected)


def test_a_summary_without_the_lines_that_were_asked_for_is_none():
    assert isinstance(accept([Text(under_headings(SAID, OPEN))], "end_turn", OWN, asking("", "")), Rejected)


PROMPTS = {
    name: policy.engine.summary
    for name, policy in BUILT_IN.items()
    if isinstance(policy.engine, Staged) and policy.engine.summary is not None
}


@pytest.mark.parametrize("name", PROMPTS)
def test_no_policy_takes_its_own_question_for_the_answer(name: str):
    shape = PROMPTS[name]
    for prompt in filter(None, (shape.prompt, shape.update)):
        asked = f"user: Measure the tank.\n\nassistant: {SAID}\n\n{asking(prompt, '')}"
        for echo in (asked, prompt, f"> {asking(prompt, '')}", asking(prompt, "").upper()):
            assert isinstance(accept([Text(echo)], "end_turn", Form(sections=shape.sections), asking(prompt, "")), Rejected), echo


@pytest.mark.parametrize("name", PROMPTS)
@pytest.mark.parametrize("kind", NO_SUMMARIES)
def test_no_policy_takes_what_tells_nothing(name: str, kind: str):
    shape = PROMPTS[name]
    said = [Text(NO_SUMMARIES[kind][0])]
    assert isinstance(accept(said, "end_turn", Form(sections=shape.sections), asking(shape.prompt, "")), Rejected)


@pytest.mark.parametrize("name", [name for name, shape in PROMPTS.items() if shape.sections])
def test_where_sections_were_asked_for_a_third_of_them_must_be_there(name: str):
    shape = PROMPTS[name]
    sections = [f"{number}. Part {number}: {SAID}" for number in range(shape.sections)]
    few, enough = "\n".join(sections[:1]) + f"\n{OPEN}", "\n".join(sections[: -(-shape.sections // 3)])
    assert isinstance(accept([Text(few)], "end_turn", Form(sections=shape.sections), shape.prompt), Rejected)
    assert accept([Text(enough)], "end_turn", Form(sections=shape.sections), shape.prompt) == enough


def test_ullages_own_echo_is_none():
    echo = asking("", "")
    assert isinstance(accept([Text(echo)], "end_turn", OWN, echo), Rejected)


def test_one_short_fact_is_enough_where_facts_are_asked_for_and_a_text_without_any_is_none():
    form = Form(holds="<fact>")
    assert accept([Text("<fact>Uses mm.</fact>")], "end_turn", form, FACTS_ASKED) == "<fact>Uses mm.</fact>"
    assert isinstance(accept([Text(SAID)], "end_turn", form, FACTS_ASKED), Rejected)
    assert isinstance(accept([Text(FACTS_ASKED)], "end_turn", form, FACTS_ASKED), Rejected)
