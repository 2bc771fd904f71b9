"""A reply that stops coming: told in words, and tried again where nothing of it was shown."""

from __future__ import annotations

import pytest

from tests.unit.models.calls import HELLO, KEY, Naps, request
from tests.unit.models.scripted_server import Answer, ScriptedServer, sse, started, text
from ullage.models.anthropic_model import AnthropicModel
from ullage.models.errors import EndpointUnreachable, ModelError, NothingMore
from ullage.models.model import ModelEvent, Reply, Retrying, TextDelta
from ullage.models.retry import Patience, spoken

MOMENTS = Patience(answer=30.0, silence=0.1, pings=0.1)
SILENT = Answer(sse(started(input_tokens=10)), hold=True)


async def events_of(*answers: Answer, patience: Patience = MOMENTS) -> tuple[list[ModelEvent], ModelError | None]:
    found: list[ModelEvent] = []
    async with ScriptedServer(*answers) as server:
        model = AnthropicModel("claude-test", api_key=KEY, base_url=server.url, patience=patience, sleep=Naps(), dice=lambda: 0.0)
        try:
            async for event in model.stream(request(), 1_000):
                found.append(event)  # noqa: PERF401 - what came before an error counts
        except ModelError as error:
            return found, error
        finally:
            await model.aclose()
    return found, None


async def test_silence_before_any_output_is_tried_again_once() -> None:
    events, error = await events_of(SILENT, Answer(HELLO))
    assert error is None
    assert [type(event) for event in events] == [Retrying, TextDelta, TextDelta, Reply]
    events, error = await events_of(SILENT)
    assert [type(event) for event in events] == [Retrying]
    assert isinstance(error, NothingMore)
    assert "sent nothing for 0.1 s in the middle of its reply. The connection was ended" in str(error)


async def test_silence_in_the_text_ends_the_reply() -> None:
    events, error = await events_of(Answer(sse(started(), *text(0, "Hel")), hold=True))
    assert [type(event) for event in events] == [TextDelta]
    assert isinstance(error, NothingMore)


async def test_a_whole_reply_is_not_waited_for() -> None:
    whole = HELLO.replace('event: message_stop\ndata: {"type": "message_stop"}\n\n', "")
    events, error = await events_of(Answer(whole, hold=True))
    assert error is None
    assert isinstance(events[-1], Reply)


async def test_no_answer_at_all_is_not_waited_for_again() -> None:
    async with ScriptedServer(Answer(HELLO)) as server:
        model = AnthropicModel("claude-test", api_key=KEY, base_url=server.url, patience=Patience(answer=0.0), sleep=Naps())
        with pytest.raises(EndpointUnreachable, match="took the request but did not answer in time"):
            async for _ in model.stream(request(), 1_000):
                pass
        await model.aclose()


@pytest.mark.parametrize(("seconds", "words"), [(90.0, "90 s"), (300.0, "5 min"), (900.0, "15 min")])
def test_a_time_is_said_in_words(seconds: float, words: str) -> None:
    assert spoken(seconds) == words
