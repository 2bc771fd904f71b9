"""Questions of the agent as a form of the client (the protocol calls that elicitation), and the answers out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from acp import schema

from ullage.session.settings import Settings
from ullage.session.timeline.items import ToolCallItem
from ullage.session.turns.questions import LONGEST_ANSWER, Given, option_id
from ullage.tools.tool import Question


def with_questions(settings: Settings, capabilities: schema.ClientCapabilities) -> Settings:
    """The settings for a client with these capabilities: whether it can show a form."""
    return replace(settings, shows_questions=capabilities.elicitation is not None and capabilities.elicitation.form is not None)


def message_of(call: ToolCallItem) -> str:
    """The text above the form."""
    if len(call.questions) == 1:
        return f"The agent asks (an answer allows nothing): {call.questions[0].question}"
    return f"The agent has {len(call.questions)} questions. An answer allows nothing."


def form_of(call: ToolCallItem, session_id: str) -> schema.ElicitationFormSessionMode:
    """The form for the questions of a call. It has two fields a question: its options, and room for the user's own words. Nothing is
    required."""
    properties: dict[str, Any] = {}
    for number, question in enumerate(call.questions, 1):
        properties[_chosen(number)] = _choice(question)
        properties[_written(number)] = schema.ElicitationStringPropertySchema(
            type="string", title=f"{question.header}: in your own words", description="Optional"
        )
    form = schema.ElicitationSchema(type="object", properties=properties)
    return schema.ElicitationFormSessionMode(session_id=session_id, tool_call_id=call.id, requested_schema=form)


def _choice(question: Question) -> Any:
    options = [
        schema.EnumOption(const=option_id(place), title=each.label, description=each.description)
        for place, each in enumerate(question.options)
    ]
    if question.multi_select:
        items = schema.TitledMultiSelectItems(any_of=options)
        return schema.ElicitationMultiSelectPropertySchema(type="array", title=question.header, description=question.question, items=items)
    return schema.ElicitationStringPropertySchema(type="string", title=question.header, description=question.question, one_of=options)


def given_in(call: ToolCallItem, content: Mapping[str, Any] | None) -> list[Given]:
    """The answers to the call's questions, in their order. A value of another shape than was asked for says nothing, and
    words beyond the most that count are left out."""
    found: list[Given] = []
    for number in range(1, len(call.questions) + 1):
        chosen, text = ((content or {}).get(name) for name in (_chosen(number), _written(number)))
        several = cast("list[object]", chosen) if isinstance(chosen, list) else [chosen]
        ids = tuple(each for each in several if isinstance(each, str) and each)
        found.append(Given(ids, text[:LONGEST_ANSWER] if isinstance(text, str) else ""))
    return found


def _chosen(number: int) -> str:
    return f"answer{number}"


def _written(number: int) -> str:
    return f"words{number}"
