"""A small chat history that is halved and summarised again and again, beside a map of the repository."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.deep import many
from tests.unit.context.logs import calls, drawn, prompt, reply, returned, says, session
from tests.unit.context.policies.rehearsal import compacted, occasion, tokens, written
from tests.unit.context.strategies import histories
from tests.unit.context.validity import problems
from tests.unit.context.work import asked, edited, read, work
from ullage.context.blocks import ToolUse
from ullage.context.compaction_entries import Compaction
from ullage.context.counting.gauge import threshold_of
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import Entry, Logged, ToolReturned, TurnEnded
from ullage.context.policies.aider.policy import AIDER, MAP, AiderOptions
from ullage.context.policies.aider.repository_map import known_texts, patched, ranks, repository_map
from ullage.context.view.projection import Projection
from ullage.context.view.request import build_request

TANK = "class TankGauge:\n    def read_level(self):\n        return open_valve()\n"
PUMP = "def open_valve():\n    return 1\n\n\ndef never_called():\n    return open_valve()\n"
MAIN = "from tank import TankGauge\n\nTankGauge().read_level()\n"


def turns(number: int, words: int = 400) -> list[Logged]:
    entries: list[Entry] = []
    for turn in range(number):
        entries += [prompt(f"question {turn} " + "why " * words), says(f"answer {turn} " + "so " * words), TurnEnded("end_turn")]
    return session(*entries)


@pytest.mark.parametrize(("window", "budget"), [(8_000, 1_024), (64_000, 4_000), (200_000, 8_192), (1_000_000, 8_192)])
def test_the_budget_of_the_chat_history_is_a_sixteenth_of_the_window_from_1_024_to_8_192_tokens(window: int, budget: int):
    assert threshold_of(window, AIDER.threshold) == budget


def test_its_other_numbers_are_those_of_aider():
    options = AiderOptions()
    assert (options.map_tokens, options.map_without_files_factor, options.tail_share, options.fewest_messages) == (1_024, 2, 0.5, 4)


def test_the_newest_half_of_the_budget_stays():
    log = turns(20)
    plan = AIDER.engine.plan(occasion(AIDER, log))
    assert plan is not None
    kept = Projection([logged for logged in log if logged.seq > (plan.summarise_to or 0)]).messages
    one = tokens(kept[:1])
    assert 4_096 - one < tokens(kept) < 4_096 + one
    assert kept[0].role == "user"


def test_the_running_turn_is_left_alone():
    steps: list[Entry] = [prompt("Go")]
    for number in range(30):
        steps += [calls(f"t{number}"), returned(f"t{number}", "line\n" * 500)]
    log = session(*steps)
    assert tokens(Projection(log).messages) > 8_192
    assert AIDER.engine.plan(occasion(AIDER, log)) is None
    assert AIDER.engine.plan(occasion(AIDER, log, "reactive")) is not None
    assert AIDER.engine.plan(occasion(AIDER, log, window=20_000)) is not None


def test_before_and_after():
    log = turns(6, words=120)
    after = compacted(AIDER, log, "manual", "I asked you four things, you answered.", window=8_000)
    assert after is not None
    assert drawn(Projection(after).messages) == [
        "user: What was said earlier, in short:\n\nI asked you four things, you answered.",
        "assistant: Ok.",
        *(line for turn in (4, 5) for line in (f"user: question {turn} {'why ' * 120}", f"assistant: answer {turn} {'so ' * 120}")),
    ]


def test_a_summary_is_summarised_again():
    log = turns(20)
    for number in range(3):
        after = compacted(AIDER, log, model_text=f"summary {number}")
        assert after is not None
        seq = after[-1].seq
        log = [*after, *(Logged(seq + each.seq, 0.0, each.entry) for each in turns(16))]
    texts = [line for message in drawn(Projection(log).messages) for line in message.splitlines() if line.startswith("summary")]
    assert texts == ["summary 2"]


def test_the_map_stands_beside_the_summary():
    numbered = "\n".join(f"{number:>6}\t{text}" for number, text in enumerate(PUMP.split("\n"), 1))
    log = work(asked("Look at open_valve"), read("pump.py", numbered), says("It opens. " + "so " * 5_000), TurnEnded("end_turn"))
    plan = AIDER.engine.plan(occasion(AIDER, log, "manual"))
    assert plan is not None
    text = written(AIDER, log, plan, "I asked about the valve.").text
    assert text.endswith(f"{MAP}\n\npump.py:\n1: def open_valve():\n5: def never_called():")


def test_texts_are_known_as_far_as_the_log_shows_them():
    log = work(
        read("a.py", "     2\tdef b():\n     3\t    pass\n"),
        edited("a.py", "def b()", "def c()"),
        edited("new.py", "", "x = 1"),
        read("a.py", "no numbers here"),
    )
    assert known_texts(log) == {"a.py": "\ndef c():\n    pass", "new.py": "x = 1"}


def test_texts_are_known_from_tools_of_other_programs_too():
    use = ToolUse("r", "Read", {"file_path": "/w/a.py"})
    edit = ToolUse("e", "MultiEdit", {"file_path": "/w/a.py", "edits": [{"old_string": "one", "new_string": "two"}]})
    write = ToolUse("w", "create", {"path": "/w/b.py", "file_text": "x = 1"})
    gone = ToolUse("g", "Write", {"file_path": "/w/c.py", "content": "never written"})
    log = session(
        prompt("Go"),
        reply(use, write, gone),
        returned("r", "     1→def one():\n     2→    pass"),
        returned("w", "Done"),
        ToolReturned("g", "Write", "No", is_error=True, characters=2),
        reply(edit),
        returned("e", "     1→some snippet"),
    )
    assert known_texts(log) == {"/w/a.py": "def two():\n    pass", "/w/b.py": "x = 1"}


PATCH = """*** Begin Patch
*** Add File: a.py
+def one():
+    pass
*** Update File: b.py
@@ def two
 def two():
