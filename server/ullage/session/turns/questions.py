"""Questions of the agent to the user: who is asked, what is shown meanwhile, and the answer that is waited for.

An answer allows nothing; approvals are elsewhere (`approvals.py`), and no answer to one is an answer to the other. A prompt that the user
sends to the running turn stands for an answer: they saw the question, and said something else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ullage.context.entries import Answer
from ullage.session.errors import SessionError
from ullage.session.timeline.items import ToolCallItem, new_id
from ullage.session.timeline.timeline import Timeline
from ullage.tools.tool import Question, Unanswered

LONGEST_ANSWER = 20_000
"""Most characters of the user's own words to one question. They stay in view as a result; what is longer is a file, or a prompt."""


@dataclass(frozen=True, slots=True)
class Given:
    """What the user gave to one question: the ids of the options that they chose, and their own words."""

    option_ids: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class CallQuestions:
    """The questions that one call asks the user. `id` is of these questions alone."""

    id: str
    questions: tuple[Question, ...]
    answer: asyncio.Future[tuple[Answer, ...] | Unanswered]


class Questions:
    """The open questions of one session, by tool call id.

    `are_shown` says whether the front end can show any, `has_prompt` whether the user has sent a prompt that waits for the next boundary.
    """

    def __init__(self, timeline: Timeline, are_shown: Callable[[], bool], has_prompt: Callable[[], bool]) -> None:
        self._timeline = timeline
        self._are_shown = are_shown
        self._has_prompt = has_prompt
        self._waiting: dict[str, CallQuestions] = {}

    async def ask(self, call_id: str, questions: tuple[Question, ...]) -> tuple[Answer, ...] | Unanswered:
        """Asks the user the questions of a call and waits for their answers, one to each; those that they left out say nothing. If there
        are no answers, it says why."""
        item = self._timeline.get(call_id)
        if not self._are_shown() or not isinstance(item, ToolCallItem):
            return "not_shown"
        if self._has_prompt():
            return "prompted"
        asking = CallQuestions(new_id("q"), questions, asyncio.get_running_loop().create_future())
        self._waiting[call_id] = asking
        self._timeline.put(replace(item, status="awaiting_answer", questions=questions, question_id=asking.id))
        try:
            return await asking.answer
        finally:
            del self._waiting[call_id]

    def answer(self, call_id: str, question_id: str, given: Sequence[Given] | None) -> None:
        """Takes the user's answers to these questions, in their order; None if they skip them.

        Raises `SessionError` if they are not asked, no longer or answered already, or where the answers do not fit them.
        """
        asking = self._waiting.get(call_id)
        if asking is None or question_id != asking.id or asking.answer.done():
            raise SessionError("no_such_question", "This question is no longer open")
        if given is None:
            asking.answer.set_result("skipped")
            return
        if len(given) != len(asking.questions):
            raise SessionError("invalid", f"There are {len(asking.questions)} questions, and {len(given)} answers came")
        answers = tuple(_answer(question, each) for question, each in zip(asking.questions, given, strict=True))
        asking.answer.set_result(answers if any(answer.words for answer in answers) else "skipped")

    def not_shown(self, call_id: str, question_id: str) -> None:
        """Tells that the front end cannot show these questions after all, or cannot tell the answers. Nothing happens if they are over."""
        asking = self._waiting.get(call_id)
        if asking is not None and question_id == asking.id and not asking.answer.done():
            asking.answer.set_result("not_shown")

    def prompted(self) -> None:
        """Tells that the user sent a prompt to the running turn: it takes the place of all answers that are waited for."""
        for asking in self._waiting.values():
            if not asking.answer.done():
                asking.answer.set_result("prompted")


def option_id(index: int) -> str:
    """The id of an option, by its place among those of its question."""
    return str(index + 1)


def _answer(question: Question, given: Given) -> Answer:
    offered = {option_id(index): option.label for index, option in enumerate(question.options)}
    unknown = next((each for each in given.option_ids if each not in offered), None)
    if unknown is not None:
        raise SessionError("invalid", f"{unknown} is not one of the options of this question")
    if len(given.option_ids) > 1 and not question.multi_select:
        raise SessionError("invalid", "Only one option of this question can be chosen")
    if len(given.text) > LONGEST_ANSWER:
        raise SessionError("invalid", f"An answer has at most {LONGEST_ANSWER:,} characters. Put the rest into a file, and name it")
    chosen = tuple(label for each, label in offered.items() if each in given.option_ids)
    return Answer(question.question, chosen, given.text.strip())
