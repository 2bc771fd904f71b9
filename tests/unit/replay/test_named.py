"""The names that a summary lists, and which of them the agent then used."""

from __future__ import annotations

import pytest

from tests.unit.replay.small_sessions import calls, log, prompt, returned, says
from ullage.replay.names import Named, named
from ullage.replay.retention import Cut, Share

SESSION = log(
    prompt("Fix readTankLevel"),  # 1
    says("I will."),  # 2
    calls("Edit", {"file_path": "src/gauge.py", "new_string": "readTankLevel(filter_window)"}, "edit"),  # 3
    returned("pump_pressure", "edit"),  # 4
    says("Now TankGauge."),  # 5
)


@pytest.mark.parametrize(
    ("summary", "names"),
    [
        ("readTankLevel and filter_window are in gauge.py", Share(2, 2)),
        ("readTankLevel, pump_pressure", Share(1, 2)),  # what only a result showed was not used by the agent
        ("readTankLevel readTankLevel", Share(1, 1)),
        ("TankGauge.readTankLevels", Share(1, 2)),
        ("is_a aB MAX_", Share(0, 0)),  # too short to be told from prose
        ("The gauge is red.", Share(0, 0)),
    ],
)
def test_of_the_names_in_a_summary_those_that_the_agent_writes_after_it_are_used(summary: str, names: Share) -> None:
    assert named(SESSION, [Cut(2, summary)]) == Named(1, len(summary), names)


def test_what_comes_after_the_next_summary_is_not_counted() -> None:
    both = named(SESSION, [Cut(2, "TankGauge"), Cut(4, "TankGauge")])
    assert both == Named(2, 18, Share(1, 2))
    assert both.mean_characters == 9


def test_where_nothing_was_summarised_or_nothing_follows_there_is_no_figure() -> None:
    nothing = named(SESSION, [Cut(2, ""), Cut(5, "readTankLevel")])
    assert nothing == Named()
    assert nothing.mean_characters is None