-    return 1
+    return 2
@@
+def three(): pass
*** Delete File: c.py
*** End Patch
the rest of the command
"""


def test_a_patch_gives_the_texts_after_it():
    before = {"b.py": "x\ndef two():\n    return 1\ny", "c.py": "gone"}
    assert patched(PATCH, before) == {
        "a.py": "def one():\n    pass",
        "b.py": "x\ndef two():\n    return 2\ny\ndef three(): pass",
        "c.py": "",
    }
    assert patched("no patch at all", before) == {}
    log = session(prompt("Go"), reply(ToolUse("t", "shell", {"command": ["apply_patch", PATCH]})), returned("t", "Done"))
    assert known_texts(log) == {"a.py": "def one():\n    pass", "b.py": "def two():\n    return 2\ndef three(): pass"}


@given(st.text(st.sampled_from("*+- @\nab")))
def test_any_text_can_be_looked_at_for_patches(text: str):
    assert set(patched(f"*** Update File: a.py\n{text}", {})) == {"a.py"} or "File: " in text


def test_the_map_shows_first_what_others_refer_to():
    texts = {"tank.py": TANK, "pump.py": PUMP, "main.py": MAIN, "notes.md": "def no(): pass"}
    assert repository_map(texts, estimate_text("pump.py:\n1: def open_valve():")) == "pump.py:\n1: def open_valve():"
    assert repository_map(texts, 1_000).splitlines() == [
        "main.py",
        "pump.py:",
        "1: def open_valve():",
        "5: def never_called():",
        "tank.py:",
        "1: class TankGauge:",
        "2:     def read_level(self):",
    ]


def test_what_is_worked_on_and_spoken_of_counts_more():
    texts = {f"m{number}.py": f"def some_function_{number}(): help_them_all()\n" for number in range(40)}
    texts |= {"base.py": "def help_them_all(): pass\n", "one.py": "some_function_7()\nsome_function_8()\n", "two.py": "some_function_9()\n"}
    room = estimate_text("base.py:\n1: def help_them_all(): pass\nm8.py:\n1: def some_function_8(): help_them_all()")
    assert "some_function_9" in repository_map(texts, room)
    assert "some_function_7" in repository_map(texts, room, worked_on={"one.py"})
    assert "some_function_8" in repository_map(texts, room, worked_on={"one.py"}, spoken_of={"some_function_8"})


@given(st.integers(0, 200))
def test_the_map_keeps_to_its_budget(budget: int):
    assert estimate_text(repository_map({"tank.py": TANK, "pump.py": PUMP, "main.py": MAIN}, budget)) <= budget


def test_ranks_are_those_that_networkx_gives():
    edges = {"tank": {"pump": 3.0, "gauge": 1.0}, "gauge": {"pump": 1.0}, "pump": {"tank": 2.0}, "main": {"tank": 5.0, "lost": 1.0}}
    expected = {"tank": 0.400953, "pump": 0.396896, "gauge": 0.122428, "main": 0.037225, "lost": 0.042498}
    assert ranks(edges, {}) == pytest.approx(expected, abs=1e-6)
    expected = {"tank": 0.3818, "pump": 0.358571, "gauge": 0.135497, "main": 0.108728, "lost": 0.015403}
    assert ranks(edges, {"main": 2.0, "gauge": 1.0}) == pytest.approx(expected, abs=1e-6)


nodes = st.sampled_from("abcdef")
weights = st.floats(0.01, 100)


@given(st.dictionaries(nodes, st.dictionaries(nodes, weights, min_size=1)), st.dictionaries(nodes, weights))
def test_ranks_make_one_and_none_is_negative(edges: dict[str, dict[str, float]], preferred: dict[str, float]):
    found = ranks(edges, preferred)
    assert all(rank >= 0 for rank in found.values())
    assert not found or sum(found.values()) == pytest.approx(1)


@settings(max_examples=many(12, deep=300))
@given(histories())
def test_whatever_the_history_what_follows_is_valid(log: list[Logged]):
    for model_text in (None, "s"):
        after = compacted(AIDER, log, "reactive", model_text)
        if after is not None:
            assert isinstance(after[-1].entry, Compaction)
            asked = [*after, Logged(after[-1].seq + 1, 0.0, prompt("Go on"))]
            assert problems(build_request(Projection(asked))) == []
