"""The `ask_user` tool: asks the user one to four questions with options, and waits for the answer.

Its name and the shape of its input are the field's: Gemini CLI's tool has the name, and Claude Code's `AskUserQuestion`, VS Code's
`askQuestions` and Gemini CLI's `ask_user` have `questions` of `header`, `question`, `options` and `multiSelect`. So models know it.

It is no approval. Whatever the user answers allows nothing, so it is free in every mode. All texts are the model's: they are shown as plain
text, and are named as the agent's wherever they stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ullage.context.blocks import Json, ToolSpec
from ullage.context.entries import Answer
from ullage.context.quoting import in_a_line, visible_line
from ullage.context.summary.settled import ASK_USER, NOT_ANSWERED
from ullage.tools.tool import (
    BadToolInput,
    Option,
    PermissionNeed,
    Question,
    ToolCall,
    ToolKind,
    ToolOutcome,
    Unanswered,
    check_input,
    description,
)

MOST_QUESTIONS = 4
FEWEST_OPTIONS, MOST_OPTIONS = 2, 4
"""The limits of Claude Code and Gemini CLI: more options are a form, and a form is not answered in passing."""
HEADER_CHARACTERS, QUESTION_CHARACTERS, LABEL_CHARACTERS, DESCRIPTION_CHARACTERS = 30, 1_000, 80, 400
"""The lengths that a card shows whole. The peers ask for headers of 12 to 16 characters and refuse none; they cut longer ones."""

ANSWERED = "The user answered:"
INSTEAD: Mapping[Unanswered, str] = {
    "skipped": (
        f"{NOT_ANSWERED}: they skipped the question. Decide yourself where you can, say what you assumed, and do not ask the same again."
    ),
    "prompted": f"{NOT_ANSWERED}: they wrote a message instead, which comes next.",
    "not_shown": (
        "Questions with options cannot be shown here. Ask in your own words at the end of your reply, and call no further tool: the user "
        "answers with the next prompt."
    ),
}
"""The text that the model is told if there is no answer, by why there is none."""

_TEXT: dict[str, Json] = {"type": "string", "minLength": 1}


class AskUser:
    """Asks the user, and gives the model what they answered."""

    kind: ToolKind = "other"

    def __init__(self) -> None:
        option: dict[str, Json] = {
            "type": "object",
            "properties": {
                "label": {**_TEXT, "maxLength": LABEL_CHARACTERS, "description": "The option, in 1 to 5 words."},
                "description": {**_TEXT, "maxLength": DESCRIPTION_CHARACTERS, "description": "What follows if it is chosen."},
            },
            "required": ["label", "description"],
        }
        question: dict[str, Json] = {
            "type": "object",
            "properties": {
                "header": {**_TEXT, "maxLength": HEADER_CHARACTERS, "description": "What it is about, in one or two words: `Database`."},
                "question": {**_TEXT, "maxLength": QUESTION_CHARACTERS, "description": "The whole question."},
                "options": {
                    "type": "array",
                    "minItems": FEWEST_OPTIONS,
                    "maxItems": MOST_OPTIONS,
                    "description": "The answers that are offered, the one that you advise first.",
                    "items": option,
                },
                "multiSelect": {"type": "boolean", "description": "Whether several may be chosen; one if left out."},
            },
            "required": ["header", "question", "options"],
        }
        self.spec = ToolSpec(
            ASK_USER,
            description(ASK_USER),
            {
                "type": "object",
                "properties": {"questions": {"type": "array", "minItems": 1, "maxItems": MOST_QUESTIONS, "items": question}},
                "required": ["questions"],
            },
        )

    def title(self, input: Mapping[str, Json]) -> str:
        """The title of a call: `Question: Which database?`, or the headers of several questions."""
        given = input.get("questions")
        asked = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
        if len(asked) == 1 and isinstance(question := asked[0].get("question"), str) and question.strip():
            return f"Question: {question.strip()}"
        headers = [header.strip() for each in asked if isinstance(header := each.get("header"), str) and header.strip()]
        return f"Questions: {', '.join(headers)}" if headers else "Ask a question"

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """Always None: asking the user is free."""
        return None

    def questions(self, input: Mapping[str, Json]) -> tuple[Question, ...]:
        """The questions of a call. Raises `BadToolInput`."""
        check_input(self.spec.input_schema, input)
        asked = tuple(_question(each) for each in cast("list[dict[str, Any]]", input["questions"]))
        for number, each in enumerate(asked):
            labels = {option.label.casefold() for option in each.options}
            if len(labels) < len(each.options):
                raise BadToolInput(f"`questions[{number}].options` has the same label twice")
        return asked

    async def run(self, call: ToolCall) -> ToolOutcome:
        """Tells the model the answers as text. Questions that the user left out are named as such."""
        asked = self.questions(call.input)
        if isinstance(call.answers, str):
            return ToolOutcome(INSTEAD[call.answers], is_error=call.answers == "not_shown")
        lines = [line for number, pair in enumerate(zip(asked, call.answers, strict=True), 1) for line in _lines(number, *pair)]
        given = tuple(answer for answer in call.answers if answer.words)
        return ToolOutcome("\n".join((ANSWERED, *lines)), answers=given)


def _question(given: dict[str, Any]) -> Question:
    options = tuple(Option(visible_line(each["label"].strip()), _shown(each["description"])) for each in given["options"])
    return Question(visible_line(given["header"].strip()), _shown(given["question"]), options, given.get("multiSelect") is True)


def _shown(text: str) -> str:
    return "\n".join(visible_line(line) for line in text.strip().splitlines())


def _lines(number: int, question: Question, answer: Answer) -> Sequence[str]:
    """The lines that tell a question and its answer. The model's words stay in one line, and the user's words are indented."""
    lines = [f"{number}. {in_a_line(question.question)}"]
    if answer.chosen:
        lines.append(f"   They chose: {', '.join(f'“{in_a_line(label)}”' for label in answer.chosen)}")
    if answer.text:
        first, *more = answer.text.splitlines()
        lines += [f"   They wrote: {first}", *(f"     {line}" for line in more)]
    return lines if answer.words else [*lines, "   They left this one out."]
