"""The tour, played on the sample workspace: it mends the bug, always in the same steps, and goes on wherever it was cut."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.models.practice.workbench import Workbench
from ullage.context.blocks import Text, ToolUse
from ullage.context.counting.gauge import threshold_of
from ullage.context.policies.ullage import ULLAGE
from ullage.models.model import Reply
from ullage.models.practice.practice_model import PracticeModel
from ullage.models.practice.scenario import load_scenarios

SAMPLE = Path(__file__).parents[4] / "sample-workspace"


@pytest.fixture(autouse=True)
def path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))  # `python3` is this Python


def sample_in(folder: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, folder / "sample", ignore=shutil.ignore_patterns("__pycache__")))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return sample_in(tmp_path)


@pytest.fixture(scope="module")
def played_tours() -> dict[str, Workbench]:
    """See `whole_tour`."""
    return {}


@pytest.fixture
async def whole_tour(played_tours: dict[str, Workbench], tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    """A tour that was played to its end: one for all tests that only look at it."""
    if not played_tours:
        played_tours["whole"] = tour_in(sample_in(tmp_path_factory.mktemp("tour")))
        await played_tours["whole"].prompt("take the tour")
    return played_tours["whole"]


def tour_in(folder: Path, *, trusted: bool = True) -> Workbench:
    return Workbench(PracticeModel(load_scenarios(), pace=0), folder, trusted=trusted)


def is_mended(folder: Path) -> bool:
    return subprocess.run([sys.executable, "-m", "unittest"], cwd=folder, capture_output=True, check=False).returncode == 0


def played(bench: Workbench) -> list[tuple[object, ...]]:
    """What was said and called, without the ids."""
    return [
        tuple((block.name, dict(block.input)) if isinstance(block, ToolUse) else block for block in reply.blocks) for reply in bench.replies
    ]


def said_in_full(reply: Reply) -> str:
    return "\n".join(block.text for block in reply.blocks if isinstance(block, Text))


async def test_it_mends_the_bug(folder: Path) -> None:
    bench = tour_in(folder)
    assert not is_mended(folder)
    last = await bench.prompt("Take the tour, please")
    assert is_mended(folder)
    assert last.startswith("Done.")
    assert [reply.stop_reason for reply in bench.replies] == ["tool_use"] * (len(bench.replies) - 1) + ["end_turn"]


async def test_it_is_always_the_same(whole_tour: Workbench, folder: Path) -> None:
    second = tour_in(folder)
    await second.prompt("take the tour")
    assert played(whole_tour) == played(second)
    ids = [block.id for bench in (whole_tour, second) for reply in bench.replies for block in reply.blocks if isinstance(block, ToolUse)]
    assert len(set(ids)) == len(ids)


def test_it_says_that_it_is_no_language_model(whole_tour: Workbench) -> None:
    assert "not an AI" in said_in_full(whole_tour.replies[0])
    assert "Ullage: Connect a model" in said_in_full(whole_tour.replies[-1])


async def test_the_context_is_full_after_the_edit_and_not_before(whole_tour: Workbench) -> None:
    card = await whole_tour.model.card()
    full_at = threshold_of(card.window, ULLAGE.threshold)
    sizes = [usage.context_tokens for usage in whole_tour.usages]
    names = [[block.name for block in reply.blocks if isinstance(block, ToolUse)] for reply in whole_tour.replies]
    edited = next(index for index, calls in enumerate(names) if "edit_file" in calls)
    assert sizes[edited + 2] < full_at < sizes[-2]
    assert sizes[-1] < card.window


def test_what_was_sent_before_is_read_from_the_cache(whole_tour: Workbench) -> None:
    for before, after in zip(whole_tour.usages, whole_tour.usages[1:], strict=False):
        assert after.cache_read_tokens == before.total_input_tokens
        assert after.output_tokens > 0


async def test_it_goes_on_after_a_compaction_that_leaves_only_the_summary(folder: Path) -> None:
    (tour,) = [scenario for scenario in load_scenarios() if scenario.name == "tour"]
    bench = tour_in(folder)
    bench.start("take the tour")
    went_on: list[str] = []
    for _ in tour.steps[1:10]:
        await bench.play(1)
        compacted = tour_in(folder)
        for logged in bench.projection.entries[1:]:
            compacted.log(logged.entry)
        compacted.compact_all(at_work=True)
        await compacted.step()
        went_on.append(said_in_full(compacted.replies[-1]))
    assert went_on == [step.text for step in tour.steps[1:10]]


async def test_it_goes_on_after_a_compaction_by_an_earlier_version(folder: Path) -> None:
    (tour,) = [scenario for scenario in load_scenarios() if scenario.name == "tour"]
    bench = tour_in(folder)
    bench.start("take the tour")
    await bench.play(2)
    bench.compact_to(
        f"# Record of the conversation so far\n\n## Where things stand\n\n> … {tour.steps[1].text[-80:]}",
        "The messages before this point gave way to the record above, to make room.\nYou were at work: go on from where it ends.",
    )
    await bench.step()
    assert bench.said == tour.steps[2].text


@pytest.mark.parametrize("cut_after", [1, 2, 5, 8])
async def test_a_call_that_was_interrupted_is_made_again(folder: Path, cut_after: int) -> None:
    bench = tour_in(folder)
    bench.start("take the tour")
    await bench.play(cut_after)
    interrupted = await bench.step()
    repeated = await bench.step()
    assert [(call.name, call.input) for call in repeated] == [(call.name, call.input) for call in interrupted]
    await bench.run(repeated)
    assert (await bench.go_on()).startswith("Done.")


async def test_a_new_prompt_after_an_interrupted_call_is_answered(folder: Path) -> None:
    bench = tour_in(folder)
    bench.start("take the tour")
    await bench.step()
    assert "`volume_at`" in await bench.answer_to("where is volume_at?")


async def test_go_on_means_the_tour(folder: Path) -> None:
    bench = tour_in(folder)
    bench.start("take the tour")
    await bench.play(1)
    await bench.step()
    assert (await bench.prompt("continue")).startswith("Done.")


async def test_words_to_the_running_turn_are_heard(folder: Path) -> None:
    bench = tour_in(folder)
    bench.start("take the tour")
    await bench.play(1)
    assert "hurry up" in await bench.answer_to("hurry up", steering=True)
    assert bench.replies[-1].stop_reason == "tool_use"


async def test_after_its_end_nothing_is_left_to_go_on_with(folder: Path) -> None:
    bench = tour_in(folder)
    await bench.prompt("take the tour")
    assert "practice model" in await bench.prompt("continue")
    assert bench.replies[-1].stop_reason == "end_turn"


async def test_a_refused_edit_ends_it(folder: Path) -> None:
    bench = tour_in(folder)
    bench.refused.add("edit_file")
    assert "The edit was not made" in await bench.prompt("take the tour")


async def test_an_edit_of_a_text_that_was_not_seen_is_tried_once_more(folder: Path) -> None:
    bench = tour_in(folder)
    bench.forgotten_edits = 1
    assert (await bench.prompt("take the tour")).startswith("Done.")
    calls = [block.name for reply in bench.replies for block in reply.blocks if isinstance(block, ToolUse)]
    assert calls.count("edit_file") == 2


async def test_an_edit_that_is_never_taken_ends_it(folder: Path) -> None:
    bench = tour_in(folder)
    bench.forgotten_edits = 99
    assert "The edit was not made" in await bench.prompt("take the tour")


async def test_a_second_tour_finds_nothing_to_mend(folder: Path) -> None:
    bench = tour_in(folder)
    await bench.prompt("take the tour")
    assert "All tests pass" in await bench.prompt("take the tour")


async def test_another_folder_ends_it(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    bench = tour_in(tmp_path)
    told = await bench.prompt("take the tour")
    assert "not the sample workspace" in told
    assert "write a note" in told
    assert "plan" not in told, "nothing of it would be done"


async def test_in_a_workspace_that_is_not_trusted_it_says_so(folder: Path) -> None:
    bench = tour_in(folder, trusted=False)
    assert "needs `bash`" in await bench.prompt("take the tour")
