"""How a step is streamed, what the model says of itself, scenarios of one's own, and the window."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.models.practice.workbench import Workbench
from ullage.context.blocks import Text, Thinking, ToolUse
from ullage.context.counting.gauge import threshold_of
from ullage.context.policies.ullage import ULLAGE
from ullage.models.errors import PromptTooLong
from ullage.models.model import Reply, TextDelta, ThinkingDelta, ToolInputDelta, ToolUseStarted
from ullage.models.practice.practice_model import FULL_AT, WINDOW, PracticeModel
from ullage.models.practice.scenario import BadScenario, Scenario, load_scenarios, parse_scenario

SCENARIO = {
    "name": "two-steps",
    "matches": ["do it"],
    "steps": [
        {"thinking": "Let me see.", "text": "I list the files.\nAll of them.", "tools": [{"name": "list_files", "input": {"path": "ü"}}]},
        {"text": "Done."},
    ],
}


def scenario(**changes: object) -> Scenario:
    return parse_scenario(json.dumps({**SCENARIO, **changes}), "test.json")


async def test_a_step_streams_block_by_block_in_small_pieces(tmp_path: Path) -> None:
    bench = Workbench(PracticeModel([scenario()], pace=0), tmp_path)
    bench.start("Please DO\nit now")
    events = [event async for event in bench.model.stream(bench.request(), 8_000)]
    reply = events[-1]
    assert isinstance(reply, Reply)
    thinking, text, call = reply.blocks
    assert thinking == Thinking("Let me see.", "")
    assert isinstance(call, ToolUse)
    assert "".join(event.text for event in events if isinstance(event, ThinkingDelta)) == "Let me see."
    assert Text("".join(event.text for event in events if isinstance(event, TextDelta))) == text
    assert json.loads("".join(event.partial_json for event in events if isinstance(event, ToolInputDelta))) == call.input
    assert [event for event in events if isinstance(event, ToolUseStarted)] == [ToolUseStarted(2, call.id, "list_files")]
    assert {event.index for event in events if isinstance(event, TextDelta)} == {1}
    assert all(len(event.text) <= 40 for event in events if isinstance(event, TextDelta))
    assert reply.stop_reason == "tool_use"


async def test_the_card_says_what_it_is(tmp_path: Path) -> None:
    card = await PracticeModel(()).card()
    assert card.practice
    assert not card.writes_summaries
    assert "not an AI" in card.display_name
    assert card.prices is not None
    assert card.source == "practice"


def test_its_window_makes_the_context_full_where_the_tour_can_show_it() -> None:
    assert threshold_of(WINDOW, ULLAGE.threshold) == FULL_AT


async def test_over_its_window_the_prompt_is_too_long(tmp_path: Path) -> None:
    bench = Workbench(PracticeModel((), pace=0, window=1_000), tmp_path)
    with pytest.raises(PromptTooLong, match=r"\d+ tokens > 1000 maximum") as caught:
        await bench.prompt("words " * 2_000)
    assert caught.value.window == 1_000


async def test_changes_before_the_messages_empty_its_cache(tmp_path: Path) -> None:
    model = PracticeModel((), pace=0)
    bench = Workbench(model, tmp_path)
    await bench.prompt("hi")
    await bench.prompt("hello")
    other = Workbench(model, tmp_path, trusted=False)
    await other.prompt("hi")
    assert [usage.cache_read_tokens > 0 for usage in (*bench.usages, *other.usages)] == [False, True, False]


def test_scenarios_of_a_folder_go_before_those_that_come_with_it(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(json.dumps(SCENARIO))
    (tmp_path / "notes.txt").write_text("not a scenario")
    names = [each.name for each in load_scenarios(tmp_path)]
    assert names == ["two-steps", *(each.name for each in load_scenarios())]


NO_SCENARIOS: list[tuple[dict[str, object], str]] = [
    ({"name": "Two_Steps"}, "lower-case letters"),
    ({"steps": []}, "last step"),
    ({"steps": [{"tools": [{"name": "bash", "input": {}}]}]}, "must not call tools"),
    ({"steps": ["say hello"]}, "expected an object"),
    ({"steps": [{"text": 3}]}, "`text` is no text"),
    ({"steps": [{"delay_ms": "long"}]}, "`delay_ms` is no number"),
    ({"matches": "do it"}, "`matches` is no list"),
]


@pytest.mark.parametrize(("changes", "words"), NO_SCENARIOS)
def test_a_file_that_is_no_scenario_is_refused_by_name(changes: dict[str, object], words: str) -> None:
    with pytest.raises(BadScenario, match=r"test\.json") as caught:
        scenario(**changes)
    assert words in str(caught.value)


def test_broken_json_is_refused_by_name() -> None:
    with pytest.raises(BadScenario, match=r"test\.json is no scenario"):
        parse_scenario("{", "test.json")
